"""A prototype by repetition: each user gives her most repeated queries (Erola 2011, section 3.4).

As printed, the algorithm does not end for a user whose queries do not fill her quota. Here her
list is gone through again until it does.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from ...concepts.taxonomy import Ints
from ...engine import Chance
from .prototype import quotas, until_full

__all__ = ["allowed_queries", "repeated_texts"]

_MOST_ROUNDS = 1_000


def allowed_queries(frame: pl.LazyFrame, min_users: int) -> pl.DataFrame:
    """Count each user's lines of each query that enough users sent: user, query, count."""
    sent = frame.group_by("user", "query").agg(count=pl.len())
    rows = sent.collect(engine="streaming")
    enough = rows.group_by("query").len().filter(pl.col("len") >= min_users)
    return rows.join(enough, on="query", how="semi")


def repeated_texts(sent: pl.DataFrame, members: pl.DataFrame, chance: Chance) -> pl.DataFrame:
    """Give the prototypes' texts: group and query, a row each.

    `sent` is what `allowed_queries` gives, `members` has user and group. Of a query that a user
    repeated r times go r times her share of the group's lines into the prototype, the fraction
    by chance, the most repeated queries first, until her quota (the mean of the group over her
    share) is full. A group of which no query is allowed gets the most frequent one of all.
    """
    users = members.sort(pl.col("user").cast(pl.String)).with_row_index("number")
    text = pl.col("query").cast(pl.String)
    rows = (
        sent.join(users, on="user")
        .with_columns(text=text)
        .sort("number", "count", "text", descending=[False, True, False])
    )
    group = users["group"].to_numpy()
    user, counts = rows["number"].to_numpy().astype(np.int64), rows["count"].to_numpy()
    weights = np.bincount(user, counts, len(group)).astype(np.int64)
    whole = np.bincount(group, weights)
    share = (weights / np.maximum(whole[group], 1))[user] * counts
    copies = _copies(user, share, quotas(weights, group), chance)
    texts = rows.select("group", query="text")[np.repeat(np.arange(len(copies)), copies)]
    return pl.concat([texts, _for_empty(sent, users, texts)])


def _copies(user: Ints, share: np.ndarray, wanted: Ints, chance: Chance) -> Ints:
    """Draw how often each row is taken, in rounds, until each user's quota is full."""
    copies = np.zeros(len(user), np.int64)
    left = wanted.copy()
    for _ in range(_MOST_ROUNDS):
        open_rows = np.flatnonzero(left[user] > 0)
        if not len(open_rows):
            break
        part = share[open_rows]
        drawn = chance.numbers(len(part)) < ((part % 1) * 2.0**64).astype(np.uint64)
        taken = until_full(user[open_rows], np.floor(part).astype(np.int64) + drawn, left)
        copies[open_rows] += taken
        left -= np.bincount(user[open_rows], taken, len(left)).astype(np.int64)
    return copies


def _for_empty(sent: pl.DataFrame, users: pl.DataFrame, texts: pl.DataFrame) -> pl.DataFrame:
    """Give a group without any text the most frequent query."""
    empty = users.select("group").unique().join(texts, on="group", how="anti").sort("group")
    most = (
        sent.group_by(query=pl.col("query").cast(pl.String))
        .agg(pl.len())
        .sort("len", "query", descending=[True, False])
    )
    return empty.with_columns(query=pl.lit(most["query"].first(), pl.String))
