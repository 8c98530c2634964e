"""Counts of public keys: noise on each of them, also on those that no user has.

Every cell gets noise, so nothing depends on which keys the log has, and no delta is needed. The
threshold is post-processing: it only keeps the tables short. Cells that are 0 are not visited one
by one, since there may be 10^12 of them. The released ones among them are sampled directly, with
exactly the probabilities that noise on every cell would give. docs/privacy/dp-statistics-pure.md
has the proof.
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
from .noise import Integers, NoiseSource, exact_scale
from .seeded_noise import geometric_from_bits

_STEP = 256  # scales are multiples of 1/256, which OpenDP takes as they are
_SLOWEST = Fraction(2**40 - 1)  # the largest scale of gaps: the widest noise that can be drawn
_MAX_CELLS = 2**50  # about a thousand candidates at the largest scale of gaps
_BATCH = 1 << 16
_DIGITS = 50
_BITS = 64


@dataclass(frozen=True)
class PublicCounts:
    """One table of counts over public cells.

    A user changes at most `contribution_bound` cells, by one each. A cell is released, with its
    noisy count, if that is at least `threshold`.
    """

    scale: Fraction
    threshold: int
    contribution_bound: int

    def __post_init__(self) -> None:
        if self.threshold < 1:  # about half of all empty cells or more would be released
            raise UsageError(
                f"a threshold of {self.threshold} hides no empty cell", hint="1 or more"
            )

    @classmethod
    def for_cells(cls, keys: int, epsilon: Fraction, cells: int) -> PublicCounts:
        """Return noise and threshold at which at most one empty cell is released on average.

        >>> PublicCounts.for_cells(1, Fraction(1), 1_000_000)
        PublicCounts(scale=Fraction(1, 1), threshold=14, contribution_bound=1)
        """
        scale = exact_scale(keys / epsilon)
        return cls(scale, min_threshold(laplace_tail, scale, Fraction(1, max(1, cells))), keys)

    @property
    def epsilon(self) -> Fraction:
        """The epsilon of the table: a user changes `contribution_bound` counts by one."""
        return self.contribution_bound / self.scale

    @property
    def rho(self) -> Fraction:
        """The zCDP loss: `contribution_bound` counts move by one, each a pure 1 / scale."""
        return self.contribution_bound * pure_rho(1 / self.scale)

    @property
    def false_positive_rate(self) -> Fraction:
        """A bound on the probability that an empty cell is released."""
        return laplace_tail(self.scale, self.threshold)

    def release(
        self, places: Integers, counts: Integers, cells: int, source: NoiseSource
    ) -> tuple[Integers, Integers]:
        """Return the released cells, in increasing order, and their noisy counts.

        `places` are the cells with a count, in increasing order; the others of `cells` are 0.
        """
        _check(places, counts, cells)
        noisy = counts + source.laplace(len(counts), self.scale)
        passes = noisy >= self.threshold
        empty = EmptyCellSampler(self.scale, self.threshold).sample(cells - len(places), source)
        # The geometric distribution is memoryless: the excess over the threshold is geometric too.
        lifted = self.threshold + _geometric(len(empty), self.scale, source)
        before = places - np.arange(len(places))  # empty cells before each that has a count
        empty_places = empty + np.searchsorted(before, empty, side="right")
        released = np.concatenate([places[passes], empty_places])
        order = np.argsort(released)
        return released[order], np.concatenate([noisy[passes], lifted])[order]


@dataclass(frozen=True)
class EmptyCellSampler:
    """Samples which empty cells are released: each independently with p = P(noise >= threshold).

    First come candidates, each with a probability of at least p that is easy to sample: the gaps
    between them are geometric. Then each candidate stays with exactly the conditional probability
    that makes the product p.
    """

    scale: Fraction
    threshold: int

    @cached_property
    def skip_scale(self) -> Fraction:
        """The scale of the gaps: the largest one at which candidates are frequent enough."""
        bound = laplace_tail(self.scale, self.threshold)  # at least p
        if bound * _SLOWEST < Fraction(1, 2):
            return _SLOWEST
        with localcontext(prec=_DIGITS):
            rate = -(1 - Decimal(bound.numerator) / bound.denominator).ln()
            gap_scale = Fraction(int(_STEP / rate), _STEP)
        gap_scale = min(gap_scale, _SLOWEST)
        # When the loop ends, 1 - exp(-1 / gap_scale) >= p is proved.
        while self._bracket_stay(gap_scale, _DIGITS)[1] > 1:
            gap_scale -= Fraction(1, _STEP)
        return gap_scale

    def skip_probability(self, digits: int) -> tuple[Fraction, Fraction]:
        """Bracket the probability that a candidate stays: p / (1 - exp(-1 / skip_scale))."""
        return self._bracket_stay(self.skip_scale, digits)

    def _bracket_stay(self, gap_scale: Fraction, digits: int) -> tuple[Fraction, Fraction]:
        power = _exp(-self.threshold / self.scale, digits)
        ratio = _exp(-1 / self.scale, digits)
        miss = _exp(-1 / gap_scale, digits)
        low = power[0] / ((1 + ratio[1]) * (1 - miss[0]))
        return low, power[1] / ((1 + ratio[0]) * (1 - miss[1]))

    def sample(self, cells: int, source: NoiseSource) -> Integers:
        """Return the indices of the released empty cells, in increasing order."""
        rate = 1 - _exp(-1 / self.skip_scale, _DIGITS)[0]
        released, begin = [np.zeros(0, np.int64)], 0
        while begin < cells:
            size = min(int((cells - begin) * rate) + 16, _BATCH, max(1, 2**62 // (cells + 1)))
            gaps = np.minimum(_geometric(size, self.skip_scale, source), cells)  # no sum overflows
            candidates = begin + np.cumsum(gaps + 1) - 1
            candidates = candidates[candidates < cells]
            released.append(candidates[self._stays(len(candidates), source)])
            begin = int(candidates[-1]) + 1 if len(candidates) == size else cells
        return np.concatenate(released)

    def _stays(self, size: int, source: NoiseSource) -> NDArray[np.bool_]:
        """Return for each candidate whether a uniform number is below its probability to stay.

        The uniform number has as many bits as the decision needs, so the probability is exact.
        """
        low, high = self.skip_probability(_DIGITS)
        drawn = source.uint64s(size)
        stays = drawn < np.uint64(int(low * 2**_BITS))
        last = min(-int(-high * 2**_BITS // 1) - 1, 2**_BITS - 1)
        for index in np.flatnonzero(~stays & (drawn <= np.uint64(last))):
            stays[index] = self._decide(int(drawn[index]), source)
        return stays

    def _decide(self, drawn: int, source: NoiseSource) -> bool:
        """Draw further bits, and compute further digits, until the comparison is certain."""
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
    increasing = bool((np.diff(places) > 0).all())
    if not (len(places) == len(counts) and inside and increasing and 0 <= cells < _MAX_CELLS):
        raise UsageError(
            f"these are not counts of {cells:,} cells", hint="this is a defect: please report it"
        )


def _geometric(size: int, scale: Fraction, source: NoiseSource) -> Integers:
    """Sample integers g >= 0 with probabilities proportional to exp(-g / scale).

    Discrete Laplace noise, given that it is not negative, has this distribution.
    """
    if not source.is_secure:
        return geometric_from_bits(source.uint64s(size), scale)
    accepted, missing = [np.zeros(0, np.int64)], size
    while missing > 0:
        drawn = source.laplace(2 * missing + 8, scale)
        accepted.append(drawn[drawn >= 0])
        missing -= len(accepted[-1])
    return np.concatenate(accepted)[:size]


def _exp(value: Fraction, digits: int) -> tuple[Fraction, Fraction]:
    """Bracket e to a negative power.

    Decimal's own `exp` rounds to the nearest, so one unit in the last place is taken or added.
    """
    with localcontext(prec=digits, rounding=ROUND_FLOOR):
        low = (Decimal(value.numerator) / value.denominator).exp().next_minus()
    with localcontext(prec=digits, rounding=ROUND_CEILING):
        high = (Decimal(value.numerator) / value.denominator).exp().next_plus()
    return max(Fraction(0), Fraction(low)), Fraction(high)
