"""All that can be chosen, with how many items of each level there are for each input."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .scores import ScoreFunction

__all__ = ["Candidates", "run_in_chunks"]

_PART = 512  # rows at a time


def run_in_chunks(rows: int, work: Callable[[range], None]) -> None:
    """Give all rows to a function, some at a time, in two threads."""
    parts = [range(begin, min(begin + _PART, rows)) for begin in range(0, rows, _PART)]
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(work, parts))


@dataclass(frozen=True, eq=False)
class Candidates:
    """Scores, and for an input of each class the number of other items of each level.

    >>> from queryveil.dp.choice import TableScores
    >>> same = TableScores(np.array([1.0, 0.0]), np.array([[0, 1], [1, 0]], np.uint8))
    >>> Choices.of(same).counts.tolist(), Choices.of(same).span
    ([[0, 1], [0, 1]], 1.0)
    """

    scores: ScoreFunction
    counts: NDArray[np.int64]

    @classmethod
    def of(
        cls, scores: ScoreFunction, advance: Callable[[int], None] = lambda _: None
    ) -> Candidates:
        """Count the levels of every row."""
        sizes, width = scores.sizes, len(scores.values)
        found = np.empty((len(sizes), width), np.int64)

        items = int(sizes.sum())

        def work(rows: range) -> None:
            for row in rows:
                levels, near = scores.levels(row), scores.near(row)
                found[row] = np.bincount(levels, sizes[near], width)
                found[row, -1] += items - int(found[row].sum())  # all that is far
                found[row, levels[row - near.start]] -= 1  # the item itself
            advance(len(rows))

        run_in_chunks(len(sizes), work)
        return cls(scores, found)

    def __len__(self) -> int:
        return int(self.scores.sizes.sum())

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """The first item of each class, and the number of items at the end."""
        return np.concatenate([[0], np.cumsum(self.scores.sizes)])

    @cached_property
    def _class_of(self) -> NDArray[np.int64]:
        return np.repeat(np.arange(len(self.scores.sizes)), self.scores.sizes)

    def classes(self, items: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
        """Give the class of each item."""
        return np.asarray(self._class_of[items])

    @cached_property
    def used(self) -> NDArray[np.bool_]:
        """Which levels there are at all; an item has its own."""
        found = np.asarray(self.counts.any(axis=0))
        found[0] = True
        return found

    @cached_property
    def score_range(self) -> float:
        """How far the greatest score and the least lie apart: the sensitivity of one slot."""
        return float(self.scores.values[0] - self.scores.values[self.used].min())
