"""Several methods and parameters side by side, in memory: nothing is published or spent."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .._version import __version__
from ..core.progress import NoProgress, Progress
from ..core.randomness import RandomSource
from ..errors import InputError, UsageError
from ..log.query_log import QueryLog
from ..log.screening import check_setting
from ..measures.base import Measure, parse_measure
from ..measures.context import MeasureContext
from ..methods.base import Method
from ..workflows.budget import (
    DATA_ACCESS_RECORDED,
    is_differentially_private,
    note_look,
    record_data_access,
)
from .grid import Figure, FigureRequest, MethodRun, expand_grid, request_figures
from .journal import Journal, log_cache_key, row_key
from .result import Comparison
from .runner import ComparisonRow, Measurement, default_workers, group_tasks, run_tasks

LogOrReader = QueryLog | Callable[[], QueryLog]
Wanted = dict[tuple[str, str], tuple[MethodRun, dict[str, Measure]]]


@dataclass(frozen=True)
class RunOptions:
    """How the runs of a comparison are done.

    `repeat` turns of each; `seed` makes them repeatable; `dataset` says whose ledger notes that
    private methods were tried, unless the log is `nobodys`; `workers` processes side by side,
    0 for one a core; what is in the `journal` is not done again. `identifiers` in queries are
    treated as `anonymize` does.
    """

    repeat: int = 1
    seed: int | None = None
    dataset: str | None = None
    workers: int = 1
    journal: Journal = field(default_factory=Journal)
    synthetic: bool = False
    identifiers: str = "drop"

    def __post_init__(self) -> None:
        if self.repeat < 1:
            raise UsageError(f"{self.repeat} repeats are none", hint="take 1 or more")
        if self.workers < 0:
            raise UsageError(f"{self.workers} workers do nothing", hint="take 1 or more")
        check_setting(self.identifiers)
        RandomSource(self.seed)  # refuses a bad one before any work is done


def compare(
    log: LogOrReader,
    methods: Sequence[str | Method],
    *,
    sweep: Mapping[str, Sequence[Any]] | None = None,
    repeat: int = 1,
    measures: Sequence[str | Measure] = ("profile-divergence",),
    seed: int | None = None,
    dataset: str | None = None,
    workers: int = 1,
    journal: Journal | None = None,
    identifiers: str = "drop",
    progress: Progress | None = None,
) -> Comparison:
    """Run methods at all combinations of swept values, and measure what each gives.

    A swept parameter applies to the methods that have it and whose line does not set it. The
    first one is the x axis of the figures, of which there is one a measure. Private methods are
    run for the owner's eyes: nothing is spent, but the ledger notes that the data was looked at.
    A function that reads the log is called once all else is found to be right. With `workers`,
    processes run side by side (0: one a core); a script that asks for them must guard its main
    part with `if __name__ == "__main__"`.

    >>> from queryveil.log import QueryLog
    >>> rows = [(user, "tennis", None, None, None) for user in "abc"]
    >>> found = compare(QueryLog.from_rows(rows), ["frequent-queries"], sweep={"n": [2, 3]})
    >>> [(row["swept"], row["value"]) for row in found.rows]
    [({'n': 2}, 0.0), ({'n': 3}, 0.0)]
    """
    asked = request_figures(methods, measures, sweep or {})
    how = RunOptions(repeat, seed, dataset, workers, journal or Journal(), identifiers=identifiers)
    return compare_figures(log, asked, how, progress=progress)


def compare_figures(
    log: LogOrReader,
    asked: FigureRequest,
    how: RunOptions | None = None,
    *,
    progress: Progress | None = None,
) -> Comparison:
    """Draw any figures; a run that several of them show is done once."""
    how, shown = how or RunOptions(), progress or NoProgress()
    drawn = [(figure, expand_grid(figure.methods, figure.sweep)) for figure in asked.figures]
    wanted = _wanted(drawn)
    before = MeasureContext(_read(log))
    runs = [] if how.synthetic else [run for run, _ in wanted.values()]
    notes = _note_private(before.log, runs, how.dataset)
    rows, known = _rows(before, wanted, how, shown)
    about = _about(before.log, how) | {"notes": notes, "known_before": known}
    about["command"] = _command(asked.arguments, how)
    return Comparison(
        about=about,
        measures={line: _told(one) for _, some in wanted.values() for line, one in some.items()},
        figures=[_figure(figure, runs) for figure, runs in drawn],
        rows=rows,
    )


def _read(log: LogOrReader) -> QueryLog:
    read = log() if callable(log) else log
    if not read.accounting.kept:
        raise InputError("no row of the log is left to protect", hint="see `queryveil profile`")
    return read


def _wanted(drawn: Sequence[tuple[Figure, list[MethodRun]]]) -> Wanted:
    """List each run once, with all that shall be measured of it."""
    measures = {figure.measure: parse_measure(figure.measure) for figure, _ in drawn}
    wanted: Wanted = {}
    for figure, runs in drawn:
        for run in runs:
            _, some = wanted.setdefault((run.label, str(run.method)), (run, {}))
            some[figure.measure] = measures[figure.measure]
    return wanted


def _note_private(log: QueryLog, runs: Sequence[MethodRun], dataset: str | None) -> list[str]:
    """Note in the ledger, once, that methods are tried on the data; return that in words.

    A log that belongs to nobody has no runs here.
    """
    private = [run.method for run in runs if is_differentially_private(run.method)]
    if not private:
        return note_look(log, dataset, "compare") if runs else []
    names = ", ".join(sorted({method.name for method in private}))
    record_data_access(log, private[0], dataset, f"compare ({names})")
    return [DATA_ACCESS_RECORDED]


def _rows(
    before: MeasureContext, wanted: Wanted, how: RunOptions, progress: Progress
) -> tuple[list[ComparisonRow], int]:
    """Give the row of every run, turn and measure, and how many of them were known before."""
    cells = _cells(before.log, wanted, how)
    journal = how.journal if log_cache_key(before.log) else Journal()
    found = {cell.key: row for cell in cells if (row := journal.known(cell.key)) is not None}
    known, tasks = len(found), group_tasks(cells, found)
    with progress.stages(Counter(task[0].run.label for task in tasks)) as advance:
        for task, rows in run_tasks(before, tasks, how.workers or default_workers(len(tasks))):
            found |= rows
            journal.add(rows)
            advance(task[0].run.label)
    return [cell.row(found[cell.key]) for cell in cells], known


def _cells(log: QueryLog, wanted: Wanted, how: RunOptions) -> list[Measurement]:
    of_log = log_cache_key(log)
    return [
        Measurement(
            run,
            line,
            one,
            turn,
            how.seed,
            how.identifiers,
            row_key(of_log, run, line, one, turn, how.seed, how.identifiers),
        )
        for run, measures in wanted.values()
        for turn in range(1, how.repeat + 1)
        for line, one in measures.items()
    ]


def _told(measure: Measure) -> dict[str, Any]:
    names = ("title", "description", "paper", "unit", "better", "kind")
    return {name: getattr(measure, name) for name in names} | {"parameters": measure.params()}


def _figure(figure: Figure, runs: Sequence[MethodRun]) -> dict[str, Any]:
    return {
        "title": figure.title,
        "measure": figure.measure,
        "x": figure.x and figure.x.replace("-", "_"),
        "scale": figure.scale,
        "runs": [[run.label, str(run.method)] for run in runs],
    }


def _about(log: QueryLog, how: RunOptions) -> dict[str, Any]:
    return {
        "queryveil": __version__,
        "repeat": how.repeat,
        "seed": how.seed,
        "identifiers": how.identifiers,
        "log": {
            "files": {source.path: source.sha256 for source in log.sources},
            "rows": log.accounting.kept,
            "users": log.count_distinct("user"),
            "queries": log.count_distinct("query"),
        },
    }


def _command(words: Sequence[str], how: RunOptions) -> str:
    more = {"--repeat": how.repeat, "--seed": how.seed, "--dataset": how.dataset}
    more["--identifiers"] = None if how.identifiers == "drop" else how.identifiers
    typed = [word for name, value in more.items() if value is not None for word in (name, value)]
    return shlex.join(["queryveil", "compare", "LOG", *words, *map(str, typed), "--out", "DIR"])
