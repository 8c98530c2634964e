"""Integer weights of the levels, and how far the chances of two inputs can lie apart.

The mechanism *is* these integers: an output of level v has the chance weight[v] / total, exactly.
So nothing about it is rounded, and the worst ratio is that of the mechanism that draws.
docs/privacy/semantic-replacement.md has the proof.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...errors import UsageError
from ..choice.choices import Candidates, run_in_chunks

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
