"""A prototype that is as near to the members of its group as a greedy choice gets.

Beyond the papers: Batet's prototype takes each user's concepts that are nearest to one centre, so
that it tells little of whatever else the group is interested in. Here items are added one by one,
always the one that lowers the sum of Ds (eq. 4 of Batet 2013) to all members most.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...concepts import UNMAPPED, Profiles, Taxonomy
from ...concepts.likeness.profiles import concept_table
from ...concepts.taxonomy import Ints, Lists
from .prototype import Items

__all__ = ["closest_items"]

_MOST_CANDIDATES = 2_000  # concepts of a group that may enter its prototype: the heaviest

Sums = NDArray[np.float64]


def closest_items(taxonomy: Taxonomy | None, profiles: Profiles, group: Ints) -> Items:
    """Choose the items of every group's prototype by their distance to all its members.

    The prototype is as long as the mean log of the group, and has no concept more often than
    the group's mean of it, rounded up. The giver of an item is the member who has most of it.
    """
    members = Lists.grouped(group, np.arange(len(group)), int(group.max()) + 1)
    chosen = [_of_group(taxonomy, profiles.some(members[g])) for g in range(len(members))]
    sizes = [len(concept) for concept, _ in chosen]
    giver = [members[g][user] for g, (_, user) in enumerate(chosen)]
    concept = np.concatenate([concept for concept, _ in chosen])
    return Items(np.repeat(np.arange(len(members)), sizes), concept, np.concatenate(giver))


def _of_group(taxonomy: Taxonomy | None, users: Profiles) -> tuple[Ints, Ints]:
    """Give the concepts of one prototype, with copies, and who gave each."""
    concepts, place = np.unique(users.lists.items, return_inverse=True)
    counts = np.zeros((len(users), len(concepts)), np.int64)
    counts[users.lists.owners, place] = users.counts
    counts[:, concepts == UNMAPPED] = 0
    length = _mean_length(int(counts.sum()), len(users))
    some = np.sort(np.argsort(-counts.sum(axis=0), kind="stable")[:_MOST_CANDIDATES])
    table = concept_table(taxonomy, concepts[some], concepts)
    per_user = 1 / (length + np.maximum(users.weights, 1))
    nearest = np.minimum.reduceat(table.take(place, axis=1), users.lists.start[:-1], axis=1)
    cost = nearest @ per_user
    most = -(-counts[:, some].sum(axis=0) // len(users))
    if int(most.sum()) < length:  # the heaviest alone do not fill it
        most = np.where(most > 0, length, 0)
    copies = _greedy(table, per_user @ counts, cost, most, length)
    giver = counts[:, some].argmax(axis=0)
    return np.repeat(concepts[some], copies), np.repeat(giver, copies)


def _greedy(table: NDArray[np.float32], weight: Sums, cost: Sums, most: Ints, length: int) -> Ints:
    """Add the item of the greatest gain until there are so many; give the copies of each.

    An item gains what it brings the concepts of the members nearer (`weight` each), and loses
    its own `cost`. The gains are kept, and corrected where a concept came nearer.
    """
    far = np.ones(table.shape[1])
    gain = (weight * (1 - table)).sum(axis=1, dtype=np.float64) - cost
    copies = np.zeros(len(table), np.int64)
    for _ in range(length):
        best = int(np.argmax(np.where(copies < most, gain, -np.inf)))
        copies[best] += 1
        nearer = np.flatnonzero(table[best] < far)
        if len(nearer):
            part = table[:, nearer]
            lost = np.maximum(far[nearer] - part, 0)
            far[nearer] = table[best, nearer]
            lost -= np.maximum(far[nearer] - part, 0)
            gain -= lost @ weight[nearer]
    return copies


def _mean_length(total: int, users: int) -> int:
    """Give the mean log's length, rounded half up; one at least if there is anything."""
    return max((2 * total + users) // (2 * users), min(total, 1))
