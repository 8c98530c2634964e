"""Distances of many concepts with many others, as a table: far quicker than pair by pair.

What a concept shares with the columns is what its parent shares, and one more where a column lies
below it; so each concept above the rows costs one pass. One with several parents is counted from
all its ancestors.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...errors import UsageError
from ..taxonomy.arrays import IntArray, RaggedArray
from ..taxonomy.graph import Taxonomy

__all__ = ["cache_distances", "distance_table"]

_MAX_CACHED_TABLES = (
    1 << 30
)  # cells of a table that is kept: of some 30,000 concepts, in a byte each
_TABLE_CHUNK = 1 << 15  # cells at a time


@dataclass(frozen=True, eq=False)
class _Shared:
    """How many ancestors concepts share; `row` and `column` give the place of a concept, or -1."""

    row: IntArray
    column: IntArray
    counts: NDArray[np.unsignedinteger]

    def has(self, rows: IntArray, columns: IntArray) -> bool:
        return bool((self.row[rows] >= 0).all() and (self.column[columns] >= 0).all())


def distance_table(taxonomy: Taxonomy, rows: IntArray, columns: IntArray) -> NDArray[np.float32]:
    """Give eq. (1) of Batet 2013 for each of some concepts (rows) with each of others (columns).

    Short floats: tables are large, and fractions of ancestor counts need no more.
    """
    for concepts in (rows, columns):
        if len(concepts) and not 0 <= int(concepts.min()) <= int(concepts.max()) < len(taxonomy):
            raise UsageError(
                f"there is no such concept: numbers go from 0 to {len(taxonomy) - 1:,}"
            )
    shared = taxonomy.cache.get("shared")
    if not isinstance(shared, _Shared) or not shared.has(rows, columns):
        shared = _count_shared(taxonomy, rows, columns)
    sizes = taxonomy.all_ancestors.sizes.astype(np.float32)
    found = np.empty((len(rows), len(columns)), np.float32)
    others, places = sizes[columns], shared.column[columns]
    step = max(1, _TABLE_CHUNK // max(len(columns), 1))
    for begin in range(0, len(rows), step):  # a chunk at a time stays in the cache
        some = rows[begin : begin + step]
        common = shared.counts[shared.row[some][:, None], places].astype(np.float32)
        union = np.maximum(others + sizes[some][:, None] - common, 1)
        np.subtract(union, common, out=common)
        np.divide(common, union, out=found[begin : begin + step])
    if not taxonomy.has_real_root:  # a root that is no ancestor has none, and is near itself
        found[np.ix_(rows == 0, columns == 0)] = 0
    return found


def cache_distances(taxonomy: Taxonomy, concepts: IntArray) -> None:
    """Count once what all these share, if memory allows, for every later table of some of them."""
    above, _ = taxonomy.all_ancestors.take(concepts)
    if len(np.unique(above)) * len(concepts) <= _MAX_CACHED_TABLES:
        taxonomy.cache["shared"] = _count_shared(taxonomy, concepts, concepts)


def _count_shared(taxonomy: Taxonomy, rows: IntArray, columns: IntArray) -> _Shared:
    """Count the common ancestors of concepts; the columns are counted once each."""
    sets = taxonomy.all_ancestors
    above, _ = sets.take(rows)
    needed, columns = np.unique(np.concatenate([above, rows])), np.unique(columns)
    place, column = (_places(concepts, len(taxonomy)) for concepts in (needed, columns))
    below = _columns_below(sets, columns, place, len(needed))
    kind = np.uint8 if int(sets.sizes.max(initial=0)) < 256 else np.uint16
    shared = np.zeros((len(needed), len(columns)), kind)
    for here, concept in enumerate(needed.tolist()):
        parents = taxonomy.parents[concept]
        if len(parents) == 1 and place[parents[0]] >= 0:
            shared[here] = shared[place[parents[0]]]
            shared[here, below[here]] += 1
        else:
            for one in place[sets[concept]].tolist():
                shared[here, below[one]] += 1
    return _Shared(place, column, shared)


def _places(concepts: IntArray, size: int) -> IntArray:
    place = np.full(size, -1, np.int64)
    place[concepts] = np.arange(len(concepts))
    return place


def _columns_below(sets: RaggedArray, columns: IntArray, place: IntArray, size: int) -> RaggedArray:
    """Give for each concept that counts which columns lie below it, or are it."""
    above, column = sets.take(columns)
    counted = place[above] >= 0
    return RaggedArray.group_by(place[above[counted]], column[counted], size)
