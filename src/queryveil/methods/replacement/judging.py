"""What is known of profiles before any log is read: made-up ones, and how far two lie apart."""

from __future__ import annotations

from functools import cache

import numpy as np

from ...core.randomness import RandomSource
from .points import Apportionments, Floats, apportion

__all__ = ["expected_loss", "js_divergence", "shrink_to_mean", "shrink_to_uniform", "uniform_loss"]

_PRIOR = 1.0  # points that a user is given for what was not told of her
_EXAMPLES = 400


def shrink_to_mean(told: Apportionments, mean: Floats, signal: float = 1.0) -> Floats:
    """Make profiles of points: what is told is drawn towards the mean of all.

    The fewer the points, and the less they signal, the more.
    """
    points = int(told[0].sum()) if len(told) else 1
    trust = signal * points / (points + _PRIOR)
    return np.asarray(trust * told / points + (1 - trust) * mean)


def expected_loss(topics: int, points: int, signal: float) -> float:
    """Tell the loss on made-up profiles: of points that are true, and of points at random."""
    profiles, mean = _examples(topics), np.full(topics, 1 / topics)
    told = apportion(profiles, points)
    truth = js_divergence(profiles, shrink_to_mean(told, mean, signal)).mean()
    chance = js_divergence(profiles, shrink_to_mean(told[::-1], mean, signal)).mean()
    return float(signal * truth + (1 - signal) * chance)


def uniform_loss(topics: int) -> float:
    """Tell the loss on made-up profiles of one that is the same for all topics."""
    profiles = _examples(topics)
    return float(js_divergence(profiles, np.full(profiles.shape, 1 / topics)).mean())


def shrink_to_uniform(mean: Floats, variance: float) -> Floats:
    """Draw an estimated profile towards the uniform one, by as much as it is noise."""
    uniform = 1 / len(mean)
    spread = float(((mean - uniform) ** 2).mean())
    share = max(0.0, 1 - 2 * variance / spread) if spread else 0.0
    found = np.maximum(uniform + share * (mean - uniform), 0)
    if not found.any():  # noise alone, all of it below 0
        return np.full(len(mean), uniform)
    return np.asarray(found / found.sum())


def js_divergence(one: Floats, two: Floats) -> Floats:
    """Give the Jensen-Shannon divergence of profiles, in bits.

    >>> divergence(np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]])).tolist()
    [1.0]
    """
    middle = (one + two) / 2
    return np.asarray(_relative(one, middle) / 2 + _relative(two, middle) / 2)


def _relative(one: Floats, two: Floats) -> Floats:
    ratio = np.where(one > 0, one, 1) / np.where(one > 0, two, 1)
    return np.asarray((one * np.log2(ratio)).sum(axis=1))


@cache
def _examples(topics: int) -> Floats:
    """Make up profiles with a few strong interests each; the same ones always."""
    drawn = RandomSource(seed=topics).uint64s(_EXAMPLES * topics).reshape(_EXAMPLES, topics)
    weights = np.log((drawn + 1.0) / 2.0**64) ** 4
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))
