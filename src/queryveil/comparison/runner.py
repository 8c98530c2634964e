"""Who performs the tasks of a comparison: this process, or several side by side.

A worker is a process of its own with one thread, for the steps that take time are those that
use one core. It gets the log through a pipe: nothing private is put on the disk.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import polars as pl

from ..core.randomness import RandomSource
from ..errors import QueryveilError
from ..log.query_log import COLUMNS, QueryLog
from ..measures.base import Measure, Rerun
from ..measures.context import MeasureContext
from ..release.release import Release
from ..workflows.measurement import compute_measure, make_rerun, run_for_measurement
from .grid import MethodRun

ComparisonRow = dict[str, Any]


@dataclass(frozen=True)
class Measurement:
    """What a row of a comparison shall tell; `key` names all that its value depends on."""

    run: MethodRun
    line: str
    measure: Measure
    turn: int
    seed: int | None
    identifiers: str
    key: str

    def row(self, found: ComparisonRow) -> ComparisonRow:
        """Make the row of what was found, however the run was called when it was."""
        about = {
            "method": str(self.run.method),
            "label": self.run.label,
            "swept": dict(self.run.params),
            "repeat": self.turn,
        }
        return about | {"measure": self.line} | found


Task = tuple[Measurement, ...]


def group_tasks(cells: Iterable[Measurement], known: Collection[str]) -> list[Task]:
    """Bring together what is measured of the same release; what is known is left out."""
    missing = {cell.key: cell for cell in cells if cell.key not in known}
    tasks: dict[tuple[str, int], list[Measurement]] = {}
    for cell in missing.values():
        tasks.setdefault((str(cell.run.method), cell.turn), []).append(cell)
    return [tuple(task) for task in tasks.values()]


def run_task(before: MeasureContext, task: Task) -> dict[str, ComparisonRow]:
    """Run a method once and measure it; what fails is told in its rows, and others go on."""
    first, start = task[0], time.perf_counter()
    method = first.run.method
    # Each turn has a seed of its own, else all turns would be the same.
    chance = RandomSource(None if first.seed is None else first.seed + first.turn - 1)
    try:
        method.check_ready()
        release = run_for_measurement(method, before.log, chance, first.identifiers)
    except QueryveilError as error:
        return {cell.key: _failed(error) for cell in task}
    seconds = {"seconds": round(time.perf_counter() - start, 3)}
    again = make_rerun(method, chance.seed, first.identifiers)
    return {cell.key: seconds | _value(before, release, again, cell.measure) for cell in task}


def _value(
    before: MeasureContext, release: Release, again: Rerun, measure: Measure
) -> ComparisonRow:
    try:
        told = compute_measure(measure, before, release, again)
    except QueryveilError as error:
        return _failed(error)
    return {"value": told.pop("value"), "error": None, "told": told}


def _failed(error: QueryveilError) -> ComparisonRow:
    return {"value": None, "error": str(error), "told": {}}


_THREADS = ("POLARS_MAX_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
_mine: dict[str, Any] = {}  # a worker's own: the log, and what is to be measured


def default_workers(tasks: int) -> int:
    """Give one worker a core; a few tasks are not worth the start of another process."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return min(cores or 1, max(1, tasks // 3))


def run_tasks(
    before: MeasureContext, tasks: Sequence[Task], workers: int
) -> Iterator[tuple[Task, dict[str, ComparisonRow]]]:
    """Perform the tasks; give each with its rows as it gets done.

    A measure that cannot be taken of this log at all ends the comparison before any run.
    """
    measures = [cell.measure for task in tasks for cell in task]
    if workers == 1 or len(tasks) < 2:
        _prepare(before, measures)
        yield from ((task, run_task(before, task)) for task in tasks)
        return
    table = before.log.local_frame.select(pl.col(COLUMNS)).collect()
    with _workers(_texts(table), measures, min(workers, len(tasks))) as pool:
        waiting = {pool.submit(_perform, task): task for task in tasks}
        try:
            for done in as_completed(waiting):
                yield waiting[done], done.result()
        except BrokenProcessPool as error:
            raise QueryveilError(
                "a worker died; it may have run out of memory",
                hint="try --workers 1; what was done is kept, and the same command goes on. In a "
                'script the part that asks for workers stands under `if __name__ == "__main__"`',
            ) from error


@contextmanager
def _workers(
    table: pl.DataFrame, measures: Sequence[Measure], workers: int
) -> Iterator[ProcessPoolExecutor]:
    """Start workers; on an error or an interruption they are stopped in mid-task."""
    started = multiprocessing.get_context("spawn")  # Polars' threads do not survive a fork
    others = set(multiprocessing.active_children())
    with _one_thread_each():
        pool = ProcessPoolExecutor(workers, started, _begin, (table, measures))
        try:
            yield pool
        except BaseException:
            for process in set(multiprocessing.active_children()) - others:
                process.terminate()
            raise
        finally:
            pool.shutdown(cancel_futures=True)


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Tell processes that start meanwhile to use one thread; this one has its threads already."""
    old = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    try:
        yield
    finally:
        for name, value in old.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _texts(table: pl.DataFrame) -> pl.DataFrame:
    """Give dictionary-encoded columns as texts: a dictionary is of one process."""
    coded = [name for name, kind in table.schema.items() if kind == pl.Categorical]
    return table.with_columns(pl.col(coded).cast(pl.String))


def _prepare(before: MeasureContext, measures: Iterable[Measure]) -> None:
    for measure in dict.fromkeys(measures):
        measure.prepare(before)


def _begin(table: pl.DataFrame, measures: Sequence[Measure]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the owner's Ctrl-C is the main process's
    _mine["before"], _mine["measures"] = MeasureContext(QueryLog.from_frame(table)), measures


def _perform(task: Task) -> dict[str, ComparisonRow]:
    # Here and not at the start, where an error would be taken for the death of the process.
    _prepare(_mine["before"], _mine.pop("measures", ()))
    return run_task(_mine["before"], task)
