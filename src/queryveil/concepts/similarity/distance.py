"""Common ancestors of many pairs of concepts, counted in numpy.

Comparing two sorted lists a pair is slow in numpy. Here all ancestor sets of a taxonomy, or of
a domain in it, are laid out once such that equal ancestors stand in equal places.
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

_MAX_CACHED_ANCESTORS = 8  # domains of a taxonomy whose tables are kept


@dataclass(frozen=True, eq=False)
class AncestorTable:
    """The ancestor sets of a domain, laid out so that equal places can be compared.

    Each concept has a slot, its level and a colour, such that no set holds two concepts of one
    slot (in a tree the level alone does). `cells[slot, c]` is the one in c's set, or else c
    itself: that never equals another concept's cell by mistake, so no cell needs a test.

    A common ancestor has one on each level above it too, the way to it. So a pair is followed
    level by level only while something is shared, which for most pairs ends after a few.
    """

    title: str
    sets: RaggedArray  # the ancestors inside the domain, in its own numbers
    sizes: IntArray
    slots: IntArray
    cells: IntArray
    bounds: list[int]  # the slots of level i are bounds[i] to bounds[i + 1]
    numbers: IntArray | None  # of each concept of the taxonomy, its number here, or -1

    def local_ids(self, concepts: IntArray) -> IntArray:
        """Give the numbers of concepts in this domain; refuse those that are not in it."""
        size = len(self.sizes) if self.numbers is None else len(self.numbers)
        if len(concepts) and not 0 <= int(concepts.min()) <= int(concepts.max()) < size:
            raise UsageError(f"there is no such concept: numbers go from 0 to {size - 1:,}")
        if self.numbers is None:
            return concepts.astype(np.intp)
        found = self.numbers[concepts].astype(np.intp)
        if len(found) and int(found.min()) < 0:
            outside = int(concepts[np.argmin(found)])
            raise UsageError(f"concept {outside} does not lie in the domain {self.title}")
        return found

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


_kept: WeakKeyDictionary[Taxonomy, dict[int, AncestorTable]] = WeakKeyDictionary()


def get_ancestor_table(taxonomy: Taxonomy, domain: int | None = None) -> AncestorTable:
    """Give the table of a domain, made at its first use; the root's domain is everything.

    It takes `4 * slots` bytes a concept; WordNet needs 65 slots, a tree as many as it is deep.
    """
    tables = _kept.setdefault(taxonomy, {})
    top = domain or 0
    if top not in tables:
        if len(tables) >= _MAX_CACHED_ANCESTORS:
            tables.pop(next(iter(tables)))
        tables[top] = _domain_table(taxonomy, top) if top else _whole_table(taxonomy)
    return tables[top]


def _whole_table(taxonomy: Taxonomy) -> AncestorTable:
    levels = compute_depths(taxonomy.parents)
    if not taxonomy.has_real_root:
        levels = np.maximum(levels - 1, 0)  # its level would be empty, where pairs end
    return _made(taxonomy.title, taxonomy.all_ancestors, levels, None)


def _domain_table(taxonomy: Taxonomy, top: int) -> AncestorTable:
    """Number the concepts of a domain anew, and leave all others out of parents and sets."""
    if not 0 <= top < len(taxonomy):
        raise UsageError(f"there is no concept {top} that could be a domain")
    inside = taxonomy.descendant_mask(top)
    numbers = np.where(inside, np.cumsum(inside) - 1, -1).astype(np.int32)
    parents, sets = (restrict(x, numbers) for x in (taxonomy.parents, taxonomy.all_ancestors))
    return _made(taxonomy.label(top), sets, compute_depths(parents), numbers)


def restrict(lists: RaggedArray, numbers: IntArray) -> RaggedArray:
    """Take the lists of the concepts that have a number, with such concepts only, renumbered."""
    kept = np.flatnonzero((numbers[lists.items] >= 0) & (numbers >= 0)[lists.row_ids])
    owners = numbers[lists.row_ids[kept]]
    sizes = np.bincount(owners, minlength=int(numbers.max()) + 1)
    return RaggedArray.from_sizes(sizes, numbers[lists.items[kept]])


def _made(
    title: str, sets: RaggedArray, levels: IntArray, numbers: IntArray | None
) -> AncestorTable:
    colours = _colours(sets, levels)
    widths = np.zeros(int(levels.max(initial=0)) + 1, np.int64)
    np.maximum.at(widths, levels, colours + 1)
    bounds = np.concatenate([[0], np.cumsum(widths)])
    slots = bounds[levels] + colours
    cells = np.tile(np.arange(len(sets), dtype=np.int32), (int(bounds[-1]), 1))
    cells.reshape(-1)[slots[sets.items] * len(sets) + sets.row_ids] = sets.items
    return AncestorTable(title, sets, sets.sizes, slots, cells, bounds.tolist(), numbers)


def _colours(sets: RaggedArray, levels: IntArray) -> IntArray:
    """Colour the concepts so that those of one level in one set differ; most are alone, 0.

    One colour after the other is given to as many as can have it, those that meet most others
    first, which needs few colours.
    """
    ends = _meeting(sets, levels)
    met = np.bincount(np.concatenate(ends), minlength=len(sets))
    rank = np.empty(len(sets), np.int64)
    rank[np.argsort(-met, kind="stable")] = np.arange(len(sets))
    swapped = rank[ends[0]] > rank[ends[1]]
    one, two = np.where(swapped, ends[::-1], ends)
    colours, colour, left = np.zeros(len(sets), np.int64), 0, met > 0
    while left.any():
        taken = _independent(left, one, two)
        colours[taken] = colour
        left &= ~taken
        colour += 1
    return colours


def _independent(left: BoolArray, one: IntArray, two: IntArray) -> BoolArray:
    """Choose concepts of which no two meet; of two that meet, `one` goes before `two`."""
    free, taken = left.copy(), np.zeros(len(left), np.bool_)
    while free.any():
        first = free.copy()
        first[two[free[one] & free[two]]] = False
        taken |= first
        free &= ~first
        free[two[first[one]]] = False
        free[one[first[two]]] = False
    return taken


def _meeting(sets: RaggedArray, levels: IntArray) -> tuple[IntArray, IntArray]:
    """Give the pairs of concepts, lower number first, that share a set and a level.

    A set has one concept on each level down to its own; only larger ones have two on one.
    """
    items, owners = sets.take(np.flatnonzero(sets.sizes > levels + 1))
    places = owners * (int(levels.max(initial=0)) + 1) + levels[items]
    order = np.lexsort((items, places))
    place, item = places[order], items[order].astype(np.int64)
    keys, step = [np.empty(0, np.int64)], 1
    while len(same := np.flatnonzero(place[step:] == place[:-step])):
        keys.append(np.unique(item[same] * len(sets) + item[same + step]))
        step += 1
    low, high = np.divmod(np.unique(np.concatenate(keys)), len(sets))
    return low, high


Floats = NDArray[np.float64]

_CHUNK = 1 << 16  # pairs at a time, so that what is compared stays in the processor's cache


def concept_distance(taxonomy: Taxonomy, a: int, b: int) -> float:
    """Give the distance of two concepts, from 0 (the same) to 1 (nothing shared).

    It is eq. (1) of Batet 2013: of all ancestors of the two, the share that is not common.

    >>> from queryveil.concepts import taxonomy_from_paths
    >>> odp = taxonomy_from_paths(["Top/Sports/Water_Sports/Windsurfing",
    ...                          "Top/Sports/Water_Sports/Swimming_and_Diving"])
    >>> concept_distance(odp, odp.find("Windsurfing"), odp.find("Swimming and Diving"))
    0.5
    """
    return float(pairwise_distances(taxonomy, np.array([a]), np.array([b]))[0])


def pairwise_distances(taxonomy: Taxonomy, first: IntArray, second: IntArray) -> Floats:
    """Give eq. (1) of Batet 2013 for each pair of two arrays of concepts."""
    return _unlike(get_ancestor_table(taxonomy), first, second)


def concept_similarity(taxonomy: Taxonomy, a: int, b: int, domain: int | None = None) -> float:
    """Give the similarity of two concepts, from 0 (nothing shared) to exactly 1 (the same).

    It is eq. (5) of Sanchez 2018, `1 - log2(1 + apart / all)`, over the ancestors that lie
    inside the domain: a concept and all below it, or the whole taxonomy.

    >>> from queryveil.concepts import taxonomy_from_paths
    >>> ill = taxonomy_from_paths(["disease/lungs/asthma", "disease/lungs/pneumonia"])
    >>> round(concept_similarity(ill, ill.find("asthma"), ill.find("pneumonia")), 6)
    0.415037
    """
    return float(pairwise_similarities(taxonomy, np.array([a]), np.array([b]), domain)[0])


def pairwise_similarities(
    taxonomy: Taxonomy, first: IntArray, second: IntArray, domain: int | None = None
) -> Floats:
    """Give eq. (5) of Sanchez 2018 for each pair of two arrays of concepts of a domain."""
    apart = _unlike(get_ancestor_table(taxonomy, domain), first, second)
    np.log2(np.add(apart, 1, out=apart), out=apart)
    return np.subtract(1, apart, out=apart)


def _share_apart(shared: IntArray, both: IntArray) -> Floats:
    """Give the share of all ancestors of a pair that is not common, 0 where there is none."""
    union = both - shared
    share: Floats = np.divide(union - shared, np.maximum(union, 1), dtype=np.float64)
    return share


def _unlike(table: AncestorTable, first: IntArray, second: IntArray) -> Floats:
    """Give the Jaccard distance of the sets of each pair."""
    if len(first) != len(second):
        raise UsageError(
            f"pairs need as many first ones as second ones: {len(first):,}, {len(second):,}"
        )
    a, b = table.local_ids(first), table.local_ids(second)
    found = np.empty(len(a))
    for begin in range(0, len(a), _CHUNK):
        one, two = a[begin : begin + _CHUNK], b[begin : begin + _CHUNK]
        both = table.sizes[one] + table.sizes[two]
        found[begin : begin + _CHUNK] = _share_apart(table.shared(one, two), both)
    return found


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
