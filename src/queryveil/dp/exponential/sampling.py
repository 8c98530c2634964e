"""Draw outputs: exact, since chances are integers over an integer total."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
