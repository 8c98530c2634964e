"""A prototype by repetition: each user gives her most repeated queries (Erola 2011, section 3.4).

As printed, the algorithm does not end for a user whose queries do not fill her quota. Here her
list is gone through again until it does.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from ...concepts.taxonomy.arrays import IntArray
from ...core.randomness import RandomSource
from .prototypes import bounded_quotas, copies_until_quota

__all__ = ["most_repeated_queries"]

_MOST_ROUNDS = 1_000


def most_repeated_queries(
    frame: pl.LazyFrame, members: pl.DataFrame, chance: RandomSource, share: float = 1.0
) -> tuple[pl.DataFrame, IntArray]:
    """Give the prototypes' texts: group, user (her place in `members`) and query, a row each.

    Beside them stands by how many rows each group has fewer, because of the bound `share`.

    `members` has user and group, sorted by user. Of a query that a user repeated r times go r
    times her share of the group's lines into the prototype, the fraction by chance, the most
    repeated queries first, until her quota (the mean of the group over her share) is full.
    """
    sent = frame.group_by("user", "query").agg(count=pl.len()).collect(engine="streaming")
    rows = (
        sent.join(members.with_row_index("number"), on="user")
        .with_columns(text=pl.col("query").cast(pl.String))
        .sort("number", "count", "text", descending=[False, True, False])
    )
    group = members["group"].to_numpy()
    user, counts = rows["number"].to_numpy().astype(np.int64), rows["count"].to_numpy()
    weights = np.bincount(user, counts, len(group)).astype(np.int64)
    part = (weights / np.bincount(group, weights)[group])[user] * counts
    wanted, short = bounded_quotas(weights, group, share)
    copies = _copies(user, part, wanted, chance)
    texts = rows.select("group", user=pl.col("number").cast(pl.Int64), query="text")
    return texts[np.repeat(np.arange(len(copies)), copies)], short


def _copies(user: IntArray, share: np.ndarray, wanted: IntArray, chance: RandomSource) -> IntArray:
    """Draw how often each row is taken, in rounds, until each user's quota is full."""
    copies = np.zeros(len(user), np.int64)
    left = wanted.copy()
    for _ in range(_MOST_ROUNDS):
        open_rows = np.flatnonzero(left[user] > 0)
        if not len(open_rows):
            break
        part = share[open_rows]
        drawn = chance.uint64s(len(part)) < ((part % 1) * 2.0**64).astype(np.uint64)
        taken = copies_until_quota(user[open_rows], np.floor(part).astype(np.int64) + drawn, left)
        copies[open_rows] += taken
        left -= np.bincount(user[open_rows], taken, len(left)).astype(np.int64)
    return copies
