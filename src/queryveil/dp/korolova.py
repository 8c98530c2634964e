"""The published bounds for releasing frequent queries, and tighter ones for the same mechanism.

Korolova, Kenthapadi, Mishra and Ntoulas 2009 ("Releasing search queries and clicks privately"):
a query shows if its number of occurrences, of which a user gives at most `d` in all, and
continuous Laplace noise of scale `scale` are together more than `threshold`. These are formulas
for replications; they are floats, for continuous noise. What `tables.py` releases is integer
noise, and is accounted for there.
"""

from __future__ import annotations

from math import exp, expm1, log, log1p

from ..errors import UsageError

__all__ = ["exact_delta", "exact_epsilon", "published_privacy_loss", "published_threshold"]


def published_threshold(d: int, epsilon: float, delta: float) -> float:
    """Give the least threshold that the theorem allows; the scale that goes with it is d / epsilon.

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
    """Give epsilon and delta of choosing queries, by the theorem.

    alpha = max(e^(1/b), 1 + 1 / (2 e^((K-1)/b) - 1)), epsilon = d ln(alpha),
    delta = (d/2) e^((d-K)/b). Noisy counts of what was chosen cost their own epsilon on top.

    >>> epsilon, delta = published_loss(1, 5.6990, 0.43429)
    >>> round(exp(epsilon), 2), round(delta * 1e5, 2)
    (10.0, 1.0)
    """
    _check(d, threshold, scale)
    # 2 e^x - 1 is written so that it neither overflows nor loses the digits of a small x.
    x = (threshold - 1) / scale
    other = log1p(exp(-x) / (1 - expm1(-x)))
    return d * max(1 / scale, other), d / 2 * exp((d - threshold) / scale)


def exact_delta(d: int, threshold: float, scale: float) -> float:
    """Bound delta of the same mechanism: the chance that a query which she alone sent shows.

    A query that she sent t times, and nobody else, shows with chance p(t) = e^((t-K)/b) / 2. With
    at most d occurrences in all the sum of p is greatest for one query sent d times or for d
    queries sent once, since p is convex. The theorem's delta is d times the first.

    >>> f"{tight_delta(20, 140.0, 8.686):.1e}"
    '1.1e-06'
    """
    _check(d, threshold, scale)
    return max(_shows(d, threshold, scale), d * _shows(1, threshold, scale))


def exact_epsilon(d: int, threshold: float, scale: float) -> float:
    """Bound epsilon of the same mechanism: shared queries cost 1/b an occurrence.

    A query which she alone sent costs -ln(1 - p(t)) where it does not show: this is convex in t
    too, so the greatest sum is again that of one query or of d.

    >>> round(tight_epsilon(5, 32.0, 2.171), 3)
    2.303
    """
    _check(d, threshold, scale)
    once, all_in_one = (-log1p(-_shows(t, threshold, scale)) for t in (1, d))
    return max(d / scale, all_in_one, d * once)


def _shows(t: int, threshold: float, scale: float) -> float:
    return exp((t - threshold) / scale) / 2


def _check(d: int, threshold: float, scale: float) -> None:
    """Refuse a threshold below d: half of the Laplace tail is no bound on that side."""
    if d < 1 or not scale > 0 or not threshold >= d:
        raise UsageError(
            f"the bounds do not hold for d={d}, threshold={threshold:g}, scale={scale:g}",
            hint="d from 1, a threshold of at least d, a scale above 0",
        )
