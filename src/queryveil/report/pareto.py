"""The best that was found: runs that no other run beats."""

from __future__ import annotations

import math
from collections.abc import Sequence

__all__ = ["pareto_front"]


def pareto_front(points: Sequence[tuple[float, float]]) -> list[int]:
    """Give the places of the points that none beats, from the least risk to the most.

    A point is (risk, use). Another beats it if it is at least as good in both, and better in one.

    >>> unbeaten([(1, 1), (2, 5), (3, 4), (2, 5), (0, 0)])
    [4, 0, 1, 3]
    """
    found: list[int] = []
    most, last = -math.inf, (math.nan, math.nan)
    for place in sorted(range(len(points)), key=lambda i: (points[i][0], -points[i][1])):
        risk, use = points[place]
        if use > most or (risk, use) == last:
            found.append(place)
            most, last = use, (risk, use)
    return found
