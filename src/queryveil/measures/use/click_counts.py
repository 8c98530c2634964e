"""What can be learned from a log or a release: counts of queries, of clicks and of steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from ...errors import UsageError
from ...log.query_log import SCHEMA
from ...release.release import Release
from ...release.tables import PUBLIC_TABLES
from .steps import count_transitions

__all__ = [
    "LogStatistics",
    "check_has_content",
    "count_clicks",
    "statistics_of_log",
    "statistics_of_release",
]


@dataclass(frozen=True, eq=False, repr=False)
class LogStatistics:
    """Counts as texts and numbers, in the order of the texts; only counts above 0.

    `queries` has query and count; `clicks` query, url, count, and the mean rank of the clicks
    where ranks are given; `steps` query, next and count. `read` says where they come from.
    """

    queries: pl.DataFrame
    clicks: pl.DataFrame
    steps: pl.DataFrame
    read: str


def statistics_of_log(
    rows: pl.LazyFrame, whole_sessions: bool = False, read: str = "the log"
) -> LogStatistics:
    """Count what a log shows; `whole_sessions` says that a user name stands for one session."""
    queries = rows.group_by("query").agg(count=pl.len()).collect(engine="streaming")
    steps = count_transitions(rows, whole_sessions)
    return LogStatistics(
        _ordered(queries, ["query"]), count_clicks(rows), _ordered(steps, ["query", "next"]), read
    )


def count_clicks(rows: pl.LazyFrame) -> pl.DataFrame:
    """Count the clicks on each URL for each query: query, url, count, rank (the mean).

    >>> rows = {"query": ["a", "a"], "url": ["x", "x"], "rank": [1, 2]}
    >>> url_counts(pl.LazyFrame(rows)).rows()
    [('a', 'x', 2.0, 1.5)]
    """
    clicked = rows.drop_nulls("url").group_by("query", "url")
    counts = clicked.agg(count=pl.len(), rank=pl.col("rank").mean())
    return _ordered(counts.collect(engine="streaming"), ["query", "url"])


def check_has_content(release: Release) -> None:
    """Refuse a release that publishes neither a log nor tables."""
    if release.log is None and not release.tables:
        raise UsageError(
            f"this release ({release.method}) has neither a log nor tables to learn from",
            hint="measure a release that publishes queries",
        )


def statistics_of_release(release: Release) -> LogStatistics:
    """Count what a release shows: by its tables, and by its log what these do not have."""
    named = [(name, texts) for name, texts in PUBLIC_TABLES.items() if name in release.tables]
    tables = {name: _table(release.tables[name], texts) for name, texts in named}
    if "clicks" in tables:
        tables["clicks"] = tables["clicks"].with_columns(rank=pl.lit(None, pl.Float64))
    if release.log is None or len(tables) == len(PUBLIC_TABLES):
        rest, read = statistics_of_log(_NO_ROWS), "the released tables"
    else:
        rest = _seen_in_rows(release.log, release.parameters)
        read = f"the released tables and {rest.read}" if tables else rest.read
    queries, clicks = tables.get("queries", rest.queries), tables.get("clicks", rest.clicks)
    return LogStatistics(queries, clicks, tables.get("transitions", rest.steps), read)


def _seen_in_rows(rows: pl.LazyFrame, parameters: Mapping[str, Any]) -> LogStatistics:
    note = ""
    if parameters.get("emit") == "phrase":
        note = ", whose phrases are taken for queries: a query of several phrases is not found"
    if rows.collect_schema()["time"].is_integer():
        note += ", whose times are numbers of rows: a user's rows are taken for one session"
    whole = parameters.get("link") == "session"
    return statistics_of_log(rows, whole, f"the released log{note}")


def _table(table: pl.DataFrame, texts: Sequence[str]) -> pl.DataFrame:
    """Give a table without the counts that noise made 0 or less."""
    return _ordered(table.select(*texts, "count").filter(pl.col("count") > 0), texts)


def _ordered(counts: pl.DataFrame, texts: Sequence[str]) -> pl.DataFrame:
    """Give texts and numbers in an order that is the same however rows are stored."""
    kinds = [pl.col(texts).cast(pl.String), pl.col("count").cast(pl.Float64)]
    return counts.with_columns(kinds).drop_nulls(texts).sort(texts)


_NO_ROWS = pl.LazyFrame(schema=SCHEMA)
