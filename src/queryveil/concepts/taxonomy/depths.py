"""Compute the levels and ancestors of all concepts of a graph, one level at a time."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from .arrays import IntArray, RaggedArray

# The limit for files: WordNet has 20 levels, and the ancestors of a chain need memory quadratic
# in its length. Merging taxonomies adds a level.
MOST_LEVELS = 100
_FREE_ANCESTORS, _MOST_EACH = 1 << 24, 64  # in total, or per concept on average


class DeepError(ValueError):
    """A graph has more levels or ancestors than allowed; `concept` exceeds the limit."""

    def __init__(self, what: str, concept: int) -> None:
        super().__init__(what)
        self.concept = concept


def compute_depths(parents: RaggedArray, max_levels: int = MOST_LEVELS + 28) -> IntArray:
    """Return the level of each concept: the longest path from a concept without parents.

    Concepts on a cycle, and those below one, get -1. The concepts may be in any order.

    Raises:
        DeepError: There are more than `max_levels` levels.

    >>> compute_depths(RaggedArray.from_lists([[], [0], [0, 1], [4], [3]])).tolist()
    [0, 1, 2, -1, -1]
    """
    children = parents.transpose(len(parents))
    waiting = parents.sizes.copy()
    levels = np.full(len(parents), -1, np.int32)
    ready, level = np.flatnonzero(waiting == 0), 0
    while len(ready):
        if level > max_levels:
            raise DeepError(f"concepts lie more than {max_levels} levels deep", int(ready[0]))
        levels[ready] = level
        reached, times = np.unique(children.take(ready)[0], return_counts=True)
        waiting[reached] -= times
        ready = reached[waiting[reached] == 0]
        level += 1
    return levels


def compute_ancestors(parents: RaggedArray, levels: IntArray, root_counts: bool) -> RaggedArray:
    """Return T(c), the ancestors of c with c itself, of every concept in ascending order.

    The concepts must be numbered by level. An artificial root (`root_counts` is false) is no
    ancestor.

    >>> parents = RaggedArray.from_lists([[], [0], [0], [1, 2]])
    >>> compute_ancestors(parents, compute_depths(parents), True)[3].tolist()
    [0, 1, 2, 3]
    """
    bounds = np.searchsorted(levels, np.arange(int(levels.max(initial=0)) + 2))
    roots = np.arange(bounds[1], dtype=np.int32) if root_counts else np.empty(0, np.int32)
    sizes, items = [np.full(bounds[1], int(root_counts), np.int64)], [roots]
    max_ancestors = max(_FREE_ANCESTORS, _MOST_EACH * len(parents))
    for begin, end in pairwise(bounds[1:]):
        known = RaggedArray.from_sizes(np.concatenate(sizes), np.concatenate(items))
        above = parents.items[parents.start[begin] : parents.start[end]]
        if len(known.items) + int(known.sizes[above].sum()) > max_ancestors:
            message = f"concepts have more than {max_ancestors:,} ancestors in all"
            raise DeepError(message, int(begin))
        size, ancestors = _ancestors_of_level(parents, known, int(begin), int(end))
        sizes.append(size)
        items.append(ancestors)
    return RaggedArray.from_sizes(np.concatenate(sizes), np.concatenate(items))


def _ancestors_of_level(
    parents: RaggedArray, known: RaggedArray, begin: int, end: int
) -> tuple[IntArray, IntArray]:
    """Return the sizes and items of T(c) for the concepts from `begin` to `end`.

    T(c) is the union of the ancestor sets of all parents of c, and c itself.
    """
    own = np.arange(begin, end, dtype=np.int64)
    edges = RaggedArray(parents.start[begin : end + 1], parents.items)
    above, edge = known.take(parents.items[edges.start[0] : edges.start[-1]])
    child = np.repeat(own, np.diff(edges.start))[edge]
    if edges.start[-1] - edges.start[0] == end - begin:
        # One parent each: the lists are sorted already and need no union.
        sizes = np.bincount(child - begin, minlength=end - begin)
        return sizes + 1, np.insert(above, np.cumsum(sizes), own).astype(np.int32)
    keys = np.sort(np.concatenate([child * (end + 1) + above, own * (end + 1) + own]))
    child, above = np.divmod(keys[np.diff(keys, prepend=-1) > 0], end + 1)
    return np.bincount(child - begin, minlength=end - begin), above.astype(np.int32)
