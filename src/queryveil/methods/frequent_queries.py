"""Keep what many people sent.

The rule behind most published query data sets (Adar 2007 gives it with a secret threshold):
a query that at least n different users sent cannot single out one of them by itself. It is
a rule, not k-anonymity of users: see docs/methods/frequent-queries.md.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, Literal

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
from ..release.release import Release
from .base import Method
from .publication import coarsen_time, pseudonymize


_EVERYBODY = 10_000_000_000
_LADDER = (2, 5, 10, 20, 30, 50, 100)
_LINKED = (
    "all queries of a person stay together under one pseudonym: a few frequent ones can be a "
    "combination that nobody else has, and then they tell who it is and all the rest; --link none, "
    "or a method with a formal guarantee, does not give that"
)
_IDS = {"user": "users", "session": "sessions", "none": "rows"}


@dataclass(frozen=True)
class FrequentQueries(Method):
    """Keep a query that at least n users sent, and a click that at least m users made.

    >>> str(FrequentQueries(n=20))
    'frequent-queries:n=20'
    """

    name: ClassVar[str] = "frequent-queries"
    title: ClassVar[str] = "keep a query that at least n users sent"
    paper: ClassVar[str] = "Adar 2007; the rule behind most published query data sets"
    guarantee_summary: ClassVar[str] = "none: a rule, not k-anonymity"
    parallelism: ClassVar[Literal["no", "steps", "users", "blocks"]] = "steps"

    n: int = parameter(
        30, "users that a query needs to be kept", min=1, max=_EVERYBODY, unit="users"
    )
    m: int = parameter(
        5, "users that a click on a URL needs to be kept", min=1, max=_EVERYBODY, unit="users"
    )
    link: str = parameter(
        "user", "which rows share a pseudonym", choices=("user", "session", "none")
    )
    time: str = parameter(
        "day", "how fine times are given", choices=("none", "month", "day", "hour")
    )
    clicks: bool = parameter(True, "whether ranks and URLs are kept at all")

    def run(self, log: QueryLog, chance: RandomSource, progress: Progress) -> Release:
        """Count, keep, blank, rename, shuffle."""
        with progress.stage("count users"):
            kept = map_partitions(log.table, partial(self._kept, self._frequent(log)), chance)
            common = self._common(log, kept)
        with progress.stage("protect"):
            found = protect_partitions(kept, partial(self._share, common), chance)
        rows = found.counts.get(_KEPT, 0)
        return Release(
            method=self.name,
            parameters=self.params(),
            guarantee=self.guarantee(),
            source=log,
            log=found.rows,
            mapping=found.mapping,
            dropped={f"query of fewer than {self.n} users": log.accounting.kept - rows},
            blanked={why: n for why, n in found.counts.items() if n and why != _KEPT},
            not_release_grade=self.unfit(),
            progress=progress,
        )

    def _frequent(self, log: QueryLog) -> pl.DataFrame:
        frequent = count_users_by_key(log.table, ["query"], self.n)
        if not frequent.height:
            raise EmptyReleaseError(
                f"no query was sent by {self.n} or more users, so nothing would be released",
                hint=f"the most frequent one was sent by {_most(log):,}: take no greater --n",
            )
        return frequent

    def _kept(self, frequent: pl.DataFrame, frame: pl.LazyFrame, _: RandomSource) -> pl.DataFrame:
        # Sessions are those of the whole log: a dropped query is no pause.
        lines = add_sessions(frame) if self.link == "session" else frame
        lines = lines.with_columns(time=coarsen_time(self.time))
        return filter_keys(lines, match_encoding(frame, frequent, "query"), ["query"]).collect(
            engine="streaming"
        )

    def _common(self, log: QueryLog, kept: Table) -> _Common:
        """Count the users of clicks, ranks and times: each stands under a threshold of its own."""
        times = partial(_users_of_times, step=self.time)
        return _Common(
            count_users_by_key(kept, _KEYS["url"], self.m) if self.clicks else None,
            count_users_by_key(kept, _KEYS["rank"], self.m) if self.clicks else None,
            aggregate(log.table, times, ["time"], at_least=("users", self.n)),
        )

    def _share(self, common: _Common, frame: pl.LazyFrame, chance: RandomSource) -> PartitionOutput:
        """Protect some users' rows of frequent queries, when it is known what enough users had."""
        kept = frame.collect()
        rows = kept
        for column, known in (("rank", common.rank), ("url", common.url), ("time", common.time)):
            rows = _blank(rows, column, known)
        counts = {_KEPT: kept.height, **self._blanked(kept, rows)}
        rows = shuffle_rows(rows.lazy(), chance).collect()
        public, mapping = self._renamed(rows, chance)
        return PartitionOutput(public, mapping, counts)

    def _renamed(
        self, rows: pl.DataFrame, chance: RandomSource
    ) -> tuple[pl.DataFrame, pl.DataFrame | None]:
        if self.link == "none":
            names = pl.Series("user", chance.tokens(rows.height)).cast(pl.String)
            return _published(rows.with_columns(names)), None
        named, mapping = pseudonymize(rows, self.link, chance)
        return _published(named), mapping

    def unfit(self) -> tuple[str, ...]:
        """Return that queries or clicks of one person alone can show, where they can."""
        single = {"queries that only one person sent": self.n == 1}
        single["clicks that only one person made"] = self.clicks and self.m == 1
        return tuple(f"the parameters keep {what}" for what, kept in single.items() if kept)

    def warnings(self) -> tuple[str, ...]:
        """Return that a person's queries stay together, where they do."""
        return (_LINKED,) if self.link == "user" else ()

    def _blanked(self, before: pl.DataFrame, after: pl.DataFrame) -> dict[str, int]:
        """Count the clicks that are gone, by reason."""
        gone = _clicks(before) - _clicks(after)
        times = {f"{self.time} of fewer than {self.n} users": _filled(before) - _filled(after)}
        if not self.clicks:
            return {"clicks not kept": gone, **times}
        without_url = pl.col("rank").is_not_null() & pl.col("url").is_null()
        bare = int(before.select(without_url.sum()).item())
        without_rank = before["rank"].is_not_null() & after["rank"].is_null()
        ranks = int((without_rank & after["url"].is_not_null()).sum())
        return {
            "rank without a URL": bare,
            f"click of fewer than {self.m} users": gone - bare,
            f"rank of fewer than {self.m} users": ranks,
            **times,
        }

    def guarantee(self) -> Guarantee:
        """Promise the rule, and nothing about a person."""
        ids = _IDS[self.link]
        checks = [Check("min-ids", {"columns": ["query"], "at_least": self.n, "ids": ids})]
        for column in ("url", "rank") if self.clicks else ():
            given = {"columns": list(_KEYS[column]), "at_least": self.m, "ids": ids}
            checks.append(Check("min-ids", given))
        if not self.clicks:
            checks.append(Check("no-clicks", {}))
        checks.append(Check("time-step", {"step": self.time}))
        return Guarantee(
            model="none",
            statement=self._says(),
            assumptions=(
                "a user name of the log stands for one person, and one person has one user name",
                f"nobody controls {max(self.n - 1, 1)} or more accounts of the log: who does can "
                "send what one other person sent and so lift it over the threshold",
            ),
            not_covered=self._limits(),
            checks=tuple(checks),
        )

    def _says(self) -> str:
        clicks = (
            f"a click on a URL was made, for that query, by at least {self.m} users, and at that "
            f"rank by at least {self.m}"
            if self.clicks
            else "no clicks are given"
        )
        times = (
            "no times are given"
            if self.time == "none"
            else f"every {self.time} that is given is one on which at least {self.n} users of the "
            "log sent anything"
        )
        return (
            f"Every query in this release was sent by at least {self.n} different users of the "
            f"log; {clicks}; {times}. This is a rule about single queries. It promises nothing "
            "about a person."
        )

    def _limits(self) -> tuple[str, ...]:
        linked = {
            "user": "a person's queries stay together under one pseudonym: a few of them, each "
            "frequent, can still be a combination that only one person has",
            "session": "the queries of one session stay together under one pseudonym",
            "none": "rows are not linked, but equal rare combinations of query, URL and time "
            "can still be seen",
        }
        from_files = (
            "from the public files alone one can count "
            f"{_IDS[self.link]}, not users, beside each query: that count is an upper bound"
        )
        return (
            linked[self.link],
            "whoever knows that a person sent a frequent query learns what else stands in rows "
            "that fit",
            "a query, a click and a time have users enough, each for itself: a row that joins them "
            "can still be one person's",
            "counts are exact: comparing releases made with and without a person can show her rows",
            *(() if self.link == "user" else (from_files,)),
        )

    def alternatives(self, log: QueryLog) -> list[dict[str, Any]]:
        """Say what other values of n would keep."""
        sizes = partial(count_users_and_rows, keys=["query"])
        known = aggregate(log.table, sizes, ["query"], at_least=("users", min(_LADDER)))
        total = max(log.accounting.kept, 1)
        ladder = sorted({*_LADDER, self.n} - set(range(min(_LADDER))))
        steps = [(n, known.filter(pl.col("users") >= n)) for n in ladder]
        return [
            {
                "n": n,
                "queries": kept.height,
                "rows": int(kept["lines"].sum()),
                "share": round(int(kept["lines"].sum()) / total, 4),
            }
            for n, kept in steps
        ]


# What must have users enough for a cell to stay.
_KEYS = {"url": ("query", "url"), "rank": ("query", "url", "rank"), "time": ("time",)}
_KEPT = "kept"


@dataclass(frozen=True)
class _Common:
    """Keys that enough users have, for each column; none where the column is not given."""

    url: pl.DataFrame | None = field(repr=False)
    rank: pl.DataFrame | None = field(repr=False)
    time: pl.DataFrame = field(repr=False)


def _users_of_times(frame: pl.LazyFrame, _: RandomSource, *, step: str) -> pl.DataFrame:
    """Count the users of each time of a share, whatever they sent then."""
    times = frame.select("user", time=coarsen_time(step)).drop_nulls("time").unique()
    return times.group_by("time").agg(users=pl.len().cast(pl.Int64)).collect(engine="streaming")


def _blank(rows: pl.DataFrame, column: str, known: pl.DataFrame | None) -> pl.DataFrame:
    """Empty the cells of a column whose keys too few users have."""
    if known is None:
        return rows.with_columns(pl.lit(None).cast(rows.schema[column]).alias(column))
    keys = _KEYS[column]
    marked = match_encoding(rows.lazy(), known, *keys).lazy().select(*keys, known=pl.lit(True))
    joined = rows.lazy().join(marked, on=list(keys), how="left", maintain_order="left")
    cell = pl.when("known").then(pl.col(column)).alias(column)
    return joined.with_columns(cell).drop("known").collect(engine="streaming")


def _most(log: QueryLog) -> int:
    sizes = aggregate_remote(log.table, partial(count_users_and_rows, keys=["query"]), ["query"])
    return int(aggregate(sizes, _greatest, ["all"], tops=["users"])["users"][0])


def _greatest(sizes: pl.LazyFrame, _: RandomSource) -> pl.DataFrame:
    most = sizes.select(users=pl.col("users").max().fill_null(0).cast(pl.Int64))
    return most.collect().with_columns(all=pl.lit(0))


def _clicks(rows: pl.DataFrame) -> int:
    return int(rows.select(is_click().sum()).item())


def _filled(rows: pl.DataFrame) -> int:
    return rows.height - rows["time"].null_count()


def _published(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.select("user", "query", "time", "rank", "url")
