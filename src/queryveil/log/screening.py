"""A log without what looks like a personal identifier: a fixed rule on each row alone.

What becomes of a row depends on its own text and on nothing else: not on other rows, not on how
many hold an identifier. So two logs that differ by one person still do so afterwards, by the same
person's rows, and what a method promises holds as if the log had come like this.

Where neighbors are logs of the same users, the users must stay the same as well: a user who would
have no row left keeps the first one, with nothing in it. That depends on the user's own rows alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, get_args

import polars as pl

from ..core.randomness import RandomSource
from ..engine.operations import aggregate, map_partitions, values_of
from ..engine.table import RemoteTable
from ..errors import UsageError
from .accounting import RowAccounting
from .identifiers import IDENTIFIER_KINDS, kinds_of, kinds_of_urls, mask
from .query_log import QueryLog


Identifiers = Literal["drop", "mask", "keep"]
_DROPPED, _MASKED, _BLANKED, _STAYED = range(4)
_FATES = (
    "query",
    "masked, as the query",
    "click blanked, as the URL",
    "emptied so that the user stays, as the query",
)
_EMPTY = "•••"


def check_setting(setting: str) -> None:
    """Raise an error unless it is known what shall become of identifiers."""
    if setting not in get_args(Identifiers):
        raise UsageError(f'identifiers cannot be treated by "{setting}"', hint="drop, mask or keep")


def screen(log: QueryLog, setting: str, *, users_stay: bool = False) -> QueryLog:
    """Return the log without identifiers in queries and addresses; its tally counts them.

    `drop` leaves the row out, `mask` replaces the signs of the identifier. A clicked address that
    holds one is blanked with its rank in both cases. With `users_stay` nobody vanishes: the last
    row that somebody has is emptied instead of dropped.
    """
    check_setting(setting)
    if setting == "keep":
        return log
    rows: pl.LazyFrame | RemoteTable
    if isinstance(log.table, RemoteTable):
        look = partial(_Marks.of, setting=setting, users_stay=users_stay)
        counts = aggregate(log.table, partial(_counted_share, look=look), ["fate", "kind"])
        rows = map_partitions(log.table, partial(_share, look=look), RandomSource())
    else:
        marks = _Marks.of(log.local_frame, setting, users_stay)
        counts, rows = marks.counted(log.local_frame), marks.applied(log.local_frame)
    return replace(log, table=rows, accounting=_tally(log.accounting, counts))


def _tally(before: RowAccounting, counts: pl.DataFrame) -> RowAccounting:
    tally = replace(before, dropped=dict(before.dropped), normalized=dict(before.normalized))
    for fate, kind, rows in counts.sort("kind", "fate").rows():
        count = tally.drop if fate == _DROPPED else tally.change
        count({f"{_FATES[fate]} looks like: {IDENTIFIER_KINDS[kind].title}": rows})
    return tally


def flagged(table: pl.LazyFrame, column: str) -> pl.DataFrame:
    """Return the distinct values of a column that hold an identifier, and its kind.

    Each value is looked at once. They keep their encoding, so that they can be joined.
    """
    values = values_of(table, column)
    find = kinds_of_urls if column == "url" else kinds_of
    kinds = find(values[column].cast(pl.String)).alias("kind")
    return values.with_columns(kinds).drop_nulls("kind")


@dataclass(frozen=True, repr=False)
class _Marks:
    """The queries and addresses of some rows that hold an identifier.

    `queries` has what a query becomes as `masked`: nothing where its row is dropped. `last` are the
    rows of users who would have none left.
    """

    queries: pl.DataFrame
    urls: pl.DataFrame
    last: pl.DataFrame

    @classmethod
    def of(cls, frame: pl.LazyFrame, setting: str, users_stay: bool) -> _Marks:
        """Look at each distinct query and address once."""
        queries = flagged(frame, "query")
        masked = _masked(queries["query"].cast(pl.String), setting)
        queries = queries.with_columns(masked=masked.cast(queries.schema["query"]))
        gone = queries.filter(pl.col("masked").is_null()) if users_stay else queries.clear()
        return cls(queries, flagged(frame, "url"), _last_rows(frame, gone))

    def counted(self, frame: pl.LazyFrame) -> pl.DataFrame:
        """Count the rows by what becomes of them, and why: fate, kind, rows."""
        is_gone = pl.col("masked").is_null()
        fates = self.queries.select("query", "kind", is_gone).lazy()
        met = frame.select("query").join(fates, on="query").group_by("kind", "masked").len()
        gone = fates.filter("masked").select("query")
        clicks = frame.select("query", "url").join(gone, on="query", how="anti")
        blank = clicks.join(self.urls.lazy(), on="url").group_by("kind").len()
        fate = pl.when("masked").then(_DROPPED).otherwise(_MASKED)
        told = [met.with_columns(fate=fate), blank.with_columns(fate=pl.lit(_BLANKED))]
        stays = self.last.lazy().group_by("kind").len()
        less = stays.with_columns(pl.col("len").cast(pl.Int64).neg(), fate=pl.lit(_DROPPED))
        told += [stays.with_columns(fate=pl.lit(_STAYED)), less]
        whole = pl.col("fate", "kind", "len").cast(pl.Int64)
        all_told = pl.concat([one.select(whole) for one in told])
        return all_told.group_by("fate", "kind").sum().collect(engine="streaming")

    def applied(self, frame: pl.LazyFrame) -> pl.LazyFrame:
        """Drop or mask the queries, and blank the addresses with their ranks."""
        masked = self.queries.drop_nulls("masked")
        if self.queries.height:
            gone = self.queries.filter(pl.col("masked").is_null())["query"]
            frame = frame.filter(~pl.col("query").is_in(gone.implode()))
        if masked.height:
            names = frame.collect_schema().names()
            joined = frame.join(
                masked.lazy().select("query", "masked"), on="query", how="left",
                maintain_order="left",
            )  # fmt: skip
            frame = joined.with_columns(query=pl.coalesce("masked", "query")).select(names)
        if self.urls.height:
            bad = pl.col("url").is_in(self.urls["url"].implode()).fill_null(False)
            frame = frame.with_columns(
                pl.when(~bad).then(pl.col(name)).alias(name) for name in ("rank", "url")
            )
        return pl.concat([frame, self._emptied(frame)]) if self.last.height else frame

    def _emptied(self, frame: pl.LazyFrame) -> pl.LazyFrame:
        kinds = frame.collect_schema()
        nothing = {name: pl.lit(None, kinds[name]) for name in ("rank", "url")}
        empty = pl.lit(_EMPTY).cast(kinds["query"])
        return self.last.lazy().with_columns(query=empty, **nothing).select(kinds.names())


def _last_rows(frame: pl.LazyFrame, gone: pl.DataFrame) -> pl.DataFrame:
    """Return the first row of each user whose every row has a query that goes, and its kind."""
    lost = frame.join(gone.lazy().select("query", "kind"), on="query", maintain_order="left")
    if not gone.height:
        return lost.head(0).collect()
    left = frame.join(lost.select("user").unique(), on="user", how="semi")
    others = left.filter(~pl.col("query").is_in(gone["query"].implode())).select("user").unique()
    alone = lost.join(others, on="user", how="anti", maintain_order="left")
    return alone.unique("user", keep="first", maintain_order=True).collect()


def _masked(texts: pl.Series, setting: str) -> pl.Series:
    """Return what becomes of texts that hold an identifier; nothing where their rows go."""
    if setting == "drop":
        return pl.repeat(None, len(texts), dtype=pl.String, eager=True)
    masked = pl.Series("masked", list(map(mask, texts)), pl.String)
    clean = kinds_of(masked).is_null()  # else masking did not help
    return pl.select(pl.when(clean).then(masked)).to_series()


Look = Callable[[pl.LazyFrame], _Marks]


def _counted_share(frame: pl.LazyFrame, _: RandomSource, *, look: Look) -> pl.DataFrame:
    return look(frame).counted(frame)


def _share(frame: pl.LazyFrame, _: RandomSource, *, look: Look) -> pl.DataFrame:
    return look(frame).applied(frame).collect()
