"""Integer weights of the levels, and how far the chances of two inputs can lie apart.

The mechanism *is* these integers: an output of level v has the chance weight[v] / total, exactly.
So nothing about it is rounded, and the worst ratio is that of the mechanism that draws.
docs/privacy/semantic-replacement.md has the proof.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ...errors import UsageError

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

    >>> scores = ScoreTable(np.array([1.0, 0.0]), np.array([[0, 1], [1, 0]], np.uint8))
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


_PART = 512  # rows at a time


def run_in_chunks(rows: int, work: Callable[[range], None]) -> None:
    """Give all rows to a function, some at a time, in two threads."""
    parts = [range(begin, min(begin + _PART, rows)) for begin in range(0, rows, _PART)]
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(work, parts))


@dataclass(frozen=True, eq=False)
class Candidates:
    """Scores, and for an input of each class the number of other items of each level.

    >>> from queryveil.dp.exponential.weights import ScoreTable
    >>> same = ScoreTable(np.array([1.0, 0.0]), np.array([[0, 1], [1, 0]], np.uint8))
    >>> Candidates.of(same).counts.tolist(), Candidates.of(same).score_range
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


_BITS = 58  # of the largest total: draws of 64 bits are then rarely thrown away
_LEAST_BITS = 6  # of the smallest weight, so that it is a fair integer
_ROUNDED = 1e-11  # more than what the logarithms of two ratios of integers are rounded by


@dataclass(frozen=True, eq=False)
class ExponentialWeights:
    """The weight of each level, and the total for an input of each class."""

    choices: Candidates
    exponent: float
    levels: NDArray[np.int64]
    totals: NDArray[np.int64]

    @classmethod
    def of(cls, choices: Candidates, strength: float) -> ExponentialWeights:
        """Make weights in proportion to exp(strength * score), rounded to integers."""
        if not 0 <= strength <= max_exponent(choices):
            raise UsageError(
                f"a strength of {strength:g} cannot be drawn exactly", hint="a smaller epsilon"
            )
        values = choices.scores.values
        apart = strength * (values - values[0])
        apart[~choices.used] = 0.0
        levels = np.floor(np.exp(apart) * 2.0 ** _bits(choices)).astype(np.int64)
        return cls(choices, strength, levels, choices.counts @ levels + levels[0])

    def probability_at_least(self, least: float) -> float:
        """Give the chance of an output that scores at least so much, over all inputs alike."""
        good = self.choices.scores.values >= least
        own = self.levels[0] if good[0] else 0
        mass = self.choices.counts[:, good] @ self.levels[good] + own
        return float(np.average(mass / self.totals, weights=self.choices.scores.sizes))

    @property
    def log_ratio_bound(self) -> float:
        """The log-ratio of the greatest and the least weight, rounded up.

        The log-ratio of two inputs is ln w(c, o) - ln w(c', o) and a constant: over all outputs o
        it ranges over twice this at most.
        """
        return math.log(int(self.levels.max())) - math.log(int(self.levels.min())) + _ROUNDED


def max_exponent(choices: Candidates) -> float:
    """Give the greatest strength at which the smallest weight is still a fair integer."""
    if not choices.score_range:
        return math.inf
    return (_bits(choices) - _LEAST_BITS) * math.log(2) / choices.score_range


def _bits(choices: Candidates) -> int:
    return _BITS - len(choices).bit_length()


def max_log_ratio(weights: ExponentialWeights) -> float:
    """Give the greatest log-ratio of the chances of one output under two inputs, rounded up.

    Every output is looked at, with all inputs: n * n pairs, not n * n * n.
    """
    scores = weights.choices.scores
    sizes = scores.sizes
    logs, totals = np.log(weights.levels), np.log(weights.totals)
    far = _Outside(logs[-1] - totals)
    worst = np.zeros(len(sizes))

    def work(rows: range) -> None:
        for row in rows:
            near = scores.near(row)
            chances = logs[scores.levels(row)] - totals[near]
            own = logs[0] - totals[row]  # the input is the output itself
            if sizes[row] == 1:
                chances[row - near.start] = own
            low, high = far.bounds(near)
            worst[row] = max(chances.max(), own, high) - min(chances.min(), own, low)

    run_in_chunks(len(sizes), work)
    return float(worst.max(initial=0)) + _ROUNDED


class _Outside:
    """The least and the greatest of some numbers outside a slice."""

    def __init__(self, numbers: NDArray[np.float64]) -> None:
        up, down = numbers, numbers[::-1]
        self._least = _ends(np.minimum.accumulate, up, down, math.inf)
        self._greatest = _ends(np.maximum.accumulate, up, down, -math.inf)

    def bounds(self, inside: slice) -> tuple[float, float]:
        """Give both; where nothing is outside, what changes no comparison."""
        first, last = inside.start, inside.stop
        least = min(self._least[0][first], self._least[1][last])
        return least, max(self._greatest[0][first], self._greatest[1][last])


def _ends(
    running: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    up: NDArray[np.float64],
    down: NDArray[np.float64],
    none: float,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Give the running result up to each place, and from each place on."""
    return np.append([none], running(up)), np.append(running(down)[::-1], [none])
