"""How well the next query of a session can be suggested with what is released."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

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


@dataclass(frozen=True)
class NextQueryPrediction(CrossValidatedMeasure):
    """How often a held-out user's next query is among the suggested ones."""

    name: ClassVar[str] = "next-query"
    title: ClassVar[str] = "next queries that are suggested"
    description: ClassVar[str] = (
        "the share of held-out users' steps to another query that are among the most frequent next "
        "queries in the release of all other users; compare it with the same from the unprotected "
        "log and with always suggesting the most frequent queries, beside it"
    )
    paper: ClassVar[str] = "none; hit rate of query suggestion by adjacency, as in He et al. 2009"
    unit: ClassVar[str] = "share of steps, 0 to 1"
    better: ClassVar[Literal["lower", "higher"]] = "higher"
    kind: ClassVar[Literal["risk", "use"]] = "use"
    tested: ClassVar[str] = "steps from one query to another in a session"
    needs: ClassVar[str] = "times"

    top: int = parameter(10, "queries that are suggested", min=1, max=1000, unit="queries")

    def compute_rerun(self, before: MeasureContext, after: Release, again: Rerun) -> dict[str, Any]:
        """Give the hit rate, that of the plain log, and that of the most frequent queries."""
        _check_order(after)
        was, (now, runs) = self.original(before), self.released(before, again)
        low, high = wilson_interval(float(now["hit"].sum()), now.height)
        told = {
            "value": _mean(now, "hit"),
            "low": round(low, 6),
            "high": round(high, 6),
            "original": _mean(was, "hit"),
            "popular": _mean(now, "popular"),
            "original_popular": _mean(was, "popular"),
            "coverage": _mean(now, "known"),
            "original_coverage": _mean(was, "known"),
            "topics": now.height,
        }
        ruler = (
            f"counts of steps from query to query, learned from {runs[0].read}, of all users but "
            f"those of one of {self.folds} folds; equally frequent ones share the last places"
        )
        return told | {"words": self._words(told), "ruler": ruler}

    def test_cases(self, log: QueryLog) -> pl.DataFrame:
        """Give the steps to another query: topic, user, query, next."""
        steps = transitions(log.local_frame).with_columns(pl.col("query", "next").cast(pl.String))
        return steps.with_row_index("topic")

    def evaluate(self, seen: LogStatistics, tests: pl.DataFrame) -> pl.DataFrame:
        """Look the next queries up: topic, hit, popular, known (whether anything follows)."""
        asked = tests.select("topic", "query", "next")
        everywhere = seen.queries.rename({"query": "next"}).with_columns(query=pl.lit(""))
        anywhere = asked.with_columns(query=pl.lit(""))
        return asked.select(
            "topic",
            hit=hits_at(seen.steps, asked, self.top),
            popular=hits_at(everywhere, anywhere, self.top),
            known=pl.col("query").is_in(seen.steps["query"].unique().implode()),
        )

    def _words(self, told: dict[str, Any]) -> str:
        if not told["coverage"]:
            return (
                "the release shows no step from any query of held-out users to another one, by "
                f"a table or by times within a session; over {told['topics']:,} steps of "
                "theirs it suggests nothing"
            )
        return (
            f"over {told['topics']:,} steps of held-out users the next query is among {self.top:,} "
            f"suggested ones in {told['value']:.1%} with the release, in {told['original']:.1%} "
            f"with the unprotected log, and in {told['popular']:.1%} if the most frequent queries "
            f"of the release are always suggested; the release suggests something in "
            f"{told['coverage']:.1%}"
        )


def hits_at(counts: pl.DataFrame, asked: pl.DataFrame, top: int) -> pl.Series:
    """Give the chance that each asked next query is among the most frequent ones of its query.

    `counts` has query, next and count; `asked` query and next. Where several are equally frequent
    and not all have a place, each has the same chance to get one.

    >>> table = {"query": ["a"] * 3, "next": ["x", "y", "z"], "count": [5, 2, 2]}
    >>> asked = {"query": ["a", "a", "a", "b"], "next": ["x", "y", "w", "x"]}
    >>> hits_at(pl.DataFrame(table), pl.DataFrame(asked), 2).to_list()
    [1.0, 0.5, 0.0, 0.0]
    """
    above = pl.col("count").rank("min", descending=True).over("query").cast(pl.Int64) - 1
    ties = pl.len().over("query", "count")
    chance = ((top - above) / ties).clip(0.0, 1.0)
    chances = counts.select("query", "next", chance=chance)
    found = asked.join(chances, on=["query", "next"], how="left", maintain_order="left")
    return found["chance"].fill_null(0.0)


def _check_order(release: Release) -> None:
    """Refuse a release that by its form tells nothing of what follows what."""
    check_has_content(release)
    if "transitions" in release.tables:
        return
    if release.log is None:
        raise UsageError(
            f"this release ({release.method}) has no table of transitions and no log, so nothing "
            "tells which query follows which",
            hint="measure a release with transitions, or with a log that has times",
        )
    times = release.log.select(pl.len(), times=pl.col("time").count()).collect(engine="streaming")
    if times["len"].item() and not times["times"].item():
        raise UsageError(
            f"the rows of this release ({release.method}) have no times, so nothing tells which "
            "query follows which",
            hint="measure a release with times, for example --time hour",
        )


def _mean(rows: pl.DataFrame, name: str) -> float:
    return round(float(rows[name].mean()), 6)  # type: ignore[arg-type]
