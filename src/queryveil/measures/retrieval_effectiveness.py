"""How well results can be ranked with what is released: the evaluation of Zhang et al. 2016.

What the paper leaves open is settled by parameters. Its implicit feedback comes from the very click
that is then called relevant (`feedback=test`), and its figures are only possible if queries that
are not released were left out (`scope=released`). Neither is the default here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import polars as pl

from ..core.parameters import parameter
from ..errors import ParameterError
from ..log.query_log import QueryLog, add_sessions
from ..release.release import Release
from ._shared.counts import LogStatistics, check_has_content
from ._shared.cross_validation import CrossValidatedMeasure
from ._shared.rankings import (
    METRICS,
    build_click_graph,
    evaluate_rankings,
    paired_t_test,
    rank_by_feedback,
    rank_by_walk,
)
from .base import Rerun
from .context import MeasureContext

_BLOCK = 500  # topics that are ranked at a time: rankings of all would fill the memory


@dataclass(frozen=True)
class RetrievalEffectiveness(CrossValidatedMeasure):
    """A metric of rankings made from releases of other users; beside it that of their plain log."""

    name: ClassVar[str] = "retrieval"
    title: ClassVar[str] = "ranking results by released clicks"
    description: ClassVar[str] = (
        "how well clicks of held-out users are foreseen by ranking URLs with the release of all "
        "others: 1 where what they click always stands first, 0 where it is never there; compare "
        "it with the same from the unprotected log, beside it"
    )
    paper: ClassVar[str] = "Zhang, Yang, Singh 2016, section 4"
    unit: ClassVar[str] = "mean over searches, 0 to 1"
    better: ClassVar[Literal["lower", "higher"]] = "higher"
    kind: ClassVar[Literal["risk", "use"]] = "use"
    tested: ClassVar[str] = "searches with a clicked URL"
    needs: ClassVar[str] = "clicks"

    model: str = parameter(
        "random-walk", "how URLs are ranked", choices=("random-walk", "implicit-feedback")
    )
    metric: str = parameter("ndcg@10", "which metric is the value", choices=METRICS)
    scope: str = parameter(
        "all",
        "which searches count: all, or only those whose query is released",
        choices=("all", "released"),
    )
    feedback: str = parameter(
        "train",
        "whose ranks are the feedback: training users', or the tested click's own (the paper's)",
        choices=("train", "test"),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.feedback == "test" and self.model != "implicit-feedback":
            raise ParameterError(
                f"{self.model} has no feedback", hint="take model=implicit-feedback, or leave it"
            )

    def compute_rerun(self, before: MeasureContext, after: Release, again: Rerun) -> dict[str, Any]:
        """Give the metric, that of the plain log, the test of their difference, and coverage."""
        check_has_content(after)
        was, (now, runs) = self.original(before), self.released(before, again)
        kept = now["known"] if self.scope == "released" else pl.repeat(True, now.height, eager=True)
        one, two = now.filter(kept), was.filter(kept)
        test = paired_t_test(one[self.metric].to_numpy(), two[self.metric].to_numpy())
        told = {
            "value": _mean(one, self.metric) or 0.0,
            "original": _mean(two, self.metric),
            "coverage": _mean(now, "ranked"),
            "original_coverage": _mean(was, "ranked"),
            **test,
            "topics": one.height,
            "metrics": {
                "release": {name: _mean(one, name) for name in METRICS},
                "original": {name: _mean(two, name) for name in METRICS},
            },
        }
        return told | {"words": self._words(told, now.height), "ruler": self._ruler(runs)}

    def test_cases(self, log: QueryLog) -> pl.DataFrame:
        """Give the submissions with a clicked URL, a row a URL: topic, user, query, url, rank."""
        return clicked_events(log.local_frame).with_columns(pl.col("query", "url").cast(pl.String))

    def evaluate(self, seen: LogStatistics, tests: pl.DataFrame) -> pl.DataFrame:
        """Rank URLs for each topic: topic, known (whether the query is), ranked, the metrics."""
        rank = self._ranker(seen)
        topics = tests["topic"].unique().sort()
        parts = (topics[first : first + _BLOCK] for first in range(0, len(topics), _BLOCK))
        blocks = [tests.join(part.to_frame(), on="topic", how="semi") for part in parts]
        scores = pl.concat([evaluate_rankings(block, rank(block)) for block in blocks])
        queries = tests.select(pl.col("topic").cast(pl.Int64), "query").unique()
        listed = pl.col("query").is_in(seen.queries["query"].implode())
        found = scores.join(queries, on="topic")
        return found.with_columns(known=listed | pl.col("ranked")).drop("query")

    def _ranker(self, seen: LogStatistics) -> Callable[[pl.DataFrame], pl.DataFrame]:
        if self.model == "implicit-feedback":
            return lambda tests: rank_by_feedback(seen, tests, self.feedback == "test")
        graph = build_click_graph(seen)
        return lambda tests: rank_by_walk(graph, tests)

    def _words(self, told: dict[str, Any], topics: int) -> str:
        if not told["coverage"]:
            return (
                "the release has no click on a URL that could be ranked for any of "
                f"{topics:,} searches of held-out users: of this use nothing is left"
            )
        few = f"{told['topics']:,} of {topics:,}" if self.scope == "released" else f"{topics:,}"
        return (
            f"over {few} searches of held-out users {self.metric} is {told['value']:.4f} with the "
            f"release and {told['original']:.4f} with the unprotected log"
            f"{_tested(told)}; the release ranks something for {told['coverage']:.1%} of all"
        )

    def _ruler(self, runs: list[LogStatistics]) -> str:
        ranks = any(seen.clicks["rank"].count() for seen in runs)
        how = {
            "random-walk": "random walk of 3 steps that stays with chance 0.1 and ends at a URL",
            "implicit-feedback": f"places by clicks, {self._feedback(ranks)}",
        }[self.model]
        rest = f"of all users but those of one of {self.folds} folds"
        return f"{how}; learned from {runs[0].read}, {rest}"

    def _feedback(self, ranks: bool) -> str:
        if self.feedback == "test":
            return "and with weight 0.6 the ranks of the tested clicks themselves (a leak)"
        if not ranks:
            return "without feedback, since the release has no ranks"
        return "and with weight 0.6 the mean ranks of training users' clicks"


def clicked_events(lines: pl.LazyFrame) -> pl.DataFrame:
    """Give the URLs that were clicked in each submission of a query, and the best rank of each.

    A submission is an event of `log/sessions.py`: lines of one user, query and time belong
    together, and so do the next pages of results. Columns: topic (its number), user, query, url,
    rank.
    """
    row, at_once = pl.col("row"), pl.col("row").min().over("user", "query", "time")
    place = pl.when(pl.col("time").is_null()).then(row).otherwise(at_once)
    rows = add_sessions(lines.with_row_index("row").sort(place, maintain_order=True))
    same = (pl.col("session") == pl.col("session").shift()) & (
        pl.col("query") == pl.col("query").shift()
    )
    events = rows.with_columns(topic=(~same.fill_null(False)).cum_sum().cast(pl.Int64))
    clicks = events.drop_nulls("url").group_by("topic", "url", maintain_order=True)
    found = clicks.agg(pl.col("user", "query").first(), pl.col("rank").min())
    return found.select("topic", "user", "query", "url", "rank").collect()


def _tested(told: dict[str, Any]) -> str:
    if told["p_value"] is None:
        return ""
    chance = f"p = {told['p_value']:.3g}" if told["p_value"] >= 1e-4 else "p < 0.0001"
    real = "" if told["significant"] else "not "
    return (
        f" (difference {told['difference']:+.4f}, 95% {told['low']:+.4f} to {told['high']:+.4f}, "
        f"{chance}: {real}significant at .01)"
    )


def _mean(rows: pl.DataFrame, name: str) -> float | None:
    """Give the mean of a column, or none of no rows."""
    return round(float(rows[name].mean()), 6) if rows.height else None  # type: ignore[arg-type]
