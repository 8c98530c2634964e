"""A method for tests that releases parts of queries beside whole queries."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import ClassVar

import polars as pl

from queryveil.core.progress import Progress
from queryveil.core.randomness import RandomSource
from queryveil.log.query_log import QueryLog
from queryveil.methods.base import METHODS, MethodOutput
from queryveil.methods.microaggregation.semantic import StringMicroaggregation
from queryveil.release.guarantee import Check, Guarantee


@dataclass(frozen=True)
class FirstWords(StringMicroaggregation):
    """Release the first word of a query of several words, if enough queries begin with it."""

    name: ClassVar[str] = "first-words"
    title: ClassVar[str] = "groups share whole queries and first words of queries"

    def guarantee(self) -> Guarantee:
        stated = super().guarantee()
        return replace(stated, checks=(*stated.checks, Check("row-kinds", {})))

    def run(
        self,
        log: QueryLog,
        rng: RandomSource,
        progress: Progress,
        groups: pl.DataFrame | None = None,
    ) -> MethodOutput:
        output = super().run(log, rng, progress, groups)
        assert output.log is not None
        text = pl.col("query").cast(pl.String)
        sent = log.local_frame.select("user", text.alias("text")).unique()
        plain = sent.filter(pl.col("text").str.contains(r"^[a-z]+ [a-z]+"))
        first = plain.select("user", word=pl.col("text").str.extract(r"^([a-z]+)")).unique()
        known = first.group_by("word").len().filter(pl.col("len") >= self.min_senders).collect()
        word = text.str.extract(r"^([a-z]+) [a-z]+")
        is_part = word.is_in(known["word"].implode()).fill_null(False)
        rows = output.log.with_columns(
            pl.when(is_part).then(word).otherwise(text).alias("query"),
            pl.when(~is_part).then(pl.col("rank", "url")),
            kind=pl.when(is_part).then(pl.lit("part")).otherwise(pl.lit("query")),
        )
        return replace(output, log=rows)


@contextmanager
def first_words() -> Iterator[None]:
    """Let the method be known by its name."""
    with METHODS.adding(FirstWords.name, FirstWords):
        yield
