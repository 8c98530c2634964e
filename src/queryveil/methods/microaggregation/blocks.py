"""Cut many users into blocks of similar ones, so that each block can be partitioned exactly.

Users are drawn as points: how much of a profile lies below each of the larger concepts. The
points are halved along the direction in which they differ most, again and again.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...concepts import UNMAPPED, Profiles, Taxonomy
from ...concepts.taxonomy import Ints

__all__ = ["similar_blocks"]

_FEATURES = 128
_ROUNDS = 12  # of the power method: enough to find a direction that parts well
_COMMON = 0.4  # what is below a concept of more than this share tells users hardly apart


def similar_blocks(taxonomy: Taxonomy | None, profiles: Profiles, most: int) -> list[Ints]:
    """Cut users into blocks of at most so many, similar ones together; no randomness."""
    points = _points(taxonomy, profiles)
    waiting: list[Ints] = [np.arange(len(profiles))]
    done: list[Ints] = []
    while waiting:
        users = waiting.pop()
        if len(users) <= most:
            done.append(np.sort(users))
            continue
        side = _along(points[users])
        parts = -(-len(users) // most)
        first = len(users) * (parts // 2) // parts
        order = np.lexsort((users, side))
        waiting += [users[order[first:]], users[order[:first]]]
    return done


def _points(taxonomy: Taxonomy | None, profiles: Profiles) -> NDArray[np.float32]:
    """Give each user's shares of the larger concepts, in square roots, which even out sizes."""
    user, concept = profiles.lists.owners.astype(np.int64), profiles.lists.items
    counts = profiles.counts.astype(np.float64)
    known = concept != UNMAPPED
    user, concept, counts = user[known], concept[known], counts[known]
    if taxonomy is not None:
        above, place = taxonomy.all_ancestors.gather(concept)
        user, concept, counts = user[place], above, counts[place]
    share = counts / np.maximum(profiles.weights, 1)[user]
    size = int(concept.max(initial=0)) + 1
    spread = np.bincount(concept, share, size) / len(profiles)
    spread[spread > _COMMON] = 0
    chosen = np.argsort(-spread, kind="stable")[:_FEATURES]
    column = np.full(size, -1)
    column[chosen] = np.arange(len(chosen))
    used = column[concept] >= 0
    cells = user[used] * len(chosen) + column[concept[used]]
    flat = np.bincount(cells, share[used], len(profiles) * len(chosen))
    return np.sqrt(flat).reshape(len(profiles), -1).astype(np.float32)


def _along(points: NDArray[np.float32]) -> NDArray[np.float64]:
    """Give where each point lies along the direction of the greatest spread."""
    centred = points - points.mean(axis=0)
    spread = centred.T @ centred
    direction = np.ones(spread.shape[0], np.float32) + np.arange(spread.shape[0]) * 1e-3
    for _ in range(_ROUNDS):
        direction = spread @ direction
        norm = float(np.linalg.norm(direction))
        if norm == 0:  # all alike
            return np.zeros(len(points))
        direction /= norm
    return np.asarray((centred @ direction).round(5), np.float64)
