"""`QueryLog`: the one table that every method works on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import date
from functools import partial

import numpy as np
import polars as pl

from ..core.randomness import RandomSource
from ..engine.operations import (
    aggregate,
    count_distinct,
    count_rows,
    engine_name,
    filter_keys,
    sample_users,
)
from ..engine.table import RemoteTable, Table
from ..errors import UsageError
from .accounting import RowAccounting, SourceFile

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


SCHEMA: dict[str, pl.DataType] = {
    "user": pl.String(),
    "query": pl.String(),
    "time": pl.Datetime("us"),
    "rank": pl.Int32(),
    "url": pl.String(),
}
COLUMNS = tuple(SCHEMA)


def categorical_encoder() -> Callable[[pl.DataFrame], pl.DataFrame]:
    """Make a function that replaces texts by numbers, with one dictionary for all tables."""
    texts = {name for name, kind in SCHEMA.items() if kind == pl.String}
    kinds = {
        name: pl.Categorical(pl.Categories.random()) if name in texts else kind
        for name, kind in SCHEMA.items()
    }
    return lambda rows: rows.select(pl.col(name).cast(kind) for name, kind in kinds.items())


@dataclass(frozen=True)
class QueryLog:
    """A query log: one row a line, with the columns user, query, time, rank and url.

    `rows` is the table that the engine's steps take: a lazy frame here, or one in shares on a
    cluster. `frame` is the same for what needs the whole log in one place, which a cluster's
    has not. `user`, `query` and `url` are dictionary-encoded (Polars' Categorical),
    so that counting and joining handle numbers and each distinct text is stored once.
    `rank` and `url` are null on a line without a click. `tally` says what became of every
    row that was read, and `seeded` whether a sample was drawn that can be drawn again.
    `sampled` says whether users were drawn at all; `asked` is how the files were read, so that
    the same log can be told when it comes again; `since` and `until` are the days that the owner
    cut it to. `could_stop` says that reading would have stopped at too many unreadable rows.

    A *line* is one row of the file. An *event* is one submission of a query, with all its
    clicks. A *click* is one rank and URL.

    >>> log = QueryLog.from_rows([("1", "cats", "2006-03-01 10:00:00", 1, "http://a.example"),
    ...                           ("1", "cats", "2006-03-01 10:00:00", 2, "http://b.example")])
    >>> log.count("line"), log.count("event"), log.count("click")
    (2, 1, 2)
    """

    table: Table = field(repr=False)
    accounting: RowAccounting = field(default_factory=RowAccounting, repr=False)
    sources: tuple[SourceFile, ...] = field(default=(), repr=False)
    seeded: bool = False
    sampled: bool = False
    options_fingerprint: str = field(default="", repr=False)
    could_stop: bool = False
    since: date | None = None
    until: date | None = None

    @classmethod
    def from_frame(cls, table: pl.DataFrame) -> QueryLog:
        """Take a table that has the five columns already, with clean values.

        Nothing is normalised or rejected here; `read_log` does that.
        """
        return cls(
            categorical_encoder()(table.select(COLUMNS)).lazy(), RowAccounting(rows=table.height)
        )

    @classmethod
    def from_rows(cls, rows: list[tuple[str, str, str | None, int | None, str | None]]) -> QueryLog:
        """Take rows of user, query, time (ISO), rank and url; for tests and examples."""
        kinds = dict.fromkeys(COLUMNS, pl.String) | {"rank": pl.Int32}
        table = pl.DataFrame(rows, schema=kinds, orient="row")
        return cls.from_frame(table.with_columns(pl.col("time").str.to_datetime(time_unit="us")))

    @property
    def local_frame(self) -> pl.LazyFrame:
        """All rows in one place."""
        if isinstance(self.table, RemoteTable):
            raise UsageError(
                f"this needs the whole log on one machine, and it lies on {self.engine}",
                hint="leave --engine out; docs/spark.md lists what runs on Spark",
            )
        return self.table

    @property
    def engine(self) -> str:
        """Name what the steps of methods run on."""
        return engine_name(self.table)

    def count(self, unit: str = "line") -> int:
        """Count the lines, events or clicks."""
        if unit == "line":
            return count_rows(self.table)
        if unit not in _UNITS:
            raise UsageError(f'"{unit}" cannot be counted', hint="line, event or click")
        counted = aggregate(self.table, partial(_counted, unit=unit), ["all"])
        return int(counted["count"].sum())

    def count_distinct(self, column: str) -> int:
        """Count the different users, queries or URLs: a mark for each, no sorting or hashing."""
        if isinstance(self.table, RemoteTable):
            return count_distinct(self.table, column)
        codes = self.local_frame.select(pl.col(column).to_physical()).collect()[column]
        top = int(codes.max() or 0)  # type: ignore[arg-type]
        seen = np.zeros(1 + top, dtype=np.bool_)
        for chunk in codes.get_chunks():
            seen[chunk.drop_nulls().to_numpy()] = True
        return int(np.count_nonzero(seen)) if codes.count() else 0

    def events(self) -> pl.LazyFrame:
        """Give one row a submission of a query: user, query, time, lines, clicks."""
        return group_events(self.local_frame)

    def clicks(self) -> pl.LazyFrame:
        """Give the rows that have a click."""
        return filter_clicks(self.local_frame)

    def sample_users(self, users: int, chance: RandomSource) -> QueryLog:
        """Keep so many users, drawn uniformly; the other rows are counted as dropped."""
        drawn = self._after(
            sample_users(self.local_frame, users, chance), "not in the sample of users"
        )
        return replace(drawn, seeded=self.seeded or not chance.is_secure, sampled=True)

    def filter_users(self, users: pl.DataFrame, reason: str) -> QueryLog:
        """Keep the rows of these users; the others are counted as dropped, for that reason."""
        return self._after(filter_keys(self.local_frame, users, ["user"]), reason)

    def _after(self, frame: pl.LazyFrame, reason: str) -> QueryLog:
        rows = frame.collect(engine="streaming")
        tally = replace(self.accounting, dropped=dict(self.accounting.dropped))
        tally.drop({reason: self.accounting.kept - rows.height})
        return replace(self, table=rows.lazy(), accounting=tally)


_UNITS = {"event": group_events, "click": filter_clicks}


def _counted(frame: pl.LazyFrame, _: RandomSource, *, unit: str) -> pl.DataFrame:
    number = pl.len().cast(pl.Int64)
    found = _UNITS[unit](frame).select(count=number).collect(engine="streaming")
    return found.with_columns(all=pl.lit(0))
