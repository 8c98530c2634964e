"""Measure a written release, and add the results to its private report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..core.bounded import parse_json, read_within
from ..core.files import atomic_file
from ..core.progress import NoProgress, Progress
from ..core.records import Record, Scalar, json_field
from ..errors import VerificationError
from ..log.query_log import QueryLog
from ..measures.base import Measure
from ..measures.result import MeasureResult, MeasureResults
from ..methods.base import Method
from ..release.private_page import Mapped
from ..release.reading import read_private_card, read_release
from ..release.release import Release
from ..workflows.measurement import measure, method_of_release
from .comparing import compare_figures
from .grid import expand_grid, request_figures
from .private_report import render_private_report
from .result import Comparison, ComparisonRow, RunOptions
from .scatter import THIS_RELEASE
from .utility import add_means

_MAX_BYTES = 256 << 20  # a comparison has some hundred bytes a row
_REPLACED = "the earlier measurements in private/measures.json could not be read: they are replaced"


@dataclass(frozen=True, repr=False, kw_only=True)
class ReleaseMeasurement(Record):
    """The measures of a written release, and its comparison with other methods.

    Attributes:
        report: The path of the page, or None if the folder has no private card.
    """

    schema_number = 1

    results: MeasureResults = json_field(flat=True)
    comparison: Comparison | None = json_field(optional=True, default=None)
    report: str | None = json_field(optional=True, default=None)

    def __repr__(self) -> str:
        return f"ReleaseMeasurement({self.results!r})"


def measure_folder(
    log: QueryLog,
    folder: str | Path,
    measures: Sequence[str | Measure] | None = None,
    *,
    methods: Sequence[str | Method] = (),
    sweep: Mapping[str, Sequence[Scalar]] | None = None,
    how: RunOptions | None = None,
    progress: Progress | None = None,
) -> ReleaseMeasurement:
    """Measure the release in a folder, and show the results in `private/report.html`.

    With `sweep` the method of the release is run at other values, with `methods` other methods are
    run too: the report then has the frontier of risk and utility, with this release in it. Earlier
    measurements are kept. Without the private card there is no report, and `report` is None.
    """
    stages, how, path = progress or NoProgress(), how or RunOptions(), Path(folder)
    release, swept = read_release(path, log), dict(sweep or {})
    others = [*_swept_method(release, swept), *methods]
    if others:
        expand_grid(others, swept)  # raises for invalid methods before anything is measured
    results = measure(log, release, measures, seed=how.seed, ledger=how.ledger, progress=stages)
    measured = {spec: result for spec, result in results.items() if result.value is not None}
    comparison = None
    if others and measured:
        request = request_figures(others, list(measured), swept)
        comparison = compare_figures(log, request, how, progress=stages)
        notes = tuple(dict.fromkeys([*results.notes, *comparison.notes]))
        results = replace(results, notes=notes)
        comparison = _add_release(comparison, str(method_of_release(release)), measured)
    measurement = ReleaseMeasurement(results=results, comparison=comparison)
    return _write_report(path / "private", measurement, release.mapping)


def _swept_method(release: Release, sweep: Mapping[str, Sequence[Scalar]]) -> list[Method]:
    """Return the method of the release, with defaults for the swept parameters."""
    if not sweep:
        return []
    own, swept = method_of_release(release), {name.replace("-", "_") for name in sweep}
    return [own.from_params({name: v for name, v in own.params().items() if name not in swept})]


def _add_release(
    comparison: Comparison, method: str, measured: Mapping[str, MeasureResult]
) -> Comparison:
    """Add this release to the runs; it replaces a run of the same method and values."""
    rows = [
        ComparisonRow(
            method, THIS_RELEASE, {}, 1, spec, result.value, details=result.to_row_details()
        )
        for spec, result in measured.items()
    ]
    others = [row for row in comparison.rows if row.method != method]
    return add_means(replace(comparison, rows=(*rows, *others)))


def _write_report(
    private: Path, new: ReleaseMeasurement, mapping: Mapped | None
) -> ReleaseMeasurement:
    """Write all measurements and their page; return the new ones."""
    card = read_private_card(private.parent)
    if card is None:
        return new
    measures_path, report = private / "measures.json", private / "report.html"
    try:
        merged = _merge(_read_earlier(measures_path), new)
    except VerificationError:
        new = replace(new, results=replace(new.results, notes=(*new.results.notes, _REPLACED)))
        merged = new
    page = render_private_report(card, merged.results.measures, merged.comparison, mapping=mapping)
    _write(measures_path, merged.to_json() + "\n")
    _write(report, page)
    return replace(new, report=str(report))


def read_measurement(folder: str | Path) -> ReleaseMeasurement | None:
    """Return all measurements of the release in a folder; None if there are none."""
    return _read_earlier(Path(folder) / "private" / "measures.json")


def _read_earlier(path: Path) -> ReleaseMeasurement | None:
    if not path.exists():
        return None
    try:
        return ReleaseMeasurement.from_dict(parse_json(read_within(path, _MAX_BYTES)))
    except (OSError, ValueError) as error:
        raise VerificationError("this is no JSON document", where=path) from error


def _merge(earlier: ReleaseMeasurement | None, new: ReleaseMeasurement) -> ReleaseMeasurement:
    """Merge new measurements into earlier ones; newer values replace older ones."""
    if earlier is None:
        return new
    measures = {**earlier.results.measures, **new.results.measures}
    comparison = new.comparison or earlier.comparison
    return replace(new, results=replace(new.results, measures=measures), comparison=comparison)


def _write(path: Path, text: str) -> None:
    with atomic_file(path) as part:
        part.touch(0o600)
        part.write_text(text, encoding="utf-8", errors="backslashreplace")
