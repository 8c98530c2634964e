"""Composition of several noisy tables, and tail bounds of their noise.

A user changes at most `contribution_bound` counts of each table, by one each. Some keys may be
released only because of this user: the probability that noise lifts one of them over its threshold
counts as delta. The other keys are hidden by the noise; their privacy loss is composed as zCDP.
docs/privacy/dp-statistics.md has the proof.

The two deltas are added. A key is either lifted or hidden, so for one table alone less would do;
but which keys of a later table are which can depend on how much the earlier tables revealed.
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

ORDERS = 1 + np.logspace(-2, 5, 1500)  # any order gives a bound; these come close to the best
_SAFE = 1 + 1e-9  # larger than the rounding error of the float computations below


@dataclass(frozen=True)
class TableLoss:
    """The privacy loss of one table.

    `delta_per_key` bounds the probability that a key is released which only one user lifts.
    """

    rho: float
    contribution_bound: int
    delta_per_key: float


def zcdp_delta(rho: Floats, epsilon: float) -> Floats:
    """Bound delta at this epsilon of mechanisms that are rho-zCDP.

    Canonne, Kamath and Steinke 2020, Proposition 12, minimized over many orders.

    >>> bool(zcdp_delta(np.array([0.02]), 1.0)[0] < 1e-7)
    True
    """
    rows = np.asarray(rho, np.float64)[:, None]
    a = ORDERS[None, :]
    exponent = (a - 1) * (a * rows - epsilon) - np.log(a - 1) + a * np.log1p(-1 / a)
    # A value that underflows becomes 0, which is no upper bound; so the result is at least 1e-300.
    return np.asarray(np.clip(np.exp(exponent.min(axis=1)) * _SAFE, 1e-300, 1.0))


def max_rho(epsilon: float, delta: float) -> float:
    """Return nearly the largest rho whose zCDP guarantee is within epsilon and delta.

    >>> bool(zcdp_delta(np.array([max_rho(1.0, 1e-6)]), 1.0)[0] <= 1e-6)
    True
    """
    low, high = 0.0, epsilon
    for _ in range(60):
        middle = (low + high) / 2
        within = float(zcdp_delta(np.array([middle]), epsilon)[0]) <= delta
        low, high = (middle, high) if within else (low, middle)
    return low


def composed_delta(tables: Sequence[TableLoss], other_rho: float, epsilon: Fraction) -> float:
    """Bound delta at this epsilon of Gaussian tables and of further noise of rho `other_rho`."""
    lifted = sum(table.contribution_bound * table.delta_per_key for table in tables) * _SAFE
    if lifted >= 0.5:
        return 1.0
    # Without the user none of their own keys can be released. That costs -ln(1 - lifted) of
    # epsilon, which is at most lifted / (1 - lifted).
    remaining = float(epsilon) - lifted / (1 - lifted) * _SAFE
    rho = (sum(table.rho for table in tables) + other_rho) * _SAFE
    return (float(zcdp_delta(np.array([rho]), remaining)[0]) + lifted) * _SAFE


Tail = Callable[[Fraction, int], Fraction]

_DIGITS = 50
_ROOT_OF_TWO_PI = Decimal("2.5066282746310005024157652848")  # rounded down
_MAX_THRESHOLD = 10**9


def laplace_tail(scale: Fraction, value: int) -> Fraction:
    """Bound the probability that discrete Laplace noise is at least `value` (1 or more).

    It is a^value / (1 + a) with a = exp(-1 / scale).

    >>> float(laplace_tail(Fraction(1), 1))  # e^-1 / (1 + e^-1)
    0.2689414213699951
    """
    with localcontext(prec=_DIGITS, rounding=ROUND_CEILING):
        power = _exp(-Fraction(value) / scale)
    with localcontext(prec=_DIGITS, rounding=ROUND_FLOOR):
        denominator = 1 + _exp(-1 / scale)
    return _divide(power, denominator)


def gaussian_tail(scale: Fraction, value: int) -> Fraction:
    """Bound the probability that discrete Gaussian noise is at least `value` (1 or more).

    Each weight exp(-z*z / (2 scale^2)) beyond `value` is at most the one before times the first
    ratio, so the sum is below a geometric one; all weights sum up to more than
    scale * sqrt(2 pi), and to more than 1.
    """
    twice = 2 * scale * scale
    with localcontext(prec=_DIGITS, rounding=ROUND_CEILING):
        first = _exp(-(value * value) / twice)
        ratio = _exp(-(2 * value + 1) / twice)
    with localcontext(prec=_DIGITS, rounding=ROUND_FLOOR):
        total = max(Decimal(1), _ROOT_OF_TWO_PI * scale.numerator / scale.denominator)
        denominator = (1 - ratio) * total
    return min(Fraction(1), _divide(first, denominator))


def min_threshold(tail: Tail, scale: Fraction, probability: Fraction) -> int:
    """Return the smallest integer, 1 or more, that noise reaches with at most this probability."""
    low, high = 0, 1  # the tail at `low` is above `probability`, or low is 0
    while tail(scale, high) > probability:
        low, high = high, 2 * high
        if high > _MAX_THRESHOLD:
            raise UsageError("no threshold is high enough", hint="take a larger epsilon or delta")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if tail(scale, middle) > probability else (low, middle)
    return high


def _exp(value: Fraction) -> Decimal:
    """Return a bound on e to a power: upper or lower, by the rounding of the context.

    Decimal's own `exp` rounds to the nearest, so one unit in the last place is added or taken.
    """
    power = (Decimal(value.numerator) / value.denominator).exp()
    return power.next_plus() if getcontext().rounding == ROUND_CEILING else power.next_minus()


def _divide(numerator: Decimal, denominator: Decimal) -> Fraction:
    return Fraction(numerator) / Fraction(denominator)
