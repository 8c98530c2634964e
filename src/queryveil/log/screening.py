"""Remove identifier patterns from a log, by a fixed rule on each row alone.

The outcome of a row depends on its own text and on nothing else: not on other rows, not on how
many have an identifier. So two logs that differ by one user still differ by the rows of that user
afterwards, and the guarantee of a method holds as if the log had been screened before.

Where neighbors are logs of the same users, the users must stay the same as well: a user who would
have no row left keeps the first one, blanked. That depends on the user's own rows alone.

Names of known people are an exception. They pass in methods that spend a privacy budget, whose
mechanism protects every text. Other methods get them only where enough users sent the query
(`min_name_users`): that rule is a threshold, and depends on other rows as a threshold does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, get_args

import polars as pl

from ..core.randomness import RandomSource
from ..engine.operations import (
    aggregate,
    count_users_by_key,
    filter_keys,
    map_partitions,
    match_encoding,
    values_of,
)
from ..engine.table import RemoteTable
from ..errors import UsageError
from .accounting import RowAccounting
from .identifiers import IDENTIFIER_KINDS, KNOWN, kinds_of, kinds_of_urls, mask
from .query_log import QueryLog

Identifiers = Literal["drop", "mask", "keep"]
DROPPED, _MASKED, _BLANKED, _KEPT_EMPTY = range(4)
_OUTCOMES = (
    "query",
    "masked, as the query",
    "click blanked, as the URL",
    "emptied so that the user stays, as the query",
)
EMPTY_QUERY = "•••"
_KNOWN = IDENTIFIER_KINDS.index(KNOWN)


def check_setting(setting: str) -> None:
    """Raise a `UsageError` unless the setting is drop, mask or keep."""
    if setting not in get_args(Identifiers):
        raise UsageError(f'identifiers must be drop, mask or keep, got "{setting}"')


def screen(
    log: QueryLog, setting: str, *, users_stay: bool = False, min_name_users: int = 0
) -> QueryLog:
    """Return the log without identifiers in queries and URLs; its accounting counts them.

    `drop` drops the row, `mask` masks the identifier. A clicked URL that has one is blanked with
    its rank in both cases. With `users_stay` no user disappears: a user whose rows would all be
    dropped keeps the first one, blanked. A query with the name of a known person is an identifier
    if fewer than `min_name_users` users sent it.
    """
    check_setting(setting)
    if setting == "keep":
        return log
    rows: pl.LazyFrame | RemoteTable
    flag = partial(Flags.of, setting=setting, users_stay=users_stay, min_name_users=min_name_users)
    if isinstance(log.table, RemoteTable):
        if min_name_users:
            flag = partial(flag, released_names=_released_names(log.table, min_name_users))
        counts = aggregate(log.table, partial(count_partition, flag=flag), ["fate", "kind"])
        rows = map_partitions(log.table, partial(screen_partition, flag=flag), RandomSource())
    else:
        flags = flag(log.local_frame)
        counts, rows = flags.count(log.local_frame), flags.apply(log.local_frame)
    return replace(log, table=rows, accounting=_add_outcomes(log.accounting, counts))


def _add_outcomes(before: RowAccounting, counts: pl.DataFrame) -> RowAccounting:
    accounting = replace(before, dropped=dict(before.dropped), normalized=dict(before.normalized))
    for outcome, kind, rows in counts.sort("kind", "fate").rows():
        count = accounting.drop if outcome == DROPPED else accounting.change
        count({f"{_OUTCOMES[outcome]} looks like: {IDENTIFIER_KINDS[kind].title}": rows})
    return accounting


def flagged(table: pl.LazyFrame, column: str, *, known_names: bool = False) -> pl.DataFrame:
    """Return the distinct values of a column that have an identifier, and its kind.

    Each value is tested once. The values keep their encoding, so that they can be joined.
    """
    values = values_of(table, column)
    texts = values[column].cast(pl.String)
    kinds = kinds_of_urls(texts) if column == "url" else kinds_of(texts, known_names=known_names)
    return values.with_columns(kind=kinds).drop_nulls("kind")


@dataclass(frozen=True, repr=False)
class Flags:
    """The distinct queries and URLs of a table that have an identifier, or a sensitive topic.

    The column `masked` of `queries` has the masked query, or null if its row is dropped. `last`
    has the rows to keep, blanked, of users who would have none left.
    """

    queries: pl.DataFrame
    urls: pl.DataFrame
    last: pl.DataFrame

    @classmethod
    def of(
        cls,
        frame: pl.LazyFrame,
        setting: str,
        users_stay: bool,
        min_name_users: int,
        released_names: pl.DataFrame | None = None,
    ) -> Flags:
        """Test each distinct query and URL once.

        Args:
            released_names: The queries with names of known people that enough users sent; without
                it they are counted in this frame.
        """
        queries = flagged(frame, "query", known_names=min_name_users > 0)
        if min_name_users:
            names = queries.filter(pl.col("kind") == _KNOWN)
            if released_names is None:
                released_names = _count_users(frame, names, min_name_users)
            released = match_encoding(frame, released_names, "query")
            queries = queries.join(released, on="query", how="anti", maintain_order="left")
        masked = _mask_texts(queries["query"].cast(pl.String), setting)
        queries = queries.with_columns(masked=masked.cast(queries.schema["query"]))
        dropped = queries.filter(pl.col("masked").is_null()) if users_stay else queries.clear()
        return cls(queries, flagged(frame, "url"), find_last_rows(frame, dropped))

    def count(self, frame: pl.LazyFrame) -> pl.DataFrame:
        """Count the rows by outcome and kind of identifier: fate, kind, rows."""
        is_dropped = pl.col("masked").is_null()
        queries = self.queries.select("query", "kind", is_dropped).lazy()
        rows = frame.select("query").join(queries, on="query").group_by("kind", "masked").len()
        dropped = queries.filter("masked").select("query")
        clicks = frame.select("query", "url").join(dropped, on="query", how="anti")
        blanked = clicks.join(self.urls.lazy(), on="url").group_by("kind").len()
        kept = self.last.lazy().group_by("kind").len()
        # A row that is kept, blanked, was counted as dropped: subtract it there.
        correction = kept.with_columns(pl.col("len").cast(pl.Int64).neg())
        counts = [
            rows.with_columns(fate=pl.when("masked").then(DROPPED).otherwise(_MASKED)),
            blanked.with_columns(fate=pl.lit(_BLANKED)),
            kept.with_columns(fate=pl.lit(_KEPT_EMPTY)),
            correction.with_columns(fate=pl.lit(DROPPED)),
        ]
        integers = pl.col("fate", "kind", "len").cast(pl.Int64)
        both = pl.concat([table.select(integers) for table in counts])
        return both.group_by("fate", "kind").sum().collect(engine="streaming")

    def apply(self, frame: pl.LazyFrame) -> pl.LazyFrame:
        """Drop or mask the queries, and blank the URLs with their ranks."""
        masked = self.queries.drop_nulls("masked")
        if self.queries.height:
            dropped = self.queries.filter(pl.col("masked").is_null())["query"]
            frame = frame.filter(~pl.col("query").is_in(dropped.implode()))
        if masked.height:
            names = frame.collect_schema().names()
            joined = frame.join(
                masked.lazy().select("query", "masked"), on="query", how="left",
                maintain_order="left",
            )  # fmt: skip
            frame = joined.with_columns(query=pl.coalesce("masked", "query")).select(names)
        if self.urls.height:
            is_flagged = pl.col("url").is_in(self.urls["url"].implode()).fill_null(False)
            frame = frame.with_columns(
                pl.when(~is_flagged).then(pl.col(name)).alias(name) for name in ("rank", "url")
            )
        return pl.concat([frame, self._blank_last(frame)]) if self.last.height else frame

    def _blank_last(self, frame: pl.LazyFrame) -> pl.LazyFrame:
        schema = frame.collect_schema()
        nulls = {name: pl.lit(None, schema[name]) for name in ("rank", "url")}
        empty = pl.lit(EMPTY_QUERY).cast(schema["query"])
        return self.last.lazy().with_columns(query=empty, **nulls).select(schema.names())


def _released_names(table: RemoteTable, at_least: int) -> pl.DataFrame:
    """Return the queries with names of known people alone that enough users sent."""
    return aggregate(table, _count_name_users, ["query"], at_least=("users", at_least))


def _count_name_users(frame: pl.LazyFrame, _: RandomSource) -> pl.DataFrame:
    queries = flagged(frame, "query", known_names=True)
    return _count_users(frame, queries.filter(pl.col("kind") == _KNOWN), 1)


def _count_users(frame: pl.LazyFrame, queries: pl.DataFrame, at_least: int) -> pl.DataFrame:
    rows = filter_keys(frame, queries, ["query"])
    return count_users_by_key(rows, ["query"], at_least)


def find_last_rows(frame: pl.LazyFrame, dropped: pl.DataFrame) -> pl.DataFrame:
    """Return the first row, and its kind, of each user whose rows are all dropped."""
    lost = frame.join(dropped.lazy().select("query", "kind"), on="query", maintain_order="left")
    if not dropped.height:
        return lost.head(0).collect()
    affected = frame.join(lost.select("user").unique(), on="user", how="semi")
    is_kept = ~pl.col("query").is_in(dropped["query"].implode())
    others = affected.filter(is_kept).select("user").unique()
    removed = lost.join(others, on="user", how="anti", maintain_order="left")
    return removed.unique("user", keep="first", maintain_order=True).collect()


def _mask_texts(texts: pl.Series, setting: str) -> pl.Series:
    """Mask texts that have an identifier; null where their rows are dropped."""
    if setting == "drop":
        return pl.repeat(None, len(texts), dtype=pl.String, eager=True)
    masked = mask(texts).alias("masked")
    is_clean = kinds_of(masked).is_null()  # drop the row if masking left an identifier
    return pl.select(pl.when(is_clean).then(masked)).to_series()


Look = Callable[[pl.LazyFrame], Flags]


def count_partition(frame: pl.LazyFrame, _: RandomSource, *, flag: Look) -> pl.DataFrame:
    """Count the rows of a partition by outcome and kind."""
    return flag(frame).count(frame)


def screen_partition(frame: pl.LazyFrame, _: RandomSource, *, flag: Look) -> pl.DataFrame:
    """Return the rows of a partition that stay."""
    return flag(frame).apply(frame).collect()
