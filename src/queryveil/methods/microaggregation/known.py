"""Groups that stand already, from an earlier release, beside groups of those who are new."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl

from ...concepts.taxonomy.arrays import IntArray
from .grouping import Floats, check_groups

__all__ = ["group_users", "of_some"]


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
