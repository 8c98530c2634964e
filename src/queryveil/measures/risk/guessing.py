"""Guesses by a score: the best threshold, how well it does elsewhere, and the area under the curve.

All take the scores of many tries, and for each whether it was a member.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

__all__ = ["auc", "best_threshold", "rates_at_threshold"]

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

_NEVER = float("inf")


def best_threshold(scores: Floats, members: Flags) -> tuple[float, float]:
    """Give the score from which on one guesses "member", and the advantage that it has.

    Where nothing is better than chance nobody is called a member.

    >>> best_threshold(np.array([1.0, 2.0, 3.0, 4.0]), np.array([False, True, True, False]))
    (2.0, 0.5)
    """
    if not len(scores):
        return _NEVER, 0.0
    order = np.argsort(-scores, kind="stable")
    steps = np.where(members[order], 1 / max(members.sum(), 1), -1 / max((~members).sum(), 1))
    gained = np.cumsum(steps)
    ends = np.append(scores[order][1:] != scores[order][:-1], True)  # equal scores stand together
    best = int(np.argmax(np.where(ends, gained, -np.inf)))
    if gained[best] <= 1e-12:
        return _NEVER, 0.0
    return float(scores[order][best]), float(gained[best])


def rates_at_threshold(scores: Floats, members: Flags, threshold: float) -> tuple[float, float]:
    """Give the shares of members and of others whose score is at the threshold or above.

    >>> advantage(np.array([1.0, 2.0, 3.0]), np.array([True, False, True]), 2.0)
    (0.5, 1.0)
    """
    called = scores >= threshold
    return float(called[members].mean()), float(called[~members].mean())


def auc(scores: Floats, members: Flags) -> float:
    """Give the chance that a member has a higher score than another one; ties count half.

    >>> area(np.array([1.0, 2.0, 2.0]), np.array([False, False, True]))
    0.75
    """
    ranks = pl.Series(scores).rank("average").to_numpy()
    one, two = int(members.sum()), int((~members).sum())
    return float((ranks[members].sum() - one * (one + 1) / 2) / max(one * two, 1))
