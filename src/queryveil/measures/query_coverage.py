"""The fractions of queries kept, lost and invented, of distinct queries and of the volume."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Literal

import polars as pl

from ..core.parameters import parameter
from ..core.randomness import RandomSource
from ..engine.operations import aggregate, aggregate_remote, count_rows, count_users_and_rows
from ..engine.table import Table
from ..errors import InputError
from ..release.release import Release
from ._shared.counts import released_frequencies
from ._shared.thresholds import Threshold
from .base import Measure
from .context import MeasureContext
from .result import MeasureResult


@dataclass(frozen=True)
class QueryCoverage(Measure):
    """The fraction of the log's queries that are in the release; 1: all of them, 0: none."""

    name: ClassVar[str] = "query-coverage"
    title: ClassVar[str] = "queries kept"
    description: ClassVar[str] = (
        "the fraction of the log's queries that the release has too: 1 if it has all, 0 if it has "
        "none; queries beyond those of the log are invented"
    )
    paper: ClassVar[str] = "none; Batet et al. 2013 report the fraction of queries removed"
    unit: ClassVar[str] = "fraction, 0 to 1"
    better: ClassVar[Literal["lower", "higher"]] = "higher"
    kind: ClassVar[Literal["risk", "utility"]] = "utility"

    weighting: str = parameter(
        "distinct",
        "what counts: distinct queries, or how often they were sent",
        choices=("distinct", "volume"),
    )

    def compute(self, context: MeasureContext, release: Release) -> MeasureResult:
        """Return the fractions kept, lost and invented, of distinct queries and of the volume."""
        sizes = self._original_sizes(context)
        counts, note = released_frequencies(release)
        common = aggregate(sizes, partial(_count_common, after=counts), ["all"]).row(0, named=True)
        fractions = {
            "distinct": _compute_fractions(common["queries"], common["both"], counts.height),
            "volume": _compute_fractions(
                common["lines"], common["kept"], int(counts["count"].sum())
            ),
        }
        return self.result(fractions[self.weighting]["kept"], details=fractions, basis=note)

    def best_with(self, context: MeasureContext, threshold: Threshold) -> float:
        """Return the fraction kept of a release of all queries that the threshold allows."""
        if threshold.phrases is None:
            select = partial(_select_frequent, min_users=threshold.min_users)
        else:
            select = partial(_select_texts, texts=threshold.allowed_texts(context))
        totals = aggregate(self._original_sizes(context), select, ["all"]).row(0, named=True)
        kept = {"distinct": ("both", "queries"), "volume": ("kept", "lines")}[self.weighting]
        return float(round(totals[kept[0]] / totals[kept[1]], 6))

    def prepare(self, context: MeasureContext) -> None:
        """Count the queries of the log."""
        self._original_sizes(context)

    def _original_sizes(self, context: MeasureContext) -> Table:
        def count_queries() -> Table:
            sizes = aggregate_remote(
                context.log.table, partial(count_users_and_rows, keys=["query"]), ["query"]
            )
            if not count_rows(sizes):
                raise InputError("this log has no queries")
            return sizes

        return context.cached("query sizes", count_queries)


def coverage_fractions(before: pl.DataFrame, after: pl.DataFrame) -> dict[str, float]:
    """Return the fractions kept and lost (of the log), and invented (of the release).

    Both frames have the columns text and count. If a query is more frequent in the release, the
    excess is invented.

    >>> was = pl.DataFrame({"text": ["a", "b"], "count": [3, 1]})
    >>> coverage_fractions(was, pl.DataFrame({"text": ["a", "c"], "count": [2, 2]}))
    {'kept': 0.5, 'lost': 0.5, 'invented': 0.5}
    """
    sizes = before.lazy().rename({"text": "query", "count": "lines"})
    common = _count_common(sizes, RandomSource(), after=after).row(0, named=True)
    return _compute_fractions(common["lines"], common["kept"], float(after["count"].sum()))


def _count_common(sizes: pl.LazyFrame, _: RandomSource, *, after: pl.DataFrame) -> pl.DataFrame:
    """Count the queries and rows of the log, and those of both that the release has too."""
    texts = sizes.with_columns(text=pl.col("query").cast(pl.String))
    both = texts.join(after.lazy().rename({"count": "now"}), on="text", how="left")
    known = pl.col("now").is_not_null()
    totals = both.select(
        queries=pl.len(),
        both=known.sum(),
        lines=pl.col("lines").sum(),
        kept=pl.min_horizontal("lines", "now").filter(known).sum(),
    )
    return totals.cast(pl.Int64).collect(engine="streaming").with_columns(all=pl.lit(0))


def _select_frequent(sizes: pl.LazyFrame, _: RandomSource, *, min_users: int) -> pl.DataFrame:
    return _sum_allowed(sizes, pl.col("users") >= min_users)


def _select_texts(sizes: pl.LazyFrame, _: RandomSource, *, texts: pl.Series) -> pl.DataFrame:
    return _sum_allowed(sizes, pl.col("query").cast(pl.String).is_in(texts.implode()))


def _sum_allowed(sizes: pl.LazyFrame, is_allowed: pl.Expr) -> pl.DataFrame:
    """Count the queries and rows of the log, and those of both that are allowed."""
    totals = sizes.select(
        queries=pl.len(),
        both=is_allowed.sum(),
        lines=pl.col("lines").sum(),
        kept=pl.col("lines").filter(is_allowed).sum(),
    )
    return totals.cast(pl.Int64).collect(engine="streaming").with_columns(all=pl.lit(0))


def _compute_fractions(was: float, common: float, now: float) -> dict[str, float]:
    kept = common / was
    invented = (now - common) / now if now else 0.0
    return {"kept": round(kept, 6), "lost": round(1 - kept, 6), "invented": round(invented, 6)}
