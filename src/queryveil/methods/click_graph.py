"""Release frequent queries and clicks on known results (Korolova et al. 2009, Release-Data).

The paper releases a graph: queries with noisy counts, and noisy counts of clicks from each query to
the results that a search engine shows to everybody. Later papers used it as a filter of user logs
for comparison. That reading has no guarantee (see docs/privacy/click-graph.md).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np
import polars as pl

from ..core.parameters import parameter
from ..core.progress import Progress
from ..core.randomness import RandomSource
from ..core.records import Scalar
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
from ..log.query_log import QueryLog, is_click
from ..release.guarantee import Check, Guarantee
from ..release.noise import CountNoise
from .base import DELTA_HELP, EPSILON_HELP, FAILURES, READ_ALONE, Method, MethodOutput
from .first_contributions import count_first_clicks, count_first_events
from .forecast import Forecast, TableForecast
from .occurrence_selection import select_frequent_keys
from .publication import coarsen_time, pseudonymize
from .statistics.forecasts import SelectionThreshold
from .statistics.public_lists import read_public_results

_MAX_BOUND = 10_000
# Fractions of epsilon: selection of queries, their counts, clicks. The selection gets all of delta.
_BUDGET_FRACTIONS = {
    "with results": (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)),
    "without": (Fraction(1, 2), Fraction(1, 2), Fraction(0)),
    "logs": (Fraction(1), Fraction(0), Fraction(0)),
}
_LINKED = "the release shows which safe queries each user sent, and no guarantee covers that"


@dataclass(frozen=True)
class ClickGraph(Method):
    """Release noisy counts of frequent queries, and of clicks on public results.

    >>> str(ClickGraph(epsilon=2, max_queries_per_user=5))
    'click-graph:epsilon=2.0:max-queries-per-user=5'
    """

    name: ClassVar[str] = "click-graph"
    title: ClassVar[str] = "noisy counts of frequent queries and of clicks on public results"
    paper: ClassVar[str] = "Korolova, Kenthapadi, Mishra, Ntoulas 2009"
    guarantee_summary: ClassVar[str] = "differential privacy for a user's whole log; none for logs"
    good_for: ClassVar[str] = "replicating the paper; dp-statistics keeps more queries"
    parallelism: ClassVar[Literal["no", "steps", "users", "blocks"]] = "steps"

    epsilon: float = parameter(1.0, EPSILON_HELP, min=0.001, max=100.0)
    delta: float = parameter(1e-9, DELTA_HELP, min=1e-18, max=0.01)
    max_queries_per_user: int = parameter(
        1, "number of first queries counted per user", min=1, max=_MAX_BOUND, unit="queries"
    )
    max_clicks_per_user: int = parameter(
        1, "number of first clicks counted per user", min=1, max=_MAX_BOUND, unit="clicks"
    )
    public_results: str = parameter(
        "", "file of public results: one query, tab and URL per line; none: no clicks"
    )
    bound: str = parameter(
        "tight",
        "threshold of a query: that of the paper, or the lowest private one",
        choices=("published", "tight"),
    )
    output_kind: str = parameter(
        "tables", "tables with noise, or user logs without rare queries", choices=("tables", "logs")
    )

    @property
    def budget(self) -> tuple[Fraction, Fraction]:
        """Epsilon and delta as exact fractions of their decimal texts."""
        return Fraction(repr(self.epsilon)), Fraction(repr(self.delta))

    def _budget_fractions(self) -> tuple[Fraction, Fraction, Fraction]:
        if self.output_kind == "logs":
            return _BUDGET_FRACTIONS["logs"]
        return _BUDGET_FRACTIONS["with results" if self.public_results else "without"]

    def selection(self) -> OccurrenceThreshold:
        """Return the mechanism that selects the queries, from the parameters alone."""
        epsilon, delta = self.budget
        calibrate = (
            OccurrenceThreshold.calibrate
            if self.bound == "tight"
            else OccurrenceThreshold.as_published
        )
        return calibrate(self.max_queries_per_user, epsilon * self._budget_fractions()[0], delta)

    def count_mechanism(self) -> dict[str, LaplaceCounts]:
        """Return the noise for the counts of queries and of clicks, where there are any."""
        bounds = {"queries": self.max_queries_per_user, "clicks": self.max_clicks_per_user}
        tables = zip(bounds.items(), self._budget_fractions()[1:], strict=True)
        return {
            name: LaplaceCounts.for_epsilon(bound, self.budget[0] * fraction)
            for (name, bound), fraction in tables
            if fraction
        }

    def _rho(self) -> Fraction:
        """Return the zCDP parameter of selection and counts; all occurrences may be of one key."""
        epsilons = (mechanism.epsilon for mechanism in self.count_mechanism().values())
        return sum(
            map(pure_rho, epsilons),
            pure_rho(self.selection().contribution_bound / self.selection().scale),
        )

    def input_files(self) -> tuple[Path, ...]:
        """Return the file of public results, if there is one."""
        return (Path(self.public_results),) if self.public_results else ()

    def check_ready(self) -> None:
        """Raise an error if the public results cannot be read."""
        for path in self.input_files():
            read_public_results(str(path))

    def run(self, log: QueryLog, rng: RandomSource, progress: Progress) -> MethodOutput:
        """Bound contributions, count and select; then build tables, or logs of selected queries."""
        noise = NoiseSource(None if rng.is_secure else rng.uint64s)
        results = read_public_results(self.public_results) if self.public_results else _NO_CLICKS
        with progress.stage("count occurrences"):
            count = partial(count_first_events, bound=self.max_queries_per_user)
            counted = aggregate_remote(log.table, count, ["query"])
            selected = select_frequent_keys(counted, self.selection(), noise, rng)
        if self.output_kind == "logs":
            return self._release_logs(log, selected, results, rng, progress)
        return self._release_tables(log, selected, results, noise, progress)

    def expected_queries(self) -> Callable[[int], int] | None:
        """Return a function from the number of users to the expected number of queries."""
        return None if self.output_kind == "logs" else self._selection_threshold().queries

    def _selection_threshold(self) -> SelectionThreshold:
        selection = self.selection()
        return SelectionThreshold.of_first_events(
            selection.threshold + 1, float(selection.scale), self.max_queries_per_user
        )

    def forecast(self, expected_users: int) -> Forecast | None:
        """Return noise, threshold and the expected number of queries."""
        if self.output_kind == "logs":
            return None
        return Forecast(
            expected=self._selection_threshold().expected(expected_users),
            tables=tuple(
                self._forecast_table(name, mechanism)
                for name, mechanism in self.count_mechanism().items()
            ),
        )

    def _forecast_table(self, name: str, mechanism: LaplaceCounts) -> TableForecast:
        scale = round(float(mechanism.scale), 2)
        if name != "queries":
            return TableForecast(
                table=name,
                noise="laplace",
                scale=scale,
                contribution_bound=mechanism.max_contribution,
            )
        selection = self.selection()
        return TableForecast(
            table=name,
            noise="laplace",
            scale=scale,
            median_release_count=selection.threshold + 1,
            contribution_bound=selection.contribution_bound,
            single_user_probability=float(selection.delta),
        )

    def _release_tables(
        self,
        log: QueryLog,
        selected: pl.DataFrame,
        results: pl.DataFrame,
        noise: NoiseSource,
        progress: Progress,
    ) -> MethodOutput:
        mechanisms = self.count_mechanism()
        queries = _add_noise(selected, mechanisms["queries"], noise)
        tables = {"queries": queries, "clicks": _NO_CLICKS}
        if "clicks" in mechanisms:
            with progress.stage("count clicks"):
                known = results.join(selected, on="query", how="semi").sort("query", "url")
                count = partial(count_first_clicks, known=known, bound=self.max_clicks_per_user)
                counted = aggregate(log.table, count, ["query", "url"])
                # Results without a click get noise too: else a released row would prove a click.
                cells = known.join(counted, on=["query", "url"], how="left", maintain_order="left")
                cells = cells.with_columns(pl.col("count").fill_null(0))
                tables["clicks"] = _add_noise(cells, mechanisms["clicks"], noise)
        return MethodOutput(
            tables=tables,
            noise=self.table_noise({}),
            dropped={"summed up in the tables, with noise": log.accounting.kept},
        )

    def table_noise(self, rows: Mapping[str, int]) -> tuple[CountNoise, ...]:  # noqa: ARG002
        """Return the noise of the counts; the selection of queries has other noise."""
        rules = {
            "queries": "A query is released if its count plus other noise (discrete Laplace, scale "
            f"{float(self.selection().scale):,.4g}) is above {self.selection().threshold:,}.",
            "clicks": "Every public result of a released query has a row, also if nobody "
            "clicked it.",
        }
        bounds = {"queries": (self.max_queries_per_user, "query"),
                  "clicks": (self.max_clicks_per_user, "click")}  # fmt: skip
        return tuple(
            CountNoise(
                name, "laplace", float(mechanism.scale), rules[name],
                f"only the {_first(*bounds[name])} of each user is counted."
                if bounds[name][0] == 1
                else f"only the {_first(*bounds[name])} of each user are counted.",
                own_threshold=False,
            )
            for name, mechanism in self.count_mechanism().items()
        )  # fmt: skip

    def _release_logs(
        self,
        log: QueryLog,
        selected: pl.DataFrame,
        results: pl.DataFrame,
        rng: RandomSource,
        progress: Progress,
    ) -> MethodOutput:
        if not selected.height:
            raise EmptyReleaseError(
                "no query is frequent enough, so nothing would be released",
                hint="use a larger epsilon or delta, or fewer queries per user",
            )
        with progress.stage("protect"):
            filter_logs = partial(_filter_logs, selected=selected, results=results)
            output = protect_partitions(log.table, filter_logs, rng)
        blanked = output.counts.get(_BLANKED, 0)
        return MethodOutput(
            log=output.rows,
            mapping=output.mapping,
            dropped={
                "query that is not in the safe set": log.accounting.kept
                - output.counts.get(_KEPT, 0)
            },
            blanked={_BLANKED: blanked} if blanked else {},
        )

    def public_params(self) -> dict[str, Scalar]:
        """Return the parameters for the card; the folder of a file is private."""
        return {**self.params(), "public_results": Path(self.public_results).name}

    def guarantee(self) -> Guarantee:
        """Return (epsilon, delta) for a user's whole log, or no guarantee for a removal."""
        if self.output_kind == "logs":
            return self._removal_guarantee()
        return self._statistics_guarantee()

    def output_files(self) -> frozenset[str]:
        """Return the two tables, or the log of a removal."""
        return frozenset({"log"} if self.output_kind == "logs" else {"queries", "clicks"})

    def reasons_not_to_publish(self) -> tuple[str, ...]:
        """Return that no guarantee covers the logs of a removal."""
        return (_LINKED,) if self.output_kind == "logs" else ()

    def _statistics_guarantee(self) -> Guarantee:
        epsilon, delta = (format_amount(amount) for amount in self.budget)
        queries = _first(self.max_queries_per_user, "query")
        single = self.max_queries_per_user == 1
        clicks = (
            f"of their clicks the {_first(self.max_clicks_per_user, 'click')}, counted for "
            "each URL of a public list of results, also for URLs without a click"
            if self.public_results
            else "no clicks are released, because there was no public list of results"
        )
        return Guarantee(
            model="approx-dp",
            statement=(
                "Whether or not any one user's whole log is included changes the probability of "
                f"any outcome by at most a factor of e^{epsilon}, except with probability {delta}. "
                f"Of each user's queries the {queries} {'is' if single else 'are'} counted, "
                f"including repeated ones; {clicks}. A query is released if its count plus noise "
                f"is above {self.selection().threshold:,}; the released count has other noise, so "
                "it can be lower, and even below zero."
            ),
            neighbours="two logs of which one has the whole log of one more user",
            epsilon=self.epsilon,
            delta=self.delta,
            relation="add-remove",
            losses=losses_of(self._rho(), self.selection().delta),
            assumptions=(
                *_ASSUMPTIONS,
                "the list of results is public and does not depend on the log",
                "the data owner keeps the ledger, and adds up the loss of all releases",
            ),
            not_covered=(
                "what is true of many users: a count informs about everybody who sent the query",
                "several users who send the same queries, such as a family, count as several",
                "how long the run took, and the files under private/",
                FAILURES,
            ),
            checks=(Check("keys-released", {"table": "clicks", "of": "queries"}),),
        )

    def _removal_guarantee(self) -> Guarantee:
        epsilon, delta = (format_amount(amount) for amount in self.budget)
        queries = _first(self.max_queries_per_user, "query")
        checks = [Check("time-step", {"step": "day"})]
        checks += [] if self.public_results else [Check("no-clicks", {})]
        return Guarantee(
            model="none",
            statement=(
                "Every query in this release is in a safe set, which was chosen by noisy counts "
                f"of each user's {queries}. One user changes the probability of any safe set by at "
                f"most a factor of e^{epsilon}, except with probability {delta}. This holds for "
                "the set alone. The release has every user's log of safe queries unchanged, and "
                "guarantees nothing about a user."
            ),
            assumptions=_ASSUMPTIONS,
            not_covered=(
                "who sent which safe queries: the safe queries of a user stay together under one "
                "pseudonym, and a few of them can be a combination that only one user has",
                "how often and on which days a user sent them: these are exact",
                "comparing releases made with and without a user reveals their rows",
                *(("ranks are released unchanged",) if self.public_results else ()),
            ),
            checks=tuple(checks),
        )


_ASSUMPTIONS = (
    "a user name of the log stands for one person, and one person has one user name",
    READ_ALONE,
)
_NO_CLICKS = pl.DataFrame(schema={"query": pl.String, "url": pl.String, "count": pl.Int64})


_KEPT, _BLANKED = "kept", "click on no public result"
_PLURALS = {"query": "queries", "click": "clicks"}


def _first(bound: int, noun: str) -> str:
    return f"first {noun}" if bound == 1 else f"first {bound:,} {_PLURALS[noun]}"


def _filter_logs(
    frame: pl.LazyFrame, rng: RandomSource, *, selected: pl.DataFrame, results: pl.DataFrame
) -> PartitionOutput:
    """Return the safe queries of a partition's users, under pseudonyms."""
    safe = match_encoding(frame, selected, "query")
    kept = filter_keys(frame, safe, ["query"]).collect(engine="streaming")
    rows = _blank_unknown_clicks(kept, results).with_columns(time=coarsen_time("day"))
    blanked = int(kept.select(is_click().sum()).item() - rows["url"].count())
    public, mapping = pseudonymize(shuffle_rows(rows.lazy(), rng).collect(), "user", rng)
    counts = {_KEPT: kept.height, _BLANKED: blanked}
    return PartitionOutput(public.select("user", "query", "time", "rank", "url"), mapping, counts)


def _add_noise(table: pl.DataFrame, mechanism: LaplaceCounts, noise: NoiseSource) -> pl.DataFrame:
    """Add noise to the counts, and sort by the published columns."""
    keys = [name for name in table.columns if name != "count"]
    noisy = mechanism.release(table["count"].to_numpy().astype(np.int64), noise)
    table = table.with_columns(count=pl.Series(noisy))
    return table.sort("count", *keys, descending=[True, *(False for _ in keys)])


def _blank_unknown_clicks(rows: pl.DataFrame, results: pl.DataFrame) -> pl.DataFrame:
    """Blank the clicks that are not on a public result."""
    known = results.lazy().select(
        pl.col("query").cast(rows.schema["query"]),
        pl.col("url").cast(rows.schema["url"]),
        known=pl.lit(True),
    )
    joined = rows.lazy().join(known, on=["query", "url"], how="left", maintain_order="left")
    blank = [pl.when("known").then(pl.col(name)).alias(name) for name in ("rank", "url")]
    return joined.with_columns(blank).drop("known").collect(engine="streaming")
