"""What goes into the log that the users of a group share.

Each user gives a quota of her concepts, those nearest to the centre of the group first, so that
the prototype is as long as the mean log of the group (Batet 2013, section 2.3 of SPEC).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ...concepts.likeness.similarity import pairwise_distances
from ...concepts.likeness.tables import distance_table
from ...concepts.similarity.profiles import UNMAPPED, Profiles
from ...concepts.taxonomy.arrays import IntArray
from ...concepts.taxonomy.graph import Taxonomy
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

    >>> quotas(np.array([3, 4, 6]), np.array([0, 0, 0])).tolist()
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
