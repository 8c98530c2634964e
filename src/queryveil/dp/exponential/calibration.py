"""Calibration of the exponential mechanism: the largest exponent that keeps epsilon."""

from __future__ import annotations

import math

from .weights import Candidates, ExponentialWeights, max_exponent, max_log_ratio

_CLOSE_ENOUGH = 0.9998  # of epsilon: the search for an exponent stops there
_MAX_STEPS = 40
_SHRINK = 1 - 1e-9  # at least so much smaller, so that the loop ends despite rounded weights


def calibrate_nominal(
    choices: Candidates, epsilon: float, sensitivity: float | None = None
) -> ExponentialWeights:
    """Return weights with the textbook exponent, epsilon over twice the sensitivity.

    Without a sensitivity, the range of the scores takes its place.
    """
    bound = sensitivity or choices.score_range
    exponent = epsilon / (2 * bound) if bound else 0.0
    weights = ExponentialWeights.of(choices, min(exponent, max_exponent(choices)))
    # Probabilities differ by a factor of at most e^(2 ratio): e^ratio for the weight, and e^ratio
    # for the total.
    while 2 * weights.log_ratio_bound > epsilon and weights.exponent:
        factor = min(epsilon / (2 * weights.log_ratio_bound), _SHRINK)
        weights = ExponentialWeights.of(choices, weights.exponent * factor)
    return weights


def calibrate_bounded_range(choices: Candidates, ratio: float) -> ExponentialWeights:
    """Return weights with the largest exponent at which their log-ratio is at most `ratio`."""
    return calibrate_nominal(choices, 2 * ratio)


def calibrate_exact(
    choices: Candidates, epsilon: float, hint: float | None = None
) -> ExponentialWeights:
    """Return weights with nearly the largest exponent whose exact log-ratio is at most epsilon.

    The ratio grows nearly in proportion to the exponent, so the search is a secant method: the
    next guess is where a line through the last two would meet epsilon, or the middle of the known
    bounds where that leaves them. A hint is tried first, and taken if it is close enough.
    """
    limit = max_exponent(choices)
    best = calibrate_nominal(choices, epsilon)
    if not choices.score_range or best.exponent >= limit:
        return best
    low, high = best.exponent, math.inf  # `low` is within epsilon, `high` is not
    guess = hint if hint is not None and low < hint <= limit else min(1.5 * low, limit)
    tried = [(0.0, 0.0)]
    for _ in range(_MAX_STEPS):
        weights = ExponentialWeights.of(choices, guess)
        worst = max_log_ratio(weights)
        tried.append((guess, worst))
        if worst <= epsilon:
            best, low = weights, guess
            if worst >= _CLOSE_ENOUGH * epsilon or guess >= limit:
                break
        else:
            high = guess
        guess = min(_next_guess(tried, epsilon, low, high), limit)
    return best


def _next_guess(tried: list[tuple[float, float]], epsilon: float, low: float, high: float) -> float:
    (before, ratio_before), (last, ratio) = tried[-2:]
    target = (1 + _CLOSE_ENOUGH) / 2 * epsilon
    slope = (ratio - ratio_before) / (last - before) if last != before else 0.0
    guess = last + (target - ratio) / slope if slope > 0 else 0.0
    if low < guess < high:
        return guess
    return (low + high) / 2 if high < math.inf else 2 * low
