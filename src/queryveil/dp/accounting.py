"""What several noisy tables cost together.

A user changes at most so many keys of each table by one. Some keys may show only because of her:
the chance that noise lifts one of these over its threshold counts as delta. The others are hidden
by the noise, and what that costs is added up as zCDP. docs/privacy/dp-statistics.md has the proof.

The two deltas are added. A key is either lifted or hidden, so for one table alone less would do;
but which keys of a later table are which can depend on how much the earlier ones gave away.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, getcontext, localcontext
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ..errors import UsageError

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

    >>> bool(zcdp_delta(np.array([max_rho(1.0, 1e-6)]), 1.0)[0] <= 1e-6)
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


Tail = Callable[[Fraction, int], Fraction]

_DIGITS = 50
_ROOT_OF_TWO_PI = Decimal("2.5066282746310005024157652848")  # rounded down
_FAR = 10**9


def laplace_tail(scale: Fraction, least: int) -> Fraction:
    """Bound the chance that discrete Laplace noise is at least so much (1 or more).

    It is a^least / (1 + a) with a = exp(-1 / scale).

    >>> float(laplace_tail(Fraction(1), 1))  # e^-1 / (1 + e^-1)
    0.2689414213699951
    """
    with localcontext(prec=_DIGITS, rounding=ROUND_CEILING):
        power = _exp(-Fraction(least) / scale)
    with localcontext(prec=_DIGITS, rounding=ROUND_FLOOR):
        below = 1 + _exp(-1 / scale)
    return _ratio(power, below)


def gaussian_tail(scale: Fraction, least: int) -> Fraction:
    """Bound the chance that discrete Gaussian noise is at least so much (1 or more).

    Each weight exp(-z*z / (2 scale^2)) beyond `least` is at most the one before times the first
    ratio, so the sum is below a geometric one; all weights sum up to more than
    scale * sqrt(2 pi), and to more than 1.
    """
    twice = 2 * scale * scale
    with localcontext(prec=_DIGITS, rounding=ROUND_CEILING):
        first = _exp(-(least * least) / twice)
        ratio = _exp(-(2 * least + 1) / twice)
    with localcontext(prec=_DIGITS, rounding=ROUND_FLOOR):
        whole = max(Decimal(1), _ROOT_OF_TWO_PI * scale.numerator / scale.denominator)
        below = (1 - ratio) * whole
    return min(Fraction(1), _ratio(first, below))


def min_threshold(tail: Tail, scale: Fraction, chance: Fraction) -> int:
    """Give the least whole number, 1 or more, that noise reaches with at most this chance."""
    low, high = 0, 1  # the chance at `low` is too great, or low is 0
    while tail(scale, high) > chance:
        low, high = high, 2 * high
        if high > _FAR:
            raise UsageError("no threshold is high enough", hint="take a larger epsilon or delta")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if tail(scale, middle) > chance else (low, middle)
    return high


def _exp(value: Fraction) -> Decimal:
    """Give e to a power, rounded as the context says.

    Decimal's own `exp` rounds to the nearest, so one unit in the last place is added or taken.
    """
    found = (Decimal(value.numerator) / value.denominator).exp()
    return found.next_plus() if getcontext().rounding == ROUND_CEILING else found.next_minus()


def _ratio(above: Decimal, below: Decimal) -> Fraction:
    return Fraction(above) / Fraction(below)
