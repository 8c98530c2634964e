"""The relative error of the counts of the most frequent words, as used for completion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import polars as pl

from ..concepts.mapping.language import get_language
from ..concepts.mapping.tokens import tokenize
from ..core.parameters import parameter
from ._shared.counts import FrequencyMeasure
from ._shared.queries import count_original_queries
from ._shared.thresholds import Threshold
from .context import MeasureContext


@dataclass(frozen=True)
class WordFrequencyError(FrequencyMeasure):
    """The mean relative error of the counts of the top words; 0: exact, 1: all suppressed."""

    name: ClassVar[str] = "word-frequency-error"
    title: ClassVar[str] = "error of the most frequent words' counts"
    description: ClassVar[str] = (
        "the mean relative error of the counts of the most frequent words of the log's queries: "
        "0 if all are exact, 1 if all are suppressed, more if they are far too high"
    )
    paper: ClassVar[str] = "none; overlap and rank correlation of the top are common practice"
    unit: ClassVar[str] = "mean relative error"
    better: ClassVar[Literal["lower", "higher"]] = "lower"
    kind: ClassVar[Literal["risk", "utility"]] = "utility"
    counts_parts: ClassVar[bool] = True

    include_stop_words: bool = parameter(False, 'count words such as "of" too')
    language: str = parameter("english", "language whose stop words are left out")

    def texts(self, queries: pl.DataFrame) -> pl.DataFrame:
        """Count the words of queries, with repetitions.

        >>> rows = pl.DataFrame({"text": ["bed and bed", "bed"], "count": [2, 1]})
        >>> WordFrequencyError().texts(rows).rows()
        [('bed', 5)]
        """
        words = _split_words(queries)
        if not self.include_stop_words:
            stop = sorted(get_language(self.language).stop_words)
            words = words.filter(~pl.col("text").is_in(stop))
        return words.group_by("text").agg(pl.col("count").sum()).sort("text")

    def allowed(self, context: MeasureContext, threshold: Threshold, top: pl.Series) -> pl.Series:
        """Return which of the top words enough users sent, in any of their queries."""
        users = context.cached((self, "users"), lambda: _count_users(context, top))
        counts = top.to_frame("text").join(users, on="text", how="left", maintain_order="left")
        return counts["users"].fill_null(0) >= threshold.min_users


def _split_words(queries: pl.DataFrame) -> pl.DataFrame:
    """Replace each query by its words; the other columns stay."""
    words = queries.with_columns(text=tokenize(queries["text"])).explode("text")
    return words.drop_nulls("text")


def _count_users(context: MeasureContext, words: pl.Series) -> pl.DataFrame:
    """Count the users who sent each of some words: text, users."""
    counts = count_original_queries(context)
    texts = pl.DataFrame({"text": counts.queries}).with_row_index("query")
    wanted = _split_words(texts).filter(pl.col("text").is_in(words.implode())).unique()
    rows = counts.rows.select("owner", query="text")
    pairs = rows.join(wanted, on="query").select("owner", "text").unique()
    return pairs.group_by("text").agg(users=pl.len().cast(pl.Int64))
