"""Permute-and-flip (McKenna and Sheldon 2020): never worse than the exponential mechanism.

Candidates are visited in random order, each once; one is taken with the chance weight / greatest
weight, and the first that is taken is the output.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...errors import UsageError
from ..exponential.sampling import Items, uniform_below
from ..exponential.weights import ExponentialWeights
from ..noise import NoiseSource

__all__ = ["check_permute_and_flip", "permute_and_flip"]

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
