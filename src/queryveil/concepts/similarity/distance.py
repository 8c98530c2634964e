"""Distances and similarities of concepts, from vectorized counts of common ancestors.

Intersecting two sorted lists per pair is slow in numpy. Here all ancestor sets of a taxonomy, or
of a domain in it, are stored once in a table in which equal ancestors are in the same row.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from ...errors import UsageError
from ..taxonomy.arrays import BoolArray, IntArray, RaggedArray
from ..taxonomy.depths import compute_depths
from ..taxonomy.graph import Taxonomy

_MAX_CACHED_ANCESTORS = 8  # domains of a taxonomy whose tables are cached


@dataclass(frozen=True, eq=False)
class AncestorTable:
    """The ancestor sets of a domain as a table whose rows can be compared cell by cell.

    Each concept has a slot, given by its level and a color, such that no set holds two concepts
    of the same slot (in a tree the level alone ensures this). `cells[slot, c]` is the concept of
    this slot in the set of c or, if there is none, c itself. Two different concepts a and b have
    equal cells only if they share the ancestor in this slot, so empty cells need no test.

    If two concepts have a common ancestor, they also share one on each level above it, namely on
    the path to it. So a pair is compared level by level only until a level has nothing in common,
    which for the majority of pairs is after a few levels.
    """

    title: str
    sets: RaggedArray  # the ancestors inside the domain, in local numbers
    sizes: IntArray
    slots: IntArray
    cells: IntArray
    bounds: list[int]  # the slots of level i are bounds[i] to bounds[i + 1]
    numbers: IntArray | None  # local number of each concept of the taxonomy, or -1

    def local_ids(self, concepts: IntArray) -> IntArray:
        """Return the local numbers of concepts.

        Raises:
            UsageError: A concept is not in this domain.
        """
        _check_concepts(concepts, len(self.sizes) if self.numbers is None else len(self.numbers))
        if self.numbers is None:
            return concepts.astype(np.intp)
        local = self.numbers[concepts].astype(np.intp)
        if len(local) and int(local.min()) < 0:
            outside = int(concepts[np.argmin(local)])
            raise UsageError(f"concept {outside} does not lie in the domain {self.title}")
        return local

    def shared(self, first: IntArray, second: IntArray) -> IntArray:
        """Count the common ancestors of each pair."""
        counts = np.where(first == second, self.sizes[first], 0)
        pairs = np.flatnonzero(first != second)
        for begin, end in pairwise(self.bounds):
            a, b = first[pairs], second[pairs]
            hits = np.zeros(len(pairs), np.int16)
            for slot in range(begin, end):
                cells = self.cells[slot]
                hits += cells.take(a, mode="clip") == cells.take(b, mode="clip")
            counts[pairs] += hits
            pairs = pairs[hits > 0]
            if not len(pairs):
                break
        return counts


def _check_concepts(concepts: IntArray, size: int) -> None:
    if len(concepts) and not 0 <= int(concepts.min()) <= int(concepts.max()) < size:
        raise UsageError(f"there is no such concept: numbers go from 0 to {size - 1:,}")


_cached_tables: WeakKeyDictionary[Taxonomy, dict[int, AncestorTable]] = WeakKeyDictionary()


def get_ancestor_table(taxonomy: Taxonomy, domain: int | None = None) -> AncestorTable:
    """Return the table of a domain, built at its first use; without one, of the whole taxonomy.

    It takes `4 * slots` bytes per concept. WordNet needs 65 slots, a tree one per level.
    """
    tables = _cached_tables.setdefault(taxonomy, {})
    top = domain or 0
    if top not in tables:
        if len(tables) >= _MAX_CACHED_ANCESTORS:
            tables.pop(next(iter(tables)))
        tables[top] = _build_domain_table(taxonomy, top) if top else _build_whole_table(taxonomy)
    return tables[top]


def _build_whole_table(taxonomy: Taxonomy) -> AncestorTable:
    levels = compute_depths(taxonomy.parents)
    if not taxonomy.has_real_root:
        levels = np.maximum(levels - 1, 0)  # an empty first level would end the comparison
    return _build_table(taxonomy.title, taxonomy.all_ancestors, levels, None)


def _build_domain_table(taxonomy: Taxonomy, top: int) -> AncestorTable:
    """Build the table of the concepts below `top`, renumbered, with ancestors inside it only."""
    if not 0 <= top < len(taxonomy):
        raise UsageError(f"there is no concept {top} that could be a domain")
    inside = taxonomy.descendant_mask(top)
    numbers = np.where(inside, np.cumsum(inside) - 1, -1).astype(np.int32)
    parents, sets = (
        restrict(lists, numbers) for lists in (taxonomy.parents, taxonomy.all_ancestors)
    )
    return _build_table(taxonomy.label(top), sets, compute_depths(parents), numbers)


def restrict(lists: RaggedArray, numbers: IntArray) -> RaggedArray:
    """Restrict lists of concepts to the concepts with a number (not -1), and renumber them."""
    kept = np.flatnonzero((numbers[lists.items] >= 0) & (numbers >= 0)[lists.row_ids])
    owners = numbers[lists.row_ids[kept]]
    sizes = np.bincount(owners, minlength=int(numbers.max()) + 1)
    return RaggedArray.from_sizes(sizes, numbers[lists.items[kept]])


def _build_table(
    title: str, sets: RaggedArray, levels: IntArray, numbers: IntArray | None
) -> AncestorTable:
    colors = _color_concepts(sets, levels)
    widths = np.zeros(int(levels.max(initial=0)) + 1, np.int64)
    np.maximum.at(widths, levels, colors + 1)
    bounds = np.concatenate([[0], np.cumsum(widths)])
    slots = bounds[levels] + colors
    cells = np.tile(np.arange(len(sets), dtype=np.int32), (int(bounds[-1]), 1))
    cells.reshape(-1)[slots[sets.items] * len(sets) + sets.row_ids] = sets.items
    return AncestorTable(title, sets, sets.sizes, slots, cells, bounds.tolist(), numbers)


def _color_concepts(sets: RaggedArray, levels: IntArray) -> IntArray:
    """Color the concepts so that those of the same level in the same set differ.

    This is greedy graph coloring: two concepts conflict if some set holds both on the same level.
    Each color goes to as many concepts as possible, those with the largest number of conflicts
    first, which needs few colors. Concepts without conflicts get color 0.
    """
    conflicts = _find_conflicts(sets, levels)
    degrees = np.bincount(np.concatenate(conflicts), minlength=len(sets))
    rank = np.empty(len(sets), np.int64)
    rank[np.argsort(-degrees, kind="stable")] = np.arange(len(sets))
    swapped = rank[conflicts[0]] > rank[conflicts[1]]
    earlier, later = np.where(swapped, conflicts[::-1], conflicts)
    colors, color, uncolored = np.zeros(len(sets), np.int64), 0, degrees > 0
    while uncolored.any():
        taken = _select_independent(uncolored, earlier, later)
        colors[taken] = color
        uncolored &= ~taken
        color += 1
    return colors


def _select_independent(uncolored: BoolArray, earlier: IntArray, later: IntArray) -> BoolArray:
    """Select a maximal set of concepts without conflicts; `earlier` has priority over `later`."""
    free, taken = uncolored.copy(), np.zeros(len(uncolored), np.bool_)
    while free.any():
        winners = free.copy()
        winners[later[free[earlier] & free[later]]] = False
        taken |= winners
        free &= ~winners
        free[later[winners[earlier]]] = False
        free[earlier[winners[later]]] = False
    return taken


def _find_conflicts(sets: RaggedArray, levels: IntArray) -> tuple[IntArray, IntArray]:
    """Return the pairs of concepts, lower number first, that share a set and a level.

    A set has at least one concept on each level down to its own. So only sets with more concepts
    than levels can have two on the same level.
    """
    items, owners = sets.take(np.flatnonzero(sets.sizes > levels + 1))
    set_levels = owners * (int(levels.max(initial=0)) + 1) + levels[items]
    order = np.lexsort((items, set_levels))
    set_level, item = set_levels[order], items[order].astype(np.int64)
    keys, step = [np.empty(0, np.int64)], 1
    while len(same := np.flatnonzero(set_level[step:] == set_level[:-step])):
        keys.append(np.unique(item[same] * len(sets) + item[same + step]))
        step += 1
    low, high = np.divmod(np.unique(np.concatenate(keys)), len(sets))
    return low, high


Floats = NDArray[np.float64]

_CHUNK = 1 << 16  # pairs at a time, so that the arrays stay in the processor's cache


def concept_distance(taxonomy: Taxonomy, a: int, b: int) -> float:
    """Return the distance of two concepts, from 0 (the same) to 1 (no common ancestor).

    It is eq. (1) of Batet 2013: the fraction of all ancestors of the two that is not common.

    >>> from queryveil.concepts import taxonomy_from_paths
    >>> odp = taxonomy_from_paths(["Top/Sports/Water_Sports/Windsurfing",
    ...                          "Top/Sports/Water_Sports/Swimming_and_Diving"])
    >>> concept_distance(odp, odp.find("Windsurfing"), odp.find("Swimming and Diving"))
    0.5
    """
    return float(pairwise_distances(taxonomy, np.array([a]), np.array([b]))[0])


def pairwise_distances(taxonomy: Taxonomy, first: IntArray, second: IntArray) -> Floats:
    """Return the distance, eq. (1) of Batet 2013, of each pair of two arrays of concepts."""
    return _jaccard_distances(get_ancestor_table(taxonomy), first, second)


def concept_similarity(taxonomy: Taxonomy, a: int, b: int, domain: int | None = None) -> float:
    """Return the similarity of two concepts, from 0 (none common) to exactly 1 (the same).

    It is eq. (5) of Sanchez 2018, `1 - log2(1 + d)`, where `d` is the fraction of the ancestors
    inside the domain that is not common. The domain is a concept and all below it, or the whole
    taxonomy.

    >>> from queryveil.concepts import taxonomy_from_paths
    >>> ill = taxonomy_from_paths(["disease/lungs/asthma", "disease/lungs/pneumonia"])
    >>> round(concept_similarity(ill, ill.find("asthma"), ill.find("pneumonia")), 6)
    0.415037
    """
    return float(pairwise_similarities(taxonomy, np.array([a]), np.array([b]), domain)[0])


def pairwise_similarities(
    taxonomy: Taxonomy, first: IntArray, second: IntArray, domain: int | None = None
) -> Floats:
    """Return the similarity, eq. (5) of Sanchez 2018, of each pair of concepts of a domain."""
    distances = _jaccard_distances(get_ancestor_table(taxonomy, domain), first, second)
    np.log2(np.add(distances, 1, out=distances), out=distances)
    return np.subtract(1, distances, out=distances)


def _fraction_not_shared(shared: IntArray, size_sums: IntArray) -> Floats:
    """Return the fraction of all ancestors of each pair that is not common; 0 without ancestors."""
    union = size_sums - shared
    fraction: Floats = np.divide(union - shared, np.maximum(union, 1), dtype=np.float64)
    return fraction


def _jaccard_distances(table: AncestorTable, first: IntArray, second: IntArray) -> Floats:
    """Return the Jaccard distance of the ancestor sets of each pair."""
    if len(first) != len(second):
        raise UsageError(
            f"pairs need as many first concepts as second ones: {len(first):,}, {len(second):,}"
        )
    a, b = table.local_ids(first), table.local_ids(second)
    distances = np.empty(len(a))
    for begin in range(0, len(a), _CHUNK):
        left, right = a[begin : begin + _CHUNK], b[begin : begin + _CHUNK]
        size_sums = table.sizes[left] + table.sizes[right]
        distances[begin : begin + _CHUNK] = _fraction_not_shared(
            table.shared(left, right), size_sums
        )
    return distances


# Cells of a table that is cached: about 30,000 concepts squared, one byte each.
_MAX_CACHED_TABLES = 1 << 30
_TABLE_CHUNK = 1 << 15  # cells at a time


@dataclass(frozen=True, eq=False)
class _SharedCounts:
    """Numbers of common ancestors; `row` and `column` map a concept to its index, or -1."""

    row: IntArray
    column: IntArray
    counts: NDArray[np.unsignedinteger]

    def has(self, rows: IntArray, columns: IntArray) -> bool:
        return bool((self.row[rows] >= 0).all() and (self.column[columns] >= 0).all())


def distance_table(taxonomy: Taxonomy, rows: IntArray, columns: IntArray) -> NDArray[np.float32]:
    """Return the distances, eq. (1) of Batet 2013, of concepts (rows) to others (columns).

    The values are 32-bit floats: tables are large, and fractions of small counts need no more.
    """
    for concepts in (rows, columns):
        _check_concepts(concepts, len(taxonomy))
    shared = taxonomy.cache.get("shared")
    if not isinstance(shared, _SharedCounts) or not shared.has(rows, columns):
        shared = _count_shared(taxonomy, rows, columns)
    sizes = taxonomy.all_ancestors.sizes.astype(np.float32)
    table = np.empty((len(rows), len(columns)), np.float32)
    column_sizes, column_indices = sizes[columns], shared.column[columns]
    step = max(1, _TABLE_CHUNK // max(len(columns), 1))
    for begin in range(0, len(rows), step):  # a chunk at a time stays in the cache
        chunk = rows[begin : begin + step]
        common = shared.counts[shared.row[chunk][:, None], column_indices].astype(np.float32)
        union = np.maximum(column_sizes + sizes[chunk][:, None] - common, 1)
        np.subtract(union, common, out=common)
        np.divide(common, union, out=table[begin : begin + step])
    if not taxonomy.has_real_root:  # it has no ancestors, and distance 0 to itself
        table[np.ix_(rows == 0, columns == 0)] = 0
    return table


def cache_distances(taxonomy: Taxonomy, concepts: IntArray) -> None:
    """Cache the common ancestors of these concepts for later tables, if memory allows."""
    above, _ = taxonomy.all_ancestors.take(concepts)
    if len(np.unique(above)) * len(concepts) <= _MAX_CACHED_TABLES:
        taxonomy.cache["shared"] = _count_shared(taxonomy, concepts, concepts)


def _count_shared(taxonomy: Taxonomy, rows: IntArray, columns: IntArray) -> _SharedCounts:
    """Count the common ancestors of each row concept with each distinct column concept.

    The counts of a concept with one parent are those of its parent, plus 1 for each column at or
    below the concept itself.
    """
    sets = taxonomy.all_ancestors
    above, _ = sets.take(rows)
    needed, columns = np.unique(np.concatenate([above, rows])), np.unique(columns)
    row, column = (_index_concepts(concepts, len(taxonomy)) for concepts in (needed, columns))
    below = _group_columns(sets, columns, row, len(needed))
    dtype = np.uint8 if int(sets.sizes.max(initial=0)) < 256 else np.uint16
    shared = np.zeros((len(needed), len(columns)), dtype)
    for index, concept in enumerate(needed.tolist()):
        parents = taxonomy.parents[concept]
        if len(parents) == 1 and row[parents[0]] >= 0:
            shared[index] = shared[row[parents[0]]]
            shared[index, below[index]] += 1
        else:
            for ancestor in row[sets[concept]].tolist():
                shared[index, below[ancestor]] += 1
    return _SharedCounts(row, column, shared)


def _index_concepts(concepts: IntArray, size: int) -> IntArray:
    index = np.full(size, -1, np.int64)
    index[concepts] = np.arange(len(concepts))
    return index


def _group_columns(sets: RaggedArray, columns: IntArray, row: IntArray, size: int) -> RaggedArray:
    """Return for each row concept the columns that are this concept or below it."""
    above, column = sets.take(columns)
    is_row = row[above] >= 0
    return RaggedArray.group_by(row[above[is_row]], column[is_row], size)
