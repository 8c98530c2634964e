"""Contribution bounding by time: the first queries and the first clicks of each user.

Korolova, Kenthapadi, Mishra, Ntoulas 2009, section 4: each user counts with so many first queries.
"""

from __future__ import annotations

import polars as pl

from ..core.randomness import RandomSource
from ..log.query_log import group_events


def count_first_events(frame: pl.LazyFrame, _: RandomSource, *, bound: int) -> pl.DataFrame:
    """Count the queries of each user's first events."""
    return _count_first_rows(group_events(frame), ["query"], bound)


def count_first_clicks(
    frame: pl.LazyFrame, _: RandomSource, *, known: pl.DataFrame, bound: int
) -> pl.DataFrame:
    """Count each user's first clicks, and return the counts of public results."""
    counted = _count_first_rows(frame.drop_nulls("url"), ["query", "url"], bound)
    return counted.join(known, on=["query", "url"], how="semi", maintain_order="left")


def _count_first_rows(rows: pl.LazyFrame, keys: list[str], bound: int) -> pl.DataFrame:
    """Count the keys of each user's first rows by time; keys become sorted strings.

    Which rows of a user are counted is decided by their own rows alone: the times, and for equal
    times the order in the file. So one user adds at most `bound` in total.
    """
    table = rows.select(pl.col("user").to_physical(), "time", *keys).collect(engine="streaming")
    table = table.sort("user", "time", maintain_order=True)
    first = table.lazy().filter(pl.int_range(pl.len()).over("user") < bound)
    counts = first.group_by(keys).agg(count=pl.len().cast(pl.Int64)).collect(engine="streaming")
    return counts.with_columns(pl.col(keys).cast(pl.String)).sort(keys)
