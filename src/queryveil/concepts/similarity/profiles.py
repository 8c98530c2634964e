"""Profiles of users: the concepts of each user with their counts.

The distance of two profiles is eq. (4) of Batet et al. 2013, the centroid of a group eq. (6).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ...errors import UsageError
from ..taxonomy.arrays import IntArray, RaggedArray
from ..taxonomy.graph import Taxonomy
from .distance import Floats, distance_table

UNMAPPED = -1  # the concept of a user without concepts: distance 0 to itself, 1 to all others

_MAX_PROFILE_CELLS = 1 << 22  # cells of a distance table at a time: 32 MB
_TIE = 1e-6  # smaller differences, relative to the weights, are rounding errors


@dataclass(frozen=True, eq=False, repr=False)
class Profiles:
    """C_r of every user: distinct concepts, ascending, each with its count (Batet's omega).

    `users` are sorted; the index of a user there is their row in `lists`. `counts` are aligned
    with `lists.items`.
    """

    users: pl.Series
    lists: RaggedArray
    counts: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.lists)

    @cached_property
    def weights(self) -> NDArray[np.int64]:
        """The sum of the counts of each user: the number of their phrases with a concept."""
        ends = np.concatenate([[0], np.cumsum(self.counts)])
        return np.diff(ends[self.lists.start])

    def profile(self, user: int) -> tuple[IntArray, NDArray[np.int64]]:
        """Return the concepts of a user, and their counts."""
        begin, end = self.lists.start[user : user + 2]
        return self.lists.items[begin:end], self.counts[begin:end]

    def select(self, users: IntArray) -> Profiles:
        """Return the profiles of these users only, in this order."""
        indices, _ = RaggedArray(self.lists.start, np.arange(len(self.counts))).take(users)
        lists = RaggedArray.from_sizes(self.lists.sizes[users], self.lists.items[indices])
        return Profiles(self.users.gather(users), lists, self.counts[indices])


def count_concepts(pairs: pl.DataFrame | pl.LazyFrame) -> pl.DataFrame:
    """Count the concepts of each user; return user, concept and count, sorted.

    `pairs` has the columns user and concept, and may have a count. A phrase without a concept
    (null) is counted under `UNMAPPED`.
    """
    lazy = pairs.lazy()
    columns = lazy.collect_schema().names()
    if missing := {"user", "concept"} - set(columns):
        raise UsageError(f"concepts of users need the column {' and '.join(sorted(missing))}")
    count = pl.col("count").sum() if "count" in columns else pl.len()
    concept = pl.max_horizontal(pl.col("concept").cast(pl.Int32), pl.lit(UNMAPPED, pl.Int32))
    counts = lazy.group_by(pl.col("user").cast(pl.String), concept.alias("concept")).agg(
        count.cast(pl.Int64).alias("count")
    )
    return counts.sort("user", "concept").collect()


def build_profiles(pairs: pl.DataFrame | pl.LazyFrame) -> Profiles:
    """Build the profiles of all users from pairs of user and concept (see `count_concepts`).

    Phrases without a concept are omitted, but no user is: a user without other phrases gets the
    single concept `UNMAPPED` with count 1.

    >>> pairs = pl.DataFrame({"user": ["b", "a", "b", "b"], "concept": [7, None, 2, 7]})
    >>> profiles = build_profiles(pairs)
    >>> profiles.users.to_list(), profiles.lists[1].tolist(), profiles.counts.tolist()
    (['a', 'b'], [2, 7], [1, 1, 2])
    """
    rows = count_concepts(pairs).with_columns(last=pl.col("concept").max().over("user"))
    # UNMAPPED (-1) is dropped for users with a concept; for all others it is their maximum.
    rows = rows.filter((pl.col("concept") != UNMAPPED) | (pl.col("last") == UNMAPPED))
    sizes = rows.group_by("user", maintain_order=True).len()
    concepts, counts = rows["concept"].to_numpy(), rows["count"].to_numpy()
    lists = RaggedArray.from_sizes(sizes["len"].to_numpy(), concepts)
    return Profiles(sizes["user"], lists, np.where(concepts == UNMAPPED, 1, counts))


def profile_distance(taxonomy: Taxonomy, profiles: Profiles, i: int, j: int) -> float:
    """Return the distance Ds of the profiles of two users, eq. (4) of Batet 2013, from 0 to 1."""
    return float(profile_distances(taxonomy, profiles, i, np.array([j]))[0])


def profile_distances(
    taxonomy: Taxonomy, profiles: Profiles, i: int, others: IntArray | None = None
) -> Floats:
    """Return Ds of the profile of user i to those of others, or of all; eq. (4) of Batet 2013.

    Ds is the mean, over the concepts of both users weighted by their counts, of the distance to
    the nearest concept of the other user. Two profiles without concepts have distance 0, and one
    without concepts has distance 1 to any other.
    """
    selected = profiles if others is None else profiles.select(others)
    concepts, counts = profiles.profile(i)
    empty = selected.lists.sizes == 0
    if not len(concepts):
        return np.where(empty, 0.0, 1.0)
    total = selected.weights + counts.sum()
    sums = np.where(empty, total, _sum_nearest_distances(taxonomy, selected, concepts, counts))
    return np.asarray(sums / np.maximum(total, 1))


def centroid_concept(taxonomy: Taxonomy, profiles: Profiles, members: IntArray) -> int:
    """Return the centroid of a group of users, eq. (6) of Batet 2013.

    It is the concept of the group with the lowest sum of distances to all its concepts, weighted
    by counts; in a tie, the concept with the lowest number.
    """
    group = profiles.select(members)
    concepts, index = np.unique(group.lists.items, return_inverse=True)
    if not len(concepts):
        raise UsageError("a group without concepts has no centroid")
    weights = np.bincount(index, group.counts)
    sums = np.zeros(len(concepts))
    for rows in _split_rows(len(concepts), len(concepts)):
        sums += weights[rows] @ concept_distance_table(taxonomy, concepts[rows], concepts)
    nearest = np.flatnonzero(sums <= sums.min() + _TIE * weights.sum())
    return int(concepts[nearest[0]])


def _sum_nearest_distances(
    taxonomy: Taxonomy, others: Profiles, concepts_i: IntArray, counts: IntArray
) -> Floats:
    """Return eq. (3) of Batet 2013 for user i and each of the others.

    The value for a profile without concepts is meaningless; the caller replaces it. Distances are
    computed between the concepts of user i, a block at a time, and the distinct concepts of all
    others. The minimum of a column is the term of that concept of another user. The minimum over
    the columns of another user is the term of a concept of user i.
    """
    concepts, index = np.unique(others.lists.items, return_inverse=True)
    nonempty = np.flatnonzero(others.lists.sizes)
    starts = others.lists.start[nonempty]
    sums: Floats = np.zeros(len(others))
    nearest = np.ones(len(concepts), np.float32)
    if not len(nonempty):
        return sums
    for rows in _split_rows(len(concepts_i), len(index)):
        table = concept_distance_table(taxonomy, concepts_i[rows], concepts)
        np.minimum(nearest, table.min(axis=0), out=nearest)
        per_item = table.take(index, axis=1)
        sums[nonempty] += counts[rows] @ np.minimum.reduceat(per_item, starts, axis=1)
    sums[nonempty] += np.add.reduceat(others.counts * nearest[index], starts)
    return sums


def _split_rows(rows: int, columns: int) -> list[slice]:
    """Split rows into blocks, so that a block with this number of columns has a bounded size."""
    step = max(1, _MAX_PROFILE_CELLS // max(columns, 1))
    return [slice(begin, begin + step) for begin in range(0, rows, step)]


def concept_distance_table(
    taxonomy: Taxonomy | None, rows: IntArray, columns: IntArray
) -> NDArray[np.float32]:
    """Return the distances of concepts, any of which may be `UNMAPPED`.

    Without a taxonomy the distance is 0 if two are equal, else 1, as for strings in Batet's
    variant.
    """
    if taxonomy is None:
        return np.asarray(rows[:, None] != columns[None, :], np.float32)
    if UNMAPPED not in rows and UNMAPPED not in columns:
        return distance_table(taxonomy, rows, columns)
    table = np.asarray(rows[:, None] != columns[None, :], np.float32)
    mapped = np.ix_(np.flatnonzero(rows != UNMAPPED), np.flatnonzero(columns != UNMAPPED))
    table[mapped] = distance_table(taxonomy, rows[rows != UNMAPPED], columns[columns != UNMAPPED])
    return table


Matrix = NDArray[np.float32]

_DIGITS = 6  # smaller differences are ties: rounding errors must not decide who is nearer
_MAX_MATRIX_CELLS = 1 << 26  # cells of a distance table of concepts: 256 MB
_ROWS = 256  # rows of the matrix at a time


def profile_distance_matrix(
    taxonomy: Taxonomy | None, profiles: Profiles, advance: Callable[[int], None] = lambda _: None
) -> Matrix:
    """Return Ds of all pairs of users, eq. (4) of Batet 2013.

    Without a taxonomy, the distance of two concepts is 0 if they are equal, else 1. For each user,
    the distance of every concept to the nearest concept of the user is computed once. The terms
    of another user are then a sum over the concepts of that user. The distances of concepts are
    computed for a block of users together.
    """
    sums = np.empty((len(profiles), len(profiles)), np.float32)
    fill = _fill_equal if taxonomy is None else partial(_fill_semantic, taxonomy)
    fill(profiles, sums, advance)
    weights = profiles.weights.astype(np.float32)
    for begin in range(0, len(sums), _ROWS):  # in place: a second matrix might not fit
        rows = slice(begin, begin + _ROWS)
        distances = sums[rows, begin:] + sums[begin:, rows].T
        distances /= np.maximum(weights[rows, None] + weights[begin:], 1)
        sums[rows, begin:] = distances.round(_DIGITS)
        sums[begin:, rows] = sums[rows, begin:].T
    np.fill_diagonal(sums, 0)
    return sums


def _fill_semantic(
    taxonomy: Taxonomy, profiles: Profiles, sums: Matrix, advance: Callable[[int], None]
) -> None:
    """Sum the distances from the concepts of each user (column) to those of each other (row)."""
    concepts, indices = np.unique(profiles.lists.items, return_inverse=True)
    start = profiles.lists.start
    for block in _split_users(profiles, len(concepts)):
        own = np.unique(indices[start[block[0]] : start[block[-1] + 1]])
        table = concept_distance_table(taxonomy, concepts[own], concepts)
        row = np.zeros(len(concepts), np.intp)
        row[own] = np.arange(len(own))
        for user in block:
            table_rows = row[indices[start[user] : start[user + 1]]]
            nearest = (
                table[table_rows].min(axis=0)
                if len(table_rows)
                else np.ones(len(concepts), np.float32)
            )
            sums[user] = _sum_per_user(profiles, nearest[indices] * profiles.counts)
        advance(len(block))


def _fill_equal(profiles: Profiles, sums: Matrix, advance: Callable[[int], None]) -> None:
    """Count the concepts of each user (column) that each other user (row) does not have."""
    concepts, indices = np.unique(profiles.lists.items, return_inverse=True)
    missing = np.ones(len(concepts), np.float32)
    for user, (begin, end) in enumerate(pairwise(profiles.lists.start.tolist())):
        missing[indices[begin:end]] = 0
        sums[user] = _sum_per_user(profiles, missing[indices] * profiles.counts)
        missing[indices[begin:end]] = 1
        advance(1)


def _sum_per_user(profiles: Profiles, values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Sum values over the concepts of each user; every user has at least one concept."""
    return np.asarray(np.add.reduceat(values, profiles.lists.start[:-1]), np.float32)


def _split_users(profiles: Profiles, concepts: int) -> list[IntArray]:
    """Split users into blocks, so that the distance table of a block has a bounded size."""
    max_items = max(1, _MAX_MATRIX_CELLS // max(concepts, 1))
    sizes = np.cumsum(profiles.lists.sizes)
    cuts = np.searchsorted(sizes, np.arange(max_items, int(sizes[-1]) + max_items, max_items))
    edges = np.unique(np.concatenate([[0], cuts + 1, [len(profiles)]]).clip(0, len(profiles)))
    return [np.arange(begin, end) for begin, end in pairwise(edges.tolist())]


def compute_coverage(counted: pl.DataFrame) -> float:
    """Return the fraction of phrases that have a concept, from a table of concept and count.

    >>> compute_coverage(pl.DataFrame({"concept": [-1, 7], "count": [3, 1]}))
    0.25
    """
    total = int(counted["count"].sum())
    unmapped = int(counted.filter(pl.col("concept") == UNMAPPED)["count"].sum())
    return 1 - unmapped / total if total else 0.0
