"""From text to concepts: the way of a query through tagger, phrases and labels (SPEC 1.1).

Every query of a block goes through each step together with all others, as numbers. A distinct
word is tagged, stemmed and looked up once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from ..engine import Progress, Silent
from .arrays import Bytes, Flags, Ints, Lists
from .index import HOW, Found, LabelIndex
from .mapping import Mapping
from .phrases import MODIFIER, NOUN, OTHER, Phrases, noun_phrases, whole_texts
from .taxonomy import Taxonomy
from .text.language import language_named
from .text.tagger import BrillTagger
from .text.words import PerWord, Vocabulary

__all__ = ["Mapper"]

_BLOCK = 500_000
_NOUNS = ("NN", "NNS", "NNP", "NNPS", "VBG")  # a gerund counts as a noun
_MODIFIERS = ("JJ", "JJR", "JJS", "VBN", "CD", "POS")
# What looks like an address, and the parts of it that name nothing.
_ADDRESS = (
    r"(?i)^\s*(?:https?:|www\b)|\.(?:com|net|org|edu|gov|mil|info|biz|co|us|uk|de|ca|au|tv)\b"
)
_ADDRESS_WORDS = (
    "http https www com net org edu gov mil info biz co us uk de ca au tv html htm php asp index"
).split()


class Mapper:
    """Maps queries to concepts of a taxonomy.

    >>> from queryveil.concepts import taxonomy_of_paths
    >>> odp = taxonomy_of_paths(["Top/Sports/Water_Sports/Swimming_and_Diving",
    ...                          "Top/Regional/Mediterranean"])
    >>> found = Mapper(odp).map(pl.Series(["diving in the Mediterranean"]))
    >>> [odp.label(c) for c in found.phrases["concept"]]
    ['Swimming and Diving', 'Mediterranean']
    """

    def __init__(
        self,
        taxonomy: Taxonomy,
        *,
        language: str | None = None,
        before: Sequence[tuple[str, int]] = (),
        after: Sequence[tuple[str, int]] = (),
    ) -> None:
        self.taxonomy = taxonomy
        self.language = language_named(language or taxonomy.language)
        self._vocabulary = Vocabulary()
        self._index = LabelIndex(
            taxonomy, self.language, self._vocabulary, before=before, after=after
        )
        self._stop = self._words_in(self.language.stop_words)
        self._address = self._words_in(_ADDRESS_WORDS)
        self._tagger = BrillTagger(self._vocabulary)
        tags = self._tagger.tags
        self._kinds = np.zeros(len(tags), np.uint8)
        self._kinds[[tags.index(tag) for tag in _MODIFIERS if tag in tags]] = MODIFIER
        self._kinds[[tags.index(tag) for tag in _NOUNS if tag in tags]] = NOUN

    def _words_in(self, chosen: Sequence[str] | frozenset[str]) -> PerWord:
        wanted = sorted(chosen)
        return PerWord(self._vocabulary, lambda new: new.is_in(wanted).to_numpy())

    def map(self, queries: pl.Series, progress: Progress | None = None) -> Mapping:
        """Map distinct queries, each once."""
        shown = progress or Silent()
        blocks = []
        with shown.stage("find concepts", len(queries)) as advance:
            for start in range(0, len(queries), _BLOCK):
                block = queries[start : start + _BLOCK].cast(pl.String)
                blocks.append(self._block(block, start))
                advance(len(block))
        return Mapping(self.taxonomy, queries, pl.concat([_EMPTY, *blocks]))

    def _block(self, queries: pl.Series, first: int) -> pl.DataFrame:
        texts = self._vocabulary.encode(queries)
        content = ~self._stop()[texts.items]
        address = queries.str.contains(_ADDRESS).fill_null(False).to_numpy()
        content &= ~(self._address()[texts.items] & address[texts.owners])
        kinds = self._kinds[self._tagger.tag(texts)]
        kinds[~content] = OTHER
        phrases = noun_phrases(texts, kinds)
        found = self._find(texts.items, content, phrases)
        return self._table(texts, phrases, found, first)

    def _find(self, words: Ints, content: Flags, phrases: Phrases) -> Found:
        """Look phrases up without their stop words."""
        place = np.cumsum(content) - 1
        ends = place[phrases.ends]
        lengths = ends - place[phrases.begins] + content[phrases.begins]
        return self._index.find(words[content], ends, lengths)

    def _table(self, texts: Lists, phrases: Phrases, found: Found, first: int) -> pl.DataFrame:
        query = texts.owners[phrases.begins]
        return pl.DataFrame(
            {
                "query": query.astype(np.int64) + first,
                "begin": phrases.begins - texts.start[query],
                "words": phrases.ends - phrases.begins + 1,
                "matched": found.lengths,
                "concept": found.concepts,
                "how": found.how,
            },
            schema=_EMPTY.schema,
        )


_EMPTY = pl.DataFrame(
    schema={
        "query": pl.Int64,
        "begin": pl.Int16,
        "words": pl.Int16,
        "matched": pl.Int16,
        "concept": pl.Int32,
        "how": pl.Int8,
    }
)
