"""Cut many users into blocks of similar ones, so that each block can be partitioned exactly.

Users are drawn as points: how much of a profile lies below each of the larger concepts. The
points are halved along the direction in which they differ most, again and again.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...concepts.similarity.profiles import UNMAPPED, Profiles
from ...concepts.taxonomy.arrays import IntArray, RaggedArray
from ...concepts.taxonomy.graph import Taxonomy

__all__ = [
    "concept_weights",
    "embed_profiles",
    "embedding_columns",
    "principal_projection",
    "split_into_blocks",
]

_FEATURES = 128
_ROUNDS = 12  # of the power method: enough to find a direction that parts well
_COMMON = 0.4  # what is below a concept of more than this share tells users hardly apart
_USERS = 20_000  # drawn at a time
_WHOLE = 1 << 17  # users whose points are all looked at for a direction


def split_into_blocks(taxonomy: Taxonomy | None, profiles: Profiles, most: int) -> list[IntArray]:
    """Cut users into blocks of at most so many, similar ones together; no randomness."""
    spread = concept_weights(profiles)
    points = embed_profiles(embedding_columns(taxonomy, spread / len(profiles)), profiles)
    waiting: list[IntArray] = [np.arange(len(profiles))]
    done: list[IntArray] = []
    while waiting:
        users = waiting.pop()
        if len(users) <= most:
            done.append(np.sort(users))
            continue
        side = _places(points, users)
        parts = -(-len(users) // most)
        first = len(users) * (parts // 2) // parts
        order = np.lexsort((users, side))
        waiting += [users[order[first:]], users[order[:first]]]
    return done


def _places(points: NDArray[np.float32], users: IntArray) -> NDArray[np.float64]:
    """Return where users lie along the direction in which they differ most.

    Of many users an even sample gives the direction, and they are placed some at a time: a copy of
    all points, and another around their middle, took most of the memory of a run.
    """
    if len(users) <= _WHOLE:
        return principal_projection(points[users])[0]
    sample = points[users[:: -(-len(users) // _WHOLE)]]
    direction = principal_projection(sample)[1]
    middle = sample.mean(axis=0)
    pieces = (users[begin : begin + _USERS] for begin in range(0, len(users), _USERS))
    found = [((points[some] - middle) @ direction).round(5) for some in pieces]
    return np.concatenate(found).astype(np.float64)


def _local_weights(profiles: Profiles) -> tuple[IntArray, NDArray[np.float64]]:
    """Give the concepts of all profiles, and what share of the profile each is."""
    concept = profiles.lists.items
    share = profiles.counts / np.maximum(profiles.weights, 1)[profiles.lists.row_ids]
    share[concept == UNMAPPED] = 0  # whoever has no concept lies at the origin
    return np.maximum(concept, 0), share


def concept_weights(profiles: Profiles, size: int = 0) -> NDArray[np.float64]:
    """Sum up the shares of each concept over all profiles."""
    concept, share = _local_weights(profiles)
    return np.asarray(np.bincount(concept, share, size), np.float64)


def embed_profiles(columns: RaggedArray, profiles: Profiles) -> NDArray[np.float32]:
    """Give each user's shares of the larger concepts, in square roots, which even out sizes.

    A concept that nobody had when the columns were chosen counts for none of them.
    """
    concept, share = _local_weights(profiles)
    known = concept < len(columns)
    concept, share = np.where(known, concept, 0), np.where(known, share, 0)
    points = np.empty((len(profiles), _FEATURES), np.float32)
    for first in range(0, len(profiles), _USERS):
        last = min(first + _USERS, len(profiles))
        rows = slice(*profiles.lists.start[[first, last]].tolist())
        column, place = columns.take(concept[rows])
        user = profiles.lists.row_ids[rows][place] - first
        flat = np.bincount(
            user * _FEATURES + column, share[rows][place], (last - first) * _FEATURES
        )
        points[first:last] = np.sqrt(flat).reshape(-1, _FEATURES)
    return points


def embedding_columns(taxonomy: Taxonomy | None, spread: NDArray[np.float64]) -> RaggedArray:
    """Give for each concept the larger ones that it lies below, numbered as columns.

    `spread` is the mean share of each concept.
    """
    every: IntArray = np.arange(len(spread))
    above, below = every, every
    if taxonomy is not None:
        above, below = taxonomy.all_ancestors.take(every)
    whole = np.bincount(above, spread[below])
    whole[whole > _COMMON] = 0
    chosen = np.argsort(-whole, kind="stable")[:_FEATURES]
    column = np.full(len(whole), -1)
    column[chosen] = np.arange(len(chosen))
    used = column[above] >= 0
    return RaggedArray.group_by(below[used], column[above[used]], len(spread))


def principal_projection(
    points: NDArray[np.float32],
) -> tuple[NDArray[np.float64], NDArray[np.float32]]:
    """Give where each point lies along the direction of the greatest spread, and the direction."""
    middle = points.mean(axis=0)
    centred = points - middle
    spread = centred.T @ centred
    direction = np.ones(spread.shape[0], np.float32) + np.arange(spread.shape[0]) * 1e-3
    for _ in range(_ROUNDS):
        direction = spread @ direction
        norm = float(np.linalg.norm(direction))
        if norm == 0:  # all alike
            return np.zeros(len(points)), np.zeros_like(middle)
        direction /= norm
    place = np.asarray((centred @ direction).round(5), np.float64)
    return place, np.asarray(direction, np.float32)
