"""The relative error of the counts of the most frequent words, as used for completion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import polars as pl

from ..concepts.mapping.language import get_language
from ..concepts.mapping.tokens import tokenize
from ..core.parameters import parameter
from ._shared.counts import FrequencyMeasure


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

    include_stop_words: bool = parameter(False, 'count words such as "of" too')
    language: str = parameter("english", "language whose stop words are left out")

    def texts(self, queries: pl.DataFrame) -> pl.DataFrame:
        """Count the words of queries, with repetitions.

        >>> rows = pl.DataFrame({"text": ["bed and bed", "bed"], "count": [2, 1]})
        >>> WordFrequencyError().texts(rows).rows()
        [('bed', 5)]
        """
        words = queries.select("count", text=tokenize(queries["text"])).explode("text")
        words = words.drop_nulls("text")
        if not self.include_stop_words:
            stop = sorted(get_language(self.language).stop_words)
            words = words.filter(~pl.col("text").is_in(stop))
        return words.group_by("text").agg(pl.col("count").sum()).sort("text")
