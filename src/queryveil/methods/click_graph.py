"""Release frequent queries and clicks on known results (Korolova et al. 2009, Release-Data).

The paper releases a graph: queries with noisy counts, and noisy counts of clicks from each of
them to the results that a search engine shows to everybody. Later papers compared with it as a
filter of user logs; that reading has no guarantee (see docs/privacy/click-graph.md).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl

from ..core.parameters import parameter
from ..core.progress import Progress
from ..core.randomness import RandomSource
from ..dp.budget import format_amount
from ..dp.losses import losses_of, pure_rho
from ..dp.noise import NoiseSource
from ..dp.occurrence_counts import LaplaceCounts, OccurrenceThreshold
from ..engine.operations import (
    aggregate,
    aggregate_remote,
    filter_keys,
    match_encoding,
    protect_partitions,
    shuffle_rows,
)
from ..engine.table import PartitionOutput
from ..errors import EmptyReleaseError
from ..log.query_log import QueryLog, group_events, is_click
from ..release.guarantee import Check, Guarantee
from ..release.noise import CountNoise
from ..release.release import Release
from .base import FAILURES, READ_ALONE, Method
from .occurrence_selection import select_frequent_keys
from .publication import coarsen_time, pseudonymize
from .statistics.forecasts import Cut, share_counted
from .statistics.public_lists import read_public_results


_MOST = 10_000
# Shares of epsilon: choice of queries, their counts, clicks. All of delta is the choice's.
_SHARES = {
    "with results": (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)),
    "without": (Fraction(1, 2), Fraction(1, 2), Fraction(0)),
    "removal": (Fraction(1), Fraction(0), Fraction(0)),
}
_LINKED = "it is published who sent which safe queries, and nothing protects that"


@dataclass(frozen=True)
class ClickGraph(Method):
    """Noisy counts of frequent queries, and of the clicks on results that everybody knows.

    >>> str(ClickGraph(epsilon=2, max_queries_per_user=5))
    'click-graph:epsilon=2.0:max-queries-per-user=5'
    """

    name: ClassVar[str] = "click-graph"
    title: ClassVar[str] = "noisy counts of frequent queries and of clicks on public results"
    paper: ClassVar[str] = "Korolova, Kenthapadi, Mishra, Ntoulas 2009"
    guarantee_summary: ClassVar[str] = (
        "differential privacy for a user's whole log; none as a removal"
    )
    parallelism: ClassVar[Literal["no", "steps", "users", "blocks"]] = "steps"

    epsilon: float = parameter(1.0, "what one person can change at most", min=0.001, max=100.0)
    delta: float = parameter(
        1e-9, "chance that the promise fails: far below one over the people", min=1e-30, max=0.01
    )
    max_queries_per_user: int = parameter(
        1, "first queries that count of each user", min=1, max=_MOST, unit="queries"
    )
    max_clicks_per_user: int = parameter(
        1, "first clicks that count of each user", min=1, max=_MOST, unit="clicks"
    )
    results: str = parameter("", "file of public results, a query, a tab and a URL on each line")
    theorem: str = parameter(
        "tight", "which threshold: the paper's, or the least", choices=("published", "tight")
    )
    reading: str = parameter(
        "statistics", "tables with noise, or user logs without rare queries",
        choices=("statistics", "removal"),
    )  # fmt: skip

    @property
    def budget(self) -> tuple[Fraction, Fraction]:
        """Epsilon and delta, exactly as they are written."""
        return Fraction(repr(self.epsilon)), Fraction(repr(self.delta))

    def _shares(self) -> tuple[Fraction, Fraction, Fraction]:
        if self.reading == "removal":
            return _SHARES["removal"]
        return _SHARES["with results" if self.results else "without"]

    def selection(self) -> OccurrenceThreshold:
        """Make what chooses the queries, from the parameters alone."""
        epsilon, delta = self.budget
        make = (
            OccurrenceThreshold.calibrate
            if self.theorem == "tight"
            else OccurrenceThreshold.as_published
        )
        return make(self.max_queries_per_user, epsilon * self._shares()[0], delta)

    def count_mechanism(self) -> dict[str, LaplaceCounts]:
        """Make the noise for counts of queries and of clicks, where there are any."""
        most = {"queries": self.max_queries_per_user, "clicks": self.max_clicks_per_user}
        shares = zip(most.items(), self._shares()[1:], strict=True)
        return {
            name: LaplaceCounts.for_epsilon(n, self.budget[0] * share)
            for (name, n), share in shares
            if share
        }

    def _rho(self) -> Fraction:
        """Add up what choice and counts cost as zCDP; all occurrences may be of one key."""
        fresh = (noise.epsilon for noise in self.count_mechanism().values())
        return sum(
            map(pure_rho, fresh),
            pure_rho(self.selection().contribution_bound / self.selection().scale),
        )

    def input_files(self) -> tuple[Path, ...]:
        """List the public results."""
        return (Path(self.results),) if self.results else ()

    def check_ready(self) -> None:
        """Read the public results once, to see that they can be read."""
        for path in self.input_files():
            read_public_results(str(path))

    def run(self, log: QueryLog, chance: RandomSource, progress: Progress) -> Release:
        """Bound each user, count, choose; then give tables, or the logs of what was chosen."""
        noise = NoiseSource(None if chance.is_secure else chance.uint64s)
        results = read_public_results(self.results) if self.results else _NO_CLICKS
        with progress.stage("count occurrences"):
            first = partial(_first_events, most=self.max_queries_per_user)
            counted = aggregate_remote(log.table, first, ["query"])
            chosen = select_frequent_keys(counted, self.selection(), noise, chance)
        if self.reading == "removal":
            return self._logs(log, chosen, results, chance, progress)
        return self._tables(log, chosen, results, noise, progress)

    def expected_queries(self) -> Callable[[int], int] | None:
        """Return what tells about how many queries show."""
        return None if self.reading == "removal" else self._cut().queries

    def _cut(self) -> Cut:
        choice = self.selection()
        counted = share_counted(self.max_queries_per_user)
        return Cut(choice.threshold + 1, "laplace", float(choice.scale), counted)

    def forecast(self, population: int) -> dict[str, Any]:
        """Tell noise, threshold and the expected yield."""
        if self.reading == "removal":
            return {}
        choice = self.selection()
        chosen = {
            "a key needs about so many users": choice.threshold + 1,
            "a user adds at most so much": choice.contribution_bound,
            "chance that a key of one user alone shows": float(choice.delta),
        }
        tables = [
            {"table": name, "noise": "laplace", "scale": round(float(fresh.scale), 2)}
            | (
                chosen
                if name == "queries"
                else {"a user adds at most so much": fresh.max_contribution}
            )
            for name, fresh in self.count_mechanism().items()
        ]
        return {"expected": self._cut().expected(population), "tables": tables}

    def _tables(
        self,
        log: QueryLog,
        chosen: pl.DataFrame,
        results: pl.DataFrame,
        noise: NoiseSource,
        progress: Progress,
    ) -> Release:
        fresh = self.count_mechanism()
        tables = {"queries": _with_noise(chosen, fresh["queries"], noise), "clicks": _NO_CLICKS}
        if "clicks" in fresh:
            with progress.stage("count clicks"):
                known = results.join(chosen, on="query", how="semi").sort("query", "url")
                clicks = partial(_first_clicks, known=known, most=self.max_clicks_per_user)
                counted = aggregate(log.table, clicks, ["query", "url"])
                full = known.join(counted, on=["query", "url"], how="left", maintain_order="left")
                full = full.with_columns(pl.col("count").fill_null(0))
                tables["clicks"] = _with_noise(full, fresh["clicks"], noise)
        return Release(
            method=self.name,
            parameters=self._published(),
            guarantee=self.guarantee(),
            source=log,
            tables=tables,
            noise=self.noises({}),
            dropped={"summed up in the tables, with noise": log.accounting.kept},
            progress=progress,
        )

    def noises(self, rows: Mapping[str, int]) -> tuple[CountNoise, ...]:  # noqa: ARG002
        """Return the noise of the counts; other noise decides what shows."""
        shows = {
            "queries": "A query shows if its count and other noise (discrete Laplace, scale "
            f"{float(self.selection().scale):,.4g}) are above {self.selection().threshold:,}.",
            "clicks": "Every public result of a query that shows has a row, also if nobody "
            "clicked it.",
        }
        most = {"queries": (self.max_queries_per_user, "query"),
                "clicks": (self.max_clicks_per_user, "click")}  # fmt: skip
        return tuple(
            CountNoise(
                name, "laplace", float(fresh.scale), shows[name],
                f"each person counts for their {_first(*most[name])} alone.", own_threshold=False,
            )
            for name, fresh in self.count_mechanism().items()
        )  # fmt: skip

    def _logs(
        self,
        log: QueryLog,
        chosen: pl.DataFrame,
        results: pl.DataFrame,
        chance: RandomSource,
        progress: Progress,
    ) -> Release:
        if not chosen.height:
            raise EmptyReleaseError(
                "no query is frequent enough, so nothing would be released",
                hint="take a larger epsilon or delta, or fewer queries a user",
            )
        with progress.stage("protect"):
            share = partial(_safe_logs, chosen=chosen, results=results)
            found = protect_partitions(log.table, share, chance)
        blanked = found.counts.get(_BLANKED, 0)
        return Release(
            method=self.name,
            parameters=self._published(),
            guarantee=self.guarantee(),
            source=log,
            log=found.rows,
            mapping=found.mapping,
            dropped={
                "query that is not in the safe set": log.accounting.kept
                - found.counts.get(_KEPT, 0)
            },
            blanked={_BLANKED: blanked} if blanked else {},
            not_release_grade=self.unfit(),
            progress=progress,
        )

    def _published(self) -> dict[str, Any]:
        """Give the parameters as the card shows them: where a file lies is private."""
        return {**self.params(), "results": Path(self.results).name}

    def guarantee(self) -> Guarantee:
        """Promise (epsilon, delta) for a user's whole log, or nothing for a removal."""
        return self._removal() if self.reading == "removal" else self._statistics()

    def gives(self) -> frozenset[str]:
        """Return the two tables, or the logs of a removal."""
        return frozenset({"log"} if self.reading == "removal" else {"queries", "clicks"})

    def unfit(self) -> tuple[str, ...]:
        """Return that the logs of a removal are protected by nothing."""
        return (_LINKED,) if self.reading == "removal" else ()

    def _statistics(self) -> Guarantee:
        epsilon, delta = (format_amount(amount) for amount in self.budget)
        queries = _first(self.max_queries_per_user, "query")
        clicks = (
            f"and for her {_first(self.max_clicks_per_user, 'click')}, counted for each URL of a "
            "public list of results, also where there is none"
            if self.results
            else "no clicks are given, since there was no public list of results"
        )
        return Guarantee(
            model="approx-dp",
            statement=(
                f"Whether any one person's whole log is in or not changes the chance of any "
                f"outcome by at most a factor of e^{epsilon}, but for a chance of {delta}. Each "
                f"person counts for her {queries}, repeated ones "
                f"included; {clicks}. A query shows if its count and noise are above "
                f"{self.selection().threshold:,}; the count that is given has other noise, so it can "
                "be lower, and even below zero."
            ),
            neighbours="two logs of which one has the whole log of one more user",
            epsilon=self.epsilon,
            delta=self.delta,
            relation="add-remove",
            losses=losses_of(self._rho(), self.selection().delta),
            assumptions=(
                *_PEOPLE,
                "the list of results is public and does not depend on the log",
                "who made the release keeps the ledger, and adds up what other releases cost",
            ),
            not_covered=(
                "what is true of many people: a count tells about everybody who sent the query",
                "several people who send the same, such as a family, count as several",
                "how long the run took, and the files under private/",
                FAILURES,
            ),
            checks=(Check("keys-released", {"table": "clicks", "of": "queries"}),),
        )

    def _removal(self) -> Guarantee:
        epsilon, delta = (format_amount(amount) for amount in self.budget)
        queries = _first(self.max_queries_per_user, "query")
        checks = [Check("time-step", {"step": "day"})]
        checks += [] if self.results else [Check("no-clicks", {})]
        return Guarantee(
            model="none",
            statement=(
                "Every query in this release is in a safe set, which was chosen by noisy counts "
                f"of each person's {queries}. One person changes "
                f"the chance of any safe set by at most a factor of e^{epsilon}, but for a chance "
                f"of {delta}. That is said of the set alone. The release gives every user's log "
                "of safe queries as it was, and promises nothing about a person."
            ),
            assumptions=_PEOPLE,
            not_covered=(
                "who sent which safe queries: a person's safe queries stay together under one "
                "pseudonym, and a few of them can be a combination that only one person has",
                "how often and on which days a person sent them: all of that is exact",
                "comparing releases made with and without a person shows her rows",
                *(("ranks are given as they were",) if self.results else ()),
            ),
            checks=tuple(checks),
        )


_PEOPLE = (
    "a user name of the log stands for one person, and one person has one user name",
    READ_ALONE,
)
_NO_CLICKS = pl.DataFrame(schema={"query": pl.String, "url": pl.String, "count": pl.Int64})


_KEPT, _BLANKED = "kept", "click on no public result"
_SEVERAL = {"query": "queries", "click": "clicks"}


def _first(n: int, what: str) -> str:
    return f"first {what}" if n == 1 else f"first {n:,} {_SEVERAL[what]}"


def _first_events(frame: pl.LazyFrame, _: RandomSource, *, most: int) -> pl.DataFrame:
    return _first_counts(group_events(frame), ["query"], most)


def _first_clicks(
    frame: pl.LazyFrame, _: RandomSource, *, known: pl.DataFrame, most: int
) -> pl.DataFrame:
    """Count each user's first clicks; only those on public results need be known."""
    counted = _first_counts(frame.drop_nulls("url"), ["query", "url"], most)
    return counted.join(known, on=["query", "url"], how="semi", maintain_order="left")


def _safe_logs(
    frame: pl.LazyFrame, chance: RandomSource, *, chosen: pl.DataFrame, results: pl.DataFrame
) -> PartitionOutput:
    """Give some users' logs of safe queries, under new names."""
    kept = filter_keys(frame, match_encoding(frame, chosen, "query"), ["query"]).collect(
        engine="streaming"
    )
    rows = _known_clicks(kept, results).with_columns(time=coarsen_time("day"))
    blanked = int(kept.select(is_click().sum()).item() - rows["url"].count())
    public, mapping = pseudonymize(shuffle_rows(rows.lazy(), chance).collect(), "user", chance)
    counts = {_KEPT: kept.height, _BLANKED: blanked}
    return PartitionOutput(public.select("user", "query", "time", "rank", "url"), mapping, counts)


def _first_counts(rows: pl.LazyFrame, keys: list[str], most: int) -> pl.DataFrame:
    """Count the keys of each user's first rows by time; as texts, in order.

    Which rows are hers to count is decided by her own rows alone: their times, and where those
    are equal their order in the file. So one user adds at most `most` in all.
    """
    table = rows.select(pl.col("user").to_physical(), "time", *keys).collect(engine="streaming")
    table = table.sort("user", "time", maintain_order=True)
    first = table.lazy().filter(pl.int_range(pl.len()).over("user") < most)
    counts = first.group_by(keys).agg(count=pl.len().cast(pl.Int64)).collect(engine="streaming")
    return counts.with_columns(pl.col(keys).cast(pl.String)).sort(keys)


def _with_noise(table: pl.DataFrame, fresh: LaplaceCounts, noise: NoiseSource) -> pl.DataFrame:
    """Put noise on the counts, and sort by what is published."""
    texts = [name for name in table.columns if name != "count"]
    noisy = fresh.release(table["count"].to_numpy().astype(np.int64), noise)
    table = table.with_columns(count=pl.Series(noisy))
    return table.sort("count", *texts, descending=[True, *(False for _ in texts)])


def _known_clicks(rows: pl.DataFrame, results: pl.DataFrame) -> pl.DataFrame:
    """Blank the clicks that are on no public result."""
    marked = results.lazy().select(
        pl.col("query").cast(rows.schema["query"]),
        pl.col("url").cast(rows.schema["url"]),
        known=pl.lit(True),
    )
    joined = rows.lazy().join(marked, on=["query", "url"], how="left", maintain_order="left")
    blank = [pl.when("known").then(pl.col(name)).alias(name) for name in ("rank", "url")]
    return joined.with_columns(blank).drop("known").collect(engine="streaming")
