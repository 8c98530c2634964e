"""Which queries are still there: kept, lost and invented, of distinct ones and of the volume."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import polars as pl

from ...engine.declared import parameter
from ...errors import InputError
from ...release import Release
from ..base import Measure
from ..original import Original
from .frequencies import counts_before, counts_released

__all__ = ["QueryCoverage", "coverage"]


@dataclass(frozen=True)
class QueryCoverage(Measure):
    """The share of the log's queries that are in the release; 1: all of them, 0: none."""

    name: ClassVar[str] = "query-coverage"
    title: ClassVar[str] = "queries kept"
    says: ClassVar[str] = (
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

    def of(self, before: Original, after: Release) -> dict[str, Any]:
        """Give the share kept, with what is lost and invented, of both."""
        was = self._before(before)
        counts, read = counts_released(after)
        once = pl.lit(1, pl.Int64).alias("count")
        found = {
            "distinct": coverage(was.with_columns(once), counts.with_columns(once)),
            "volume": coverage(was, counts),
        }
        return {"value": found[self.count]["kept"], **found, "ruler": read}

    def prepare(self, before: Original) -> None:
        """Count the queries of the log."""
        self._before(before)

    def _before(self, before: Original) -> pl.DataFrame:
        counts = counts_before(before)
        if not counts.height:
            raise InputError("this log has no queries that could be kept")
        return counts


def coverage(before: pl.DataFrame, after: pl.DataFrame) -> dict[str, float]:
    """Give the shares kept and lost (of what was), and invented (of what is).

    Both have the columns text and count. Of a query that is more frequent than it was, what is
    beyond is invented.

    >>> was = pl.DataFrame({"text": ["a", "b"], "count": [3, 1]})
    >>> coverage(was, pl.DataFrame({"text": ["a", "c"], "count": [2, 2]}))
    {'kept': 0.5, 'lost': 0.5, 'invented': 0.5}
    """
    both = before.join(after.rename({"count": "now"}), on="text")
    common = float(both.select(pl.min_horizontal("count", "now").sum()).item())
    was, now = (float(side["count"].sum()) for side in (before, after))
    kept = common / was
    invented = (now - common) / now if now else 0.0
    return {"kept": round(kept, 6), "lost": round(1 - kept, 6), "invented": round(invented, 6)}
