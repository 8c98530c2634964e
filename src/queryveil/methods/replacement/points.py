"""Profiles told in points: some points handed out among topics, as a number that can be drawn.

A profile over k topics in s points is one of C(s + k - 1, s) ways to hand them out. They are
numbered as places of k - 1 bars among s + k - 1 places, so that no list of them is needed.
"""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Apportionments",
    "Floats",
    "apportion",
    "count_apportionments",
    "rank_apportionments",
    "unrank_apportionments",
]

Apportionments = NDArray[np.int64]
Floats = NDArray[np.float64]

_TOO_LARGE = 2**62


def count_apportionments(topics: int, points: int) -> int:
    """Count the ways to hand out points.

    >>> ways(4, 10)
    286
    """
    return comb(points + topics - 1, points)


def apportion(profiles: NDArray[Any], points: int) -> Apportionments:
    """Hand out points in proportion to each profile: whole ones first, then largest remainders.

    Of equal remainders the first topic gets the point. A profile of nothing is taken as uniform.

    >>> hand_out(np.array([[5, 3, 2], [0, 0, 0]]), 4).tolist()
    [[2, 1, 1], [2, 1, 1]]
    """
    shares = np.asarray(profiles, np.float64)
    sums = shares.sum(axis=1, keepdims=True)
    shares = np.where(sums > 0, shares / np.where(sums > 0, sums, 1), 1 / shares.shape[1])
    exact = shares * points
    whole = np.floor(np.round(exact, 9)).astype(np.int64)
    missing = points - whole.sum(axis=1)
    remainders = np.round(exact - whole, 9)  # so that equal ones are seen as equal
    order = np.argsort(-remainders, axis=1, kind="stable")
    rank = np.argsort(order, axis=1, kind="stable")
    return np.asarray(whole + (rank < missing[:, None]), np.int64)


def rank_apportionments(handed: Apportionments) -> Apportionments:
    """Give the number of each way to hand out.

    >>> number(np.array([[2, 0], [1, 1], [0, 2]])).tolist()
    [2, 1, 0]
    """
    topics, points = handed.shape[1], int(handed[0].sum()) if len(handed) else 0
    # Bars stand after the points of each topic but the last; ways below: bars further left.
    bars = np.cumsum(handed[:, :-1], axis=1) + np.arange(topics - 1)
    table = _binomials(points + topics, topics)
    return np.asarray(table[bars, np.arange(1, topics)].sum(axis=1), np.int64)


def unrank_apportionments(numbers: Apportionments, topics: int, points: int) -> Apportionments:
    """Give the ways that have these numbers.

    >>> points_of(np.array([2, 1, 0]), 2, 2).tolist()
    [[2, 0], [1, 1], [0, 2]]
    """
    table = _binomials(points + topics, topics)
    rest, bars = numbers.copy(), np.empty((len(numbers), topics - 1), np.int64)
    for bar in range(topics - 2, -1, -1):  # the greatest place whose binomial fits
        column = table[:, bar + 1]
        bars[:, bar] = np.searchsorted(column, rest, side="right") - 1
        rest = rest - column[bars[:, bar]]
    edges = np.full((len(numbers), 1), -1), np.full((len(numbers), 1), points + topics - 1)
    return np.diff(np.concatenate([edges[0], bars, edges[1]], axis=1), axis=1) - 1


def _binomials(size: int, most: int) -> Apportionments:
    """Give C(n, j) for n below size and j up to most; what is too large is never asked for."""
    rows = [[min(comb(n, j), _TOO_LARGE) for j in range(most)] for n in range(size)]
    return np.array(rows, np.int64)
