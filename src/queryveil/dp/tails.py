"""How likely noise is to reach far: bounds from above, in decimals that are rounded up.

With integer noise the discrete tail counts; the formulas of the papers are for continuous noise.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, getcontext, localcontext
from fractions import Fraction

from ..errors import UsageError

__all__ = ["Tail", "gaussian_tail", "laplace_tail", "min_threshold"]

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
