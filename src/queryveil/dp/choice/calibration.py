"""How strong a choice may be at a given epsilon.

`nominal` is the textbook: epsilon over twice the sensitivity. `calibrate` looks for the greatest
strength whose worst log-ratio, over all inputs and outputs, stays within epsilon. `apart_by` bounds
the weights alone, which is what bounded-range composition asks for.
"""

from __future__ import annotations

import math

from ..exponential.weights import ExponentialWeights, max_exponent, max_log_ratio
from .choices import Candidates

__all__ = ["calibrate_bounded_range", "calibrate_exact", "calibrate_nominal"]

_NEAR = 0.9998  # of epsilon: near enough
_MOST_STEPS = 40
_LESS = 1 - 1e-9  # what takes the rounding of integers back


def calibrate_nominal(
    choices: Candidates, epsilon: float, sensitivity: float | None = None
) -> ExponentialWeights:
    """Take epsilon over twice the sensitivity; what is known of that is the span of the scores."""
    apart = sensitivity or choices.score_range
    strength = epsilon / (2 * apart) if apart else 0.0
    weights = ExponentialWeights.of(choices, min(strength, max_exponent(choices)))
    # Chances differ by at most e^(2 ratio): one ratio for the weight, one for the total.
    while 2 * weights.log_ratio_bound > epsilon and weights.exponent:
        weights = ExponentialWeights.of(
            choices, weights.exponent * min(epsilon / (2 * weights.log_ratio_bound), _LESS)
        )
    return weights


def calibrate_bounded_range(choices: Candidates, ratio: float) -> ExponentialWeights:
    """Take the greatest strength at which the weights lie apart by this log-ratio at most."""
    return calibrate_nominal(choices, 2 * ratio)


def calibrate_exact(
    choices: Candidates, epsilon: float, hint: float | None = None
) -> ExponentialWeights:
    """Find the greatest strength whose worst log-ratio is at most epsilon.

    The ratio grows nearly in proportion, so the next try is where a line through the last two
    would meet epsilon; where that leaves the known bounds it is half-way between them. A hint is
    tried first, and taken if it is as good as what would be found.
    """
    most = max_exponent(choices)
    best = calibrate_nominal(choices, epsilon)
    if not choices.score_range or best.exponent >= most:
        return best
    low, high = best.exponent, math.inf  # what held, and what did not
    guess = hint if hint is not None and low < hint <= most else min(1.5 * low, most)
    tried = [(0.0, 0.0)]
    for _ in range(_MOST_STEPS):
        weights = ExponentialWeights.of(choices, guess)
        worst = max_log_ratio(weights)
        tried.append((guess, worst))
        if worst <= epsilon:
            best, low = weights, guess
            if worst >= _NEAR * epsilon or guess >= most:
                break
        else:
            high = guess
        guess = min(_next(tried, epsilon, low, high), most)
    return best


def _next(tried: list[tuple[float, float]], epsilon: float, low: float, high: float) -> float:
    (before, one), (last, two) = tried[-2:]
    aim = (1 + _NEAR) / 2 * epsilon
    slope = (two - one) / (last - before) if last != before else 0.0
    guess = last + (aim - two) / slope if slope > 0 else 0.0
    if low < guess < high:
        return guess
    return (low + high) / 2 if high < math.inf else 2 * low
