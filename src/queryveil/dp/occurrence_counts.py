"""Selection of unknown keys by their occurrences (Korolova et al. 2009, Release-Data).

A user contributes at most `contribution_bound` occurrences in all, and may spend several of them on
one key. So a key that only this user has can have a count of 1, 2, ... or `contribution_bound`. The
paper's noise is continuous; here it is an integer, and the tail is the discrete one.
docs/privacy/click-graph.md has the proof.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal, localcontext
from fractions import Fraction
from math import exp, expm1, log, log1p

import numpy as np

from ..errors import UsageError
from .accounting import laplace_tail, min_threshold
from .noise import Integers, NoiseSource, exact_scale
from .public_counts import EmptyCellSampler

_DIGITS = 50


@dataclass(frozen=True)
class OccurrenceThreshold:
    """The key selection: a key is released if its count plus Laplace noise is above the threshold.

    A user adds at most `contribution_bound` occurrences. The threshold is at least that, so that
    noise must be 1 or more to lift a key that only one user has.
    """

    scale: Fraction
    threshold: int
    contribution_bound: int

    def __post_init__(self) -> None:
        if self.threshold < self.contribution_bound or self.contribution_bound < 1:
            raise UsageError(
                f"the threshold must be at least the contribution bound, and that at least 1; got "
                f"a threshold of {self.threshold} for {self.contribution_bound} occurrences"
            )

    @classmethod
    def calibrate(cls, keys: int, epsilon: Fraction, delta: Fraction) -> OccurrenceThreshold:
        """Return the selection with the lowest threshold that is within epsilon and delta.

        >>> OccurrenceThreshold.calibrate(2, Fraction(1), Fraction(1, 10**5))
        OccurrenceThreshold(scale=Fraction(2, 1), threshold=24, contribution_bound=2)
        """
        scale = exact_scale(keys / epsilon)
        alone = min_threshold(laplace_tail, scale, delta) + keys - 1
        spread = min_threshold(laplace_tail, scale, delta / keys)
        return cls(scale, max(alone, spread), keys)._check_budget(epsilon, delta)

    @classmethod
    def as_published(cls, keys: int, epsilon: Fraction, delta: Fraction) -> OccurrenceThreshold:
        """Return the selection with the paper's threshold, K = d (1 - ln(2 delta / d) / epsilon).

        It is rounded up, and so is the scale d / epsilon in it. Integer noise is above a number
        less often than continuous noise, so the paper's delta holds here too.

        >>> OccurrenceThreshold.as_published(2, Fraction(1), Fraction(1, 10**5))
        OccurrenceThreshold(scale=Fraction(2, 1), threshold=26, contribution_bound=2)
        """
        scale = exact_scale(keys / epsilon)
        above = min_threshold(_continuous_tail, scale, delta / keys)
        return cls(scale, keys + above, keys)._check_budget(epsilon, delta)

    def passes(self, occurrences: int) -> Fraction:
        """Bound the probability that a key is released which only one user has, so many times."""
        return laplace_tail(self.scale, self.threshold + 1 - occurrences)

    @property
    def delta(self) -> Fraction:
        """A bound on the probability that any key is released which only one user has.

        The worst case is one key with all occurrences of the user, or as many keys with one each:
        what lies between is less, since the probability is convex in the occurrences.
        """
        return max(self.passes(self.contribution_bound), self.contribution_bound * self.passes(1))

    @property
    def epsilon(self) -> Fraction:
        """The epsilon of the selection.

        Occurrences on keys that others have cost 1 / scale each. That a key which only one user
        has is not released is more likely without this user: by a factor whose logarithm is
        -ln(1 - p), which is at most p / (1 - p).
        """
        bound = self.contribution_bound
        return max(
            bound / self.scale,
            _odds(self.passes(bound)),
            bound * _odds(self.passes(1)),
        )

    def release(self, counts: Integers, source: NoiseSource) -> Integers:
        """Return the indices of the released keys; a key with count 0 is never released."""
        indices = np.flatnonzero(counts > 0)
        noisy = counts[indices] + source.laplace(len(indices), self.scale)
        return indices[noisy > self.threshold]

    def release_grouped(self, occurrences: int, keys: int, source: NoiseSource) -> int:
        """Sample how many of so many keys are released that all have the same low count.

        Which of them are released is then a uniform choice. Many keys of a log are rare: with
        their number alone, noise for each of them need not be drawn.
        """
        if not 0 < occurrences <= self.threshold:
            raise UsageError(
                f"occurrences must be from 1 to the threshold of {self.threshold}, "
                f"got {occurrences}"
            )
        reach = self.threshold + 1 - occurrences
        return len(EmptyCellSampler(self.scale, reach).sample(keys, source))

    def _check_budget(self, epsilon: Fraction, delta: Fraction) -> OccurrenceThreshold:
        """Return this selection; raise UsageError if it costs more than epsilon and delta."""
        if self.epsilon > epsilon or self.delta > delta:
            raise UsageError(
                "this epsilon and delta cannot be kept", hint="take a smaller delta: it must be "
                "far below epsilon",
            )  # fmt: skip
        return self


@dataclass(frozen=True)
class LaplaceCounts:
    """Laplace noise on counts of known keys; a user adds at most `max_contribution` in all."""

    scale: Fraction
    max_contribution: int

    @classmethod
    def for_epsilon(cls, max_contribution: int, epsilon: Fraction) -> LaplaceCounts:
        """Return the noise that costs at most epsilon.

        >>> LaplaceCounts.for_epsilon(3, Fraction(1, 2))
        LaplaceCounts(scale=Fraction(6, 1), max_contribution=3)
        """
        return cls(exact_scale(max_contribution / epsilon), max_contribution)

    @property
    def epsilon(self) -> Fraction:
        """The epsilon of the noise."""
        return self.max_contribution / self.scale

    def release(self, counts: Integers, source: NoiseSource) -> Integers:
        """Return every count with noise, zeros included."""
        return counts + source.laplace(len(counts), self.scale)


def _odds(probability: Fraction) -> Fraction:
    return probability / (1 - probability)


def _continuous_tail(scale: Fraction, value: int) -> Fraction:
    """Bound the probability that continuous Laplace noise is at least `value`."""
    with localcontext(prec=_DIGITS, rounding=ROUND_CEILING):
        power = -Fraction(value) / scale
        # Decimal's `exp` rounds to the nearest: one unit in the last place makes it a bound.
        return Fraction((Decimal(power.numerator) / power.denominator).exp().next_plus()) / 2


def published_threshold(d: int, epsilon: float, delta: float) -> float:
    """Return the lowest threshold that the theorem allows, with noise of scale d / epsilon.

    K = d (1 - ln(2 delta / d) / epsilon), which is the theorem's delta solved for K.

    >>> round(published_threshold(20, log(10), 1e-5))
    140
    """
    if d < 1 or not epsilon > 0 or not 0 < delta <= d / 2:
        raise UsageError(
            f"there is no threshold for d={d}, epsilon={epsilon:g}, delta={delta:g}",
            hint="d from 1, epsilon above 0, delta above 0 and at most d/2",
        )
    return d * (1 - log(2 * delta / d) / epsilon)


def published_privacy_loss(d: int, threshold: float, scale: float) -> tuple[float, float]:
    """Return epsilon and delta of selecting queries, by the theorem.

    alpha = max(e^(1/b), 1 + 1 / (2 e^((K-1)/b) - 1)), epsilon = d ln(alpha),
    delta = (d/2) e^((d-K)/b). Noisy counts of the selected queries cost their own epsilon on top.

    >>> epsilon, delta = published_privacy_loss(1, 5.6990, 0.43429)
    >>> round(exp(epsilon), 2), round(delta * 1e5, 2)
    (10.0, 1.0)
    """
    _check(d, threshold, scale)
    # 2 e^x - 1 is written so that it neither overflows nor loses the digits of a small x.
    x = (threshold - 1) / scale
    other = log1p(exp(-x) / (1 - expm1(-x)))
    return d * max(1 / scale, other), d / 2 * exp((d - threshold) / scale)


def exact_delta(d: int, threshold: float, scale: float) -> float:
    """Bound delta of the same mechanism: P(a query of only one user is released).

    A query that one user sent t times, and nobody else, is released with probability
    p(t) = e^((t-K)/b) / 2. With at most d occurrences in all the sum of p is greatest for one query
    sent d times or for d queries sent once, since p is convex. The theorem's delta is d times the
    first.

    >>> f"{exact_delta(20, 140.0, 8.686):.1e}"
    '1.1e-06'
    """
    _check(d, threshold, scale)
    return max(_tail(d, threshold, scale), d * _tail(1, threshold, scale))


def exact_epsilon(d: int, threshold: float, scale: float) -> float:
    """Bound epsilon of the same mechanism: shared queries cost 1/b an occurrence.

    A query of only one user costs -ln(1 - p(t)) where it is not released: this is convex in t
    too, so the greatest sum is again that of one query or of d.

    >>> round(exact_epsilon(5, 32.0, 2.171), 3)
    2.303
    """
    _check(d, threshold, scale)
    once, all_in_one = (-log1p(-_tail(t, threshold, scale)) for t in (1, d))
    return max(d / scale, all_in_one, d * once)


def _tail(t: int, threshold: float, scale: float) -> float:
    return exp((t - threshold) / scale) / 2


def _check(d: int, threshold: float, scale: float) -> None:
    """Raise UsageError for a threshold below d: there e^(-x) / 2 does not bound the tail."""
    if d < 1 or not scale > 0 or not threshold >= d:
        raise UsageError(
            f"the bounds do not hold for d={d}, threshold={threshold:g}, scale={scale:g}",
            hint="d from 1, a threshold of at least d, a scale above 0",
        )
