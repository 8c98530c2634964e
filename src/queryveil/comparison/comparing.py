"""Compare methods and parameters in memory: no release is published and no budget is spent."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Unpack

from .._version import __version__
from ..core.arguments import guided_with
from ..core.progress import NoProgress, Progress
from ..core.records import Scalar
from ..errors import InputError
from ..log.detectors import parse_detectors
from ..log.keywords import READING_OPTIONS, ReadingKeywords
from ..log.opening import LogLike, open_log
from ..log.query_log import QueryLog
from ..measures.base import DEFAULT_MEASURES, Measure, list_measures, parse_measure
from ..measures.context import MeasureContext
from ..methods.base import Method
from ..workflows.budget import (
    DATA_ACCESS_RECORDED,
    is_differentially_private,
    note_look,
    record_data_access,
)
from ..workflows.measurement import adapt_measure
from ..workflows.method_arguments import take_method
from ..workflows.screened_runs import Screening
from .grid import FigureRequest, FigureSpec, MethodRun, expand_grid, request_figures
from .journal import Journal, log_cache_key, row_key
from .references import REFERENCE_RUNS, applies_to_references, reference_runs
from .result import Comparison, ComparisonRow, Figure, LogSummary, MeasureInfo, RunOptions
from .runner import Measurement, default_workers, group_tasks, run_tasks
from .utility import add_means

LogOrReader = QueryLog | Callable[[], QueryLog]
Wanted = dict[tuple[str, str], tuple[MethodRun, dict[str, Measure]]]


@guided_with(READING_OPTIONS)
def compare(
    log: LogLike,
    methods: str | Method | type[Method] | Iterable[str | Method],
    *,
    sweep: Mapping[str, Sequence[Scalar]] | None = None,
    repeats: int = 1,
    measures: str | Measure | type[Measure] | Iterable[str | Measure] = DEFAULT_MEASURES,
    seed: int | None = None,
    ledger: str | None = None,
    workers: int = 1,
    journal: Journal | str | Path | None = None,
    identifiers: str = "drop",
    sensitive: str = "keep",
    detectors: str | Sequence[str] = (),
    progress: Progress | None = None,
    **reading: Unpack[ReadingKeywords],
) -> Comparison:
    """Run methods at all combinations of swept values, and measure each release.

    A swept parameter applies to the methods that have it and whose spec does not set it. The
    first swept parameter is the x axis of the figures; there is one figure per measure. The
    results are for the data owner only: no budget is spent, but the ledger records the data
    access.

    Args:
        log: A log, or what `read_log` reads: files or a frame; or a function that reads the log,
            which is called after all other checks.
        methods: One method or several, as objects or specs.
        sweep: Values of parameters: `{"k": [3, 5, 10]}`.
        repeats: Runs of each method and combination of values, each with its own seed; several
            give a confidence interval. No run is published, and none spends budget.
        measures: One measure or several, as objects or specs; by default two of risk and three of
            utility, as on the command line.
        seed: Makes the runs repeatable.
        ledger: Name or folder of the ledger that records the data access; else it is beside the
            log.
        workers: Parallel processes (0: one per core). A script that uses them must guard its main
            part with `if __name__ == "__main__"`.
        journal: File that keeps the rows, so that a later call continues where this one stopped.
        identifiers: How identifiers in queries are treated in all runs, as by `anonymize`.
        sensitive: How sensitive topics are treated in all runs, as by `anonymize`.
        detectors: Names of detectors, as for `anonymize`; other processes know only those of
            installed distributions.
        progress: Receives the stages of the work.
        reading: Options of `read_log`, such as `columns`.

    Returns:
        One row for each run and measure; `to_pandas` and `to_polars` return them as a table,
        and `means_table` their means over repeats with the figure of utility.

    Raises:
        UsageError: A method, a measure or a parameter is unknown.

    >>> import polars as pl
    >>> frame = pl.DataFrame({"user": ["ann", "bob", "cem"], "query": "tennis"})
    >>> sweep = {"min_users": [2, 3]}
    >>> comparison = compare(frame, "frequent-queries", sweep=sweep, measures="query-coverage")
    >>> [(row.params, row.value) for row in comparison.rows]
    [({'min_users': 2}, 1.0), ({'min_users': 3}, 1.0)]
    """
    request = request_figures(_list_methods(methods), list_measures(measures), sweep or {})
    options = RunOptions(
        repeats,
        seed,
        ledger,
        workers,
        identifiers=identifiers,
        sensitive=sensitive,
        detectors=parse_detectors(detectors),
    )
    kept = Journal(Path(journal)) if isinstance(journal, str | Path) else journal
    return compare_figures(
        lambda: open_log(log, reading, seed=seed, progress=progress),
        request,
        options,
        journal=kept,
        progress=progress,
    )


def _list_methods(methods: str | Method | type[Method] | Iterable[str | Method]) -> list[Method]:
    """Return methods from one or several; a text is one method."""
    several = [methods] if isinstance(methods, str | Method | type) else list(methods)
    return [take_method(compare, method, {})[0] for method in several]


def compare_figures(
    log: LogOrReader,
    request: FigureRequest,
    how: RunOptions | None = None,
    *,
    journal: Journal | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Compute the values of any figures; a run of several figures is done once.

    Rows that the journal has are not computed again.
    """
    how, stages = how or RunOptions(), progress or NoProgress()
    checked = Screening.of(how.identifiers, how.sensitive, how.detectors)
    how = replace(how, sensitive=checked.sensitive)  # as cards write it
    drawn = [(figure, expand_grid(figure.methods, figure.sweep)) for figure in request.figures]
    wanted = _collect_runs(drawn)
    before = MeasureContext(_read_log(log))
    runs = [] if how.synthetic else [run for run, _ in wanted.values()]
    notes = _record_access(before.log, runs, how.ledger)
    references = _reference_runs(wanted)
    rows, known = _compute_rows(before, wanted | references, how, journal or Journal(), stages)
    labels = {run.label for run, _ in references.values()}
    comparison = Comparison(
        queryveil=__version__,
        options=how,
        log=_summarize_log(before.log),
        notes=tuple(notes),
        known_before=known,
        command=_format_command(request.arguments, how),
        measures={
            line: _describe_measure(measure)
            for _, run_measures in wanted.values()
            for line, measure in run_measures.items()
        },
        figures=tuple(_describe_figure(figure, runs) for figure, runs in drawn),
        rows=tuple(row for row in rows if row.label not in labels),
        references=tuple(row for row in rows if row.label in labels),
    )
    return add_means(comparison)


def _reference_runs(wanted: Wanted) -> Wanted:
    """Return the runs of the references, with the measures that apply to them."""
    measures = {line: measure for _, chosen in wanted.values() for line, measure in chosen.items()}
    applicable = {
        line: measure for line, measure in measures.items() if applies_to_references(measure)
    }
    runs = reference_runs(measures.values())
    return {(run.label, str(run.method)): (run, applicable) for run in runs}


def _read_log(log: LogOrReader) -> QueryLog:
    read = log() if callable(log) else log
    if not read.accounting.kept:
        raise InputError("the log has no rows to protect", hint="see `profile()`")
    return read


def _collect_runs(drawn: Sequence[tuple[FigureSpec, list[MethodRun]]]) -> Wanted:
    """Return each distinct run with all its measures."""
    methods = [run.method for _, runs in drawn for run in runs]
    measures = {
        figure.measure: adapt_measure(parse_measure(figure.measure), methods) for figure, _ in drawn
    }
    wanted: Wanted = {}
    for figure, runs in drawn:
        for run in runs:
            _, run_measures = wanted.setdefault((run.label, str(run.method)), (run, {}))
            run_measures[figure.measure] = measures[figure.measure]
    return wanted


def _record_access(log: QueryLog, runs: Sequence[MethodRun], ledger: str | None) -> list[str]:
    """Record the data access in the ledger, once; return the notes for the result.

    For a synthetic log `runs` is empty, so there is nothing to record.
    """
    private = [run.method for run in runs if is_differentially_private(run.method)]
    if not private:
        return note_look(log, ledger, "compare") if runs else []
    names = ", ".join(sorted({method.name for method in private}))
    record_data_access(log, private[0], ledger, f"compare ({names})")
    return [DATA_ACCESS_RECORDED]


def _compute_rows(
    context: MeasureContext,
    wanted: Wanted,
    options: RunOptions,
    journal: Journal,
    progress: Progress,
) -> tuple[list[ComparisonRow], int]:
    """Return the row of every run, turn and measure, and how many of them the journal had."""
    cells = _list_cells(context.log, wanted, options)
    journal = journal if log_cache_key(context.log) else Journal()
    results = {cell.key: row for cell in cells if (row := journal.known(cell.key)) is not None}
    known, tasks = len(results), group_tasks(cells, results)
    with progress.stages(Counter(task[0].run.label for task in tasks)) as advance:
        for task, rows in run_tasks(context, tasks, options.workers or default_workers(len(tasks))):
            results |= rows
            journal.add(rows)
            advance(task[0].run.label)
    return [cell.relabel(results[cell.key]) for cell in cells], known


def _list_cells(log: QueryLog, wanted: Wanted, options: RunOptions) -> list[Measurement]:
    log_key, cells = log_cache_key(log), []
    chosen = Screening(options.identifiers, options.sensitive, options.detectors)
    for run, measures in wanted.values():
        is_reference = run in REFERENCE_RUNS
        screening = Screening("keep") if is_reference else chosen
        cells += [
            Measurement(
                run,
                line,
                measure,
                turn,
                options.seed,
                screening,
                row_key(log_key, run, line, measure, turn, options.seed, screening),
            )
            for turn in range(1, (1 if is_reference else options.repeats) + 1)
            for line, measure in measures.items()
        ]
    return cells


def _describe_measure(measure: Measure) -> MeasureInfo:
    return MeasureInfo(
        title=measure.title,
        description=measure.description,
        paper=measure.paper,
        unit=measure.unit,
        better=measure.better,
        kind=measure.kind,
        parameters=measure.params(),
    )


def _describe_figure(figure: FigureSpec, runs: Sequence[MethodRun]) -> Figure:
    return Figure(
        title=figure.title,
        measure=figure.measure,
        x=figure.x and figure.x.replace("-", "_"),
        scale=figure.scale,
        runs=tuple((run.label, str(run.method)) for run in runs),
    )


def _summarize_log(log: QueryLog) -> LogSummary:
    return LogSummary(
        files={source.path: source.sha256 for source in log.sources},
        rows=log.accounting.kept,
        users=log.count_distinct("user"),
        queries=log.count_distinct("query"),
    )


def _format_command(arguments: Sequence[str], options: RunOptions) -> str:
    flags: dict[str, Scalar]
    flags = {"--repeats": options.repeats, "--seed": options.seed, "--ledger": options.ledger}
    flags["--identifiers"] = None if options.identifiers == "drop" else options.identifiers
    flags["--sensitive"] = None if options.sensitive == "keep" else options.sensitive
    flags["--detectors"] = ",".join(options.detectors) or None
    flag_words = [
        word for name, value in flags.items() if value is not None for word in (name, value)
    ]
    return shlex.join(
        ["queryveil", "compare", "LOG", *arguments, *map(str, flag_words), "--out", "DIR"]
    )
