"""Common ancestors of many pairs of concepts, counted in numpy.

Comparing two sorted lists a pair is slow in numpy. Here all ancestor sets of a taxonomy, or of
a domain in it, are laid out once such that equal ancestors stand in equal places.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from weakref import WeakKeyDictionary

import numpy as np

from ...errors import UsageError
from ..taxonomy.arrays import BoolArray, IntArray, RaggedArray
from ..taxonomy.graph import Taxonomy
from ..taxonomy.levels import compute_depths

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
