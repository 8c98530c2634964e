"""The relative error of the counts of the most frequent queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import polars as pl

from ._shared.counts import FrequencyMeasure
from ._shared.thresholds import Threshold
from .context import MeasureContext


@dataclass(frozen=True)
class QueryFrequencyError(FrequencyMeasure):
    """The mean relative error of the counts of the top queries; 0: exact, 1: all suppressed.

    >>> str(QueryFrequencyError(top_n=20))
    'query-frequency-error:top-n=20'
    """

    name: ClassVar[str] = "query-frequency-error"
    title: ClassVar[str] = "error of the most frequent queries' counts"
    description: ClassVar[str] = (
        "the mean relative error of the counts of the log's most frequent queries: 0 if all are "
        "exact, 1 if all are suppressed, more if they are far too high"
    )
    paper: ClassVar[str] = "none; overlap and rank correlation of the top are common practice"
    unit: ClassVar[str] = "mean relative error"
    better: ClassVar[Literal["lower", "higher"]] = "lower"
    kind: ClassVar[Literal["risk", "utility"]] = "utility"

    def texts(self, queries: pl.DataFrame) -> pl.DataFrame:
        """Return the queries unchanged."""
        return queries

    def allowed(self, context: MeasureContext, threshold: Threshold, top: pl.Series) -> pl.Series:
        """Return which of the top queries the threshold allows."""
        return top.is_in(threshold.allowed_texts(context).implode())
