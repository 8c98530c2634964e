"""How near two concepts are: the share of ancestors that they have in common.

Both measures here compare T(c), the ancestors of a concept with itself: eq. (1) of Batet et al.
2013 (a distance) and eq. (5) of Sanchez et al. 2018 (a similarity, inside a domain). The bulk
versions take millions of pairs: `overlap` counts their common ancestors.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...errors import UsageError
from ..similarity.distance import AncestorTable, get_ancestor_table
from ..taxonomy.arrays import IntArray
from ..taxonomy.graph import Taxonomy

__all__ = [
    "Floats",
    "concept_distance",
    "concept_similarity",
    "pairwise_distances",
    "pairwise_similarities",
]

Floats = NDArray[np.float64]

_CHUNK = 1 << 16  # pairs at a time, so that what is compared stays in the processor's cache


def concept_distance(taxonomy: Taxonomy, a: int, b: int) -> float:
    """Give the distance of two concepts, from 0 (the same) to 1 (nothing shared).

    It is eq. (1) of Batet 2013: of all ancestors of the two, the share that is not common.

    >>> from queryveil.concepts import taxonomy_of_paths
    >>> odp = taxonomy_of_paths(["Top/Sports/Water_Sports/Windsurfing",
    ...                          "Top/Sports/Water_Sports/Swimming_and_Diving"])
    >>> distance(odp, odp.concept("Windsurfing"), odp.concept("Swimming and Diving"))
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

    >>> from queryveil.concepts import taxonomy_of_paths
    >>> ill = taxonomy_of_paths(["disease/lungs/asthma", "disease/lungs/pneumonia"])
    >>> round(similarity(ill, ill.concept("asthma"), ill.concept("pneumonia")), 6)
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
