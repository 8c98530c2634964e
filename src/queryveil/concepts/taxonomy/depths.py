"""Levels and ancestors of all concepts of a graph, a level at a time instead of one by one."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from .arrays import IntArray, RaggedArray

# Of what is read: WordNet has 20, and the ancestors of a chain take its length squared. Putting
# taxonomies together adds a level.
MOST_LEVELS = 100
_FREE_ANCESTORS, _MOST_EACH = 1 << 24, 64  # in all, or of each concept on average


class DeepError(ValueError):
    """A graph has more levels, or more ancestors, than a taxonomy has; `concept` is one of them."""

    def __init__(self, what: str, concept: int) -> None:
        super().__init__(what)
        self.concept = concept


def compute_depths(parents: RaggedArray, most: int = MOST_LEVELS + 28) -> IntArray:
    """Give each concept's longest way from a concept without parents, as its level.

    Concepts on a cycle, and those below one, get -1. The concepts may be in any order here. What
    is too deep is a `DeepError`.

    >>> compute_depths(RaggedArray.from_lists([[], [0], [0, 1], [4], [3]])).tolist()
    [0, 1, 2, -1, -1]
    """
    children = parents.transpose(len(parents))
    waiting = parents.sizes.copy()
    levels = np.full(len(parents), -1, np.int32)
    ready, level = np.flatnonzero(waiting == 0), 0
    while len(ready):
        if level > most:
            raise DeepError(f"concepts lie more than {most} levels deep", int(ready[0]))
        levels[ready] = level
        reached, times = np.unique(children.take(ready)[0], return_counts=True)
        waiting[reached] -= times
        ready = reached[waiting[reached] == 0]
        level += 1
    return levels


def compute_ancestors(parents: RaggedArray, levels: IntArray, root_counts: bool) -> RaggedArray:
    """Give T(c) of every concept in rising order; the concepts must be numbered by level.

    >>> parents = RaggedArray.from_lists([[], [0], [0], [1, 2]])
    >>> compute_ancestors(parents, compute_depths(parents), True)[3].tolist()
    [0, 1, 2, 3]
    """
    bounds = np.searchsorted(levels, np.arange(int(levels.max(initial=0)) + 2))
    roots = np.arange(bounds[1], dtype=np.int32) if root_counts else np.empty(0, np.int32)
    sizes, items = [np.full(bounds[1], int(root_counts), np.int64)], [roots]
    most = max(_FREE_ANCESTORS, _MOST_EACH * len(parents))
    for begin, end in pairwise(bounds[1:]):
        known = RaggedArray.from_sizes(np.concatenate(sizes), np.concatenate(items))
        above = parents.items[parents.start[begin] : parents.start[end]]
        if len(known.items) + int(known.sizes[above].sum()) > most:
            raise DeepError(f"concepts have more than {most:,} ancestors in all", int(begin))
        size, found = _one_level(parents, known, int(begin), int(end))
        sizes.append(size)
        items.append(found)
    return RaggedArray.from_sizes(np.concatenate(sizes), np.concatenate(items))


def _one_level(
    parents: RaggedArray, known: RaggedArray, begin: int, end: int
) -> tuple[IntArray, IntArray]:
    """Join the ancestors of each concept's parents, without repetition, and the concept."""
    own = np.arange(begin, end, dtype=np.int64)
    ways = RaggedArray(parents.start[begin : end + 1], parents.items)
    above, way = known.take(parents.items[ways.start[0] : ways.start[-1]])
    child = np.repeat(own, np.diff(ways.start))[way]
    if ways.start[-1] - ways.start[0] == end - begin:
        # One parent each: the lists are in order already.
        sizes = np.bincount(child - begin, minlength=end - begin)
        return sizes + 1, np.insert(above, np.cumsum(sizes), own).astype(np.int32)
    keys = np.sort(np.concatenate([child * (end + 1) + above, own * (end + 1) + own]))
    child, above = np.divmod(keys[np.diff(keys, prepend=-1) > 0], end + 1)
    return np.bincount(child - begin, minlength=end - begin), above.astype(np.int32)
