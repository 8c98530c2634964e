"""The contribution bound: how many rows of a group's log one member may contribute.

A member contributes at most a fraction of the rows, or one row. If the others have too few rows,
the log becomes shorter: the longest one, up to the target length, that satisfies the bound.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from ...concepts.taxonomy.arrays import IntArray
from ...errors import VerificationError

NOBODY = -1  # the contributor of a row that no member contributed


def allowance(rows: IntArray, share: float) -> IntArray:
    """Return how many rows one member may contribute to logs of these lengths.

    >>> allowance(np.array([1, 4, 5, 21]), 0.4).tolist()
    [1, 1, 2, 8]
    """
    # Floats such as 1/49 are rounded down; 49 times that must be 1.
    return np.asarray(np.maximum(1, np.floor(rows * share + 1e-9)), np.int64)


def bounded_lengths(
    weights: IntArray, group: IntArray, wanted: IntArray, share: float, free: IntArray | int = 0
) -> IntArray:
    """Return the maximal length of each group's log, up to `wanted`, that satisfies the bound.

    A longer log never lowers the allowance of a member. So the iteration that decreases the
    length from `wanted` step by step ends at the maximum.

    Args:
        weights: The rows that each user can contribute.
        free: The rows of each group that no member contributed.

    >>> bounded_lengths(np.array([100, 1, 1, 1, 1]), np.zeros(5, np.int64), np.array([21]), 0.4)
    array([6])
    """
    length = np.asarray(wanted, np.int64)
    while True:
        contributed = np.minimum(weights, allowance(length, share)[group])
        possible = free + np.bincount(group, contributed, len(length)).astype(np.int64)
        shorter = np.minimum(length, possible)
        if (shorter == length).all():
            return length
        length = shorter


def within_bound(texts: pl.DataFrame, group: IntArray, share: float) -> pl.DataFrame:
    """Return the rows (group, user, query) without those beyond a member's allowance.

    `group` has the group of each user number.
    """
    user, owner = texts["user"].to_numpy(), texts["group"].to_numpy()
    own = user != NOBODY
    weights = np.bincount(user[own], minlength=len(group))
    groups = int(group.max()) + 1
    wanted, free = (np.bincount(rows, minlength=groups) for rows in (owner, owner[~own]))
    length = bounded_lengths(weights, group, wanted, share, free)
    turn = pl.int_range(pl.len()).over("user").alias("turn")
    kept = (texts.select(turn)["turn"].to_numpy() < allowance(length, share)[owner]) | ~own
    return texts.filter(pl.Series(kept))


def check_contributions(texts: pl.DataFrame, share: float) -> None:
    """Raise VerificationError if a member contributed more rows to a log than allowed."""
    rows = texts.with_columns(length=pl.len().over("group")).filter(pl.col("user") != NOBODY)
    counts = rows.group_by("group", "user").agg(pl.len(), pl.col("length").first())
    beyond = counts["len"].to_numpy() > allowance(counts["length"].to_numpy(), share)
    if beyond.any():
        raise VerificationError(
            f"{int(beyond.sum()):,} users contributed more rows to a group than allowed",
            hint="this is a bug in queryveil: please report it",
        )
