"""Keep the queries that many users sent.

The rule behind most published query data sets (Adar 2007 gives it with a secret threshold):
a query that at least `min_users` users sent cannot single out one of them by itself. It is
a rule, not k-anonymity of users: see docs/reference/methods/frequent-queries.md.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar, Literal

import polars as pl

from ..core.parameters import parameter
from ..core.progress import Progress
from ..core.randomness import RandomSource
from ..engine.operations import (
    aggregate,
    aggregate_remote,
    count_users_and_rows,
    count_users_by_key,
    filter_keys,
    map_partitions,
    match_encoding,
    protect_partitions,
    shuffle_rows,
)
from ..engine.table import PartitionOutput, Table
from ..errors import EmptyReleaseError
from ..log.query_log import QueryLog, add_sessions, is_click
from ..release.guarantee import Check, Guarantee
from .base import Method, MethodOutput
from .forecast import Alternative
from .publication import coarsen_time, pseudonymize

_MAX_USERS = 10_000_000_000
_LADDER = (2, 5, 10, 20, 30, 50, 100)
_LINKED = (
    "all queries of a user stay together under one pseudonym: a few frequent ones can be a "
    "combination that nobody else has, which identifies the user and all their other queries; use "
    "--pseudonym-scope none or a method with a formal guarantee to avoid that"
)
_IDS = {"user": "users", "session": "sessions", "none": "rows"}


@dataclass(frozen=True)
class FrequentQueries(Method):
    """Keep a query that at least n users sent, and a click that at least m users made.

    >>> str(FrequentQueries(min_users=20))
    'frequent-queries:min-users=20'
    """

    name: ClassVar[str] = "frequent-queries"
    title: ClassVar[str] = "keep a query that at least n users sent"
    paper: ClassVar[str] = "Adar 2007; the rule behind most published query data sets"
    guarantee_summary: ClassVar[str] = "none: a rule, not k-anonymity"
    good_for: ClassVar[str] = (
        "the usual practice as a baseline, and data that stay inside your own team; it "
        "guarantees nothing about a user"
    )
    parallelism: ClassVar[Literal["no", "steps", "users", "blocks"]] = "steps"

    min_users: int = parameter(
        30, "minimum number of users who sent a released query", min=1, max=_MAX_USERS, unit="users"
    )
    min_click_users: int = parameter(
        5, "minimum number of users who made a released click", min=1, max=_MAX_USERS, unit="users"
    )
    pseudonym_scope: str = parameter(
        "user",
        "rows with the same pseudonym: of a user, of a session, or none",
        choices=("user", "session", "none"),
    )
    time_precision: str = parameter(
        "day", "time precision", choices=("none", "month", "day", "hour")
    )
    include_clicks: bool = parameter(True, "release clicks: ranks and URLs")

    def run(self, log: QueryLog, rng: RandomSource, progress: Progress) -> MethodOutput:
        """Keep frequent queries, blank rare cells, shuffle and pseudonymize."""
        with progress.stage("count users"):
            kept = map_partitions(
                log.table, partial(self._filter_rows, self._frequent_queries(log)), rng
            )
            common = self._common_keys(log, kept)
        with progress.stage("protect"):
            output = protect_partitions(kept, partial(self._protect_partition, common), rng)
        rows = output.counts.get(_KEPT, 0)
        return MethodOutput(
            log=output.rows,
            mapping=output.mapping,
            dropped={f"query of fewer than {self.min_users} users": log.accounting.kept - rows},
            blanked={why: n for why, n in output.counts.items() if n and why != _KEPT},
        )

    def _frequent_queries(self, log: QueryLog) -> pl.DataFrame:
        frequent = count_users_by_key(log.table, ["query"], self.min_users)
        if not frequent.height:
            raise EmptyReleaseError(
                f"no query was sent by {self.min_users} or more users, so nothing would be "
                "released",
                hint=f"the most frequent query has {_max_users(log):,} users: use no larger "
                "`min_users`",
            )
        return frequent

    def _filter_rows(
        self, frequent: pl.DataFrame, frame: pl.LazyFrame, _: RandomSource
    ) -> pl.DataFrame:
        """Return the rows of frequent queries, with coarse times."""
        # Sessions are computed on the whole log: a dropped query must not end a session.
        rows = add_sessions(frame) if self.pseudonym_scope == "session" else frame
        rows = rows.with_columns(time=coarsen_time(self.time_precision))
        kept = filter_keys(rows, match_encoding(frame, frequent, "query"), ["query"])
        return kept.collect(engine="streaming")

    def _common_keys(self, log: QueryLog, kept: Table) -> _Common:
        """Return the clicks, ranks and times that enough users have, each by its own threshold."""
        times = partial(_count_users_by_time, step=self.time_precision)
        return _Common(
            count_users_by_key(kept, _KEYS["url"], self.min_click_users)
            if self.include_clicks
            else None,
            count_users_by_key(kept, _KEYS["rank"], self.min_click_users)
            if self.include_clicks
            else None,
            aggregate(log.table, times, ["time"], at_least=("users", self.min_users)),
        )

    def _protect_partition(
        self, common: _Common, frame: pl.LazyFrame, rng: RandomSource
    ) -> PartitionOutput:
        """Blank rare cells in the rows of a partition, shuffle and pseudonymize them."""
        kept = frame.collect()
        rows = kept
        for column, known in (("rank", common.rank), ("url", common.url), ("time", common.time)):
            rows = _blank(rows, column, known)
        counts = {_KEPT: kept.height, **self._count_blanked(kept, rows)}
        rows = shuffle_rows(rows.lazy(), rng).collect()
        public, mapping = self._pseudonymize(rows, rng)
        return PartitionOutput(public, mapping, counts)

    def _pseudonymize(
        self, rows: pl.DataFrame, rng: RandomSource
    ) -> tuple[pl.DataFrame, pl.DataFrame | None]:
        if self.pseudonym_scope == "none":
            names = pl.Series("user", rng.tokens(rows.height)).cast(pl.String)
            return _public_columns(rows.with_columns(names)), None
        named, mapping = pseudonymize(rows, self.pseudonym_scope, rng)
        return _public_columns(named), mapping

    def reasons_not_to_publish(self) -> tuple[str, ...]:
        """Return that queries or clicks of one user alone can be released, where they can."""
        single = {"queries that only one user sent": self.min_users == 1}
        single["clicks that only one user made"] = self.include_clicks and self.min_click_users == 1
        return tuple(f"the parameters keep {what}" for what, kept in single.items() if kept)

    def warnings(self) -> tuple[str, ...]:
        """Return that the queries of a user stay linked, where they do."""
        return (_LINKED,) if self.pseudonym_scope == "user" else ()

    def _count_blanked(self, before: pl.DataFrame, after: pl.DataFrame) -> dict[str, int]:
        """Count the blanked cells by reason."""
        blanked = _count_clicks(before) - _count_clicks(after)
        reason = f"{self.time_precision} of fewer than {self.min_users} users"
        times = {reason: _count_times(before) - _count_times(after)}
        if not self.include_clicks:
            return {"clicks not kept": blanked, **times}
        without_url = pl.col("rank").is_not_null() & pl.col("url").is_null()
        without_urls = int(before.select(without_url.sum()).item())
        without_rank = before["rank"].is_not_null() & after["rank"].is_null()
        ranks = int((without_rank & after["url"].is_not_null()).sum())
        return {
            "rank without a URL": without_urls,
            f"click of fewer than {self.min_click_users} users": blanked - without_urls,
            f"rank of fewer than {self.min_click_users} users": ranks,
            **times,
        }

    def guarantee(self) -> Guarantee:
        """Return the rule, which guarantees nothing about a user."""
        ids = _IDS[self.pseudonym_scope]
        checks = [Check("min-ids", {"columns": ["query"], "at_least": self.min_users, "ids": ids})]
        for column in ("url", "rank") if self.include_clicks else ():
            columns, min_users = list(_KEYS[column]), self.min_click_users
            checks.append(Check("min-ids", {"columns": columns, "at_least": min_users, "ids": ids}))
        if not self.include_clicks:
            checks.append(Check("no-clicks", {}))
        checks.append(Check("time-step", {"step": self.time_precision}))
        return Guarantee(
            model="none",
            statement=self._statement(),
            assumptions=(
                "a user name of the log stands for one person, and one person has one user name",
                f"nobody controls {max(self.min_users - 1, 1)} or more accounts of the log: "
                "somebody who does can send the query of one other user, and so lift it over the "
                "threshold",
            ),
            not_covered=self._not_covered(),
            checks=tuple(checks),
        )

    def _statement(self) -> str:
        clicks = (
            f"a click on a URL was made, for that query, by at least {self.min_click_users} "
            "users, and at that "
            f"rank by at least {self.min_click_users}"
            if self.include_clicks
            else "no clicks are released"
        )
        times = (
            "no times are released"
            if self.time_precision == "none"
            else f"on every released {self.time_precision} at least {self.min_users} users of "
            "the log sent a query"
        )
        return (
            f"Every query in this release was sent by at least {self.min_users} different users "
            "of the "
            f"log; {clicks}; {times}. This is a rule about single queries. It guarantees nothing "
            "about a user."
        )

    def _not_covered(self) -> tuple[str, ...]:
        linked = {
            "user": "the queries of a user stay together under one pseudonym: a few of them, each "
            "frequent, can still be a combination that only one user has",
            "session": "the queries of one session stay together under one pseudonym",
            "none": "rows are not linked, but equal rare combinations of query, URL and time "
            "can still be seen",
        }
        from_files = (
            f"the public files allow to count {_IDS[self.pseudonym_scope]} of each query, not "
            "users: that "
            "count is an upper bound"
        )
        return (
            linked[self.pseudonym_scope],
            "someone who knows one of a user's frequent queries may learn the other cells of their "
            "rows",
            "a query, a click and a time have enough users, each by itself: a row that combines "
            "them can still belong to one user",
            "counts are exact: comparing releases with and without a user can reveal their rows",
            *(() if self.pseudonym_scope == "user" else (from_files,)),
        )

    def alternatives(self, log: QueryLog) -> tuple[Alternative, ...]:
        """Return the queries and rows that other values of `min_users` would keep."""
        sizes = partial(count_users_and_rows, keys=["query"])
        known = aggregate(log.table, sizes, ["query"], at_least=("users", min(_LADDER)))
        total = max(log.accounting.kept, 1)
        ladder = sorted({*_LADDER, self.min_users} - set(range(min(_LADDER))))
        steps = [(n, known.filter(pl.col("users") >= n)) for n in ladder]
        rows = [int(kept["lines"].sum()) for _, kept in steps]
        return tuple(
            Alternative("min_users", n, kept.height, kept_rows, round(kept_rows / total, 4))
            for (n, kept), kept_rows in zip(steps, rows, strict=True)
        )


# The columns whose combination needs enough users for a cell to stay.
_KEYS = {"url": ("query", "url"), "rank": ("query", "url", "rank"), "time": ("time",)}
_KEPT = "kept"


@dataclass(frozen=True)
class _Common:
    """The keys of each column that enough users have; None if the column is not released."""

    url: pl.DataFrame | None = field(repr=False)
    rank: pl.DataFrame | None = field(repr=False)
    time: pl.DataFrame = field(repr=False)


def _count_users_by_time(frame: pl.LazyFrame, _: RandomSource, *, step: str) -> pl.DataFrame:
    """Count the users of each time in a partition, for all their queries."""
    times = frame.select("user", time=coarsen_time(step)).drop_nulls("time").unique()
    return times.group_by("time").agg(users=pl.len().cast(pl.Int64)).collect(engine="streaming")


def _blank(rows: pl.DataFrame, column: str, known: pl.DataFrame | None) -> pl.DataFrame:
    """Blank the cells of a column whose keys have too few users."""
    if known is None:
        return rows.with_columns(pl.lit(None).cast(rows.schema[column]).alias(column))
    keys = _KEYS[column]
    known_keys = match_encoding(rows.lazy(), known, *keys).lazy()
    flagged = known_keys.select(*keys, known=pl.lit(True))
    joined = rows.lazy().join(flagged, on=list(keys), how="left", maintain_order="left")
    cell = pl.when("known").then(pl.col(column)).alias(column)
    return joined.with_columns(cell).drop("known").collect(engine="streaming")


def _max_users(log: QueryLog) -> int:
    """Return the number of users of the most frequent query."""
    sizes = aggregate_remote(log.table, partial(count_users_and_rows, keys=["query"]), ["query"])
    return int(aggregate(sizes, _select_max, ["all"], tops=["users"])["users"][0])


def _select_max(sizes: pl.LazyFrame, _: RandomSource) -> pl.DataFrame:
    maximum = sizes.select(users=pl.col("users").max().fill_null(0).cast(pl.Int64))
    return maximum.collect().with_columns(all=pl.lit(0))


def _count_clicks(rows: pl.DataFrame) -> int:
    return int(rows.select(is_click().sum()).item())


def _count_times(rows: pl.DataFrame) -> int:
    return rows.height - rows["time"].null_count()


def _public_columns(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.select("user", "query", "time", "rank", "url")
