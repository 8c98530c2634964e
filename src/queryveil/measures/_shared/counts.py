"""How often texts are there before and after: what the measures of frequencies share."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ...core.parameters import parameter
from ...errors import InputError, UsageError
from ...release.release import Release
from ..base import Measure
from ..original import MeasureContext

Floats = NDArray[np.float64]


def original_frequencies(before: MeasureContext) -> pl.DataFrame:
    """Count the lines of each query of the log: text and count."""
    return before.cached("query counts", lambda: _counted(before.log.local_frame))


def released_frequencies(release: Release) -> tuple[pl.DataFrame, str]:
    """Give the same of a release, from its table of queries if it has one, and say from what."""
    if "queries" in release.tables:
        table = release.tables["queries"]
        rows = table.select(pl.col("query").cast(pl.String).alias("text"), "count")
        found = rows.filter(pl.col("count") > 0).group_by("text").agg(pl.col("count").sum())
        return found.sort("text"), "counts of the table of queries"
    if release.log is None:
        raise UsageError(
            f"this release ({release.method}) has neither a log nor a table of queries to count",
            hint="measure a release that publishes queries",
        )
    phrases = release.parameters.get("emit") == "phrase"
    note = ", which has phrases where the log has whole queries" if phrases else ""
    return _counted(release.log), f"lines of the released log{note}"


def _counted(rows: pl.LazyFrame) -> pl.DataFrame:
    counted = rows.group_by("query").agg(count=pl.len()).collect(engine="streaming")
    text = pl.col("query").cast(pl.String).alias("text")
    return counted.select(text, pl.col("count").cast(pl.Int64)).drop_nulls().sort("text")


@dataclass(frozen=True)
class FrequencyMeasure(Measure):
    """The base of the measures of frequencies: the most frequent texts, before and after."""

    top: int = parameter(100, "most frequent ones of the log that are looked at", low=1)
    scale: str = parameter(
        "none",
        "whether released counts are scaled up to the volume of the log, or taken as they are",
        choices=("none", "volume"),
    )

    @abstractmethod
    def texts(self, queries: pl.DataFrame) -> pl.DataFrame:
        """Turn the counts of queries into those that are compared: text and count."""

    def compute(self, before: MeasureContext, after: Release) -> dict[str, Any]:
        """Give the error of counts, how many of the top are there, and in which order."""
        was = self._before(before)
        counts, read = released_frequencies(after)
        found = compare_frequencies(was, self.texts(counts), self.top)
        errors = {"volume": found["error_scaled"], "none": found["error_as_given"]}
        return {"value": errors[self.scale], **found, "ruler": read}

    def prepare(self, before: MeasureContext) -> None:
        """Count the log."""
        self._before(before)

    def _before(self, before: MeasureContext) -> pl.DataFrame:
        counts = before.cached((self, "before"), lambda: self.texts(original_frequencies(before)))
        if not counts.height:
            raise InputError("this log has nothing that could be counted")
        return counts


def compare_frequencies(before: pl.DataFrame, after: pl.DataFrame, top: int) -> dict[str, Any]:
    """Compare the most frequent texts before with what is there of them after.

    >>> was = pl.DataFrame({"text": ["a", "b"], "count": [6, 2]})
    >>> compare_counts(was, pl.DataFrame({"text": ["a", "b"], "count": [3, 1]}), 2)
    {'error_scaled': 0.0, 'error_as_given': 0.5, 'overlap': 1.0, 'rank_correlation': 1.0, 'top': 2}
    """
    first, second = (_top(counts, top) for counts in (before, after))
    now = after.rename({"count": "now"})
    both = first.join(now, on="text", how="left", maintain_order="left").fill_null(0)
    was, got = (both[name].to_numpy().astype(np.float64) for name in ("count", "now"))
    grown = int(before["count"].sum()) / max(int(after["count"].sum()), 1)
    common = first.join(second, on="text", how="semi").height
    return {
        "error_scaled": _relative_error(was, got * grown),
        "error_as_given": _relative_error(was, got),
        "overlap": round(common / first.height, 6),
        "rank_correlation": round(rank_correlation(was, got), 6),
        "top": first.height,
    }


def _top(counts: pl.DataFrame, top: int) -> pl.DataFrame:
    """Give the most frequent texts; of equally frequent ones the first by name."""
    return counts.sort("count", "text", descending=[True, False]).head(top)


def _relative_error(was: Floats, got: Floats) -> float:
    return round(float(np.mean(np.abs(got - was) / was)), 6)


def rank_correlation(one: Floats, two: Floats) -> float:
    """Give Spearman's correlation: that of the ranks, where equals share the mean of theirs.

    If one side has no order, because all are equal, it is 1 where the other has none either
    and has anything at all, else 0.

    >>> rank_correlation(np.array([9.0, 5.0, 1.0]), np.array([3.0, 2.0, 2.0])).__round__(4)
    0.866
    """
    a, b = (pl.Series(side).rank("average").to_numpy() for side in (one, two))
    if np.array_equal(a, b) and two.any():
        return 1.0
    a, b = a - a.mean(), b - b.mean()
    spread = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / spread if spread else 0.0
