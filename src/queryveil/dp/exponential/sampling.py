"""Exact sampling and calibration: probabilities are integers over an integer total."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import UsageError
from ..noise import NoiseSource
from .weights import ExponentialWeights

Items = NDArray[np.integer[Any]]

_BATCH = 1 << 24  # inputs at a time
_PART = 64  # classes at a time and thread


def sample(
    weights: ExponentialWeights,
    inputs: Items,
    noise: NoiseSource,
    advance: Callable[[int], None] = lambda _: None,
) -> Items:
    """Sample an output item for each input item, with probabilities proportional to the weights."""
    outputs = np.empty(len(inputs), np.int32)
    for begin in range(0, len(inputs), _BATCH):
        batch = slice(begin, begin + _BATCH)
        outputs[batch] = _sample_batch(weights, inputs[batch], noise, advance)
    return outputs


def uniform_below(totals: NDArray[np.int64], noise: NoiseSource) -> NDArray[np.int64]:
    """Sample for each total a uniform integer from 0 to total - 1.

    Numbers of 64 bits beyond the last multiple of the total would favor small results; they are
    rejected and drawn again.
    """
    wide = totals.astype(np.uint64)
    drawn = noise.uint64s(len(wide)).copy()
    # The last multiple of the total that fits into 64 bits; 2^64 itself does not.
    last = np.uint64(2**64 - 1) - (np.uint64(2**64 - 1) % wide + np.uint64(1)) % wide
    rejected = np.flatnonzero(drawn > last)
    while len(rejected):
        drawn[rejected] = noise.uint64s(len(rejected))
        rejected = rejected[drawn[rejected] > last[rejected]]
    return (drawn % wide).astype(np.int64)


def _sample_batch(
    weights: ExponentialWeights, inputs: Items, noise: NoiseSource, advance: Callable[[int], None]
) -> Items:
    """Sample outputs class by class: each class needs its cumulative weights only once."""
    starts = weights.choices.starts
    classes = weights.choices.classes(inputs)
    narrow = np.uint16 if len(starts) < 2**16 else np.uint32  # NumPy radix-sorts 16-bit integers
    order = np.argsort(classes.astype(narrow), kind="stable")
    sorted_classes = classes[order]
    first = np.flatnonzero(np.diff(sorted_classes, prepend=-1))
    rows = sorted_classes[first]
    ends = np.append(first[1:], len(inputs))
    picks = uniform_below(weights.totals[sorted_classes], noise)
    own = (inputs - starts[classes])[order]
    sorted_outputs = np.empty(len(inputs), np.int32)

    def work(part: range) -> None:
        for index in part:
            members = slice(first[index], ends[index])
            sorted_outputs[members] = _sample_class(
                weights, starts, int(rows[index]), own[members], picks[members]
            )
        advance(int(ends[part[-1]] - first[part[0]]))

    parts = [range(b, min(b + _PART, len(rows))) for b in range(0, len(rows), _PART)]
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(work, parts))
    outputs = np.empty(len(inputs), np.int32)
    outputs[order] = sorted_outputs
    return outputs


def _sample_class(
    weights: ExponentialWeights, starts: Items, row: int, own: Items, picks: NDArray[np.int64]
) -> Items:
    """Look up numbers below the total in the cumulative weights of one class.

    The order of the weights: items of near classes, the input itself, items of all other classes.
    """
    scores = weights.choices.scores
    near, levels = scores.near(row), scores.levels(row)
    each, here = weights.levels[levels], row - near.start
    class_weights = each * scores.sizes[near]
    class_weights[here] -= each[here]
    ends = np.cumsum(class_weights)
    classes = np.searchsorted(ends, picks, side="right")
    beyond = classes == len(ends)
    classes[beyond] = here
    members = (picks - (ends - class_weights)[classes]) // each[classes]
    members += (classes == here) & (members >= own)  # skip the input itself in its own class
    outputs = starts[near][classes] + members
    rest = picks[beyond] - ends[-1] - weights.levels[0]
    outside = rest // weights.levels[-1]
    outside += (outside >= starts[near.start]) * (starts[near.stop] - starts[near.start])
    outputs[beyond] = np.where(rest < 0, starts[row] + own[beyond], outside)
    return np.asarray(outputs)


_FLIP_BATCH = 2_000
_MAX_VISITS = 2_000  # candidates for one input on average; more would take too long


def check_permute_and_flip(weights: ExponentialWeights) -> None:
    """Raise UsageError for weights that would take too long; called before budget is spent."""
    span = int(weights.levels.max()) // int(weights.levels.min())
    if min(span, len(weights.choices)) > _MAX_VISITS:
        raise UsageError(
            f"permute-and-flip would visit up to {span:,} candidates for one query",
            hint="take the exact calibration: at such an epsilon it keeps more utility",
        )


def permute_and_flip(weights: ExponentialWeights, inputs: Items, noise: NoiseSource) -> Items:
    """Sample an output item for each input item by permute-and-flip.

    McKenna and Sheldon 2020.
    """
    check_permute_and_flip(weights)
    starts = weights.choices.starts
    outputs = np.empty(len(inputs), np.int64)
    classes = weights.choices.classes(inputs)
    for row in np.unique(classes).tolist():
        members = np.flatnonzero(classes == row)
        for begin in range(0, len(members), _FLIP_BATCH):  # all visits of a batch stay in memory
            batch = members[begin : begin + _FLIP_BATCH]
            outputs[batch] = _flip_class(weights, starts, row, inputs[batch], noise)
    return outputs


def _flip_class(
    weights: ExponentialWeights, starts: Items, row: int, own: Items, noise: NoiseSource
) -> Items:
    """Visit candidates in rounds, for all inputs of a class at once.

    A candidate drawn a second time was refused before and is skipped, so that the candidates are
    visited in a uniformly random order.
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
