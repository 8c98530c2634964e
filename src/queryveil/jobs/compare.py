"""Several methods and parameters side by side, in memory: nothing is published or spent."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..engine import Chance, Progress, Silent
from ..errors import InputError, QueryveilError, UsageError
from ..log import QueryLog
from ..measures import Again, Measure, Original, parse_measure
from ..methods import Method
from ..release import Release
from ..version import __version__
from .comparison import Comparison
from .figures import Figure, preset_figures
from .measuring import runs_again, taken
from .peeking import is_private, note_peek
from .spending import PEEKED
from .sweeps import Run, expand

__all__ = ["compare", "compare_figures", "compare_preset"]

Log = QueryLog | Callable[[], QueryLog]
Wanted = dict[tuple[str, str], tuple[Run, dict[str, Measure]]]


def compare(
    log: Log,
    methods: Sequence[str | Method],
    *,
    sweep: Mapping[str, Sequence[Any]] | None = None,
    repeat: int = 1,
    measures: Sequence[str | Measure] = ("profile-divergence",),
    seed: int | None = None,
    dataset: str | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Run methods at all combinations of swept values, and measure what each gives.

    A swept parameter applies to the methods that have it and whose line does not set it. The
    first one is the x axis of the figures, of which there is one a measure. Private methods are
    run for the owner's eyes: nothing is spent, but the ledger notes that the data was looked at.
    A function that reads the log is called once all else is found to be right.

    >>> from queryveil.log import QueryLog
    >>> rows = [(user, "tennis", None, None, None) for user in "abc"]
    >>> found = compare(QueryLog.from_rows(rows), ["frequent-queries"], sweep={"n": [2, 3]})
    >>> [(row["swept"], row["value"]) for row in found.rows]
    [({'n': 2}, 0.0), ({'n': 3}, 0.0)]
    """
    over = dict(sweep or {})
    if not methods or not measures:
        raise UsageError("there is nothing to compare", hint="name methods and measures")
    lines = [str(measure) for measure in measures]
    figures = [Figure(_title(line), methods, line, over, next(iter(over), None)) for line in lines]
    words = ["--methods", ",".join(map(str, methods)), "--measures", ",".join(lines)]
    for name, values in over.items():
        words += ["--sweep", f"{name.replace('_', '-')}={','.join(map(str, values))}"]
    return compare_figures(
        log, figures, words, repeat=repeat, seed=seed, dataset=dataset, progress=progress
    )


def _title(line: str) -> str:
    """Call a figure by its measure, and by what tells it from another figure of the same one."""
    title, given = parse_measure(line).title, line.partition(":")[2]
    return title[0].upper() + title[1:] + (f" ({given.replace(':', ', ')})" if given else "")


def compare_preset(
    log: Log,
    name: str,
    *,
    repeat: int = 1,
    seed: int | None = None,
    dataset: str | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Draw the figures of a preset, such as those of a paper, on this log."""
    figures, words = preset_figures(name), ["--preset", name]
    return compare_figures(
        log, figures, words, repeat=repeat, seed=seed, dataset=dataset, progress=progress
    )


def compare_figures(
    log: Log,
    figures: Sequence[Figure],
    words: Sequence[str] = (),
    *,
    repeat: int = 1,
    seed: int | None = None,
    dataset: str | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Draw any figures; a run that several of them show is done once.

    `words` are those of a command line that asks for them.
    """
    if repeat < 1:
        raise UsageError(f"{repeat} repeats are none", hint="take 1 or more")
    Chance(seed)  # refuses a bad one before any work is done
    drawn = [(figure, expand(figure.methods, figure.sweep)) for figure in figures]
    wanted, shown = _wanted(drawn), progress or Silent()
    before = Original(_read(log))
    notes = _note_private(before.log, [run for run, _ in wanted.values()], dataset)
    _prepare(before, wanted, shown)
    rows = _rows(before, wanted, repeat, seed, shown)
    about = _about(before.log, repeat, seed) | {"notes": notes}
    about["command"] = _command(words, repeat, seed, dataset)
    return Comparison(
        about=about,
        measures={line: _told(one) for _, some in wanted.values() for line, one in some.items()},
        figures=[_figure(figure, runs) for figure, runs in drawn],
        rows=rows,
    )


def _read(log: Log) -> QueryLog:
    read = log() if callable(log) else log
    if not read.tally.kept:
        raise InputError("no row of the log is left to protect", hint="see `queryveil profile`")
    return read


def _wanted(drawn: Sequence[tuple[Figure, list[Run]]]) -> Wanted:
    """List each run once, with all that shall be measured of it."""
    measures = {figure.measure: parse_measure(figure.measure) for figure, _ in drawn}
    wanted: Wanted = {}
    for figure, runs in drawn:
        for run in runs:
            _, some = wanted.setdefault((run.label, str(run.method)), (run, {}))
            some[figure.measure] = measures[figure.measure]
    return wanted


def _note_private(log: QueryLog, runs: Sequence[Run], dataset: str | None) -> list[str]:
    """Note in the ledger, once, that private methods are tried on the data; say so."""
    private = [run.method for run in runs if is_private(run.method)]
    if not private:
        return []
    names = ", ".join(sorted({method.name for method in private}))
    note_peek(log, private[0], dataset, f"compare ({names})")
    return [f"Noted in the ledger, for all later releases: {PEEKED}."]


def _prepare(before: Original, wanted: Wanted, progress: Progress) -> None:
    measures = {line: one for _, some in wanted.values() for line, one in some.items()}
    with progress.stage("look at the log", len(measures)) as advance:
        for measure in measures.values():
            measure.prepare(before)
            advance(1)


def _rows(
    before: Original, wanted: Wanted, repeat: int, seed: int | None, progress: Progress
) -> list[dict[str, Any]]:
    rows = []
    with progress.stage("compare", len(wanted) * repeat) as advance:
        for run, measures in wanted.values():
            for turn in range(repeat):
                # Each turn has a seed of its own, else all turns would be the same.
                chance = Chance(None if seed is None else seed + turn)
                rows += _measured(before, run, measures, chance, turn + 1)
                advance(1)
    return rows


def _measured(
    before: Original, run: Run, measures: Mapping[str, Measure], chance: Chance, turn: int
) -> list[dict[str, Any]]:
    """Run a method once; what fails is told in its rows, and the others go on."""
    about = {"method": str(run.method), "label": run.label, "swept": run.swept, "repeat": turn}
    start = time.perf_counter()
    try:
        run.method.prepare()
        release = run.method.run(before.log, chance, Silent())
        about["seconds"] = round(time.perf_counter() - start, 3)
    except QueryveilError as error:
        return [about | _failed(line, error) for line in measures]
    again = runs_again(run.method, chance.seed)
    return [about | _value(before, release, again, line, one) for line, one in measures.items()]


def _value(
    before: Original, release: Release, again: Again, line: str, measure: Measure
) -> dict[str, Any]:
    try:
        told = taken(measure, before, release, again)
    except QueryveilError as error:
        return _failed(line, error)
    return {"measure": line, "value": told.pop("value"), "error": None, "told": told}


def _failed(line: str, error: QueryveilError) -> dict[str, Any]:
    return {"measure": line, "value": None, "error": str(error), "told": {}}


def _told(measure: Measure) -> dict[str, Any]:
    names = ("title", "says", "paper", "unit", "better")
    return {name: getattr(measure, name) for name in names} | {"parameters": measure.values()}


def _figure(figure: Figure, runs: Sequence[Run]) -> dict[str, Any]:
    return {
        "title": figure.title,
        "measure": figure.measure,
        "x": figure.x and figure.x.replace("-", "_"),
        "scale": figure.scale,
        "runs": [[run.label, str(run.method)] for run in runs],
    }


def _about(log: QueryLog, repeat: int, seed: int | None) -> dict[str, Any]:
    return {
        "queryveil": __version__,
        "repeat": repeat,
        "seed": seed,
        "log": {
            "files": {source.path: source.sha256 for source in log.sources},
            "rows": log.tally.kept,
            "users": log.distinct("user"),
            "queries": log.distinct("query"),
        },
    }


def _command(words: Sequence[str], repeat: int, seed: int | None, dataset: str | None) -> str:
    more = {"--repeat": repeat, "--seed": seed, "--dataset": dataset}
    typed = [word for name, value in more.items() if value is not None for word in (name, value)]
    return shlex.join(["queryveil", "compare", "LOG", *words, *map(str, typed), "--out", "DIR"])
