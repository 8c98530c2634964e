"""Draw outputs: exact, since chances are integers over an integer total."""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import UsageError
from ..noise import NoiseSource
from .weights import Candidates, ExponentialWeights, max_exponent, max_log_ratio

Items = NDArray[np.integer[Any]]

_BATCH = 1 << 24  # inputs at a time
_PART = 64  # classes at a time and thread


def sample(
    weights: ExponentialWeights,
    inputs: Items,
    noise: NoiseSource,
    advance: Callable[[int], None] = lambda _: None,
) -> Items:
    """Give for each input item an output item, with the chances that the weights say."""
    outputs = np.empty(len(inputs), np.int32)
    for begin in range(0, len(inputs), _BATCH):
        some = slice(begin, begin + _BATCH)
        outputs[some] = _batch(weights, inputs[some], noise, advance)
    return outputs


def uniform_below(totals: NDArray[np.int64], noise: NoiseSource) -> NDArray[np.int64]:
    """Draw for each total a number from 0 to below it, all equally likely.

    Numbers of 64 bits that would favour small results are drawn again.
    """
    wide = totals.astype(np.uint64)
    drawn = noise.uint64s(len(wide)).copy()
    # The last multiple of the total that fits into 64 bits; 2^64 itself does not.
    last = np.uint64(2**64 - 1) - (np.uint64(2**64 - 1) % wide + np.uint64(1)) % wide
    unfair = np.flatnonzero(drawn > last)
    while len(unfair):
        drawn[unfair] = noise.uint64s(len(unfair))
        unfair = unfair[drawn[unfair] > last[unfair]]
    return (drawn % wide).astype(np.int64)


def _batch(
    weights: ExponentialWeights, inputs: Items, noise: NoiseSource, advance: Callable[[int], None]
) -> Items:
    """Bring inputs of one class together: each class needs its summed weights once."""
    starts = weights.choices.starts
    classes = weights.choices.classes(inputs)
    short = np.uint16 if len(starts) < 2**16 else np.uint32  # numbers of 16 bits sort fast
    order = np.argsort(classes.astype(short), kind="stable")
    sorted_classes = classes[order]
    first = np.flatnonzero(np.diff(sorted_classes, prepend=-1))
    rows = sorted_classes[first]
    ends = np.append(first[1:], len(inputs))
    picks = uniform_below(weights.totals[sorted_classes], noise)
    own = (inputs - starts[classes])[order]
    found = np.empty(len(inputs), np.int32)

    def work(part: range) -> None:
        for place in part:
            some = slice(first[place], ends[place])
            found[some] = _one_class(weights, starts, int(rows[place]), own[some], picks[some])
        advance(int(ends[part[-1]] - first[part[0]]))

    parts = [range(b, min(b + _PART, len(rows))) for b in range(0, len(rows), _PART)]
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(work, parts))
    outputs = np.empty(len(inputs), np.int32)
    outputs[order] = found
    return outputs


def _one_class(
    weights: ExponentialWeights, starts: Items, row: int, own: Items, picks: NDArray[np.int64]
) -> Items:
    """Look numbers below the total up in the summed weights: near items, itself, far items."""
    scores = weights.choices.scores
    near, levels = scores.near(row), scores.levels(row)
    each, here = weights.levels[levels], row - near.start
    whole = each * scores.sizes[near]
    whole[here] -= each[here]
    ends = np.cumsum(whole)
    classes = np.searchsorted(ends, picks, side="right")
    beyond = classes == len(ends)
    classes[beyond] = here
    members = (picks - (ends - whole)[classes]) // each[classes]
    members += (classes == here) & (members >= own)  # the item itself is not among its class
    found = starts[near][classes] + members
    rest = picks[beyond] - ends[-1] - weights.levels[0]
    outside = rest // weights.levels[-1]
    outside += (outside >= starts[near.start]) * (starts[near.stop] - starts[near.start])
    found[beyond] = np.where(rest < 0, starts[row] + own[beyond], outside)
    return np.asarray(found)


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


_FLIP_BATCH = 2_000
_MOST_VISITS = 2_000  # of one input on average; beyond, a choice would take for ever


def check_permute_and_flip(weights: ExponentialWeights) -> None:
    """Refuse what would take for ever; asked before anything is paid for."""
    span = int(weights.levels.max()) // int(weights.levels.min())
    if min(span, len(weights.choices)) > _MOST_VISITS:
        raise UsageError(
            f"permute-and-flip would visit up to {span:,} candidates for one query",
            hint="take the exact calibration: at such an epsilon it is stronger",
        )


def permute_and_flip(weights: ExponentialWeights, inputs: Items, noise: NoiseSource) -> Items:
    """Give for each input item an output item by permute-and-flip."""
    check_permute_and_flip(weights)
    starts = weights.choices.starts
    outputs = np.empty(len(inputs), np.int64)
    classes = weights.choices.classes(inputs)
    for row in np.unique(classes).tolist():
        mine = np.flatnonzero(classes == row)
        for begin in range(0, len(mine), _FLIP_BATCH):  # all visits of a batch are kept
            some = mine[begin : begin + _FLIP_BATCH]
            outputs[some] = _flip_class(weights, starts, row, inputs[some], noise)
    return outputs


def _flip_class(
    weights: ExponentialWeights, starts: Items, row: int, own: Items, noise: NoiseSource
) -> Items:
    """Visit candidates in rounds, for all inputs of a class at once.

    A candidate drawn a second time was refused before and is passed over, so that the visited
    ones stand in a uniformly random order.
    """
    scores = weights.choices.scores
    each = np.full(len(scores.sizes), weights.levels[-1])
    each[scores.near(row)] = weights.levels[scores.levels(row)]
    outputs, waiting = np.full(len(own), -1, np.int64), np.arange(len(own))
    visited: list[NDArray[np.int64]] = []
    while len(waiting):
        seen = uniform_below(np.full(len(waiting), starts[-1]), noise)
        weight = each[weights.choices.classes(seen)]
        weight = np.where(seen == own[waiting], weights.levels[0], weight)
        coins = uniform_below(np.full(len(waiting), weights.levels[0]), noise)
        taken = coins < weight
        for before in visited:
            taken &= before[waiting] != seen
        outputs[waiting[taken]] = seen[taken]
        memory = np.full(len(own), -1, np.int64)
        memory[waiting] = seen
        visited.append(memory)
        waiting = waiting[~taken]
    return outputs
