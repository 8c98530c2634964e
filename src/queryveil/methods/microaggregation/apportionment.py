"""Divide whole rows in given proportions, without bias and without a loop over the receivers.

`segments` are lists of candidates, one after another; each segment has its own total.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...concepts.taxonomy.arrays import IntArray
from ...core.randomness import RandomSource

Floats = NDArray[np.float64]
Values = NDArray[np.integer[Any] | np.floating[Any]]

_UNIT = 2.0**-64


def sum_by(index: IntArray, values: Values, size: int) -> Floats:
    """Sum values by index, from 0 to size - 1."""
    return np.bincount(index, values, size).astype(np.float64, copy=False)


def sample_fractions(rng: RandomSource, size: int) -> Floats:
    """Sample numbers from 0 to 1."""
    return rng.uint64s(size).astype(np.float64) * _UNIT


def largest_remainder(portions: Floats, total: int) -> IntArray:
    """Round portions that sum up to `total` to integers with the same sum.

    >>> largest_remainder(np.array([1.5, 0.4, 1.1]), 3).tolist()
    [2, 0, 1]
    """
    rounded = np.floor(portions + 1e-9).astype(np.int64)
    missing = total - int(rounded.sum())
    if missing > 0:
        order = np.argsort(rounded - portions, kind="stable")
        each, rest = divmod(missing, len(portions))
        rounded += each
        rounded[order[:rest]] += 1
    elif missing < 0:  # rounding errors of many equal portions
        positive = np.flatnonzero(rounded)
        order = positive[np.argsort((portions - rounded)[positive], kind="stable")]
        rounded[order[:-missing]] -= 1
    return rounded


def systematic_rounding(
    portions: Floats, segment: IntArray, totals: IntArray, rng: RandomSource
) -> IntArray:
    """Round the portions of each segment to integers with the given sum, without bias.

    The expected value of each integer is its portion of the total: a small portion gets a row with
    a small probability.

    Args:
        portions: Not negative; with a positive sum in each segment that has a total.
        segment: The segment of each portion, sorted.
    """
    if not len(portions):
        return np.zeros(0, np.int64)
    sums = sum_by(segment, portions, len(totals))
    scale = np.divide(totals, sums, out=np.zeros(len(totals)), where=sums > 0)
    ends = np.cumsum(portions * scale[segment])
    before = np.concatenate([[0.0], np.cumsum(totals)[:-1]]).astype(np.float64)
    start = sample_fractions(rng, len(totals))
    inside = np.clip(ends - before[segment], 0, totals[segment])
    last = np.r_[segment[1:] != segment[:-1], True]
    inside[last] = totals[segment[last]]  # exact, in spite of rounding errors
    steps = np.floor(inside + start[segment]).astype(np.int64)
    first = np.r_[True, last[:-1]]
    return np.asarray(steps - np.where(first, 0, np.r_[0, steps[:-1]]))


def spread_evenly(copies: IntArray, segment: IntArray, rng: RandomSource) -> IntArray:
    """Return the candidates of all segments, each repeated, in an even order inside its segment.

    Any stretch of the order has the candidates in about the proportions of their copies, so that
    receivers that take turns get a fair mix.

    >>> spread_evenly(np.array([2, 2]), np.array([0, 0]), RandomSource(1)).tolist() in (
    ...     [0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 1, 0], [1, 0, 0, 1])
    True
    """
    candidate = np.repeat(np.arange(len(copies)), copies)
    turn = np.arange(len(candidate)) - np.repeat(np.cumsum(copies) - copies, copies)
    jitter = sample_fractions(rng, len(copies))
    place = (turn + jitter[candidate]) / copies[candidate]
    order = np.lexsort((candidate, place, segment[candidate]))
    return np.asarray(candidate[order])
