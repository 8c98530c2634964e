"""The distances of all users of a group, as one matrix; for some thousands of users."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..similarity.profiles import Profiles, concept_distance_table
from ..taxonomy.arrays import IntArray
from ..taxonomy.graph import Taxonomy

__all__ = ["Matrix", "profile_distance_matrix"]

Matrix = NDArray[np.float32]

_DIGITS = 6  # what differs by less is a tie: rounding must not decide who is nearer
_MAX_MATRIX_CELLS = 1 << 26  # of a table of concepts, or of users and counted concepts: 256 MB
_ROWS = 256  # of the matrix at a time


def profile_distance_matrix(
    taxonomy: Taxonomy | None, profiles: Profiles, advance: Callable[[int], None] = lambda _: None
) -> Matrix:
    """Give Ds of all pairs of users, eq. (4) of Batet 2013; without a taxonomy, equal or not.

    For each user the distance of every concept to her nearest one is found once; what it adds
    against another user is then the sum over the other's concepts. A user at a time is
    cheap, since the distances of concepts are computed for a block of users together.
    """
    sums = np.empty((len(profiles), len(profiles)), np.float32)
    fill = _fill_equal if taxonomy is None else partial(_fill_semantic, taxonomy)
    fill(profiles, sums, advance)
    weights = profiles.weights.astype(np.float32)
    for begin in range(0, len(sums), _ROWS):  # in place: a second matrix might not fit
        rows = slice(begin, begin + _ROWS)
        both = sums[rows, begin:] + sums[begin:, rows].T
        both /= np.maximum(weights[rows, None] + weights[begin:], 1)
        sums[rows, begin:] = both.round(_DIGITS)
        sums[begin:, rows] = sums[rows, begin:].T
    np.fill_diagonal(sums, 0)
    return sums


def _fill_semantic(
    taxonomy: Taxonomy, profiles: Profiles, sums: Matrix, advance: Callable[[int], None]
) -> None:
    """Sum up the distances of the concepts of each user (column) to those of each other (row)."""
    concepts, places = np.unique(profiles.lists.items, return_inverse=True)
    start = profiles.lists.start
    for block in _user_blocks(profiles, len(concepts)):
        own = np.unique(places[start[block[0]] : start[block[-1] + 1]])
        table = concept_distance_table(taxonomy, concepts[own], concepts)
        row = np.zeros(len(concepts), np.intp)
        row[own] = np.arange(len(own))
        for user in block:
            mine = row[places[start[user] : start[user + 1]]]
            nearest = table[mine].min(axis=0) if len(mine) else np.ones(len(concepts), np.float32)
            sums[user] = _per_user(profiles, nearest[places] * profiles.counts)
        advance(len(block))


def _fill_equal(profiles: Profiles, sums: Matrix, advance: Callable[[int], None]) -> None:
    """Sum up how many of each user's concepts (column) each other (row) does not have."""
    concepts, places = np.unique(profiles.lists.items, return_inverse=True)
    missing = np.ones(len(concepts), np.float32)
    for user, (begin, end) in enumerate(pairwise(profiles.lists.start.tolist())):
        missing[places[begin:end]] = 0
        sums[user] = _per_user(profiles, missing[places] * profiles.counts)
        missing[places[begin:end]] = 1
        advance(1)


def _per_user(profiles: Profiles, values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Add up what the concepts of each user add; every user has one."""
    return np.asarray(np.add.reduceat(values, profiles.lists.start[:-1]), np.float32)


def _user_blocks(profiles: Profiles, concepts: int) -> list[IntArray]:
    """Cut the users so that the concepts of a block, each with all others, stay bounded."""
    most = max(1, _MAX_MATRIX_CELLS // max(concepts, 1))
    sizes = np.cumsum(profiles.lists.sizes)
    cuts = np.searchsorted(sizes, np.arange(most, int(sizes[-1]) + most, most))
    edges = np.unique(np.concatenate([[0], cuts + 1, [len(profiles)]]).clip(0, len(profiles)))
    return [np.arange(begin, end) for begin, end in pairwise(edges.tolist())]
