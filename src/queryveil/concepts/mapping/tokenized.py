"""The words of a block of queries, their classes, and the tables of their phrases."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from ..taxonomy.arrays import BoolArray, ByteArray, IntArray, RaggedArray
from .label_index import MATCH_KINDS, LabelMatches
from .names import NameMatches
from .phrases import Phrases, mark_spans
from .result import PHRASE_SCHEMA
from .tokens import tokenize
from .web_rules import ResolvedQueries, WebRules


@dataclass(frozen=True, eq=False)
class TokenizedQueries:
    """The words of a block of queries, and the class of each word in a noun phrase.

    `content` is a mask of the words that are looked up: no stop words. `numbers` are the numbers
    of the queries.
    """

    texts: RaggedArray
    content: BoolArray
    kinds: ByteArray
    numbers: IntArray
    names: NameMatches | None = None
    breaks: BoolArray | None = None
    head_first: bool = False

    @cached_property
    def content_index(self) -> IntArray:
        """The index of each word in `words`, or that of the last content word before it.

        Words before the first content word have -1.
        """
        return np.asarray(np.cumsum(self.content) - 1)

    @cached_property
    def content_places(self) -> IntArray:
        """The index among all words of each of `words`."""
        return np.flatnonzero(self.content)

    @cached_property
    def words(self) -> IntArray:
        """The words that are looked up."""
        return self.texts.items[self.content]

    def lengths(self, phrases: Phrases) -> IntArray:
        """Count the content words of phrases."""
        begins, ends = phrases.begins, phrases.ends
        return np.asarray(
            self.content_index[ends] - self.content_index[begins] + self.content[begins]
        )

    def select(self, phrases: Phrases, queries: BoolArray) -> Phrases:
        """Return the phrases of these queries that have a content word."""
        is_selected = queries[self.texts.row_ids[phrases.begins]]
        return self._trim(phrases.select(is_selected & (self.lengths(phrases) > 0)))

    def _trim(self, phrases: Phrases) -> Phrases:
        """Remove words that are not looked up from both ends."""
        used = np.flatnonzero(self.content)
        begins = used[np.searchsorted(used, phrases.begins)]
        return Phrases(begins, used[np.searchsorted(used, phrases.ends, side="right") - 1])

    def unmatched(self, phrases: Phrases, matches: LabelMatches) -> BoolArray:
        """Return a mask of the queries without a match."""
        mask = np.ones(len(self.texts), np.bool_)
        mask[self.texts.row_ids[phrases.begins[matches.concepts >= 0]]] = False
        return mask

    def name_table(self, names: NameMatches) -> pl.DataFrame:
        """Return towns with a state or country, and people, as phrases."""
        town, person = MATCH_KINDS.index("town"), MATCH_KINDS.index("name")
        kinds = np.where(names.is_person, person, town)
        matches = LabelMatches(names.concepts, names.ends - names.begins + 1, kinds)
        return self.table(Phrases(names.begins, names.ends), matches)

    def matched_words(self, phrases: Phrases, matches: LabelMatches) -> BoolArray:
        """Return a mask of the words that a match covers."""
        rows = np.flatnonzero(matches.concepts >= 0)
        last = self.content_index[phrases.ends[rows]]
        if self.head_first:
            last += matches.lengths[rows] - self.lengths(phrases)[rows]
        mask = np.zeros(len(self.content), np.bool_)
        begins = last - matches.lengths[rows] + 1
        mask[self.content] = mark_spans(len(self.words), begins, last)
        return mask

    def table(self, phrases: Phrases, matches: LabelMatches, loose: bool = False) -> pl.DataFrame:
        """Return the phrases with the match of each; the columns are those of `PHRASE_SCHEMA`."""
        query = self.texts.row_ids[phrases.begins]
        return pl.DataFrame(
            {
                "query": self.numbers[query],
                "begin": phrases.begins - self.texts.start[query],
                "words": phrases.ends - phrases.begins + 1,
                "matched": matches.lengths,
                "concept": matches.concepts,
                "how": matches.kinds,
                "loose": np.full(len(phrases), loose),
            },
            schema=PHRASE_SCHEMA,
        )


def resolved_table(
    queries: pl.Series, numbers: IntArray, resolved: ResolvedQueries
) -> pl.DataFrame:
    """Return one phrase, the whole query, for each resolved query."""
    words = tokenize(queries).list.len()
    return pl.DataFrame(
        {
            "query": numbers,
            "begin": np.zeros(len(numbers), np.int32),
            "words": words.cast(pl.Int32),
            "matched": words.cast(pl.Int32),
            "concept": resolved.concepts,
            "how": resolved.kinds,
            "loose": np.zeros(len(numbers), np.bool_),
        },
        schema=PHRASE_SCHEMA,
    )


def find_brands(rules: WebRules, block: TokenizedQueries, matched: BoolArray) -> pl.DataFrame:
    """Return the brands beside the matched words; they are added and never replace a match."""
    inside = rules.find_inside(block.texts, matched)
    phrases = Phrases(inside.ends - inside.lengths + 1, inside.ends)
    kinds = np.full(len(phrases), MATCH_KINDS.index("brand"))
    return block.table(phrases, LabelMatches(inside.concepts, inside.lengths, kinds))
