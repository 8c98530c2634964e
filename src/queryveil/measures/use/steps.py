"""Steps from one query to the next within a session, in the order of the times that are given.

Rows of the same user and time have no order. So a time at which a user sent several queries leads
nowhere, and nothing leads to it; it still stands between what is before and after.
"""

from __future__ import annotations

import polars as pl

from ...log.sessions import SESSION_GAP_MINUTES

__all__ = ["count_transitions", "transitions"]


def transitions(rows: pl.LazyFrame, whole_sessions: bool = False) -> pl.DataFrame:
    """Give each step to another query: user, query, next.

    A session ends with a pause of half an hour, or where `whole_sessions` says that a user name
    stands for a session, with the user name. Times that are mere numbers of rows tell no pauses:
    then all rows of a user are one session.

    >>> rows = [("u", "a", 1), ("u", "b", 2), ("u", "c", 3), ("u", "d", 3), ("v", "e", 4)]
    >>> table = pl.LazyFrame(rows, schema=["user", "query", "time"], orient="row")
    >>> steps_of(table).rows()
    [('u', 'a', 'b')]
    """
    sent = rows.select("user", "query", "time").drop_nulls().group_by("user", "time")
    times = sent.agg(pl.col("query").first(), alone=pl.col("query").n_unique() == 1)
    ordered = times.sort("user", "time").collect(engine="streaming")
    now, after = pl.col("query"), pl.col("query").shift(-1)
    follows = (pl.col("user") == pl.col("user").shift(-1)) & (now != after)
    follows &= pl.col("alone") & pl.col("alone").shift(-1)
    if ordered.schema["time"].is_temporal() and not whole_sessions:
        pause = pl.col("time").shift(-1) - pl.col("time")
        follows &= pause <= pl.duration(minutes=SESSION_GAP_MINUTES)
    return ordered.lazy().with_columns(next=after).filter(follows).select(*_STEP).collect()


def count_transitions(rows: pl.LazyFrame, whole_sessions: bool = False) -> pl.DataFrame:
    """Count the steps between each two queries: query, next, count."""
    return transitions(rows, whole_sessions).group_by("query", "next").agg(count=pl.len())


_STEP = ("user", "query", "next")
