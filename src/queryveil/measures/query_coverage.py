"""Which queries are still there: kept, lost and invented, of distinct ones and of the volume."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal

import polars as pl

from ..core.parameters import parameter
from ..core.randomness import RandomSource
from ..engine.operations import aggregate, aggregate_remote, count_rows, count_users_and_rows
from ..engine.table import Table
from ..errors import InputError
from ..release.release import Release
from ._shared.counts import released_frequencies
from .base import Measure
from .context import MeasureContext


@dataclass(frozen=True)
class QueryCoverage(Measure):
    """The share of the log's queries that are in the release; 1: all of them, 0: none."""

    name: ClassVar[str] = "query-coverage"
    title: ClassVar[str] = "queries kept"
    description: ClassVar[str] = (
        "the share of the log's queries that the release has too: 1 where it has all, 0 where it "
        "has none; what it has beyond the log is invented"
    )
    paper: ClassVar[str] = "none; Batet et al. 2013 tell the share of queries that is removed"
    unit: ClassVar[str] = "share, 0 to 1"
    better: ClassVar[Literal["lower", "higher"]] = "higher"
    kind: ClassVar[Literal["risk", "use"]] = "use"

    count: str = parameter(
        "distinct",
        "whether the value is of distinct queries, or of their volume",
        choices=("distinct", "volume"),
    )

    def compute(self, before: MeasureContext, after: Release) -> dict[str, Any]:
        """Give the share kept, with what is lost and invented, of both."""
        sizes = self._before(before)
        counts, read = released_frequencies(after)
        common = aggregate(sizes, partial(_in_common, after=counts), ["all"]).row(0, named=True)
        found = {
            "distinct": _shares(common["queries"], common["both"], counts.height),
            "volume": _shares(common["lines"], common["kept"], int(counts["count"].sum())),
        }
        return {"value": found[self.count]["kept"], **found, "ruler": read}

    def prepare(self, before: MeasureContext) -> None:
        """Count the queries of the log."""
        self._before(before)

    def _before(self, before: MeasureContext) -> Table:
        def counted() -> Table:
            sizes = aggregate_remote(
                before.log.table, partial(count_users_and_rows, keys=["query"]), ["query"]
            )
            if not count_rows(sizes):
                raise InputError("this log has no queries that could be kept")
            return sizes

        return before.cached("query sizes", counted)


def coverage_fractions(before: pl.DataFrame, after: pl.DataFrame) -> dict[str, float]:
    """Give the shares kept and lost (of what was), and invented (of what is).

    Both have the columns text and count. Of a query that is more frequent than it was, what is
    beyond is invented.

    >>> was = pl.DataFrame({"text": ["a", "b"], "count": [3, 1]})
    >>> coverage_fractions(was, pl.DataFrame({"text": ["a", "c"], "count": [2, 2]}))
    {'kept': 0.5, 'lost': 0.5, 'invented': 0.5}
    """
    sizes = before.lazy().rename({"text": "query", "count": "lines"})
    common = _in_common(sizes, RandomSource(), after=after).row(0, named=True)
    return _shares(common["lines"], common["kept"], float(after["count"].sum()))


def _in_common(sizes: pl.LazyFrame, _: RandomSource, *, after: pl.DataFrame) -> pl.DataFrame:
    """Count queries and lines of the log, and of both those that the release has too."""
    texts = sizes.with_columns(text=pl.col("query").cast(pl.String))
    both = texts.join(after.lazy().rename({"count": "now"}), on="text", how="left")
    known = pl.col("now").is_not_null()
    found = both.select(
        queries=pl.len(),
        both=known.sum(),
        lines=pl.col("lines").sum(),
        kept=pl.min_horizontal("lines", "now").filter(known).sum(),
    )
    return found.cast(pl.Int64).collect(engine="streaming").with_columns(all=pl.lit(0))


def _shares(was: float, common: float, now: float) -> dict[str, float]:
    kept = common / was
    invented = (now - common) / now if now else 0.0
    return {"kept": round(kept, 6), "lost": round(1 - kept, 6), "invented": round(invented, 6)}
