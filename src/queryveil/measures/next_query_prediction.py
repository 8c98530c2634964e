"""Prediction of the next query of a session from released transitions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import polars as pl

from ..core.parameters import parameter
from ..errors import UsageError
from ..log.query_log import QueryLog
from ..release.release import Release
from ._shared.counts import LogStatistics, check_has_content, transitions
from ._shared.cross_validation import CrossValidatedMeasure
from .base import Rerun
from .context import MeasureContext
from .partial_knowledge_linkage import wilson_interval
from .result import MeasureResult


@dataclass(frozen=True)
class NextQueryPrediction(CrossValidatedMeasure):
    """How often a held-out user's next query is among the suggested ones."""

    name: ClassVar[str] = "next-query-prediction"
    title: ClassVar[str] = "next queries that can be predicted"
    description: ClassVar[str] = (
        "the fraction of held-out users' steps to another query that are among the most frequent "
        "next queries in the release of all other users; the references are the unprotected log, "
        "and always suggesting the most frequent queries"
    )
    paper: ClassVar[str] = "none; hit rate of query suggestion by adjacency, as in He et al. 2009"
    unit: ClassVar[str] = "fraction of steps, 0 to 1"
    better: ClassVar[Literal["lower", "higher"]] = "higher"
    kind: ClassVar[Literal["risk", "utility"]] = "utility"
    tested: ClassVar[str] = "steps from one query to another in a session"
    needs: ClassVar[str] = "times"

    top_n: int = parameter(
        10, "number of queries that are suggested", min=1, max=1000, unit="queries"
    )

    def compute_rerun(
        self, context: MeasureContext, release: Release, rerun: Rerun
    ) -> MeasureResult:
        """Return the hit rates of the release, the unprotected log and of popular queries."""
        _check_order(release)
        original, (released, runs) = self.original(context), self.released(context, rerun)
        low, high = wilson_interval(float(released["hit"].sum()), released.height)
        return self.result(
            _mean(released, "hit"),
            interval=(round(low, 6), round(high, 6)),
            baselines={"original": _mean(original, "hit"), "popular": _mean(released, "popular")},
            counts={"tests": released.height},
            details={
                "original_popular": _mean(original, "popular"),
                "coverage": _mean(released, "known"),
                "original_coverage": _mean(original, "known"),
            },
            summary=self._summarize(released, original),
            basis=(
                f"counts of steps from query to query, learned from {runs[0].read}, of all users "
                f"but those of one of {self.folds} folds; equally frequent queries share the last "
                "ranks"
            ),
        )

    def test_cases(self, log: QueryLog) -> pl.DataFrame:
        """Return the steps to another query: topic, user, query, next."""
        steps = transitions(log.local_frame).with_columns(pl.col("query", "next").cast(pl.String))
        return steps.with_row_index("topic")

    def evaluate(self, training: LogStatistics, tests: pl.DataFrame) -> pl.DataFrame:
        """Predict the next queries: topic, hit, popular, known (the query has a next query)."""
        steps = tests.select("topic", "query", "next")
        popular = training.queries.rename({"query": "next"}).with_columns(query=pl.lit(""))
        unconditional = steps.with_columns(query=pl.lit(""))
        return steps.select(
            "topic",
            hit=hits_at(training.steps, steps, self.top_n),
            popular=hits_at(popular, unconditional, self.top_n),
            known=pl.col("query").is_in(training.steps["query"].unique().implode()),
        )

    def _summarize(self, released: pl.DataFrame, original: pl.DataFrame) -> str:
        coverage = _mean(released, "known")
        if not coverage:
            return (
                "the release has no step from a query of held-out users to another query, neither "
                f"in a table nor by times within a session; over {released.height:,} steps it "
                "suggests nothing"
            )
        return (
            f"over {released.height:,} steps of held-out users the next query is among "
            f"{self.top_n:,} suggested ones in {_mean(released, 'hit'):.1%} with the release, in "
            f"{_mean(original, 'hit'):.1%} with the unprotected log, and in "
            f"{_mean(released, 'popular'):.1%} if the most frequent queries of the release are "
            f"always suggested; the release has suggestions in {coverage:.1%}"
        )


def hits_at(counts: pl.DataFrame, asked: pl.DataFrame, top: int) -> pl.Series:
    """Return the probability that each next query is among the `top` most frequent of its query.

    `counts` has query, next and count; `asked` has query and next. If several next queries are
    equally frequent and only some of them fit, each is chosen with the same probability.

    >>> table = {"query": ["a"] * 3, "next": ["x", "y", "z"], "count": [5, 2, 2]}
    >>> asked = {"query": ["a", "a", "a", "b"], "next": ["x", "y", "w", "x"]}
    >>> hits_at(pl.DataFrame(table), pl.DataFrame(asked), 2).to_list()
    [1.0, 0.5, 0.0, 0.0]
    """
    above = pl.col("count").rank("min", descending=True).over("query").cast(pl.Int64) - 1
    ties = pl.len().over("query", "count")
    probability = ((top - above) / ties).clip(0.0, 1.0)
    probabilities = counts.select("query", "next", probability=probability)
    hits = asked.join(probabilities, on=["query", "next"], how="left", maintain_order="left")
    return hits["probability"].fill_null(0.0)


def _check_order(release: Release) -> None:
    """Raise if a release has neither transitions nor times, so no order of queries."""
    check_has_content(release)
    if "transitions" in release.tables:
        return
    if release.log is None:
        raise UsageError(
            f"this release ({release.method}) has no table of transitions and no log, so the "
            "order of queries is unknown",
            hint="measure a release with transitions, or with a log that has times",
        )
    times = release.log.select(pl.len(), times=pl.col("time").count()).collect(engine="streaming")
    if times["len"].item() and not times["times"].item():
        raise UsageError(
            f"the rows of this release ({release.method}) have no times, so the order of "
            "queries is unknown",
            hint='measure a release with times, for example `time_precision="hour"`',
        )


def _mean(rows: pl.DataFrame, name: str) -> float:
    return round(float(rows[name].mean()), 6)  # type: ignore[arg-type]
