"""Groups of at least k users who are alike: MDAV and the greedy pairs of Erola et al. 2011.

A partition is an array with the group number of each user, 0 to the number of groups - 1.
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
    """Raise ParameterError where a log has not even k users."""
    if users < k:
        hint = f"take --k 2 to {users}" if users > 1 else "take a log of more users"
        raise ParameterError(f"--k is {k}, but the log has {users} users", hint=hint)


def mdav(matrix: Floats, k: int) -> GroupLabels:
    """Partition users by MDAV, Algorithm 1 of Batet et al. 2013, into floor(n / k) groups.

    `matrix` holds the distances, symmetric and not negative. All groups have k users except
    the last, which has k to 2k - 1. Groups are numbered in the order in which they are made.

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
    """The users who have no group yet, rising, and the sum of distances of each to the others.

    Distances are rounded to 36 bits before they are summed up. Such sums are exact, so taking
    users out of them does not drift, and equal sums are seen to be equal.
    """

    def __init__(self, matrix: Floats) -> None:
        self.matrix = matrix
        self.left = np.arange(len(matrix))
        _, exponent = np.frexp(float(matrix.max(initial=0)))
        self.scale = float(np.ldexp(1.0, _BITS - int(exponent)))
        self.sums = np.zeros(len(matrix))
        for begin in range(0, len(matrix), _ROWS):
            self.sums += self._summed(self.left[begin : begin + _ROWS])

    def _summed(self, users: NDArray[np.intp]) -> NDArray[np.float64]:
        rows = self.matrix[users[:, None], self.left].astype(np.float64)
        rows *= self.scale
        total: NDArray[np.float64] = np.rint(rows, out=rows).sum(axis=0)
        return total

    def medoid(self) -> int:
        """Give the user with the least sum of distances, eq. (5)."""
        return int(self.left[np.argmin(self.sums)])

    def farthest(self, user: int) -> int:
        return int(self.left[np.argmax(self.matrix[user][self.left])])

    def take_around(self, user: int, k: int) -> NDArray[np.intp]:
        """Take out a user and her k - 1 nearest."""
        row = self.matrix[user][self.left]
        row[np.searchsorted(self.left, user)] = -1
        near = np.flatnonzero(row <= np.partition(row, k - 1)[k - 1])
        places = near[np.argsort(row[near], kind="stable")[:k]]
        taken = self.left[places]
        self.left = np.delete(self.left, places)
        self.sums = np.delete(self.sums, places) - self._summed(taken)
        return taken


def greedy_groups(similarity: Numbers, k: int) -> GroupLabels:
    """Partition users by Algorithms 3 and 4 of Erola et al. 2011, repaired: floor(n / k) groups.

    `similarity` is symmetric; its diagonal is never looked at. The most similar two users start
    a group, which grows by the user whose similarities to its members sum up highest. The last
    group has k to 2k - 1 users. Groups are numbered in the order in which they are made.

    >>> alike = np.array([[9, 0, 3, 0], [0, 9, 1, 2], [3, 1, 9, 0], [0, 2, 0, 9]])
    >>> greedy_groups(alike, 2).tolist()
    [0, 1, 0, 1]
    """
    _check_matrix(similarity, k, least=float(np.finfo(np.float64).min))
    last = len(similarity) // k - 1
    pairs, group = _Pairs(similarity), np.full(len(similarity), last, np.int32)
    for number in range(last):
        group[pairs.take_alike(k)] = number
    return group


class _Pairs:
    """The most similar other user of each one, kept until she is gone and is needed again.

    What is kept of a user whose partner is gone is too high, never too low: it is computed
    anew only if it comes out on top.
    """

    def __init__(self, similarity: Numbers) -> None:
        self.similarity = similarity
        self.gone = np.zeros(len(similarity))
        self.most = np.full(len(similarity), np.inf)
        self.partner = np.full(len(similarity), -1)

    def row(self, user: int) -> NDArray[np.float64]:
        """Give the similarities of a user; those of users who are gone are minus infinity."""
        found: NDArray[np.float64] = self.similarity[user] + self.gone
        return found

    def best(self) -> tuple[int, int]:
        """Give the most similar two users, the lowest numbers first."""
        while True:
            user = int(np.argmax(self.most))
            partner = int(self.partner[user])
            if partner >= 0 and self.gone[partner] == 0:
                return user, partner
            row = self.row(user)
            row[user] = -np.inf
            self.partner[user] = np.argmax(row)
            self.most[user] = row.max()

    def take_alike(self, k: int) -> list[int]:
        """Take out the most similar two users and those who are most similar to them."""
        first, second = self.best()
        members, total = [first, second], self.row(first) + self.row(second)
        total[members] = -np.inf
        while len(members) < k:
            members.append(int(np.argmax(total)))
            total += self.row(members[-1])
            total[members] = -np.inf
        self.gone[members] = self.most[members] = -np.inf
        return members


def group_sizes(group: GroupLabels) -> NDArray[np.intp]:
    """Count the users of each group.

    >>> group_sizes(np.array([1, 0, 1], np.int32)).tolist()
    [1, 2]
    """
    return np.bincount(group)


def check_groups(group: GroupLabels, k: int) -> None:
    """Refuse a partition in which a group has fewer than k users, or a user has none."""
    if len(group) and int(group.min()) < 0:
        raise VerificationError(f"user {int(np.argmin(group))} is in no group")
    sizes = group_sizes(group)
    if len(sizes) and int(sizes.min()) < k:
        small = int(np.argmin(sizes))
        raise VerificationError(f"group {small} has {int(sizes[small])} users, fewer than k = {k}")


def mean_intra_group_distance(matrix: Floats, group: GroupLabels) -> float:
    """Give the mean over users of the mean distance to the others of her group.

    A user who is alone in her group counts as 0.

    >>> mean_intra_group_distance(np.array([[0.0, 0.5], [0.5, 0.0]]), np.array([0, 0], np.int32))
    0.5
    """
    order = np.argsort(group, kind="stable")
    total = 0.0
    for users in np.split(order, np.cumsum(group_sizes(group))[:-1]):
        inside = matrix[users[:, None], users].sum(dtype=np.float64)
        total += float(inside) / max(len(users) - 1, 1)
    return total / max(len(group), 1)


def _check_matrix(matrix: Numbers, k: int, least: float = 0.0) -> None:
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise UsageError(f"a matrix of users by users is needed, not one of {matrix.shape}")
    if not 2 <= k <= len(matrix):
        raise UsageError(
            f"groups of {k} cannot be made of {len(matrix):,} users",
            hint=f"k must be 2 to {len(matrix)}, the number of users",
        )
    if not (float(matrix.min()) >= least and float(matrix.max()) < np.inf):
        raise UsageError("the matrix has cells that are negative, infinite or not a number")


def group_users(
    users: pl.Series, known: pl.DataFrame | None, k: int, split: Callable[[IntArray], IntArray]
) -> IntArray:
    """Return the group of each user: the known one, else one that `split` makes among the others.

    `known` has user and group. Groups are numbered from 0 on; `split` gets the places of users,
    and nobody new joins a group that stands.
    """
    if known is None:
        return split(np.arange(len(users)))
    names = users.cast(pl.String).to_frame("user")
    found = names.join(known, on="user", how="left", maintain_order="left")["group"]
    group = np.full(len(users), -1, np.int64)
    stands = found.is_not_null().to_numpy()
    numbers, group[stands] = np.unique(found.drop_nulls().to_numpy(), return_inverse=True)
    new = np.flatnonzero(~stands)
    if len(new):
        group[new] = len(numbers) + split(new)
    check_groups(group, k)
    return group


def of_some(matrix: Floats, users: IntArray) -> Floats:
    """Return the part of a matrix that is about these users."""
    return matrix if len(users) == len(matrix) else matrix[np.ix_(users, users)]
