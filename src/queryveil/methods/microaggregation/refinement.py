"""Refine groups: users change places while that lowers the distances within groups.

MDAV (Batet et al. 2013, Algorithm 1) never revises a group. Two kinds of steps improve its groups,
in turn. Reassignments: one user leaves every group, and an optimal assignment decides which group
each of them joins. Swaps: the gains of all swaps of two users come from one product of matrices,
and each group takes part in the best one. The sizes of groups never change.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...concepts.taxonomy.arrays import IntArray
from ...errors import UsageError
from .grouping import Floats, GroupLabels

_MAX_PASSES = 5  # of reassignments and swaps; later ones gain less than 0.1%
_MAX_SWAP_ROUNDS = 400
_MAX_ASSIGNMENTS = 400
_MIN_GAIN = 1e-6  # a gain below this fraction of the largest distance may be rounding

Matrix = NDArray[np.float32]


def refine_groups(matrix: Floats, group: GroupLabels) -> GroupLabels:
    """Return groups of the same sizes, with a lower or equal sum of distances within them.

    Nothing is random.

    >>> line = np.array([0.0, 5.0, 1.0, 6.0, 2.0, 7.0])
    >>> refine_groups(abs(line - line[:, None]), np.array([0, 0, 0, 1, 1, 1], np.int32)).tolist()
    [0, 1, 0, 1, 0, 1]
    """
    if matrix.shape != (len(group), len(group)):
        raise UsageError(
            f"the matrix must have a row and a column for each of {len(group):,} users, "
            f"got shape {matrix.shape}"
        )
    if not len(group):
        return group.copy()
    search = _Search(np.asarray(matrix, np.float32), group)
    for _ in range(_MAX_PASSES):
        reassigned = search.reassign()
        if not search.swap() and not reassigned:
            break
    return search.group


class _Search:
    """Groups, and the sum of the distances of each user to the members of each group."""

    def __init__(self, matrix: Matrix, group: GroupLabels) -> None:
        self.matrix, self.group = matrix, group.copy()
        self.users = np.arange(len(group))
        self.sizes = np.bincount(group)
        member = np.zeros((len(group), len(self.sizes)), np.float32)
        member[self.users, group] = 1
        self.sums: Matrix = matrix @ member
        self.min_gain = _MIN_GAIN * max(float(matrix.max(initial=0)), 1e-9) * len(group)

    def swap(self) -> bool:
        """Swap users until no swap gains; return whether one did."""
        gained = False
        for _ in range(_MAX_SWAP_ROUNDS):
            partner, gain = self._best_partners()
            if not self._swap_best(partner, gain):
                break
            gained = True
        return gained

    def _best_partners(self) -> tuple[NDArray[np.intp], Matrix]:
        """Return for each user the best user to swap with, and the gain."""
        gain = self.matrix - self.sums[:, self.group]
        gain += self.sums[self.users, self.group][:, None]  # of a user in the place of another
        gain = gain + gain.T
        gain[self.group[:, None] == self.group] = -1
        partner = gain.argmax(axis=1)
        return partner, gain[self.users, partner]

    def _swap_best(self, partner: NDArray[np.intp], gain: Matrix) -> bool:
        """Make the best swaps, at most one for each group; return whether there was one."""
        touched = np.zeros(len(self.sizes), np.bool_)
        order = np.argsort(-gain, kind="stable")
        for first in order[gain[order] > self.min_gain].tolist():
            second = int(partner[first])
            a, b = int(self.group[first]), int(self.group[second])
            if touched[a] or touched[b]:
                continue
            touched[a] = touched[b] = True
            step = self.matrix[:, second] - self.matrix[:, first]
            self.sums[:, a] += step
            self.sums[:, b] -= step
            self.group[first], self.group[second] = b, a
        return bool(touched.any())

    def reassign(self) -> bool:
        """Reassign one user of each group at a time, until no member of any can gain."""
        gained, quiet = False, 0
        for turn in range(_MAX_ASSIGNMENTS):
            leaving = self._leaving(turn)
            if self._assign(leaving):
                gained, quiet = True, 0
            else:
                quiet += 1
            if quiet >= int(self.sizes.max(initial=0)):
                break
        return gained

    def _leaving(self, turn: int) -> IntArray:
        """Return one member of each group: the least similar one first, then the next."""
        own = self.sums[self.users, self.group]
        order = np.lexsort((self.users, -own, self.group))
        first = np.cumsum(self.sizes) - self.sizes
        return np.asarray(order[first + turn % self.sizes])

    def _assign(self, leaving: IntArray) -> bool:
        """Assign these users to groups at the lowest sum; return whether that gains."""
        from scipy.optimize import linear_sum_assignment  # noqa: PLC0415  (slow to import)

        cost = self.sums[leaving] - self.matrix[leaving][:, leaving]  # to groups without a member
        mover, group = linear_sum_assignment(cost)
        gain = float(np.trace(cost, dtype=np.float64) - cost[mover, group].sum(dtype=np.float64))
        if gain <= self.min_gain:
            return False
        changed = mover != group
        mover, group = mover[changed], group[changed]
        joining, left = leaving[mover], leaving[group]
        self.sums[:, group] += self.matrix[:, joining] - self.matrix[:, left]
        self.group[joining] = group
        return True
