"""Groups of at least k similar users: MDAV, and the greedy pairs of Erola et al. 2011.

A grouping is an array with the group number of each user, 0 to the number of groups - 1.
Nothing here is random; ties go to the lowest user number.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ...concepts.taxonomy.arrays import IntArray
from ...errors import ParameterError, UsageError, VerificationError

GroupLabels = NDArray[np.integer[Any]]
Floats = NDArray[np.floating[Any]]
Numbers = NDArray[np.integer[Any] | np.floating[Any]]

_BITS = 36  # of a distance in a sum: with 2^17 users a sum has 53 bits, so float64 is exact
_ROWS = 256  # of a matrix at a time


def check_users(users: int, k: int) -> None:
    """Raise ParameterError if a log has fewer than k users."""
    if users < k:
        hint = f"use `k` from 2 to {users}" if users > 1 else "use a log of more users"
        raise ParameterError(f"`k` is {k}, but the log has {users} users", hint=hint)


def mdav(matrix: Floats, k: int) -> GroupLabels:
    """Group users by MDAV, Algorithm 1 of Batet et al. 2013, into floor(n / k) groups.

    `matrix` holds the distances, symmetric and not negative. All groups have k users except
    the last, which has k to 2k - 1. Groups are numbered in the order in which they are formed.

    >>> line = np.array([0.0, 1.0, 9.0, 8.0, 4.0])
    >>> mdav(abs(line - line[:, None]), 2).tolist()
    [1, 1, 0, 0, 1]
    """
    _check_matrix(matrix, k)
    rest, group, number = _Rest(matrix), np.full(len(matrix), -1, np.int32), 0
    while len(rest.left) >= 3 * k:
        first = rest.farthest(rest.medoid())
        group[rest.take_around(first, k)] = number
        group[rest.take_around(rest.farthest(first), k)] = number + 1
        number += 2
    if len(rest.left) >= 2 * k:
        group[rest.take_around(rest.farthest(rest.medoid()), k)] = number
        number += 1
    group[rest.left] = number
    return group


class _Rest:
    """The users without a group, in ascending order, and the distance sums of each to the others.

    Distances are rounded to 36 bits before they are summed. Such sums are exact, so removing users
    does not accumulate errors, and equal sums are recognized as equal.
    """

    def __init__(self, matrix: Floats) -> None:
        self.matrix = matrix
        self.left = np.arange(len(matrix))
        _, exponent = np.frexp(float(matrix.max(initial=0)))
        self.scale = float(np.ldexp(1.0, _BITS - int(exponent)))
        self.sums = np.zeros(len(matrix))
        for begin in range(0, len(matrix), _ROWS):
            self.sums += self._sum_distances(self.left[begin : begin + _ROWS])

    def _sum_distances(self, users: NDArray[np.intp]) -> NDArray[np.float64]:
        rows = self.matrix[users[:, None], self.left].astype(np.float64)
        rows *= self.scale
        total: NDArray[np.float64] = np.rint(rows, out=rows).sum(axis=0)
        return total

    def medoid(self) -> int:
        """Return the user with the smallest sum of distances, eq. (5)."""
        return int(self.left[np.argmin(self.sums)])

    def farthest(self, user: int) -> int:
        return int(self.left[np.argmax(self.matrix[user][self.left])])

    def take_around(self, user: int, k: int) -> NDArray[np.intp]:
        """Remove and return a user and their k - 1 nearest users."""
        row = self.matrix[user][self.left]
        row[np.searchsorted(self.left, user)] = -1
        near = np.flatnonzero(row <= np.partition(row, k - 1)[k - 1])
        indices = near[np.argsort(row[near], kind="stable")[:k]]
        taken = self.left[indices]
        self.left = np.delete(self.left, indices)
        self.sums = np.delete(self.sums, indices) - self._sum_distances(taken)
        return taken


def greedy_groups(similarity: Numbers, k: int) -> GroupLabels:
    """Group users by Algorithms 3 and 4 of Erola et al. 2011, repaired: floor(n / k) groups.

    `similarity` is symmetric; its diagonal is never read. The most similar two users start
    a group, which grows by the user whose similarities to its members sum up highest. The last
    group has k to 2k - 1 users. Groups are numbered in the order in which they are formed.

    >>> similarity = np.array([[9, 0, 3, 0], [0, 9, 1, 2], [3, 1, 9, 0], [0, 2, 0, 9]])
    >>> greedy_groups(similarity, 2).tolist()
    [0, 1, 0, 1]
    """
    _check_matrix(similarity, k, min_value=float(np.finfo(np.float64).min))
    last = len(similarity) // k - 1
    pairs, group = _Pairs(similarity), np.full(len(similarity), last, np.int32)
    for number in range(last):
        group[pairs.take_similar(k)] = number
    return group


class _Pairs:
    """The most similar other user (partner) of each user, cached.

    If the partner has been removed, the cached similarity is too high, never too low. So it is
    computed again only if it is the maximum.
    """

    def __init__(self, similarity: Numbers) -> None:
        self.similarity = similarity
        self.removed = np.zeros(len(similarity))
        self.max_similarity = np.full(len(similarity), np.inf)
        self.partner = np.full(len(similarity), -1)

    def row(self, user: int) -> NDArray[np.float64]:
        """Return the similarities of a user; minus infinity for removed users."""
        similarities: NDArray[np.float64] = self.similarity[user] + self.removed
        return similarities

    def best(self) -> tuple[int, int]:
        """Return the two most similar users; ties go to the lowest numbers."""
        while True:
            user = int(np.argmax(self.max_similarity))
            partner = int(self.partner[user])
            if partner >= 0 and self.removed[partner] == 0:
                return user, partner
            row = self.row(user)
            row[user] = -np.inf
            self.partner[user] = np.argmax(row)
            self.max_similarity[user] = row.max()

    def take_similar(self, k: int) -> list[int]:
        """Remove and return the two most similar users and those most similar to them."""
        first, second = self.best()
        members, total = [first, second], self.row(first) + self.row(second)
        total[members] = -np.inf
        while len(members) < k:
            members.append(int(np.argmax(total)))
            total += self.row(members[-1])
            total[members] = -np.inf
        self.removed[members] = self.max_similarity[members] = -np.inf
        return members


def group_sizes(group: GroupLabels) -> NDArray[np.intp]:
    """Count the users of each group.

    >>> group_sizes(np.array([1, 0, 1], np.int32)).tolist()
    [1, 2]
    """
    return np.bincount(group)


def check_groups(group: GroupLabels, k: int) -> None:
    """Raise VerificationError if a group has fewer than k users, or a user has no group."""
    if len(group) and int(group.min()) < 0:
        raise VerificationError(f"user {int(np.argmin(group))} is in no group")
    sizes = group_sizes(group)
    if len(sizes) and int(sizes.min()) < k:
        small = int(np.argmin(sizes))
        raise VerificationError(f"group {small} has {int(sizes[small])} users, fewer than k = {k}")


def mean_intra_group_distance(matrix: Floats, group: GroupLabels) -> float:
    """Return the mean over users of the mean distance to the other users of their group.

    A user who is alone in a group counts as 0.

    >>> mean_intra_group_distance(np.array([[0.0, 0.5], [0.5, 0.0]]), np.array([0, 0], np.int32))
    0.5
    """
    order = np.argsort(group, kind="stable")
    total = 0.0
    for users in np.split(order, np.cumsum(group_sizes(group))[:-1]):
        inside = matrix[users[:, None], users].sum(dtype=np.float64)
        total += float(inside) / max(len(users) - 1, 1)
    return total / max(len(group), 1)


def _check_matrix(matrix: Numbers, k: int, min_value: float = 0.0) -> None:
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise UsageError(f"the matrix must be square, got shape {matrix.shape}")
    if not 2 <= k <= len(matrix):
        raise UsageError(
            f"groups of {k} cannot be formed from {len(matrix):,} users",
            hint=f"k must be 2 to {len(matrix)}, the number of users",
        )
    if not (float(matrix.min()) >= min_value and float(matrix.max()) < np.inf):
        raise UsageError("the matrix has cells that are negative, infinite or not a number")


def group_users(
    users: pl.Series, known: pl.DataFrame | None, k: int, split: Callable[[IntArray], IntArray]
) -> IntArray:
    """Return the group of each user: the known one, else one that `split` forms of the others.

    Groups are numbered from 0 on. No new user joins a known group.

    Args:
        known: The columns `user` and `group`, or None.
        split: Receives the indices of users; returns their groups.
    """
    if known is None:
        return split(np.arange(len(users)))
    names = users.cast(pl.String).to_frame("user")
    joined = names.join(known, on="user", how="left", maintain_order="left")["group"]
    group = np.full(len(users), -1, np.int64)
    is_known = joined.is_not_null().to_numpy()
    numbers, group[is_known] = np.unique(joined.drop_nulls().to_numpy(), return_inverse=True)
    new = np.flatnonzero(~is_known)
    if len(new):
        group[new] = len(numbers) + split(new)
    check_groups(group, k)
    return group


def of_some(matrix: Floats, users: IntArray) -> Floats:
    """Return the rows and columns of a matrix for these users."""
    return matrix if len(users) == len(matrix) else matrix[np.ix_(users, users)]
