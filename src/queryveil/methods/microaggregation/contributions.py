"""The contribution bound: how many rows of a group's log one member may give.

A member gives at most a share of the rows, or one row. Where the others have too little, the log
becomes shorter: of all lengths up to the wanted one, the longest that keeps the bound.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from ...concepts.taxonomy.arrays import IntArray
from ...errors import VerificationError


NOBODY = -1  # gave a row that stands for no member's queries


def allowance(rows: IntArray, share: float) -> IntArray:
    """Return how many rows one member may give to a log of so many.

    >>> allowance(np.array([1, 4, 5, 21]), 0.4).tolist()
    [1, 1, 2, 8]
    """
    # Shares such as 1/49 are a little less than they should be: 49 times that is 1.
    return np.asarray(np.maximum(1, np.floor(rows * share + 1e-9)), np.int64)


def bounded_lengths(
    weights: IntArray, group: IntArray, wanted: IntArray, share: float, free: IntArray | int = 0
) -> IntArray:
    """Return the greatest length of each group's log, up to the wanted one, that keeps the bound.

    `weights` are the rows that each user has to give, `free` those of a group that count for
    nobody. A greater length allows no less to anybody, so lengths that fall step by step from
    the wanted one end at the greatest.

    >>> bounded_lengths(np.array([100, 1, 1, 1, 1]), np.zeros(5, np.int64), np.array([21]), 0.4)
    array([6])
    """
    length = np.asarray(wanted, np.int64)
    while True:
        given = np.minimum(weights, allowance(length, share)[group])
        can = free + np.bincount(group, given, len(length)).astype(np.int64)
        shorter = np.minimum(length, can)
        if (shorter == length).all():
            return length
        length = shorter


def within_bound(texts: pl.DataFrame, group: IntArray, share: float) -> pl.DataFrame:
    """Return the rows (group, user, query) without those that are beyond a member's share.

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
    """Raise an error if a member gave more than allowed to a log that is about to be written."""
    rows = texts.with_columns(length=pl.len().over("group")).filter(pl.col("user") != NOBODY)
    given = rows.group_by("group", "user").agg(pl.len(), pl.col("length").first())
    beyond = given["len"].to_numpy() > allowance(given["length"].to_numpy(), share)
    if beyond.any():
        raise VerificationError(
            f"{int(beyond.sum()):,} users gave more of their groups' logs than allowed",
            hint="this is a defect of queryveil: please report it",
        )
