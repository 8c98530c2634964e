"""Measure the risk and utility of a release."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Unpack, overload

from ..concepts.mapping.options import SAME
from ..core.arguments import guided_with
from ..core.progress import NoProgress, Progress
from ..core.randomness import RandomSource
from ..errors import QueryveilError, UsageError
from ..log.keywords import READING_OPTIONS, ReadingKeywords
from ..log.opening import LogLike, open_log
from ..log.query_log import QueryLog
from ..measures._shared.thresholds import BEST_WITH_THRESHOLD, Threshold
from ..measures.base import MEASURES, Measure, Rerun, RerunMeasure, as_measure, list_measures
from ..measures.context import MeasureContext
from ..measures.result import MeasureResult, MeasureResults
from ..methods.base import METHODS, Method, parse_method
from ..release.reading import read_release
from ..release.release import Release
from .budget import DATA_ACCESS_RECORDED, is_differentially_private, note_look, record_data_access
from .screened_runs import DEFAULT, Screening, run_screened


def compute_measure(
    chosen: Measure, context: MeasureContext, release: Release, rerun: Rerun | None
) -> MeasureResult:
    """Return the result of a measure; only a `RerunMeasure` receives `rerun`.

    If the method states a threshold of users, the best value that it allows is a baseline.
    """
    if isinstance(chosen, RerunMeasure) and rerun is not None:
        result = chosen.compute_rerun(context, release, rerun)
    else:
        result = chosen.compute(context, release)
    best = None if result.value is None else _best_value(chosen, context, release)
    if best is None:
        return result
    return replace(result, baselines={**result.baselines, BEST_WITH_THRESHOLD: best})


def _best_value(chosen: Measure, context: MeasureContext, release: Release) -> float | None:
    threshold = Threshold.of(release)
    if threshold is None:
        return None
    try:
        return chosen.best_with(context, threshold)
    except QueryveilError:  # a card names a taxonomy without its folder: no phrases are known
        return None


def method_of_release(release: Release) -> Method:
    """Return the method of a release: from its spec if known, else from its public card.

    The public card has the names of files without their folders.
    """
    if release.method_spec is not None:
        return parse_method(release.method_spec)
    return METHODS.find(release.method).from_params(dict(release.parameters))


def adapt_measure(chosen: Measure, methods: Iterable[Method]) -> Measure:
    """Return a measure that maps queries in the language and with the terms of the methods.

    It keeps what it sets itself. Of several methods the first that sets a value counts, so that
    all are measured alike.
    """
    values = chosen.params()
    for declared in chosen.parameters():
        if declared.name in ("language", "terms") and values[declared.name] == declared.default:
            own = (method.params().get(declared.name) for method in methods)
            set_values = (value for value in own if value and value != SAME)
            values[declared.name] = next(set_values, declared.default)
    return chosen.from_params(values)


def run_for_measurement(
    method: Method,
    log: QueryLog,
    rng: RandomSource,
    screening: Screening = DEFAULT,
) -> Release:
    """Run a method in memory, to measure it; no budget is spent.

    If no row would be released, which `anonymize` refuses, return an empty release.
    """
    return run_screened(method, log, rng, NoProgress(), screening, allow_empty=True)


def make_rerun(method: Method, seed: int | None, screening: Screening = DEFAULT) -> Rerun:
    """Return a function that runs a method on other logs."""

    def rerun(log: QueryLog, turn: int) -> Release:
        # Each turn has its own random stream, different from that of a run on the whole log.
        rng = RandomSource(None if seed is None else (seed + 1) * 1_000_003 + turn)
        return run_for_measurement(method, log, rng, screening)

    return rerun


@overload
def measure(  # type: ignore[overload-overlap]  # a text is a sequence too, but never iterated
    log: LogLike,
    release: Release | str | Path,
    measures: str | Measure | type[Measure],
    *,
    seed: int | None = None,
    ledger: str | None = None,
    progress: Progress | None = None,
    **reading: Unpack[ReadingKeywords],
) -> MeasureResult: ...


@overload
def measure(
    log: LogLike,
    release: Release | str | Path,
    measures: Iterable[str | Measure] | None = None,
    *,
    seed: int | None = None,
    ledger: str | None = None,
    progress: Progress | None = None,
    **reading: Unpack[ReadingKeywords],
) -> MeasureResults: ...


@guided_with(READING_OPTIONS)
def measure(
    log: LogLike,
    release: Release | str | Path,
    measures: str | Measure | type[Measure] | Iterable[str | Measure] | None = None,
    *,
    seed: int | None = None,
    ledger: str | None = None,
    progress: Progress | None = None,
    **reading: Unpack[ReadingKeywords],
) -> MeasureResult | MeasureResults:
    """Measure a release, or the folder of a release, against its original log.

    The figures are computed from private data: they are for the data owner only.

    Args:
        log: The original log, or what `read_log` reads: files or a frame.
        release: A release, or its folder.
        measures: A measure, which gives its `MeasureResult`, or several, which give
            `MeasureResults`; objects or specs. It is an error if one does not apply. Without it,
            all measures that do not run the method again; one that does not apply has a
            `skipped_because`.
        seed: Seed of the reruns.
        ledger: Name or folder of the ledger that records the data access; else it is beside the
            log.
        progress: Receives the stages of the work.
        reading: Options of `read_log`, such as `columns`.

    Returns:
        One result, or a mapping from specs to results.

    Raises:
        UsageError: A measure is unknown, or it does not apply to this release.

    >>> from queryveil import FrequentQueries, QueryLog, anonymize
    >>> log = QueryLog.from_rows([(u, "tennis", None, None, None) for u in "abc"])
    >>> release = anonymize(log, FrequentQueries(min_users=2))
    >>> measure(log, release, "profile-divergence").value
    0.0
    >>> measure(log, release, ["profile-divergence"])["profile-divergence"].counts["users"]
    3
    """
    if isinstance(measures, str | Measure | type):
        alone = as_measure(measures)
        opened = open_log(log, reading, seed=seed, progress=progress)
        several = measure(opened, release, [alone], seed=seed, ledger=ledger, progress=progress)
        return several[str(alone)]
    selected, shown = _select_measures(measures), progress or NoProgress()
    opened = open_log(log, reading, seed=seed, progress=shown)
    context = MeasureContext(opened)
    released = release if isinstance(release, Release) else read_release(Path(release), opened)
    rerun, notes = _prepare_rerun(selected, released, seed, ledger)
    notes = notes or note_look(opened, ledger, "measure")
    strict, known = measures is not None, _known_methods(released)
    results: dict[str, MeasureResult] = {}
    with shown.stage("measure", len(selected)) as advance:
        for chosen in selected:
            fitting = adapt_measure(chosen, known)
            result = _compute_or_skip(fitting, context, released, rerun, strict=strict)
            results[str(chosen)] = replace(result, measure=str(chosen))
            advance(1)
    return MeasureResults(released.method, results, tuple(notes))


def _known_methods(release: Release) -> list[Method]:
    """Return the method of a release, or nothing if it is not installed here."""
    try:
        return [method_of_release(release)]
    except QueryveilError:
        return []


def _select_measures(measures: Iterable[str | Measure] | None) -> list[Measure]:
    if measures is None:
        kinds = (kind for kind in MEASURES.values() if not issubclass(kind, RerunMeasure))
        return [variant for kind in kinds for variant in kind.variants()]
    selected = list_measures(measures)
    if not selected:
        raise UsageError("no measure was named", hint="see `MEASURES`")
    return selected


def _prepare_rerun(
    selected: Sequence[Measure], release: Release, seed: int | None, ledger: str | None
) -> tuple[Rerun | None, list[str]]:
    """Return a function that runs the method again, if a measure needs one, and notes.

    The ledger records that a private method is run again.
    """
    RandomSource(seed)  # raises an error for a bad seed before any work is done
    if not any(isinstance(chosen, RerunMeasure) for chosen in selected):
        return None, []
    method = method_of_release(release)
    screening = Screening.of(
        release.identifiers or "keep",
        release.sensitive or "keep",
        [use.name for use in release.detectors],
    )
    method.check_ready()
    if not is_differentially_private(method):
        return make_rerun(method, seed, screening), []
    record_data_access(release.source, method, ledger, f"measure ({method.name})")
    return make_rerun(method, seed, screening), [DATA_ACCESS_RECORDED]


def _compute_or_skip(
    chosen: Measure,
    context: MeasureContext,
    release: Release,
    rerun: Rerun | None,
    *,
    strict: bool,
) -> MeasureResult:
    try:
        chosen.prepare(context)
        return compute_measure(chosen, context, release, rerun)
    except QueryveilError as error:
        if strict:
            raise
        return chosen.skip(str(error))
