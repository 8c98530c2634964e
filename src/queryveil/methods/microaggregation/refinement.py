"""Better groups of the same sizes: the users of a partition change places while that helps.

MDAV (Batet et al. 2013, Algorithm 1) never looks at a group again. Groups of two are a matching,
which Edmonds' algorithm solves; larger groups are improved by swaps and moves, and by forming
neighbouring groups anew.
"""

from __future__ import annotations

import importlib
from types import ModuleType

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

_MOST_MATCHED = 3000  # users: more take minutes
_NEAREST = 30  # users with whom one may be matched; with up to `_ALL` users, everybody
_ALL = 300
_PASSES = 50
_POOL_USERS = 48  # of groups that are formed anew together,
_POOL = 8  # or so many groups
_ROUNDS = 6
_LEAST = 1e-6  # a gain below this part of the largest distance may be rounding

Sums = NDArray[np.float64]


def refine_groups(matrix: Floats, group: GroupLabels, k: int) -> GroupLabels:
    """Lower the distances within the groups of a partition; sizes stay from k to 2k - 1.

    Neither the sum of all distances within groups nor their mean over users (`within`) is ever
    higher than before, and the number of groups stays. Nothing is random. Two users of
    different groups swap, or one moves from a group larger than k to one smaller than 2k - 1,
    until no step helps; then each group and its nearest are formed anew where that helps.
    Pairs (k = 2, up to 3,000 users) are matched instead, which needs the package rustworkx: an
    even number of up to 300 users at the least possible sum, others nearly so.

    >>> line = np.array([0.0, 5.0, 1.0, 6.0, 2.0, 7.0])
    >>> refine_groups(abs(line - line[:, None]), np.array([0, 0, 0, 1, 1, 1], np.int32), 3).tolist()
    [0, 1, 0, 1, 0, 1]
    """
    check_groups(group, k)
    if matrix.shape != (len(group), len(group)):
        raise UsageError(f"{len(group):,} users need as many rows and columns of distances")
    in_pairs = len(group_sizes(group)) == len(group) // 2  # and at most one group of three
    if k == 2 and in_pairs and 2 < len(group) <= _MOST_MATCHED:
        matched = _Search(matrix, _matched(matrix, group), k).run()
        if _no_worse(matrix, matched, group):
            return matched
    found = _searched(matrix, group, k)
    return found if _no_worse(matrix, found, group) else group.copy()


def _searched(matrix: Floats, group: GroupLabels, k: int) -> GroupLabels:
    found = _Search(matrix, group, k).run()
    for _ in range(_ROUNDS):
        before = found.copy()
        for number in range(len(group_sizes(group))):
            _form_anew(matrix, found, number, k)
        found = _Search(matrix, found, k).run()
        if np.array_equal(before, found):
            break
    return found


def _form_anew(matrix: Floats, group: GroupLabels, number: int, k: int) -> None:
    """Dissolve a group and its nearest, and form them anew if that is better, in place."""
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
        if _no_worse(inside, new, old):
            old = new
    group[users] = pool[old]


def _no_worse(matrix: Floats, new: GroupLabels, old: GroupLabels) -> bool:
    if new.max(initial=-1) != old.max(initial=-1):
        return False
    return mean_intra_group_distance(matrix, new) <= mean_intra_group_distance(
        matrix, old
    ) and _total(matrix, new) <= _total(matrix, old)


def _total(matrix: Floats, group: GroupLabels) -> float:
    return float(_own_sums(matrix, group, np.arange(len(group))).sum())


def _own_sums(matrix: Floats, group: GroupLabels, users: NDArray[np.intp]) -> Sums:
    """Give the sum of distances of some users to the members of their own groups."""
    order = np.argsort(group, kind="stable")
    begins = np.searchsorted(group[order], np.arange(int(group.max(initial=-1)) + 2))
    sums = np.zeros(len(users))
    for place, number in enumerate(group[users].tolist()):
        members = order[begins[number] : begins[number + 1]]
        sums[place] = matrix[users[place]][members].sum(dtype=np.float64)
    return sums


class _Search:
    """A local search; `own` is the sum of distances of each user to the rest of her group.

    A group of s users weighs (k - 1) / (s - 1) in `within`, up to a constant. A step counts by
    the lesser of what it gains in the plain sum and in this weighted one.
    """

    def __init__(self, matrix: Floats, group: GroupLabels, k: int) -> None:
        self.matrix, self.group, self.k = matrix, group.copy(), k
        self.sizes = group_sizes(group)
        self.own = _own_sums(matrix, group, np.arange(len(group)))
        self.least = _LEAST * float(matrix.max(initial=0))

    def run(self) -> GroupLabels:
        """Offer every user a better place, in turn, until nobody finds one."""
        for _ in range(_PASSES):
            if not sum(self._place(user) for user in range(len(self.group))):
                break
        return self.group

    def _place(self, user: int) -> bool:
        """Swap or move one user where that gains most, and say whether anything gained."""
        home = int(self.group[user])
        sums: Sums = np.bincount(self.group, self.matrix[user]).astype(np.float64, copy=False)
        gains = self._swap_gains(user, sums)
        other = int(np.argmax(gains))
        moves = self._move_gains(user, sums)
        if moves is not None and moves.max() > max(gains[other], self.least):
            self.group[user] = np.argmax(moves)
        elif gains[other] > self.least:
            self.group[user], self.group[other] = self.group[other], home
        else:
            return False
        self._changed(home, int(self.group[user]))
        return True

    def _weights(self, sizes: NDArray[np.intp]) -> Sums:
        weights: Sums = (self.k - 1) / np.maximum(sizes - 1, 1)
        return weights

    def _swap_gains(self, user: int, sums: Sums) -> Sums:
        """Give what a swap with each user gains: at her own home, and at the other's."""
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
        """Give what a move to each group gains, or None if she must stay."""
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

    def _changed(self, *groups: int) -> None:
        for number in groups:
            members = np.flatnonzero(self.group == number)
            inside = self.matrix[members[:, None], members]
            self.own[members] = inside.sum(axis=1, dtype=np.float64)
            self.sizes[number] = len(members)


def _matched(matrix: Floats, group: GroupLabels) -> GroupLabels:
    """Pair users at the least sum of distances; the one left over joins the nearest pair."""
    size = len(matrix)
    costs = np.pad(matrix, ((0, size % 2), (0, size % 2))).astype(np.float64)
    if size % 2:  # nobody, a user who takes the one left over: what a third place would cost
        third = np.partition(matrix, 2, axis=1)[:, 1:3].sum(axis=1)
        costs[size, :size] = costs[:size, size] = third
    pairs = _matching(costs, _allowed(costs, group))
    found = np.full(len(costs), -1, np.int32)
    for number, pair in enumerate(pair for pair in pairs if size not in pair):
        found[list(pair)] = number
    for user in np.flatnonzero(found[:size] < 0):  # only the one left over, if all is well
        known = np.flatnonzero(found[:size] >= 0)
        sums = np.bincount(found[known], matrix[user][known])
        found[user] = np.argmin(sums)
    return found[:size]


def _allowed(costs: Sums, group: GroupLabels) -> NDArray[np.bool_]:
    """Choose who may be matched: the nearest users, and the partition's own pairs."""
    size, users = len(costs), len(group)
    if size <= _ALL:
        return np.ones((size, size), np.bool_)
    near = np.argpartition(costs, _NEAREST, axis=1)[:, : _NEAREST + 1]
    allowed = np.zeros((size, size), np.bool_)
    allowed[np.arange(size)[:, None], near] = True
    allowed[:users, :users] |= group[:, None] == group
    allowed[users:] = True
    return allowed | allowed.T


def _matching(costs: Sums, allowed: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Give the pairs of a perfect matching of least cost, lowest numbers first."""
    rustworkx = _rustworkx()
    one, two = np.nonzero(np.triu(allowed, 1))
    scale = 2.0**30 / (float(costs.max()) or 1.0)
    weights = np.rint((costs.max() - costs[one, two]) * scale).astype(np.int64)
    graph = rustworkx.PyGraph(multigraph=False)
    graph.add_nodes_from(range(len(costs)))
    graph.add_edges_from(list(zip(one.tolist(), two.tolist(), weights.tolist(), strict=True)))
    pairs = rustworkx.max_weight_matching(graph, max_cardinality=True, weight_fn=int)
    return sorted((min(pair), max(pair)) for pair in pairs)


def _rustworkx() -> ModuleType:
    try:
        return importlib.import_module("rustworkx")
    except ImportError as error:
        raise UsageError(
            "matching users in pairs needs rustworkx", hint="pip install 'queryveil[refine]'"
        ) from error
