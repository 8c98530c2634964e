"""What several noisy tables cost together.

A user changes at most so many keys of each table by one. Some of them nobody else has: these show
only if noise lifts one over its threshold, and that chance counts as delta. The others are hidden
by the noise. The more keys of a user are her own alone, the fewer are left to be hidden, so that
the two never cost their worst together. docs/privacy/dp-statistics.md has the proof.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
from numpy.typing import NDArray

__all__ = ["Part", "joint_delta", "zcdp_delta"]

Floats = NDArray[np.float64]

_ORDERS = 1 + np.logspace(-2, 5, 1500)  # any order gives a bound; these find the least nearly
_SAFE = 1 + 1e-9  # more than what floats round away
_CELLS = 8  # into which the number of a user's own keys is cut, if there are several tables


@dataclass(frozen=True)
class Part:
    """One table: its rho, a user's keys at most, and the chance that one key of hers shows."""

    rho: float
    keys: int
    chance: float


def zcdp_delta(rho: Floats, epsilon: float) -> Floats:
    """Bound delta at this epsilon of mechanisms that are rho-zCDP.

    Canonne, Kamath and Steinke 2020, Proposition 12, at the best of many orders.

    >>> bool(zcdp_delta(np.array([0.02]), 1.0)[0] < 1e-7)
    True
    """
    rows = np.asarray(rho, np.float64)[:, None]
    a = _ORDERS[None, :]
    exponent = (a - 1) * (a * rows - epsilon) - np.log(a - 1) + a * np.log1p(-1 / a)
    return np.asarray(np.minimum(np.exp(exponent.min(axis=1)) * _SAFE, 1.0))


def joint_delta(parts: Sequence[Part], rest: float, epsilon: Fraction) -> float:
    """Bound delta at this epsilon of Gaussian tables and of further noise of rho `rest`.

    For every way to cut a user's keys into her own and shared ones, delta is at most the
    chance that an own key shows, and what zCDP gives for the noise on the shared ones. Ways
    are taken together in cells: the chance at the upper end, the noise at the lower.
    """
    shown = sum(part.keys * part.chance for part in parts)
    if shown >= 0.5:
        return 1.0
    # Where she is left out no own key can show: that costs -ln(1 - shown) of epsilon.
    left = float(epsilon) - shown / (1 - shown) * _SAFE
    cells = [_cells(part.keys, len(parts)) for part in parts]
    ways = np.array(list(product(*cells)), np.float64).reshape(-1, len(parts), 2)
    keys = np.array([part.keys for part in parts], np.float64)
    rho, chance = (np.array([getattr(p, name) for p in parts]) for name in ("rho", "chance"))
    hidden = (rho * (1 - ways[:, :, 0] / keys)).sum(axis=1) + rest
    own = (chance * ways[:, :, 1]).sum(axis=1)
    return float((zcdp_delta(hidden * _SAFE, left) + own).max() * _SAFE)


def _cells(keys: int, parts: int) -> list[tuple[int, int]]:
    """Cut 0..keys into cells, each number its own if there are few."""
    if parts == 1 or keys <= _CELLS:
        return [(n, n) for n in range(keys + 1)]
    edges = np.unique(np.linspace(0, keys + 1, _CELLS + 1).astype(int)).tolist()
    return [(low, high - 1) for low, high in pairwise(edges)]
