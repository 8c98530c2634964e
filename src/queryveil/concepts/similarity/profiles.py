"""What users are interested in: each user's concepts with how often she meant them.

The distance of two profiles is eq. (4) of Batet et al. 2013, the centre of a group eq. (6).
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

UNMAPPED = -1  # the concept of a user who has none: equal to itself, and far from all others

_MAX_PROFILE_CELLS = 1 << 22  # of a table of distances at a time: 32 MB
_TIE = 1e-6  # sums that differ by less, relative to their weights, differ by rounding only


@dataclass(frozen=True, eq=False, repr=False)
class Profiles:
    """C_r of every user: distinct concepts, rising, each with its count (Batet's omega).

    `users` are sorted; the place of a user there is her number in `lists`. `counts` stand
    beside `lists.items`.
    """

    users: pl.Series
    lists: RaggedArray
    counts: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.lists)

    @cached_property
    def weights(self) -> NDArray[np.int64]:
        """The counts of each user summed up: how many phrases with a concept she has."""
        ends = np.concatenate([[0], np.cumsum(self.counts)])
        return np.diff(ends[self.lists.start])

    def profile(self, user: int) -> tuple[IntArray, NDArray[np.int64]]:
        """Give the concepts of one user, and their counts."""
        begin, end = self.lists.start[user : user + 2]
        return self.lists.items[begin:end], self.counts[begin:end]

    def select(self, users: IntArray) -> Profiles:
        """Give the profiles of some users alone, in this order."""
        places, _ = RaggedArray(self.lists.start, np.arange(len(self.counts))).take(users)
        lists = RaggedArray.from_sizes(self.lists.sizes[users], self.lists.items[places])
        return Profiles(self.users.gather(users), lists, self.counts[places])


def count_concepts(pairs: pl.DataFrame | pl.LazyFrame) -> pl.DataFrame:
    """Count how often each user meant each concept: user, concept and count, sorted.

    `pairs` has the columns user and concept, and may have a count. A phrase without a concept
    (null) counts under `UNMAPPED`.
    """
    lazy = pairs.lazy()
    columns = lazy.collect_schema().names()
    if missing := {"user", "concept"} - set(columns):
        raise UsageError(f"users' concepts need the column {' and '.join(sorted(missing))}")
    times = pl.col("count").sum() if "count" in columns else pl.len()
    concept = pl.max_horizontal(pl.col("concept").cast(pl.Int32), pl.lit(UNMAPPED, pl.Int32))
    counted = lazy.group_by(pl.col("user").cast(pl.String), concept.alias("concept")).agg(
        times.cast(pl.Int64).alias("count")
    )
    return counted.sort("user", "concept").collect()


def build_profiles(pairs: pl.DataFrame | pl.LazyFrame) -> Profiles:
    """Make the profiles of all users from pairs of user and concept (see `count_concepts`).

    Phrases without a concept are left out, but no user is: one who has no other phrases gets
    the single concept `UNMAPPED`, once.

    >>> pairs = pl.DataFrame({"user": ["b", "a", "b", "b"], "concept": [7, None, 2, 7]})
    >>> profiles = build_profiles(pairs)
    >>> profiles.users.to_list(), profiles.lists[1].tolist(), profiles.counts.tolist()
    (['a', 'b'], [2, 7], [1, 1, 2])
    """
    rows = count_concepts(pairs).with_columns(last=pl.col("concept").max().over("user"))
    # One who has a concept loses UNMAPPED; for the others it is the largest number they have.
    rows = rows.filter((pl.col("concept") != UNMAPPED) | (pl.col("last") == UNMAPPED))
    sizes = rows.group_by("user", maintain_order=True).len()
    concepts, counts = rows["concept"].to_numpy(), rows["count"].to_numpy()
    lists = RaggedArray.from_sizes(sizes["len"].to_numpy(), concepts)
    return Profiles(sizes["user"], lists, np.where(concepts == UNMAPPED, 1, counts))


def profile_distance(taxonomy: Taxonomy, profiles: Profiles, i: int, j: int) -> float:
    """Give Ds of two users' profiles, eq. (4) of Batet 2013, from 0 to 1."""
    return float(profile_distances(taxonomy, profiles, i, np.array([j]))[0])


def profile_distances(
    taxonomy: Taxonomy, profiles: Profiles, i: int, others: IntArray | None = None
) -> Floats:
    """Give Ds of user i's profile to those of other users, or of all; eq. (4) of Batet 2013.

    Each concept of either user counts with its distance to the nearest concept of the other
    user, weighted by its count. Two profiles without concepts have distance 0, and one
    without has 1 to any other.
    """
    them = profiles if others is None else profiles.select(others)
    mine, counts = profiles.profile(i)
    empty = them.lists.sizes == 0
    if not len(mine):
        return np.where(empty, 0.0, 1.0)
    total = them.weights + counts.sum()
    apart = np.where(empty, total, _sums_apart(taxonomy, them, mine, counts))
    return np.asarray(apart / np.maximum(total, 1))


def centroid_concept(taxonomy: Taxonomy, profiles: Profiles, members: IntArray) -> int:
    """Give the centre of a group of users, eq. (6) of Batet 2013; of equals, the lowest number.

    It is the concept of theirs that is nearest to all their concepts, weighted by counts.
    """
    group = profiles.select(members)
    concepts, place = np.unique(group.lists.items, return_inverse=True)
    if not len(concepts):
        raise UsageError("a group without concepts has no centre")
    weights = np.bincount(place, group.counts)
    sums = np.zeros(len(concepts))
    for rows in _blocks(len(concepts), len(concepts)):
        sums += weights[rows] @ concept_distance_table(taxonomy, concepts[rows], concepts)
    nearest = np.flatnonzero(sums <= sums.min() + _TIE * weights.sum())
    return int(concepts[nearest[0]])


def _sums_apart(taxonomy: Taxonomy, them: Profiles, mine: IntArray, counts: IntArray) -> Floats:
    """Give eq. (3) of one profile and each of others; what it gives for an empty one is void.

    Distances are taken between my concepts and the distinct ones of all others, some of mine
    at a time. The least of each column is what that concept adds to its users (their side);
    the least within each user's columns is what a concept of mine adds against her (my side).
    """
    concepts, place = np.unique(them.lists.items, return_inverse=True)
    filled = np.flatnonzero(them.lists.sizes)
    starts = them.lists.start[filled]
    apart: Floats = np.zeros(len(them))
    nearest = np.ones(len(concepts), np.float32)
    if not len(filled):
        return apart
    for rows in _blocks(len(mine), len(place)):
        table = concept_distance_table(taxonomy, mine[rows], concepts)
        np.minimum(nearest, table.min(axis=0), out=nearest)
        each = table.take(place, axis=1)
        apart[filled] += counts[rows] @ np.minimum.reduceat(each, starts, axis=1)
    apart[filled] += np.add.reduceat(them.counts * nearest[place], starts)
    return apart


def _blocks(rows: int, columns: int) -> list[slice]:
    """Cut rows into blocks, so that a block of that many columns stays of bounded size."""
    step = max(1, _MAX_PROFILE_CELLS // max(columns, 1))
    return [slice(begin, begin + step) for begin in range(0, rows, step)]


def concept_distance_table(
    taxonomy: Taxonomy | None, rows: IntArray, columns: IntArray
) -> NDArray[np.float32]:
    """Give the distances of concepts, of which any may be `UNMAPPED`.

    Without a taxonomy two are equal (0) or not (1), as strings are in Batet's variant.
    """
    if taxonomy is None:
        return np.asarray(rows[:, None] != columns[None, :], np.float32)
    if UNMAPPED not in rows and UNMAPPED not in columns:
        return distance_table(taxonomy, rows, columns)
    found = np.asarray(rows[:, None] != columns[None, :], np.float32)
    real = np.ix_(np.flatnonzero(rows != UNMAPPED), np.flatnonzero(columns != UNMAPPED))
    found[real] = distance_table(taxonomy, rows[rows != UNMAPPED], columns[columns != UNMAPPED])
    return found


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
