"""`QueryLog`: the table that every method reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from ..core.notebook import NotebookShown, NotebookView
from ..core.pandas_output import to_pandas
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
from .frames import LogFrame, is_frame

SESSION_GAP_MINUTES = 30


def is_click() -> pl.Expr:
    """Return whether rows have a click: a rank, a URL or both."""
    return pl.col("url").is_not_null() | pl.col("rank").is_not_null()


def filter_clicks(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Keep the rows with a click."""
    return rows.filter(is_click())


def add_sessions(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Sort by user and time and number each user's sessions in a new column `session`.

    The distance of a row without a time is unknown: each is a session of its own.
    """
    ordered = rows.sort("user", "time", maintain_order=True)
    new_user = pl.col("user") != pl.col("user").shift()
    pause = pl.col("time") - pl.col("time").shift() > pl.duration(minutes=SESSION_GAP_MINUTES)
    first = new_user.fill_null(True) | pause.fill_null(True)
    return ordered.with_columns(session=first.cum_sum())


def group_events(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Group rows into events: user, query, time, session, lines, clicks."""
    same = (pl.col("session") == pl.col("session").shift()) & (
        pl.col("query") == pl.col("query").shift()
    )
    submissions = add_sessions(_group_same_time(rows))
    runs = submissions.with_columns(event=(~same.fill_null(False)).cum_sum())
    return (
        runs.group_by("event", maintain_order=True)
        .agg(
            pl.col("user", "query", "time", "session").first(),
            pl.col("lines", "clicks").sum(),
        )
        .drop("event")
    )


def _group_same_time(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Group rows with the same user, query and time, even if others are between them.

    Each row without a time is a group of its own.
    """
    alone = pl.when(pl.col("time").is_null()).then(pl.int_range(pl.len()))
    same = rows.select("user", "query", "time", alone=alone, click=is_click())
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
    """Return a function that casts texts to categories, with one dictionary for all tables."""
    schema = {
        name: pl.Categorical(pl.Categories.random()) if dtype == pl.String else dtype
        for name, dtype in SCHEMA.items()
    }
    return lambda rows: rows.select(pl.col(name).cast(dtype) for name, dtype in schema.items())


@dataclass(frozen=True)
class QueryLog(NotebookShown):
    """A query log with the columns user, query, time, rank and url.

    `user`, `query` and `url` are dictionary-encoded (Polars' Categorical), so that counts and
    joins use integers and each distinct text is stored once. `rank` and `url` are null in a row
    without a click.

    A *line* is one row of the file. An *event* is one submission of a query, with all its
    clicks. A *click* is one rank and URL.

    Attributes:
        table: The table that the engine's operations read: a lazy frame, or a table in
            partitions on a cluster. `local_frame` is the former.
        accounting: The outcome of every row that was read.
        sources: The files that were read.
        seeded: Whether users were sampled with a seed, which can be reproduced.
        sampled: Whether users were sampled at all.
        options_fingerprint: How the files were read, to recognize the same log later.
        could_stop: Whether reading would have stopped at too many unreadable rows.
        since: The first day that the data owner kept.
        until: The last day that the data owner kept.
        dropped_topics: The sensitive topics whose rows were dropped: a method that releases parts
            of queries must not release parts of these topics.

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
    dropped_topics: tuple[str, ...] = field(default=(), repr=False)

    @classmethod
    def from_frame(
        cls, frame: LogFrame, columns: Mapping[str, str | int] | str = "", **options: Any
    ) -> QueryLog:
        """Build a log from a frame of pandas, Polars, PyArrow or others with the Arrow interface.

        It is `read_log` for a frame alone: texts are normalized, and rows dropped and rejected, as
        for files.

        Args:
            frame: The frame.
            columns: The frame's column for each of ours, as in `{"user": "customer"}`; columns
                with usual names are recognized.
            options: Those of `ReadOptions`.

        >>> frame = pl.DataFrame({"customer": [7, 7], "search": ["Red  Shoes", ""]})
        >>> log = QueryLog.from_frame(frame, columns={"user": "customer", "query": "search"})
        >>> log.to_polars()["query"].to_list(), log.accounting.dropped
        (['red shoes'], {'empty query': 1})
        """
        from .reading import read_log  # noqa: PLC0415  (it builds logs, so it imports this)

        if not is_frame(frame):
            raise UsageError(
                f"a {type(frame).__name__} is not a frame",
                hint="a DataFrame of pandas, Polars or PyArrow; read_log reads files too",
            )
        return read_log(frame, columns=columns, **options)

    def to_polars(self) -> pl.DataFrame:
        """Return all rows as a frame of Polars, with plain texts: user, query, time, rank, url.

        These are private data: people's queries as they sent them.
        """
        texts = [name for name, dtype in SCHEMA.items() if dtype == pl.String]
        return self.local_frame.with_columns(pl.col(texts).cast(pl.String)).collect()

    def to_pandas(self) -> Any:  # pandas has no types, and need not be installed
        """Return all rows as a `pandas.DataFrame`, as `to_polars` does."""
        return to_pandas(self.to_polars())

    def notebook_view(self) -> NotebookView:
        """Return what a notebook shows: how the log was read, and no row or figure of it."""
        formats = ", ".join(sorted({source.format for source in self.sources}))
        number = "1 file" if len(self.sources) == 1 else f"{len(self.sources):,} files"
        source = f"{number} ({formats})" if self.sources else "memory"
        facts = [("columns", ", ".join(COLUMNS)), ("read from", source), ("engine", self.engine)]
        days = [("first day", self.since), ("last day", self.until)]
        facts += [(name, str(day)) for name, day in days if day is not None]
        facts += [("users", "a sample")] * self.sampled
        note = "profile(log) shows its figures, and log.accounting the outcome of every row."
        return NotebookView("QueryLog", tuple(facts), notes=(note,))

    @classmethod
    def from_clean_frame(cls, table: pl.DataFrame) -> QueryLog:
        """Build a log from a table with the five columns and clean values.

        Nothing is normalized or rejected here; `from_frame` and `read_log` do that.
        """
        return cls(
            categorical_encoder()(table.select(COLUMNS)).lazy(), RowAccounting(rows=table.height)
        )

    @classmethod
    def from_rows(cls, rows: list[tuple[str, str, str | None, int | None, str | None]]) -> QueryLog:
        """Build a log from rows of user, query, time (ISO), rank, url; for tests and examples."""
        schema = dict.fromkeys(COLUMNS, pl.String) | {"rank": pl.Int32}
        table = pl.DataFrame(rows, schema=schema, orient="row")
        return cls.from_clean_frame(
            table.with_columns(pl.col("time").str.to_datetime(time_unit="us"))
        )

    @property
    def local_frame(self) -> pl.LazyFrame:
        """All rows, on this machine."""
        if isinstance(self.table, RemoteTable):
            raise UsageError(
                f"this needs the whole log on one machine, but it is on {self.engine}",
                hint="leave `engine` out; docs/how-to/spark.md lists what runs on Spark",
            )
        return self.table

    @property
    def engine(self) -> str:
        """The name of the engine that operations run on."""
        return engine_name(self.table)

    def count(self, unit: str = "line") -> int:
        """Count the rows, events or clicks."""
        if unit == "line":
            return count_rows(self.table)
        if unit not in _UNITS:
            raise UsageError(f'unit must be line, event or click, got "{unit}"')
        counts = aggregate(self.table, partial(_count_units, unit=unit), ["all"])
        return int(counts["count"].sum())

    def count_distinct(self, column: str) -> int:
        """Count the distinct users, queries or URLs."""
        if isinstance(self.table, RemoteTable):
            return count_distinct(self.table, column)
        # One bit per category is faster than sorting or hashing.
        codes = self.local_frame.select(pl.col(column).to_physical()).collect()[column]
        max_code = int(codes.max() or 0)  # type: ignore[arg-type]
        seen = np.zeros(1 + max_code, dtype=np.bool_)
        for chunk in codes.get_chunks():
            seen[chunk.drop_nulls().to_numpy()] = True
        return int(np.count_nonzero(seen)) if codes.count() else 0

    def events(self) -> pl.LazyFrame:
        """Return one row per submission of a query: user, query, time, lines, clicks."""
        return group_events(self.local_frame)

    def clicks(self) -> pl.LazyFrame:
        """Return the rows that have a click."""
        return filter_clicks(self.local_frame)

    def sample_users(self, users: int, rng: RandomSource) -> QueryLog:
        """Keep so many users, sampled uniformly; the other rows are counted as dropped."""
        frame = sample_users(self.local_frame, users, rng)
        sample = self._with_rows(frame, "not in the sample of users")
        return replace(sample, seeded=self.seeded or not rng.is_secure, sampled=True)

    def filter_users(self, users: pl.DataFrame, reason: str) -> QueryLog:
        """Keep the rows of these users; the others are counted as dropped, with that reason."""
        return self._with_rows(filter_keys(self.local_frame, users, ["user"]), reason)

    def _with_rows(self, frame: pl.LazyFrame, reason: str) -> QueryLog:
        """Return the log with fewer rows, and account for the dropped ones."""
        rows = frame.collect(engine="streaming")
        accounting = replace(self.accounting, dropped=dict(self.accounting.dropped))
        accounting.drop({reason: self.accounting.kept - rows.height})
        return replace(self, table=rows.lazy(), accounting=accounting)


_UNITS = {"event": group_events, "click": filter_clicks}


def _count_units(frame: pl.LazyFrame, _: RandomSource, *, unit: str) -> pl.DataFrame:
    number = pl.len().cast(pl.Int64)
    count = _UNITS[unit](frame).select(count=number).collect(engine="streaming")
    return count.with_columns(all=pl.lit(0))
