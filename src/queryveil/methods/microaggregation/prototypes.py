"""What goes into the log that the users of a group share.

Each user gives a quota of her concepts, those nearest to the centre of the group first, so that
the prototype is as long as the mean log of the group (Batet 2013, section 2.3 of SPEC).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ...concepts.similarity.distance import distance_table, pairwise_distances
from ...concepts.similarity.profiles import UNMAPPED, Profiles, concept_distance_table
from ...concepts.taxonomy.arrays import BoolArray, IntArray, RaggedArray
from ...concepts.taxonomy.graph import Taxonomy
from ...core.randomness import RandomSource
from .contributions import allowance, bounded_lengths

_COLUMNS = 2_000  # concepts with which all others are compared at a time


@dataclass(frozen=True, eq=False)
class PrototypeItems:
    """What prototypes are made of, one row an item: its group, concept, and who gave it.

    `short` is the number of items by which each group has fewer than its mean log, because one
    member may not give more.
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
    """Choose the items of every group's prototype (Batet 2013).

    A user's concepts are taken by their distance to the centre of the group (eq. 6), then the
    more frequent first, then by number, until her quota (eq. 7) is full. Without a taxonomy, as
    in Batet's variant for strings, the most repeated go first. No user gives more than `share` of
    a prototype.
    """
    user = profiles.lists.row_ids.astype(np.int64)
    concept, counts = profiles.lists.items, profiles.counts
    known = concept != UNMAPPED  # who has no concept gives nothing, and gets the others'
    user, concept, counts = user[known], concept[known], counts[known]
    weights = np.bincount(user, counts, len(profiles)).astype(np.int64)
    wanted, short = bounded_quotas(weights, group, share)
    if taxonomy is None:
        far = np.zeros(len(concept))
    else:
        centre = group_centroids(taxonomy, profiles, group)
        far = pairwise_distances(taxonomy, concept, centre[group[user]])
    order = np.lexsort((concept, -counts, far.round(9), user))
    user, concept, counts = user[order], concept[order], counts[order]
    taken = copies_until_quota(user, counts, wanted)
    return PrototypeItems(
        np.repeat(group[user], taken), np.repeat(concept, taken), np.repeat(user, taken), short
    )


def copies_until_quota(user: IntArray, counts: IntArray, wanted: IntArray) -> IntArray:
    """Give how many copies of each row are taken until each user's quota is full."""
    before = np.cumsum(counts) - counts
    first = np.r_[True, user[1:] != user[:-1]] if len(user) else np.zeros(0, np.bool_)
    begins = np.maximum.accumulate(np.where(first, before, 0)) if len(user) else before
    return np.asarray(np.clip(wanted[user] - (before - begins), 0, counts))


def member_quotas(weights: IntArray, group: IntArray) -> IntArray:
    """Give each user's quota, eq. (7) of Batet 2013: her concepts over the users of her group.

    Parts of a whole go to the largest remainders, so that a prototype has the mean length of
    the group's logs, rounded, and at least one item if there is any.

    >>> member_quotas(np.array([3, 4, 6]), np.array([0, 0, 0])).tolist()
    [1, 1, 2]
    """
    sizes = np.bincount(group)
    whole, rest = np.divmod(weights, sizes[group])
    total = np.bincount(group, weights).astype(np.int64)
    goal = np.maximum((2 * total + sizes) // (2 * sizes), total > 0)  # rounded half up
    missing = goal - np.bincount(group, whole).astype(np.int64)
    return np.asarray(whole + (_rank(rest, group) < missing[group]))


def _rank(rest: IntArray, group: IntArray) -> IntArray:
    """Return the place of each user in her group, the greatest remainder first."""
    sizes = np.bincount(group)
    order = np.lexsort((np.arange(len(group)), -rest, group))
    begins = np.cumsum(sizes) - sizes
    rank = np.empty(len(group), np.int64)
    rank[order] = np.arange(len(group)) - begins[group[order]]
    return rank


def bounded_quotas(weights: IntArray, group: IntArray, share: float) -> tuple[IntArray, IntArray]:
    """Return quotas of which none is beyond a share of its group's, and how much each is short.

    What a user may not give, the others of her group give in her place, as far as they have it.

    >>> bounded_quotas(np.array([100, 1, 1, 1, 1]), np.zeros(5, np.int64), 0.4)
    (array([2, 1, 1, 1, 1]), array([15]))
    """
    wanted = member_quotas(weights, group)
    goal = np.bincount(group, wanted).astype(np.int64)
    length = bounded_lengths(weights, group, goal, share)
    most = np.minimum(weights, allowance(length, share)[group])
    given = np.minimum(wanted, most)
    missing, spare = (length - np.bincount(group, given).astype(np.int64))[group], most - given
    total = np.maximum(np.bincount(group, spare).astype(np.int64)[group], 1)
    whole, rest = np.divmod(spare * missing, total)
    left = missing - np.bincount(group, whole).astype(np.int64)[group]
    return given + whole + (_rank(rest, group) < left), goal - length


def group_centroids(taxonomy: Taxonomy, profiles: Profiles, group: IntArray) -> IntArray:
    """Give the centre of each group, eq. (6) of Batet 2013; 0 for a group without concepts.

    It is the concept of theirs with the least sum of distances to all their concepts, weighted
    by counts; of equals the lowest number.
    """
    owner, concept, weight = _union(profiles, group)
    found = np.zeros(int(group.max()) + 1, np.int64)
    edges = np.flatnonzero(np.r_[True, owner[1:] != owner[:-1], True]) if len(owner) else [0]
    for begin, end in pairwise(np.asarray(edges).tolist()):
        mine = concept[begin:end]
        sums = np.zeros(end - begin)
        for part in range(0, end - begin, _COLUMNS):  # of a user with very many concepts
            some = slice(part, part + _COLUMNS)
            sums += distance_table(taxonomy, mine, mine[some]) @ weight[begin:end][some]
        found[owner[begin]] = mine[np.argmin(sums.round(6))]
    return found


def _union(profiles: Profiles, group: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Give the concepts of each group with their counts summed up, by group and concept."""
    known = profiles.lists.items != UNMAPPED
    owner = group[profiles.lists.row_ids[known]].astype(np.int64)
    size = int(profiles.lists.items.max(initial=0)) + 1
    keys, place = np.unique(owner * size + profiles.lists.items[known], return_inverse=True)
    weight = np.bincount(place, profiles.counts[known])
    return keys // size, keys % size, weight


_MOST_CANDIDATES = 2_000  # concepts of a group that may enter its prototype: the heaviest

Sums = NDArray[np.float64]


def select_items_greedily(
    taxonomy: Taxonomy | None, profiles: Profiles, group: IntArray, share: float = 1.0
) -> PrototypeItems:
    """Choose the items of every group's prototype by their distance to all its members.

    The prototype is as long as the mean log of the group, and has no concept more often than
    the group's mean of it, rounded up. The giver of an item is one who has it and may give most:
    no member gives more than `share` of a prototype.
    """
    members = RaggedArray.group_by(group, np.arange(len(group)), int(group.max()) + 1)
    chosen = [_of_group(taxonomy, profiles.select(members[g]), share) for g in range(len(members))]
    sizes = [len(concept) for concept, _, _ in chosen]
    giver = np.concatenate([members[g][user] for g, (_, user, _) in enumerate(chosen)])
    concept = np.concatenate([concept for concept, _, _ in chosen])
    short = np.array([short for _, _, short in chosen], np.int64)
    return PrototypeItems(np.repeat(np.arange(len(members)), sizes), concept, giver, short)


def _of_group(
    taxonomy: Taxonomy | None, users: Profiles, share: float
) -> tuple[IntArray, IntArray, int]:
    """Give the concepts of one prototype, with copies, who gave each, and how many are missing."""
    concepts, place = np.unique(users.lists.items, return_inverse=True)
    counts = np.zeros((len(users), len(concepts)), np.int64)
    counts[users.lists.row_ids, place] = users.counts
    counts[:, concepts == UNMAPPED] = 0
    one = np.zeros(len(users), np.int64)
    quota, short = bounded_quotas(counts.sum(axis=1), one, share)
    length = int(quota.sum())
    some = np.sort(np.argsort(-counts.sum(axis=0), kind="stable")[:_MOST_CANDIDATES])
    table = concept_distance_table(taxonomy, concepts[some], concepts)
    per_user = 1 / (length + np.maximum(users.weights, 1))
    nearest = np.minimum.reduceat(table.take(place, axis=1), users.lists.start[:-1], axis=1)
    cost = nearest @ per_user
    most = _means(counts, quota, bool((quota != member_quotas(counts.sum(axis=1), one)).any()))[
        some
    ]
    if int(most.sum()) < length:  # the heaviest alone do not fill it
        most = np.where(most > 0, length, 0)
    supply = _Supply(counts[:, some], most, int(allowance(np.array([length]), share)[0]))
    item, giver = _greedy(table, per_user @ counts, cost, supply, length)
    order = np.argsort(item, kind="stable")
    return concepts[some][item[order]], giver[order], int(short[0]) + length - len(item)


class _Supply:
    """What the members have left to give: of each item, and each member in all."""

    def __init__(self, counts: IntArray, most: IntArray, each: int) -> None:
        self.counts = counts.copy()
        self.most = most.copy()
        self.each = np.full(len(counts), each)
        self.left = counts.sum(axis=0)

    def open(self) -> BoolArray:
        """Return which items somebody can still give."""
        return np.asarray((self.most > 0) & (self.left > 0))

    def take(self, item: int) -> int:
        """Take an item from one who has it, of these who may give most; return who that is."""
        giver = int(np.argmax(np.where(self.counts[:, item] > 0, self.each, -1)))
        self.counts[giver, item] -= 1
        self.left[item] -= 1
        self.most[item] -= 1
        self.each[giver] -= 1
        if not self.each[giver]:
            self.left -= self.counts[giver]
            self.counts[giver] = 0
        return giver


def _greedy(
    table: NDArray[np.float32], weight: Sums, cost: Sums, supply: _Supply, length: int
) -> tuple[IntArray, IntArray]:
    """Add the item of the greatest gain until there are so many; give them and their givers.

    An item gains what it brings the concepts of the members nearer (`weight` each), and loses
    its own `cost`. The gains are kept, and corrected where a concept came nearer.
    """
    far = np.ones(table.shape[1])
    gain = (weight * (1 - table)).sum(axis=1, dtype=np.float64) - cost
    items, givers = list[int](), list[int]()
    while len(items) < length and (can := supply.open()).any():
        best = int(np.argmax(np.where(can, gain, -np.inf)))
        items.append(best)
        givers.append(supply.take(best))
        nearer = np.flatnonzero(table[best] < far)
        if len(nearer):
            part = table[:, nearer]
            lost = np.maximum(far[nearer] - part, 0)
            far[nearer] = table[best, nearer]
            lost -= np.maximum(far[nearer] - part, 0)
            gain -= lost @ weight[nearer]
    return np.array(items, np.int64), np.array(givers, np.int64)


def _means(counts: IntArray, quota: IntArray, bounded: bool) -> IntArray:
    """Return the group's mean of each concept, rounded up.

    Where somebody may not give all of her quota, users count by what they may give.
    """
    if not bounded:
        return np.asarray(-(-counts.sum(axis=0) // len(counts)))
    part = quota / np.maximum(counts.sum(axis=1), 1)
    return np.asarray(np.ceil((part @ counts).round(9)), np.int64)


_MOST_ROUNDS = 1_000


def most_repeated_queries(
    frame: pl.LazyFrame, members: pl.DataFrame, chance: RandomSource, share: float = 1.0
) -> tuple[pl.DataFrame, IntArray]:
    """Give the prototypes' texts: group, user (her place in `members`) and query, a row each.

    Beside them stands by how many rows each group has fewer, because of the bound `share`.

    `members` has user and group, sorted by user. Of a query that a user repeated r times go r
    times her share of the group's lines into the prototype, the fraction by chance, the most
    repeated queries first, until her quota (the mean of the group over her share) is full.
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
    copies = _copies(user, part, wanted, chance)
    texts = rows.select("group", user=pl.col("number").cast(pl.Int64), query="text")
    return texts[np.repeat(np.arange(len(copies)), copies)], short


def _copies(user: IntArray, share: np.ndarray, wanted: IntArray, chance: RandomSource) -> IntArray:
    """Draw how often each row is taken, in rounds, until each user's quota is full."""
    copies = np.zeros(len(user), np.int64)
    left = wanted.copy()
    for _ in range(_MOST_ROUNDS):
        open_rows = np.flatnonzero(left[user] > 0)
        if not len(open_rows):
            break
        part = share[open_rows]
        drawn = chance.uint64s(len(part)) < ((part % 1) * 2.0**64).astype(np.uint64)
        taken = copies_until_quota(user[open_rows], np.floor(part).astype(np.int64) + drawn, left)
        copies[open_rows] += taken
        left -= np.bincount(user[open_rows], taken, len(left)).astype(np.int64)
    return copies
