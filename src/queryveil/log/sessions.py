"""Lines, events, clicks and sessions.

An event is one submission of a query (SPEC 1): lines with the same user, query and time
are its clicks, and the same query sent again at once is a request for the next page of
results. "At once" means within the session, that is before a pause of half an hour: the
same query on another day is a new submission, though the log shows nothing in between.
"""

from __future__ import annotations

import polars as pl

__all__ = ["SESSION_GAP_MINUTES", "add_sessions", "filter_clicks", "group_events", "is_click"]

SESSION_GAP_MINUTES = 30


def is_click() -> pl.Expr:
    """Tell which lines have a click: a rank, a URL or both."""
    return pl.col("url").is_not_null() | pl.col("rank").is_not_null()


def filter_clicks(lines: pl.LazyFrame) -> pl.LazyFrame:
    """Keep the lines with a click."""
    return lines.filter(is_click())


def add_sessions(lines: pl.LazyFrame) -> pl.LazyFrame:
    """Sort by user and time and number each user's sessions in a new column `session`.

    A line without a time cannot be said to be near another: it is a session for itself.
    """
    ordered = lines.sort("user", "time", maintain_order=True)
    new_user = pl.col("user") != pl.col("user").shift()
    pause = pl.col("time") - pl.col("time").shift() > pl.duration(minutes=SESSION_GAP_MINUTES)
    first = new_user.fill_null(True) | pause.fill_null(True)
    return ordered.with_columns(session=first.cum_sum())


def group_events(lines: pl.LazyFrame) -> pl.LazyFrame:
    """Collapse lines to events: user, query, time, session, lines, clicks."""
    same = (pl.col("session") == pl.col("session").shift()) & (
        pl.col("query") == pl.col("query").shift()
    )
    sent = add_sessions(_sent_at_once(lines))
    runs = sent.with_columns(event=(~same.fill_null(False)).cum_sum())
    return (
        runs.group_by("event", maintain_order=True)
        .agg(
            pl.col("user", "query", "time", "session").first(),
            pl.col("lines", "clicks").sum(),
        )
        .drop("event")
    )


def _sent_at_once(lines: pl.LazyFrame) -> pl.LazyFrame:
    """Bring together what has the same user, query and time, whatever stands in between.

    Lines without a time are alike in nothing: each stays for itself.
    """
    alone = pl.when(pl.col("time").is_null()).then(pl.int_range(pl.len()))
    same = lines.select("user", "query", "time", alone=alone, click=is_click())
    return same.group_by("user", "query", "time", "alone", maintain_order=True).agg(
        lines=pl.len(), clicks=pl.col("click").sum()
    )
