"""What several noisy tables cost together.

A user changes at most so many keys of each table by one. Some keys may show only because of her:
the chance that noise lifts one of these over its threshold counts as delta. The others are hidden
by the noise, and what that costs is added up as zCDP. docs/privacy/dp-statistics.md has the proof.

The two deltas are added. A key is either lifted or hidden, so for one table alone less would do;
but which keys of a later table are which can depend on how much the earlier ones gave away.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

__all__ = ["TableLoss", "composed_delta", "max_rho", "zcdp_delta"]

Floats = NDArray[np.float64]

_ORDERS = 1 + np.logspace(-2, 5, 1500)  # any order gives a bound; these find the least nearly
_SAFE = 1 + 1e-9  # more than what floats round away


@dataclass(frozen=True)
class TableLoss:
    """One table: its rho, a user's keys at most, and the chance that one key of hers shows."""

    rho: float
    contribution_bound: int
    delta_per_key: float


def zcdp_delta(rho: Floats, epsilon: float) -> Floats:
    """Bound delta at this epsilon of mechanisms that are rho-zCDP.

    Canonne, Kamath and Steinke 2020, Proposition 12, at the best of many orders.

    >>> bool(zcdp_delta(np.array([0.02]), 1.0)[0] < 1e-7)
    True
    """
    rows = np.asarray(rho, np.float64)[:, None]
    a = _ORDERS[None, :]
    exponent = (a - 1) * (a * rows - epsilon) - np.log(a - 1) + a * np.log1p(-1 / a)
    # What a float cannot hold is rounded to 0, which is no bound.
    return np.asarray(np.clip(np.exp(exponent.min(axis=1)) * _SAFE, 1e-300, 1.0))


def max_rho(epsilon: float, delta: float) -> float:
    """Give the greatest rho, nearly, that is within epsilon and delta.

    >>> bool(zcdp_delta(np.array([most_rho(1.0, 1e-6)]), 1.0)[0] <= 1e-6)
    True
    """
    low, high = 0.0, epsilon
    for _ in range(60):
        middle = (low + high) / 2
        within = float(zcdp_delta(np.array([middle]), epsilon)[0]) <= delta
        low, high = (middle, high) if within else (low, middle)
    return low


def composed_delta(parts: Sequence[TableLoss], rest: float, epsilon: Fraction) -> float:
    """Bound delta at this epsilon of Gaussian tables and of further noise of rho `rest`."""
    shown = sum(part.contribution_bound * part.delta_per_key for part in parts) * _SAFE
    if shown >= 0.5:
        return 1.0
    # Where she is left out no key of hers can show: that costs -ln(1 - shown) of epsilon.
    left = float(epsilon) - shown / (1 - shown) * _SAFE
    rho = (sum(part.rho for part in parts) + rest) * _SAFE
    return (float(zcdp_delta(np.array([rho]), left)[0]) + shown) * _SAFE
