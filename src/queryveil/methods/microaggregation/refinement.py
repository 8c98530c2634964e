"""Refine groups: users are swapped or moved between groups while that lowers distances.

MDAV (Batet et al. 2013, Algorithm 1) never revises a group. Groups of two are a matching, which
Edmonds' algorithm solves. Larger groups are improved by swaps and moves, and by forming neighboring
groups again.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...errors import UsageError
from .grouping import (
    Floats,
    GroupLabels,
    check_groups,
    greedy_groups,
    group_sizes,
    mdav,
    mean_intra_group_distance,
)

_MAX_MATCHED = 3000  # users: more take minutes
_NEAREST = 30  # candidates for the match of a user; with up to `_ALL` users, all of them
_ALL = 300
_PASSES = 50
_POOL_USERS = 48  # users of the groups that are formed again together,
_POOL = 8  # or this number of groups
_ROUNDS = 6
_MIN_GAIN = 1e-6  # a gain below this fraction of the largest distance may be rounding

Sums = NDArray[np.float64]


def refine_groups(matrix: Floats, group: GroupLabels, k: int) -> GroupLabels:
    """Lower the distances within groups; sizes stay from k to 2k - 1.

    Neither the sum of all distances within groups nor their mean over users
    (`mean_intra_group_distance`) is ever higher than before, and the number of groups stays.
    Nothing is random. Two users of different groups swap, or one moves from a group larger than k
    to one smaller than 2k - 1, until no step helps; then each group and its nearest are formed
    again where that helps. Pairs (k = 2, up to 3,000 users) are matched instead, which needs the
    package rustworkx: an even number of up to 300 users at the minimal sum, others nearly so.

    >>> line = np.array([0.0, 5.0, 1.0, 6.0, 2.0, 7.0])
    >>> refine_groups(abs(line - line[:, None]), np.array([0, 0, 0, 1, 1, 1], np.int32), 3).tolist()
    [0, 1, 0, 1, 0, 1]
    """
    check_groups(group, k)
    if matrix.shape != (len(group), len(group)):
        raise UsageError(
            f"the matrix must have a row and a column for each of {len(group):,} users, "
            f"got shape {matrix.shape}"
        )
    in_pairs = len(group_sizes(group)) == len(group) // 2  # and at most one group of three
    if k == 2 and in_pairs and 2 < len(group) <= _MAX_MATCHED:
        matched = _Search(matrix, _match_pairs(matrix, group), k).run()
        if _is_no_worse(matrix, matched, group):
            return matched
    searched = _search(matrix, group, k)
    return searched if _is_no_worse(matrix, searched, group) else group.copy()


def _search(matrix: Floats, group: GroupLabels, k: int) -> GroupLabels:
    refined = _Search(matrix, group, k).run()
    for _ in range(_ROUNDS):
        before = refined.copy()
        for number in range(len(group_sizes(group))):
            _form_again(matrix, refined, number, k)
        refined = _Search(matrix, refined, k).run()
        if np.array_equal(before, refined):
            break
    return refined


def _form_again(matrix: Floats, group: GroupLabels, number: int, k: int) -> None:
    """Dissolve a group and its nearest groups, and form them again if that is better, in place."""
    sums = matrix[group == number].sum(axis=0, dtype=np.float64)
    linkage = np.bincount(group, sums) / group_sizes(group)
    linkage[number] = -1
    pool = np.sort(np.argsort(linkage, kind="stable")[: max(_POOL, _POOL_USERS // k)])
    users = np.flatnonzero(np.isin(group, pool))
    if len(users) // k != len(pool):  # there would be more groups than before
        return
    inside = matrix[users[:, None], users]
    old: GroupLabels = np.searchsorted(pool, group[users]).astype(np.int32)
    for start in (mdav(inside, k), greedy_groups(-inside, k)):
        new = _Search(inside, start, k).run()
        if _is_no_worse(inside, new, old):
            old = new
    group[users] = pool[old]


def _is_no_worse(matrix: Floats, new: GroupLabels, old: GroupLabels) -> bool:
    if new.max(initial=-1) != old.max(initial=-1):
        return False
    return mean_intra_group_distance(matrix, new) <= mean_intra_group_distance(
        matrix, old
    ) and _total(matrix, new) <= _total(matrix, old)


def _total(matrix: Floats, group: GroupLabels) -> float:
    return float(_own_sums(matrix, group, np.arange(len(group))).sum())


def _own_sums(matrix: Floats, group: GroupLabels, users: NDArray[np.intp]) -> Sums:
    """Return the sum of distances of each user to the members of their own group."""
    order = np.argsort(group, kind="stable")
    begins = np.searchsorted(group[order], np.arange(int(group.max(initial=-1)) + 2))
    sums = np.zeros(len(users))
    for index, number in enumerate(group[users].tolist()):
        members = order[begins[number] : begins[number + 1]]
        sums[index] = matrix[users[index]][members].sum(dtype=np.float64)
    return sums


class _Search:
    """A local search; `own` is the sum of distances of each user to the rest of their group.

    A group of s users has the weight (k - 1) / (s - 1) in `mean_intra_group_distance`, up to a
    constant. The gain of a step is the smaller one of its gains in the plain and the weighted sum.
    """

    def __init__(self, matrix: Floats, group: GroupLabels, k: int) -> None:
        self.matrix, self.group, self.k = matrix, group.copy(), k
        self.sizes = group_sizes(group)
        self.own = _own_sums(matrix, group, np.arange(len(group)))
        self.min_gain = _MIN_GAIN * float(matrix.max(initial=0))

    def run(self) -> GroupLabels:
        """Swap or move every user in turn, until no step gains."""
        for _ in range(_PASSES):
            if not sum(self._improve(user) for user in range(len(self.group))):
                break
        return self.group

    def _improve(self, user: int) -> bool:
        """Make the best swap or move of one user; return whether there was a gain."""
        home = int(self.group[user])
        sums: Sums = np.bincount(self.group, self.matrix[user]).astype(np.float64, copy=False)
        gains = self._swap_gains(user, sums)
        other = int(np.argmax(gains))
        moves = self._move_gains(user, sums)
        if moves is not None and moves.max() > max(gains[other], self.min_gain):
            self.group[user] = np.argmax(moves)
        elif gains[other] > self.min_gain:
            self.group[user], self.group[other] = self.group[other], home
        else:
            return False
        self._update(home, int(self.group[user]))
        return True

    def _weights(self, sizes: NDArray[np.intp]) -> Sums:
        weights: Sums = (self.k - 1) / np.maximum(sizes - 1, 1)
        return weights

    def _swap_gains(self, user: int, sums: Sums) -> Sums:
        """Return the gain of a swap with each user, in both groups together."""
        home, row = int(self.group[user]), self.matrix[user]
        members = np.flatnonzero(self.group == home)
        here = self.own[user] - self.matrix[members].sum(axis=0, dtype=np.float64) + row
        there = self.own - sums[self.group] + row
        weights = self._weights(self.sizes)
        weighted = weights[home] * here + weights[self.group] * there
        gains: Sums = np.minimum(here + there, weighted)
        gains[members] = -np.inf
        return gains

    def _move_gains(self, user: int, sums: Sums) -> Sums | None:
        """Return the gain of a move to each group, or None if the user must stay."""
        home = int(self.group[user])
        if self.sizes[home] <= self.k:
            return None
        inside = np.bincount(self.group, self.own) / 2
        now, fewer, more = (self._weights(self.sizes + step) for step in (0, -1, 1))
        here = now[home] * inside[home] - fewer[home] * (inside[home] - self.own[user])
        there = now * inside - more * (inside + sums)
        gains: Sums = np.minimum(self.own[user] - sums, here + there)
        gains[(self.sizes >= 2 * self.k - 1) | (np.arange(len(gains)) == home)] = -np.inf
        return gains

    def _update(self, *groups: int) -> None:
        for number in groups:
            members = np.flatnonzero(self.group == number)
            inside = self.matrix[members[:, None], members]
            self.own[members] = inside.sum(axis=1, dtype=np.float64)
            self.sizes[number] = len(members)


def _match_pairs(matrix: Floats, group: GroupLabels) -> GroupLabels:
    """Pair users at the minimal sum of distances; an odd user joins the nearest pair."""
    size = len(matrix)
    costs = np.pad(matrix, ((0, size % 2), (0, size % 2))).astype(np.float64)
    if size % 2:  # a dummy user for the odd user, at the cost of a third member
        third = np.partition(matrix, 2, axis=1)[:, 1:3].sum(axis=1)
        costs[size, :size] = costs[:size, size] = third
    pairs = _solve_matching(costs, _allow_pairs(costs, group))
    labels = np.full(len(costs), -1, np.int32)
    for number, pair in enumerate(pair for pair in pairs if size not in pair):
        labels[list(pair)] = number
    for user in np.flatnonzero(labels[:size] < 0):  # the odd user only, if the matching is perfect
        known = np.flatnonzero(labels[:size] >= 0)
        sums = np.bincount(labels[known], matrix[user][known])
        labels[user] = np.argmin(sums)
    return labels[:size]


def _allow_pairs(costs: Sums, group: GroupLabels) -> NDArray[np.bool_]:
    """Return which pairs may be matched: the nearest users, and the existing pairs."""
    size, users = len(costs), len(group)
    if size <= _ALL:
        return np.ones((size, size), np.bool_)
    near = np.argpartition(costs, _NEAREST, axis=1)[:, : _NEAREST + 1]
    allowed = np.zeros((size, size), np.bool_)
    allowed[np.arange(size)[:, None], near] = True
    allowed[:users, :users] |= group[:, None] == group
    allowed[users:] = True
    return allowed | allowed.T


def _solve_matching(costs: Sums, allowed: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return the pairs of a perfect matching of minimal cost, sorted."""
    import rustworkx  # noqa: PLC0415  (slow to import)

    first, second = np.nonzero(np.triu(allowed, 1))
    scale = 2.0**30 / (float(costs.max()) or 1.0)
    weights = np.rint((costs.max() - costs[first, second]) * scale).astype(np.int64)
    graph = rustworkx.PyGraph(multigraph=False)
    graph.add_nodes_from(range(len(costs)))
    graph.add_edges_from(list(zip(first.tolist(), second.tolist(), weights.tolist(), strict=True)))
    pairs = rustworkx.max_weight_matching(graph, max_cardinality=True, weight_fn=int)
    return sorted((min(pair), max(pair)) for pair in pairs)
