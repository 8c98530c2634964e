"""One measure of one release, whether it looks at the release or runs its method again."""

from __future__ import annotations

from typing import Any

from ..engine import Chance, Silent
from ..log import QueryLog
from ..measures import Again, Measure, Original, Rerunning
from ..methods import Method
from ..release import Release

__all__ = ["runs_again", "taken"]


def taken(one: Measure, before: Original, after: Release, again: Again | None) -> dict[str, Any]:
    """Give what a measure says; only one that has to is handed `again`."""
    if isinstance(one, Rerunning) and again is not None:
        return one.of_method(before, after, again)
    return one.of(before, after)


def runs_again(method: Method, seed: int | None) -> Again:
    """Make the function that runs a method on other logs: in memory, nothing is spent."""

    def again(log: QueryLog, turn: int) -> Release:
        # A turn's stream is its own, and none that a run of the whole log would use.
        chance = Chance(None if seed is None else (seed + 1) * 1_000_003 + turn)
        return method.run(log, chance, Silent())

    return again
