"""Retrieval effectiveness with released clicks: the evaluation of Zhang et al. 2016.

Parameters select what the paper leaves open. Its implicit feedback is the rank of the tested click
itself (`feedback=test`), which leaks the answer. Its published values are only possible if queries
that are not released were left out (`scope=released`). Neither is the default here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import ClassVar, Literal

import polars as pl

from ..core.parameters import parameter
from ..errors import ParameterError
from ..log.query_log import QueryLog, add_sessions
from ..release.release import Release
from ._shared.counts import LogStatistics, check_has_content
from ._shared.cross_validation import CrossValidatedMeasure
from ._shared.rankings import (
    METRICS,
    PairedTest,
    build_click_graph,
    evaluate_rankings,
    paired_t_test,
    rank_by_feedback,
    rank_by_walk,
)
from ._shared.thresholds import Threshold
from .base import Rerun
from .context import MeasureContext
from .result import MeasureResult

_BLOCK = 500  # topics that are ranked at a time, which bounds the memory of rankings


@dataclass(frozen=True)
class RetrievalEffectiveness(CrossValidatedMeasure):
    """A metric of rankings from releases of other users, with that of their unprotected log."""

    name: ClassVar[str] = "retrieval-effectiveness"
    title: ClassVar[str] = "ranking results by released clicks"
    description: ClassVar[str] = (
        "how well rankings of URLs from the release of all other users predict the clicks of "
        "held-out users: 1 if clicked URLs are always ranked first, 0 if they are never ranked; "
        "the reference is the same metric with the unprotected log"
    )
    paper: ClassVar[str] = "Zhang, Yang, Singh 2016, section 4"
    unit: ClassVar[str] = "mean over searches, 0 to 1"
    better: ClassVar[Literal["lower", "higher"]] = "higher"
    kind: ClassVar[Literal["risk", "utility"]] = "utility"
    tested: ClassVar[str] = "searches with a clicked URL"
    needs: ClassVar[str] = "clicks"

    ranker: str = parameter(
        "random-walk", "method that ranks URLs", choices=("random-walk", "implicit-feedback")
    )
    metric: str = parameter("ndcg@10", "metric of the result", choices=METRICS)
    scope: str = parameter(
        "all",
        "evaluated searches: all, or only those whose query is released",
        choices=("all", "released"),
    )
    feedback: str = parameter(
        "train",
        "source of the feedback: training users' clicks, or the tested click (as in the paper)",
        choices=("train", "test"),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.feedback == "test" and self.ranker != "implicit-feedback":
            raise ParameterError(
                f"{self.ranker} has no feedback",
                hint="use model=implicit-feedback, or omit feedback",
            )

    def compute_rerun(
        self, context: MeasureContext, release: Release, rerun: Rerun
    ) -> MeasureResult:
        """Return the metric, that of the unprotected log, their t-test, and the coverage."""
        check_has_content(release)
        all_original, (all_released, runs) = self.original(context), self.released(context, rerun)
        kept = (
            all_released["known"]
            if self.scope == "released"
            else pl.repeat(True, all_released.height, eager=True)
        )
        released, original = all_released.filter(kept), all_original.filter(kept)
        test = paired_t_test(released[self.metric].to_numpy(), original[self.metric].to_numpy())
        result = self.result(
            _mean(released, self.metric) or 0.0,
            baselines={"original": _mean(original, self.metric)},
            counts={"tests": released.height},
            details={
                "coverage": _mean(all_released, "ranked"),
                "original_coverage": _mean(all_original, "ranked"),
                **asdict(test),
                "metrics": {
                    "release": {name: _mean(released, name) for name in METRICS},
                    "original": {name: _mean(original, name) for name in METRICS},
                },
            },
            basis=self._describe_basis(runs),
        )
        return replace(result, summary=self._summarize(result, test, all_released.height))

    def best_with(self, context: MeasureContext, threshold: Threshold) -> float | None:
        """Return the metric of the exact rows of all queries with enough users.

        It is no strict bound: fewer rows can rank better by luck. There is none for phrases, since
        a phrase can have the clicks of many queries.
        """
        if threshold.phrases is not None or self.scope == "released":
            return None
        return _mean(self.frequent_only(context, threshold.min_users), self.metric)

    def test_cases(self, log: QueryLog) -> pl.DataFrame:
        """Return the searches with clicks, one row per URL: topic, user, query, url, rank."""
        return clicked_events(log.local_frame).with_columns(pl.col("query", "url").cast(pl.String))

    def evaluate(self, training: LogStatistics, tests: pl.DataFrame) -> pl.DataFrame:
        """Rank URLs for each topic: topic, known (the query was seen), ranked, the metrics."""
        rank = self._ranker(training)
        topics = tests["topic"].unique().sort()
        parts = (topics[first : first + _BLOCK] for first in range(0, len(topics), _BLOCK))
        blocks = [tests.join(part.to_frame(), on="topic", how="semi") for part in parts]
        scores = pl.concat([evaluate_rankings(block, rank(block)) for block in blocks])
        queries = tests.select(pl.col("topic").cast(pl.Int64), "query").unique()
        listed = pl.col("query").is_in(training.queries["query"].implode())
        results = scores.join(queries, on="topic")
        return results.with_columns(known=listed | pl.col("ranked")).drop("query")

    def _ranker(self, training: LogStatistics) -> Callable[[pl.DataFrame], pl.DataFrame]:
        if self.ranker == "implicit-feedback":
            return lambda tests: rank_by_feedback(training, tests, self.feedback == "test")
        graph = build_click_graph(training)
        return lambda tests: rank_by_walk(graph, tests)

    def _summarize(self, result: MeasureResult, test: PairedTest, topics: int) -> str:
        if not result.details["coverage"]:
            return (
                "the release has no click on a URL that could be ranked for any of "
                f"{topics:,} searches of held-out users, so this utility is lost completely"
            )
        evaluated = result.counts["tests"]
        counted = f"{evaluated:,} of {topics:,}" if self.scope == "released" else f"{topics:,}"
        return (
            f"over {counted} searches of held-out users {self.metric} is {result.value:.4f} "
            f"with the release and {result.baselines['original']:.4f} with the unprotected log"
            f"{_describe_test(test)}; the release has a ranking for "
            f"{result.details['coverage']:.1%} of all"
        )

    def _describe_basis(self, runs: list[LogStatistics]) -> str:
        ranks = any(training.clicks["rank"].count() for training in runs)
        ranking = {
            "random-walk": "random walk of 3 steps, with probability 0.1 to stay, to a URL",
            "implicit-feedback": f"ranks by clicks, {self._describe_feedback(ranks)}",
        }[self.ranker]
        users = f"of all users but those of one of {self.folds} folds"
        return f"{ranking}; learned from {runs[0].read}, {users}"

    def _describe_feedback(self, ranks: bool) -> str:
        if self.feedback == "test":
            return "and with weight 0.6 the ranks of the tested clicks themselves (a leak)"
        if not ranks:
            return "without feedback, since the release has no ranks"
        return "and with weight 0.6 the mean ranks of training users' clicks"


def clicked_events(rows: pl.LazyFrame) -> pl.DataFrame:
    """Return the URLs that were clicked in each search event, and the best rank of each.

    Rows of one user, query and time are one event, and so are the next result pages of the same
    query (see `add_sessions`). Columns: topic (the number of the event), user, query, url, rank.
    """
    row, at_once = pl.col("row"), pl.col("row").min().over("user", "query", "time")
    position = pl.when(pl.col("time").is_null()).then(row).otherwise(at_once)
    sorted_rows = add_sessions(rows.with_row_index("row").sort(position, maintain_order=True))
    same_event = (pl.col("session") == pl.col("session").shift()) & (
        pl.col("query") == pl.col("query").shift()
    )
    events = sorted_rows.with_columns(topic=(~same_event.fill_null(False)).cum_sum().cast(pl.Int64))
    clicks = events.drop_nulls("url").group_by("topic", "url", maintain_order=True)
    urls = clicks.agg(pl.col("user", "query").first(), pl.col("rank").min())
    return urls.select("topic", "user", "query", "url", "rank").collect()


def _describe_test(test: PairedTest) -> str:
    if test.p_value is None:
        return ""
    p_value = f"p = {test.p_value:.3g}" if test.p_value >= 1e-4 else "p < 0.0001"
    negation = "" if test.significant else "not "
    return (
        f" (difference {test.difference:+.4f}, 95% {test.difference_low:+.4f} to "
        f"{test.difference_high:+.4f}, {p_value}: {negation}significant at .01)"
    )


def _mean(rows: pl.DataFrame, name: str) -> float | None:
    """Return the mean of a column, or None if there are no rows."""
    return round(float(rows[name].mean()), 6) if rows.height else None  # type: ignore[arg-type]
