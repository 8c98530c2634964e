"""Measure a written release, and add the results to its private report."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core.files import atomic_file
from ..core.folders import read_json_card
from ..core.progress import NoProgress, Progress
from ..errors import UsageError
from ..log.query_log import QueryLog
from ..measures.base import Measure
from ..measures.result import baseline_title, sort_baselines
from ..methods.base import Method
from ..release.page import card_view
from ..release.reading import read_release
from ..release.release import Release
from ..render.charts.scales import is_drawable
from ..render.html import format_sentence, render_page
from ..render.tables import Cell, Column, SortableTable, number_cell
from ..workflows.measurement import measure, method_of_release
from .comparing import RunOptions, compare_figures
from .frontier import FRONTIER_SCRIPTS, FRONTIER_STYLES, FrontierView, frontier_view
from .grid import expand_grid, request_figures
from .scatter import THIS_RELEASE


@dataclass(frozen=True)
class ReportView:
    """What the private report shows besides the card."""

    measures: SortableTable | None
    frontier: FrontierView | None


def render_private_report(
    card: dict[str, Any],
    measures: Mapping[str, Mapping[str, Any]] | None = None,
    comparison: Mapping[str, Any] | None = None,
) -> str:
    """Render a private card with measured values, and with a comparison to other methods.

    In the comparison, the run with the label "this release" is highlighted.
    """
    if "input" not in card:
        raise UsageError(
            "measures are figures of private data, and the public card cannot show them",
            hint="use the card of private/card.json",
        )
    return render_page(
        "private_report.html.j2",
        styles=FRONTIER_STYLES,
        scripts=FRONTIER_SCRIPTS,
        card=card_view(card),
        report=ReportView(
            _measures_table(measures) if measures else None,
            frontier_view(comparison) if comparison else None,
        ),
    )


def _measures_table(measures: Mapping[str, Mapping[str, Any]]) -> SortableTable:
    """Return the measured values, the risks first."""
    columns = (
        Column("of"),
        Column("measure", "text"),
        Column("value", "number"),
        Column("better"),
        Column("summary", "text"),
    )
    order = sorted(measures.items(), key=lambda item: item[1].get("kind") != "risk")
    rows = tuple(_measure_row(line, result) for line, result in order)
    return SortableTable(columns, rows, folds=True)


def _measure_row(line: str, result: Mapping[str, Any]) -> tuple[Cell, ...]:
    value = result["value"]
    basis = f"Basis: {result['basis']}." if value is not None and "basis" in result else ""
    return (
        Cell(str(result.get("kind", ""))),
        Cell(result["title"], "text", note=f"{line}; {result['unit']}"),
        number_cell("" if value is None else f"{value:.4g}", value),
        Cell(result["better"]),
        Cell(_summarize(result), "text", note=basis),
    )


def _summarize(result: Mapping[str, Any]) -> str:
    if result["value"] is None:
        return f"Not measured: {result.get('skipped_because', '')}"
    statements = [str(result["summary"])] if result.get("summary") else []
    baselines = result.get("baselines", {})
    statements += [
        f"{baseline_title(name)}: {baselines[name]:.4g}"
        for name in sort_baselines(baselines)
        if is_drawable(baselines[name])
    ]
    return " ".join(map(format_sentence, statements))


def measure_folder(
    log: QueryLog,
    folder: str | Path,
    measures: Sequence[str | Measure] | None = None,
    *,
    methods: Sequence[str | Method] = (),
    sweep: Mapping[str, Sequence[Any]] | None = None,
    how: RunOptions | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
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
    measured = measure(log, release, measures, seed=how.seed, ledger=how.ledger, progress=stages)
    results = measured.to_dict()
    taken = {
        line: result for line, result in results["measures"].items() if result["value"] is not None
    }
    if others and taken:
        compared = compare_figures(
            log, request_figures(others, list(taken), swept), how, progress=stages
        )
        results["notes"] = list(dict.fromkeys([*results["notes"], *compared.about["notes"]]))
        results["comparison"] = _add_release(
            compared.to_dict(), str(method_of_release(release)), taken
        )
    return results | {"report": _write_report(path / "private", results)}


def _swept_method(release: Release, sweep: Mapping[str, Sequence[Any]]) -> list[Method]:
    """Return the method of the release, with defaults for the swept parameters."""
    if not sweep:
        return []
    own, swept = method_of_release(release), {name.replace("-", "_") for name in sweep}
    return [own.from_params({name: v for name, v in own.params().items() if name not in swept})]


def _add_release(
    compared: dict[str, Any], line: str, taken: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """Add this release to the runs; it replaces a run of the same method and values."""
    rows = [
        {"method": line, "label": THIS_RELEASE, "swept": {}, "repeat": 1, "measure": name,
         "value": result["value"], "error": None, "told": {}}
        for name, result in taken.items()
    ]  # fmt: skip
    others = [row for row in compared["rows"] if row["method"] != line]
    return compared | {"rows": [*rows, *others]}


def _write_report(private: Path, results: dict[str, Any]) -> str | None:
    card = private / "card.json"
    if not card.is_file():
        return None
    measures_path = private / "measures.json"
    whole = _merge(read_json_card(measures_path), results)
    text = json.dumps(whole, indent=2, ensure_ascii=False) + "\n"
    page = render_private_report(read_json_card(card), whole["measures"], whole.get("comparison"))
    _write(measures_path, text)
    _write(private / "report.html", page)
    return str(private / "report.html")


def _merge(earlier: dict[str, Any], results: dict[str, Any]) -> dict[str, Any]:
    """Merge new measurements into earlier ones; newer values replace older ones."""
    known = earlier.get("measures")
    measures = (known if isinstance(known, dict) else {}) | results["measures"]
    return earlier | results | {"measures": measures}


def _write(path: Path, text: str) -> None:
    with atomic_file(path) as part:
        part.touch(0o600)
        part.write_text(text, encoding="utf-8", errors="backslashreplace")
