"""Select the items of the log that the users of a group share (the prototype).

Each user contributes a quota of their concepts, those nearest to the centroid of the group first.
The prototype is as long as the mean log of the group (Batet 2013, section 2.3 of SPEC).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import polars as pl

from ...concepts.similarity.distance import distance_table, pairwise_distances
from ...concepts.similarity.profiles import UNMAPPED, Profiles
from ...concepts.taxonomy.arrays import IntArray
from ...concepts.taxonomy.graph import Taxonomy
from ...core.randomness import RandomSource
from .contributions import allowance, bounded_lengths

_COLUMNS = 2_000  # concepts that are compared with all others at a time


@dataclass(frozen=True, eq=False)
class PrototypeItems:
    """The items of prototypes: group, concept and contributor of each.

    `short` is the number of items that each group lacks, compared with its mean log, because of the
    contribution bound.
    """

    group: IntArray
    concept: IntArray
    user: IntArray
    short: IntArray

    def __len__(self) -> int:
        return len(self.group)


def select_items(
    taxonomy: Taxonomy | None, profiles: Profiles, group: IntArray, share: float = 1.0
) -> PrototypeItems:
    """Select the items of every group's prototype (Batet 2013).

    The concepts of a user are taken by their distance to the centroid of the group (eq. 6), then by
    descending frequency, then by number, until the quota of the user (eq. 7) is full. Without a
    taxonomy, as in Batet's variant for strings, the most repeated concepts are taken first. No user
    contributes more than a fraction `share` of a prototype.
    """
    user = profiles.lists.row_ids.astype(np.int64)
    concept, counts = profiles.lists.items, profiles.counts
    known = concept != UNMAPPED  # users without a concept contribute nothing
    user, concept, counts = user[known], concept[known], counts[known]
    weights = np.bincount(user, counts, len(profiles)).astype(np.int64)
    wanted, short = bounded_quotas(weights, group, share)
    if taxonomy is None:
        distance = np.zeros(len(concept))
    else:
        centroid = group_centroids(taxonomy, profiles, group)
        distance = pairwise_distances(taxonomy, concept, centroid[group[user]])
    order = np.lexsort((concept, -counts, distance.round(9), user))
    user, concept, counts = user[order], concept[order], counts[order]
    taken = copies_until_quota(user, counts, wanted)
    return PrototypeItems(
        np.repeat(group[user], taken), np.repeat(concept, taken), np.repeat(user, taken), short
    )


def copies_until_quota(user: IntArray, counts: IntArray, wanted: IntArray) -> IntArray:
    """Return how many copies of each row are taken until each user's quota is full."""
    before = np.cumsum(counts) - counts
    first = np.r_[True, user[1:] != user[:-1]] if len(user) else np.zeros(0, np.bool_)
    begins = np.maximum.accumulate(np.where(first, before, 0)) if len(user) else before
    return np.asarray(np.clip(wanted[user] - (before - begins), 0, counts))


def member_quotas(weights: IntArray, group: IntArray) -> IntArray:
    """Return each user's quota, eq. (7) of Batet 2013: their concepts over the users of the group.

    Quotas are rounded by largest remainders, so that a prototype has the mean length of
    the group's logs, rounded, and at least one item if there is any.

    >>> member_quotas(np.array([3, 4, 6]), np.array([0, 0, 0])).tolist()
    [1, 1, 2]
    """
    sizes = np.bincount(group)
    whole, rest = np.divmod(weights, sizes[group])
    total = np.bincount(group, weights).astype(np.int64)
    goal = np.maximum((2 * total + sizes) // (2 * sizes), total > 0)  # rounded half up
    missing = goal - np.bincount(group, whole).astype(np.int64)
    return np.asarray(whole + (_rank_in_group(rest, group) < missing[group]))


def _rank_in_group(rest: IntArray, group: IntArray) -> IntArray:
    """Return the rank of each user in their group, by descending remainder."""
    sizes = np.bincount(group)
    order = np.lexsort((np.arange(len(group)), -rest, group))
    begins = np.cumsum(sizes) - sizes
    rank = np.empty(len(group), np.int64)
    rank[order] = np.arange(len(group)) - begins[group[order]]
    return rank


def bounded_quotas(weights: IntArray, group: IntArray, share: float) -> tuple[IntArray, IntArray]:
    """Return quotas within the contribution bound, and the items that each group lacks.

    What a user may not contribute, the other users of the group contribute, as far as they can.

    >>> bounded_quotas(np.array([100, 1, 1, 1, 1]), np.zeros(5, np.int64), 0.4)
    (array([2, 1, 1, 1, 1]), array([15]))
    """
    wanted = member_quotas(weights, group)
    goal = np.bincount(group, wanted).astype(np.int64)
    length = bounded_lengths(weights, group, goal, share)
    limit = np.minimum(weights, allowance(length, share)[group])
    quota = np.minimum(wanted, limit)
    missing, spare = (length - np.bincount(group, quota).astype(np.int64))[group], limit - quota
    total = np.maximum(np.bincount(group, spare).astype(np.int64)[group], 1)
    whole, rest = np.divmod(spare * missing, total)
    left = missing - np.bincount(group, whole).astype(np.int64)[group]
    return quota + whole + (_rank_in_group(rest, group) < left), goal - length


def group_centroids(taxonomy: Taxonomy, profiles: Profiles, group: IntArray) -> IntArray:
    """Return the centroid of each group, eq. (6) of Batet 2013; 0 for a group without concepts.

    It is the concept of the group with the smallest sum of distances to all its concepts, weighted
    by counts; ties go to the lowest number.
    """
    owner, concept, weight = _merge_profiles(profiles, group)
    centroids = np.zeros(int(group.max()) + 1, np.int64)
    edges = np.flatnonzero(np.r_[True, owner[1:] != owner[:-1], True]) if len(owner) else [0]
    for begin, end in pairwise(np.asarray(edges).tolist()):
        own = concept[begin:end]
        sums = np.zeros(end - begin)
        for part in range(0, end - begin, _COLUMNS):  # limits memory for very many concepts
            columns = slice(part, part + _COLUMNS)
            sums += distance_table(taxonomy, own, own[columns]) @ weight[begin:end][columns]
        centroids[owner[begin]] = own[np.argmin(sums.round(6))]
    return centroids


def _merge_profiles(profiles: Profiles, group: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return group, concept and total count of all concepts, sorted by group and concept."""
    known = profiles.lists.items != UNMAPPED
    owner = group[profiles.lists.row_ids[known]].astype(np.int64)
    size = int(profiles.lists.items.max(initial=0)) + 1
    keys, index = np.unique(owner * size + profiles.lists.items[known], return_inverse=True)
    weight = np.bincount(index, profiles.counts[known])
    return keys // size, keys % size, weight


_MAX_ROUNDS = 1_000


def most_repeated_queries(
    frame: pl.LazyFrame, members: pl.DataFrame, rng: RandomSource, share: float = 1.0
) -> tuple[pl.DataFrame, IntArray]:
    """Return the texts of prototypes, and the rows that each group lacks because of the bound.

    Of a query that a user repeated r times, r times their fraction of the group's rows go into the
    prototype; the fractional part is drawn at random. The most repeated queries are taken first,
    until the quota of the user is full.

    Args:
        members: user and group, sorted by user.
        share: The maximal fraction of a prototype from one member.

    Returns:
        The texts with the columns group, user (a row of `members`) and query; the missing rows.
    """
    sent = frame.group_by("user", "query").agg(count=pl.len()).collect(engine="streaming")
    rows = (
        sent.join(members.with_row_index("number"), on="user")
        .with_columns(text=pl.col("query").cast(pl.String))
        .sort("number", "count", "text", descending=[False, True, False])
    )
    group = members["group"].to_numpy()
    user, counts = rows["number"].to_numpy().astype(np.int64), rows["count"].to_numpy()
    weights = np.bincount(user, counts, len(group)).astype(np.int64)
    part = (weights / np.bincount(group, weights)[group])[user] * counts
    wanted, short = bounded_quotas(weights, group, share)
    copies = _draw_copies(user, part, wanted, rng)
    texts = rows.select("group", user=pl.col("number").cast(pl.Int64), query="text")
    return texts[np.repeat(np.arange(len(copies)), copies)], short


def _draw_copies(
    user: IntArray, expected: np.ndarray, wanted: IntArray, rng: RandomSource
) -> IntArray:
    """Draw how often each row is taken, in rounds, until each user's quota is full."""
    copies = np.zeros(len(user), np.int64)
    left = wanted.copy()
    for _ in range(_MAX_ROUNDS):
        open_rows = np.flatnonzero(left[user] > 0)
        if not len(open_rows):
            break
        part = expected[open_rows]
        drawn = rng.uint64s(len(part)) < ((part % 1) * 2.0**64).astype(np.uint64)
        taken = copies_until_quota(user[open_rows], np.floor(part).astype(np.int64) + drawn, left)
        copies[open_rows] += taken
        left -= np.bincount(user[open_rows], taken, len(left)).astype(np.int64)
    return copies
