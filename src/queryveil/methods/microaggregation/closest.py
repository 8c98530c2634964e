"""A prototype that is as near to the members of its group as a greedy choice gets.

Beyond the papers: Batet's prototype takes each user's concepts that are nearest to one centre, so
that it tells little of whatever else the group is interested in. Here items are added one by one,
always the one that lowers the sum of Ds (eq. 4 of Batet 2013) to all members most.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...concepts.similarity.profiles import UNMAPPED, Profiles, concept_distance_table
from ...concepts.taxonomy.arrays import BoolArray, IntArray, RaggedArray
from ...concepts.taxonomy.graph import Taxonomy
from .contributions import allowance
from .prototypes import PrototypeItems, bounded_quotas, member_quotas

__all__ = ["select_items_greedily"]

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
