"""Map queries of several languages: each query in the language that fits it best."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from ...core.progress import NoProgress, Progress
from ..taxonomy.arrays import IntArray
from .guessing import CODES, dictionary_words, word_bits
from .language import Language, language_code
from .mapper import Mapper
from .result import PHRASE_SCHEMA, ConceptMapping
from .tokens import tokenize

_KNOWN = 6.0  # bits that a word of the dictionary of a language saves


class MultilingualMapper(Mapper):
    """Map each query in one of several languages; all have the same concepts.

    A query is mapped in the language whose dictionary has most of its words and whose letters fit
    best, and in the first language if no language fits better.
    """

    def __init__(self, mappers: Sequence[Mapper]) -> None:
        self.mappers = tuple(mappers)
        first = self.mappers[0]
        self.taxonomy, self.language = first.taxonomy, first.language
        self.vocabulary, self.tagger = first.vocabulary, first.tagger

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the mappers."""
        return MultilingualMapper, (self.mappers,)

    @property
    def languages(self) -> tuple[Language, ...]:
        """The languages in which queries are mapped."""
        return tuple(mapper.language for mapper in self.mappers)

    def for_query(self, query: str) -> Mapper:
        """Return the mapper of the language of a query."""
        return self.mappers[int(self._choose(pl.Series([query]))[0])]

    def map(self, queries: pl.Series, progress: Progress | None = None) -> ConceptMapping:
        """Map distinct queries to concepts."""
        texts = queries.cast(pl.String)
        chosen = self._choose(texts)
        tables, spelled = [pl.DataFrame(schema=PHRASE_SCHEMA)], texts
        for number, mapper in enumerate(self.mappers):
            rows = np.flatnonzero(chosen == number)
            part = mapper.map(texts.gather(rows), progress or NoProgress())
            own = pl.Series("query", rows, dtype=pl.Int64).gather(part.phrases["query"])
            tables.append(part.phrases.with_columns(own))
            if part.spelled is not None and len(rows):
                spelled = spelled.scatter(rows, part.spelled)
        phrases = pl.concat(tables).sort("query", "begin", maintain_order=True)
        return ConceptMapping(self.taxonomy, queries, phrases, spelled)

    def _choose(self, queries: pl.Series) -> IntArray:
        codes = [language_code(mapper.language.name) for mapper in self.mappers]
        return choose_languages(queries, codes)


def choose_languages(queries: pl.Series, codes: Sequence[str]) -> IntArray:
    """Return for each query the index of the language that fits it best.

    >>> texts = pl.Series(["garden chair", "wo kann man das kaufen", "42"])
    >>> choose_languages(texts, ["en", "de"]).tolist()
    [0, 1, 0]
    """
    rated = [code for code in codes if code in CODES]
    lists = tokenize(queries.fill_null(""))
    table = pl.DataFrame({"word": lists}).with_row_index("query").explode("word").drop_nulls()
    words = table["word"].unique().sort()
    bits = word_bits(words, rated)
    saved = bits.select(
        pl.col(code) - _KNOWN * words.is_in(dictionary_words(code).implode()) for code in rated
    )
    has_letter = words.str.contains(r"\pL\pL")
    rows = saved.with_columns(word=words).filter(has_letter)
    sums = table.join(rows, on="word").group_by("query").agg(pl.col(code).sum() for code in rated)
    best = np.zeros(len(queries), np.int64)
    if sums.height and rated:
        values = np.stack([sums[code].to_numpy() for code in rated], axis=1)
        positions = np.array([codes.index(code) for code in rated])
        best[sums["query"].to_numpy()] = positions[values.argmin(axis=1)]
    return best
