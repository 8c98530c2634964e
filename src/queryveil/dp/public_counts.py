"""Counts of keys that are public beforehand: noise on each, also on those that nobody has.

Every cell gets noise, so nothing depends on which keys the log has, and no delta is needed. The
threshold is post-processing: it only keeps the tables short. Cells that are 0 are not visited one
by one, since there may be 10^12 of them. Those that show are drawn directly, with exactly the
chances that noise on every cell would give. docs/privacy/dp-statistics-pure.md has the proof.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..errors import UsageError
from .accounting import laplace_tail, min_threshold
from .losses import pure_rho
from .noise import Integers, NoiseSource, exact_scale, geometric_from_bits

_STEP = 256  # scales are multiples of 1/256, which OpenDP takes as they are
_SLOWEST = Fraction(2**40 - 1)  # the widest noise that is drawn
_MOST_CELLS = 2**50  # about a thousand candidates at the slowest pace
_BATCH = 1 << 16
_DIGITS = 50
_BITS = 64


@dataclass(frozen=True)
class PublicCounts:
    """One table of counts over public cells; a user changes at most `keys` of them, by one.

    A cell shows if its noisy count is at least `threshold`, and the noisy count is what is told.
    """

    scale: Fraction
    threshold: int
    contribution_bound: int

    def __post_init__(self) -> None:
        if self.threshold < 1:  # most empty cells would show
            raise UsageError(
                f"a threshold of {self.threshold} hides no empty cell", hint="1 or more"
            )

    @classmethod
    def for_cells(cls, keys: int, epsilon: Fraction, cells: int) -> PublicCounts:
        """Choose noise and threshold: of so many cells, if all are 0, at most one shows on average.

        >>> PublicCounts.for_cells(1, Fraction(1), 1_000_000)
        PublicCounts(scale=Fraction(1, 1), threshold=14, contribution_bound=1)
        """
        scale = exact_scale(keys / epsilon)
        return cls(scale, min_threshold(laplace_tail, scale, Fraction(1, max(1, cells))), keys)

    @property
    def epsilon(self) -> Fraction:
        """What it costs: a user changes `keys` counts by one."""
        return self.contribution_bound / self.scale

    @property
    def rho(self) -> Fraction:
        """What it costs as zCDP: `keys` counts move by one, and each costs a pure 1 / scale."""
        return self.contribution_bound * pure_rho(1 / self.scale)

    @property
    def false_positive_rate(self) -> Fraction:
        """The chance, at most, that a cell which nobody has shows."""
        return laplace_tail(self.scale, self.threshold)

    def release(
        self, places: Integers, counts: Integers, cells: int, source: NoiseSource
    ) -> tuple[Integers, Integers]:
        """Give the places that show, in rising order, and their noisy counts.

        `places` are the cells with a count, rising; all others of the `cells` are 0.
        """
        _check(places, counts, cells)
        noisy = counts + source.laplace(len(counts), self.scale)
        shown = noisy >= self.threshold
        empty = EmptyCellSampler(self.scale, self.threshold).sample(cells - len(places), source)
        # Above the threshold the noise has no memory: what is left is geometric again.
        lifted = self.threshold + _geometric(len(empty), self.scale, source)
        before = places - np.arange(len(places))  # empty cells before each that has a count
        spots = empty + np.searchsorted(before, empty, side="right")
        found = np.concatenate([places[shown], spots])
        order = np.argsort(found)
        return found[order], np.concatenate([noisy[shown], lifted])[order]


@dataclass(frozen=True)
class EmptyCellSampler:
    """Which of many empty cells show: each with chance p = P(noise >= threshold), on its own.

    Candidates come first, with a chance of at least p that is easy to draw: the gaps between
    them are geometric. Then each stays with exactly the chance that is missing.
    """

    scale: Fraction
    threshold: int

    @cached_property
    def skip_scale(self) -> Fraction:
        """The scale of the gaps: the greatest one whose candidates are frequent enough."""
        chance = laplace_tail(self.scale, self.threshold)  # at least p
        if chance * _SLOWEST < Fraction(1, 2):
            return _SLOWEST
        with localcontext(prec=_DIGITS):
            rate = -(1 - Decimal(chance.numerator) / chance.denominator).ln()
            pace = Fraction(int(_STEP / rate), _STEP)
        pace = min(pace, _SLOWEST)
        while self._stay(pace, _DIGITS)[1] > 1:  # proves that 1 - exp(-1 / pace) >= p
            pace -= Fraction(1, _STEP)
        return pace

    def skip_probability(self, digits: int) -> tuple[Fraction, Fraction]:
        """Bracket the chance that a candidate stays: p / (1 - exp(-1 / pace))."""
        return self._stay(self.skip_scale, digits)

    def _stay(self, pace: Fraction, digits: int) -> tuple[Fraction, Fraction]:
        power = _exp(-self.threshold / self.scale, digits)
        ratio = _exp(-1 / self.scale, digits)
        miss = _exp(-1 / pace, digits)
        low = power[0] / ((1 + ratio[1]) * (1 - miss[0]))
        return low, power[1] / ((1 + ratio[0]) * (1 - miss[1]))

    def sample(self, cells: int, source: NoiseSource) -> Integers:
        """Give the numbers of the empty cells that show, in rising order."""
        rate = 1 - _exp(-1 / self.skip_scale, _DIGITS)[0]
        found, begin = [np.zeros(0, np.int64)], 0
        while begin < cells:
            size = min(int((cells - begin) * rate) + 16, _BATCH, max(1, 2**62 // (cells + 1)))
            gaps = np.minimum(_geometric(size, self.skip_scale, source), cells)  # no sum overflows
            places = begin + np.cumsum(gaps + 1) - 1
            places = places[places < cells]
            found.append(places[self._stays(len(places), source)])
            begin = int(places[-1]) + 1 if len(places) == size else cells
        return np.concatenate(found)

    def _stays(self, size: int, source: NoiseSource) -> NDArray[np.bool_]:
        """Decide for each candidate: is a random number of endless bits below the chance?"""
        low, high = self.skip_probability(_DIGITS)
        drawn = source.uint64s(size)
        stays = drawn < np.uint64(int(low * 2**_BITS))
        last = min(-int(-high * 2**_BITS // 1) - 1, 2**_BITS - 1)
        for place in np.flatnonzero(~stays & (drawn <= np.uint64(last))):
            stays[place] = self._decided(int(drawn[place]), source)
        return stays

    def _decided(self, drawn: int, source: NoiseSource) -> bool:
        """Take more bits and more digits until they tell."""
        bits, digits = _BITS, _DIGITS
        while True:
            low, high = self.skip_probability(digits)
            if Fraction(drawn + 1, 2**bits) <= low:
                return True
            if Fraction(drawn, 2**bits) >= high:
                return False
            drawn = drawn << _BITS | int(source.uint64s(1)[0])
            bits, digits = bits + _BITS, digits + 20  # 20 digits are more than 64 bits


def _check(places: Integers, counts: Integers, cells: int) -> None:
    inside = not len(places) or (places[0] >= 0 and places[-1] < cells)
    rising = bool((np.diff(places) > 0).all())
    if not (len(places) == len(counts) and inside and rising and 0 <= cells < _MOST_CELLS):
        raise UsageError(f"these are no counts of {cells:,} cells", hint="this is a defect")


def _geometric(size: int, scale: Fraction, source: NoiseSource) -> Integers:
    """Draw integers g from 0 on with chances in proportion to exp(-g / scale).

    Discrete Laplace noise that is not negative is just that.
    """
    if not source.is_secure:
        return geometric_from_bits(source.uint64s(size), scale)
    found, missing = [np.zeros(0, np.int64)], size
    while missing > 0:
        drawn = source.laplace(2 * missing + 8, scale)
        found.append(drawn[drawn >= 0])
        missing -= len(found[-1])
    return np.concatenate(found)[:size]


def _exp(value: Fraction, digits: int) -> tuple[Fraction, Fraction]:
    """Bracket e to a negative power.

    Decimal's own `exp` rounds to the nearest, so one unit in the last place is taken or added.
    """
    with localcontext(prec=digits, rounding=ROUND_FLOOR):
        low = (Decimal(value.numerator) / value.denominator).exp().next_minus()
    with localcontext(prec=digits, rounding=ROUND_CEILING):
        high = (Decimal(value.numerator) / value.denominator).exp().next_plus()
    return max(Fraction(0), Fraction(low)), Fraction(high)
