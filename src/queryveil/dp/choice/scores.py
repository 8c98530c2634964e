"""How well each item could stand for each other one, as a few levels.

Items of one class score the same with every other item, so a row has one level a class. Level 0
is the score of an item with itself. Most classes may be far: all these have the last level, and are
never looked at one by one. Scores are symmetric: what an input gives an output, the output gives
the input.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Levels", "ScoreFunction", "ScoreTable"]

Levels = NDArray[np.unsignedinteger[Any]]


class ScoreFunction(Protocol):
    """A set of items, in classes, with a score for each pair.

    `sizes` has the number of items of each class; items are numbered class by class. `values`
    has the score of each level, the greatest first.
    """

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many items each class has."""

    @property
    def values(self) -> NDArray[np.float64]:
        """The score of each level; none is above that of level 0."""

    def near(self, row: int) -> slice:
        """Tell which classes, standing in a row, have levels of their own for this class.

        It is among them itself. All others have the last level.
        """

    def levels(self, row: int) -> Levels:
        """Give the level of each of the near classes for an item of this class.

        For its own class that is the level of the other items there.
        """


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """Scores from a whole table of levels, every item a class of its own; for small sets.

    >>> scores = TableScores(np.array([1.0, 0.0]), np.array([[0, 1], [1, 0]], np.uint8))
    >>> scores.sizes.tolist(), scores.levels(1).tolist()
    ([1, 1], [1, 0])
    """

    values: NDArray[np.float64]
    table: Levels

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Every class has one item."""
        return np.ones(len(self.table), np.int64)

    def near(self, row: int) -> slice:  # noqa: ARG002
        """Every class is near."""
        return slice(0, len(self.table))

    def levels(self, row: int) -> Levels:
        """Give a row of the table."""
        return np.asarray(self.table[row])
