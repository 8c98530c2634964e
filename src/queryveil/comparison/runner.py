"""Run the tasks of a comparison, in this process or in several parallel processes.

A worker process has one thread, since the slow steps use one core. It gets the log through a pipe,
so no private data is written to the disk.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass

import polars as pl

from ..core.randomness import RandomSource
from ..core.records import Json
from ..errors import QueryveilError
from ..log.query_log import COLUMNS, QueryLog
from ..measures.base import Measure, Rerun
from ..measures.context import MeasureContext
from ..release.release import Release
from ..workflows.measurement import compute_measure, make_rerun, run_for_measurement
from ..workflows.screened_runs import Screening
from .grid import MethodRun
from .result import ComparisonRow


@dataclass(frozen=True)
class Measurement:
    """The task of one row of a comparison; `key` identifies all that its value depends on."""

    run: MethodRun
    line: str
    measure: Measure
    turn: int
    seed: int | None
    screening: Screening
    key: str

    def row(
        self,
        value: float | None,
        *,
        seconds: float | None = None,
        error: str | None = None,
        details: Mapping[str, Json] | None = None,
    ) -> ComparisonRow:
        """Build the row from its results."""
        return ComparisonRow(
            method=str(self.run.method),
            label=self.run.label,
            params=self.run.params,
            repeat=self.turn,
            measure=self.line,
            value=value,
            seconds=seconds,
            error=error,
            details=details or {},
        )

    def relabel(self, row: ComparisonRow) -> ComparisonRow:
        """Return a row, which may be of an earlier comparison, with the labels of this one."""
        return self.row(row.value, seconds=row.seconds, error=row.error, details=row.details)


Task = tuple[Measurement, ...]


def group_tasks(cells: Iterable[Measurement], known: Collection[str]) -> list[Task]:
    """Group the measurements of the same release, without the known ones."""
    missing = {cell.key: cell for cell in cells if cell.key not in known}
    tasks: dict[tuple[str, int, Screening], list[Measurement]] = {}
    for cell in missing.values():
        release = (str(cell.run.method), cell.turn, cell.screening)
        tasks.setdefault(release, []).append(cell)
    return [tuple(task) for task in tasks.values()]


def run_task(context: MeasureContext, task: Task) -> dict[str, ComparisonRow]:
    """Run a method once and measure it; a failure is recorded in its rows only."""
    first, start = task[0], time.perf_counter()
    method, screening = first.run.method, first.screening
    # Each turn has its own seed, otherwise all turns would be the same.
    rng = RandomSource(None if first.seed is None else first.seed + first.turn - 1)
    try:
        method.check_ready()
        release = run_for_measurement(method, context.log, rng, screening)
    except QueryveilError as error:
        return {cell.key: cell.row(None, error=str(error)) for cell in task}
    seconds = round(time.perf_counter() - start, 3)
    again = make_rerun(method, rng.seed, screening)
    return {cell.key: _measure_release(context, release, again, cell, seconds) for cell in task}


def _measure_release(
    context: MeasureContext, release: Release, rerun: Rerun, cell: Measurement, seconds: float
) -> ComparisonRow:
    try:
        result = compute_measure(cell.measure, context, release, rerun)
    except QueryveilError as error:
        return cell.row(None, seconds=seconds, error=str(error))
    return cell.row(result.value, seconds=seconds, details=result.to_row_details())


_THREADS = ("POLARS_MAX_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")


@dataclass
class _WorkerState:
    """The state of a worker process: the log, and the measures that are not prepared yet."""

    context: MeasureContext
    measures: Sequence[Measure]


_worker_states: list[_WorkerState] = []  # one in a worker process, none in the main process


def default_workers(tasks: int) -> int:
    """Return one worker per core, but fewer for a few tasks, as starting a process is slow."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return min(cores or 1, max(1, tasks // 3))


def run_tasks(
    context: MeasureContext, tasks: Sequence[Task], workers: int
) -> Iterator[tuple[Task, dict[str, ComparisonRow]]]:
    """Run the tasks; yield each with its rows when it is done.

    A measure that does not apply to this log raises before any run.
    """
    measures = [cell.measure for task in tasks for cell in task]
    if workers == 1 or len(tasks) < 2:
        _prepare(context, measures)
        yield from ((task, run_task(context, task)) for task in tasks)
        return
    table = context.log.local_frame.select(pl.col(COLUMNS)).collect()
    with _start_workers(_decode_categories(table), measures, min(workers, len(tasks))) as pool:
        waiting = {pool.submit(_run_in_worker, task): task for task in tasks}
        try:
            for done in as_completed(waiting):
                yield waiting[done], done.result()
        except BrokenProcessPool as error:
            raise QueryveilError(
                "a worker died; it may have run out of memory",
                hint="try `workers=1`; finished runs are kept, and the same command continues. In "
                'a script, guard the call with `if __name__ == "__main__"`',
            ) from error


@contextmanager
def _start_workers(
    table: pl.DataFrame, measures: Sequence[Measure], workers: int
) -> Iterator[ProcessPoolExecutor]:
    """Start workers; on an error or an interruption they are terminated."""
    method = multiprocessing.get_context("spawn")  # the threads of Polars do not survive a fork
    others = set(multiprocessing.active_children())
    with _single_threaded():
        pool = ProcessPoolExecutor(workers, method, _init_worker, (table, measures))
        try:
            yield pool
        except BaseException:
            for process in set(multiprocessing.active_children()) - others:
                process.terminate()
            raise
        finally:
            pool.shutdown(cancel_futures=True)


@contextmanager
def _single_threaded() -> Iterator[None]:
    """Let new processes use one thread; this process has its threads already."""
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


def _decode_categories(table: pl.DataFrame) -> pl.DataFrame:
    """Cast dictionary-encoded columns to texts, as a dictionary belongs to one process."""
    encoded = [name for name, dtype in table.schema.items() if dtype == pl.Categorical]
    return table.with_columns(pl.col(encoded).cast(pl.String))


def _prepare(context: MeasureContext, measures: Iterable[Measure]) -> None:
    for measure in dict.fromkeys(measures):
        measure.prepare(context)


def _init_worker(table: pl.DataFrame, measures: Sequence[Measure]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the main process handles Ctrl-C
    _worker_states.append(_WorkerState(MeasureContext(QueryLog.from_clean_frame(table)), measures))


def _run_in_worker(task: Task) -> dict[str, ComparisonRow]:
    # Not in the initializer of the process, where an error would break the whole pool.
    (state,) = _worker_states
    measures, state.measures = state.measures, ()
    _prepare(state.context, measures)
    return run_task(state.context, task)
