"""The cells of a comparison: one measure of one turn of one run. A task is those of one release."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from ...comparison.grid import MethodRun
from ...core.randomness import RandomSource
from ...errors import QueryveilError
from ...measures.base import Measure
from ...measures.original import MeasureContext
from ...measures.rerunning import Rerun
from ...release.release import Release
from ..measuring import compute_measure, make_rerun, run_for_measurement

__all__ = ["ComparisonRow", "Measurement", "Task", "group_tasks", "run_task"]

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
