"""The cells of a comparison: one measure of one turn of one run. A task is those of one release."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from ...engine import Chance
from ...errors import QueryveilError
from ...measures import Again, Measure, Original
from ...release import Release
from ..measuring import ran, runs_again, taken
from .sweeps import Run

__all__ = ["Cell", "Row", "Task", "perform", "tasks_of"]

Row = dict[str, Any]


@dataclass(frozen=True)
class Cell:
    """What a row of a comparison shall tell; `key` names all that its value depends on."""

    run: Run
    line: str
    measure: Measure
    turn: int
    seed: int | None
    identifiers: str
    key: str

    def row(self, found: Row) -> Row:
        """Make the row of what was found, however the run was called when it was."""
        about = {
            "method": str(self.run.method),
            "label": self.run.label,
            "swept": dict(self.run.swept),
            "repeat": self.turn,
        }
        return about | {"measure": self.line} | found


Task = tuple[Cell, ...]


def tasks_of(cells: Iterable[Cell], known: Collection[str]) -> list[Task]:
    """Bring together what is measured of the same release; what is known is left out."""
    missing = {cell.key: cell for cell in cells if cell.key not in known}
    tasks: dict[tuple[str, int], list[Cell]] = {}
    for cell in missing.values():
        tasks.setdefault((str(cell.run.method), cell.turn), []).append(cell)
    return [tuple(task) for task in tasks.values()]


def perform(before: Original, task: Task) -> dict[str, Row]:
    """Run a method once and measure it; what fails is told in its rows, and others go on."""
    first, start = task[0], time.perf_counter()
    method = first.run.method
    # Each turn has a seed of its own, else all turns would be the same.
    chance = Chance(None if first.seed is None else first.seed + first.turn - 1)
    try:
        method.prepare()
        release = ran(method, before.log, chance, first.identifiers)
    except QueryveilError as error:
        return {cell.key: _failed(error) for cell in task}
    seconds = {"seconds": round(time.perf_counter() - start, 3)}
    again = runs_again(method, chance.seed, first.identifiers)
    return {cell.key: seconds | _value(before, release, again, cell.measure) for cell in task}


def _value(before: Original, release: Release, again: Again, measure: Measure) -> Row:
    try:
        told = taken(measure, before, release, again)
    except QueryveilError as error:
        return _failed(error)
    return {"value": told.pop("value"), "error": None, "told": told}


def _failed(error: QueryveilError) -> Row:
    return {"value": None, "error": str(error), "told": {}}
