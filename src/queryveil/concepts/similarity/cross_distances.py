"""The distance Ds of each profile of one set to each profile of another set."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..taxonomy.arrays import IntArray
from ..taxonomy.graph import Taxonomy
from .profiles import Matrix, Profiles, concept_distance_table

_DIGITS = 6  # smaller differences are ties: rounding errors must not decide who is nearer
_CELLS = 1 << 25  # of a table of distances of concepts: 128 MB


def cross_distance_matrix(taxonomy: Taxonomy, rows: Profiles, columns: Profiles) -> Matrix:
    """Return Ds of all pairs of a profile of `rows` and one of `columns`, eq. (4) of Batet 2013.

    Every profile has at least one concept, as those of `build_profiles` have.
    """
    sums = _sum_nearest(taxonomy, rows, columns)
    sums += _sum_nearest(taxonomy, columns, rows).T
    sums /= rows.weights[:, None].astype(np.float32) + columns.weights.astype(np.float32)
    return np.round(sums, _DIGITS, out=sums)


def _sum_nearest(taxonomy: Taxonomy, profiles: Profiles, others: Profiles) -> Matrix:
    """Sum the distances from the concepts of each other (column) to those of a profile (row)."""
    concepts, index = np.unique(others.lists.items, return_inverse=True)
    start, items = profiles.lists.start, profiles.lists.items
    sums = np.empty((len(profiles), len(others)), np.float32)
    for begin, end in _split_profiles(profiles, len(concepts)):
        own, row = np.unique(items[start[begin] : start[end]], return_inverse=True)
        table = concept_distance_table(taxonomy, own, concepts)
        for number in range(begin, end):
            own_rows = row[start[number] - start[begin] : start[number + 1] - start[begin]]
            nearest = table[own_rows].min(axis=0)
            sums[number] = _sum_by_profile(others, nearest[index])
    return sums


def _sum_by_profile(profiles: Profiles, distances: NDArray[np.float32]) -> NDArray[np.float32]:
    weighted = distances * profiles.counts.astype(np.float32)
    return np.asarray(np.add.reduceat(weighted, profiles.lists.start[:-1]), np.float32)


def _split_profiles(profiles: Profiles, concepts: int) -> list[tuple[int, int]]:
    """Split profiles into blocks, so that the distance table of a block has a bounded size."""
    max_items = max(1, _CELLS // max(concepts, 1))
    block: IntArray = profiles.lists.start[:-1] // max_items
    cuts = 1 + np.flatnonzero(np.diff(block))
    return list(pairwise([0, *cuts.tolist(), len(profiles)]))
