"""Integer weights of the score levels, and the log-ratio of the probabilities of two inputs.

The mechanism *is* these integers: an output of level v has the probability weight[v] / total,
exactly. So sampling rounds nothing, and the worst ratio is that of the mechanism that is run.
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
    """A set of items, in classes, with a score for each pair of items.

    Items are numbered class by class. A score is one of a few levels; level 0 has the highest.
    """

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The number of items of each class."""

    @property
    def values(self) -> NDArray[np.float64]:
        """The score of each level; no score is above that of level 0."""

    def near(self, row: int) -> slice:
        """Return the range of consecutive classes that have levels of their own for this class.

        The class itself is in the range. All classes outside have the last level.
        """

    def levels(self, row: int) -> Levels:
        """Return the level of each of the near classes for an item of this class.

        For its own class that is the level of the other items there.
        """


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """Scores from a dense table of levels, every item a class of its own; for small sets.

    >>> scores = ScoreTable(np.array([1.0, 0.0]), np.array([[0, 1], [1, 0]], np.uint8))
    >>> scores.sizes.tolist(), scores.levels(1).tolist()
    ([1, 1], [1, 0])
    """

    values: NDArray[np.float64]
    table: Levels

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The number of items of each class: always 1."""
        return np.ones(len(self.table), np.int64)

    def near(self, row: int) -> slice:  # noqa: ARG002
        """Return the range of all classes."""
        return slice(0, len(self.table))

    def levels(self, row: int) -> Levels:
        """Return a row of the table."""
        return np.asarray(self.table[row])


_PART = 512  # rows at a time


def run_in_chunks(rows: int, work: Callable[[range], None]) -> None:
    """Call `work` with all rows, 512 at a time, in two threads."""
    parts = [range(begin, min(begin + _PART, rows)) for begin in range(0, rows, _PART)]
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(work, parts))


@dataclass(frozen=True, eq=False)
class Candidates:
    """Scores, and the number of other items of each level for an input of each class.

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
        counts = np.empty((len(sizes), width), np.int64)
        items = int(sizes.sum())

        def work(rows: range) -> None:
            for row in rows:
                levels, near = scores.levels(row), scores.near(row)
                counts[row] = np.bincount(levels, sizes[near], width)
                counts[row, -1] += items - int(counts[row].sum())  # items outside the near classes
                counts[row, levels[row - near.start]] -= 1  # the item itself
            advance(len(rows))

        run_in_chunks(len(sizes), work)
        return cls(scores, counts)

    def __len__(self) -> int:
        return int(self.scores.sizes.sum())

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """The first item of each class, then the number of all items."""
        return np.concatenate([[0], np.cumsum(self.scores.sizes)])

    @cached_property
    def _class_of(self) -> NDArray[np.int64]:
        return np.repeat(np.arange(len(self.scores.sizes)), self.scores.sizes)

    def classes(self, items: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
        """Return the class of each item."""
        return np.asarray(self._class_of[items])

    @cached_property
    def used(self) -> NDArray[np.bool_]:
        """Whether any pair of items has each level; an item and itself have level 0."""
        used = np.asarray(self.counts.any(axis=0))
        used[0] = True
        return used

    @cached_property
    def score_range(self) -> float:
        """The highest minus the lowest score: the sensitivity of one slot."""
        return float(self.scores.values[0] - self.scores.values[self.used].min())


_BITS = 58  # of the largest total: draws of 64 bits are then rarely rejected
_MIN_BITS = 6  # of the smallest weight, so that rounding it to an integer changes it little
_ROUNDING = 1e-11  # larger than the rounding error of the logarithms of two ratios of integers


@dataclass(frozen=True, eq=False)
class ExponentialWeights:
    """The weight of each level, and the total for an input of each class."""

    choices: Candidates
    exponent: float
    levels: NDArray[np.int64]
    totals: NDArray[np.int64]

    @classmethod
    def of(cls, choices: Candidates, exponent: float) -> ExponentialWeights:
        """Return weights proportional to exp(exponent * score), rounded down to integers."""
        if not 0 <= exponent <= max_exponent(choices):
            raise UsageError(
                f"an exponent of {exponent:g} cannot be sampled exactly", hint="a smaller epsilon"
            )
        values = choices.scores.values
        log_weights = exponent * (values - values[0])
        log_weights[~choices.used] = 0.0
        levels = np.floor(np.exp(log_weights) * 2.0 ** _bits(choices)).astype(np.int64)
        return cls(choices, exponent, levels, choices.counts @ levels + levels[0])

    def probability_at_least(self, score: float) -> float:
        """Return the probability of an output with at least this score, averaged over inputs."""
        good = self.choices.scores.values >= score
        own = self.levels[0] if good[0] else 0
        mass = self.choices.counts[:, good] @ self.levels[good] + own
        return float(np.average(mass / self.totals, weights=self.choices.scores.sizes))

    @property
    def log_ratio_bound(self) -> float:
        """The log-ratio of the largest and the smallest weight, rounded up.

        The log-ratio of two inputs is ln w(c, o) - ln w(c', o) and a constant: over all outputs o
        it ranges over twice this at most.
        """
        return math.log(int(self.levels.max())) - math.log(int(self.levels.min())) + _ROUNDING


def max_exponent(choices: Candidates) -> float:
    """Return the largest exponent at which the smallest weight still has `_MIN_BITS` bits."""
    if not choices.score_range:
        return math.inf
    return (_bits(choices) - _MIN_BITS) * math.log(2) / choices.score_range


def _bits(choices: Candidates) -> int:
    return _BITS - len(choices).bit_length()


def max_log_ratio(weights: ExponentialWeights) -> float:
    """Return the largest log-ratio of the probabilities of one output under two inputs, rounded up.

    For each output the largest and the smallest probability over all inputs are compared: n * n
    steps instead of n * n * n.
    """
    scores = weights.choices.scores
    sizes = scores.sizes
    logs, totals = np.log(weights.levels), np.log(weights.totals)
    far = _OutsideBounds(logs[-1] - totals)
    worst = np.zeros(len(sizes))

    def work(rows: range) -> None:
        for row in rows:
            near = scores.near(row)
            log_probabilities = logs[scores.levels(row)] - totals[near]
            own = logs[0] - totals[row]  # the input is the output itself
            if sizes[row] == 1:
                log_probabilities[row - near.start] = own
            low, high = far.bounds(near)
            worst[row] = max(log_probabilities.max(), own, high) - min(
                log_probabilities.min(), own, low
            )

    run_in_chunks(len(sizes), work)
    return float(worst.max(initial=0)) + _ROUNDING


class _OutsideBounds:
    """The smallest and the largest number outside a slice of an array.

    Running minima and maxima from both ends answer each question in constant time.
    """

    def __init__(self, numbers: NDArray[np.float64]) -> None:
        self._smallest = _accumulate_ends(np.minimum.accumulate, numbers, math.inf)
        self._largest = _accumulate_ends(np.maximum.accumulate, numbers, -math.inf)

    def bounds(self, inside: slice) -> tuple[float, float]:
        """Return both; where nothing is outside, infinity and minus infinity."""
        first, last = inside.start, inside.stop
        smallest = min(self._smallest[0][first], self._smallest[1][last])
        return smallest, max(self._largest[0][first], self._largest[1][last])


def _accumulate_ends(
    accumulate: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    numbers: NDArray[np.float64],
    neutral: float,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the accumulated value before each index, and from each index on."""
    before = np.append([neutral], accumulate(numbers))
    return before, np.append(accumulate(numbers[::-1])[::-1], [neutral])
