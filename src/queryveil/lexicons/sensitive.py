"""Find sensitive topics in queries, by lists of words and phrases that come with the program.

The lists have the core words of ten languages. They miss rarer words, misspelled ones, slang and
everything that is only implied; and they flag some titles and names. `docs/how-to/
sensitive-topics.md` has the measured shares. Whether a text has a topic depends on that text alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from .sensitive_terms import (
    ALL_CONTEXTS,
    CANCELLED,
    HARMLESS,
    HINT,
    MAKES,
    N_TOPICS,
    PLACE,
    TOPICS,
    Terms,
    read_terms,
    split_signs,
)
from .words import Hashes, Numbers, WordTable, join_hashes

_MAX_TEXTS = 1 << 18  # at a time, which bounds the memory
_MIN_HINTS = 2  # hints of one topic that are enough


def topic_bits(texts: pl.Series) -> pl.Series:
    """Return the sensitive topics of each text: bit n is set for topic n of `TOPICS`.

    Each distinct text is searched once; null has no topic.

    >>> topic_bits(pl.Series(["breast cancer support", "cancer zodiac sign", None])).to_list()
    [1, 0, 0]
    """
    distinct = texts.unique().drop_nulls()
    parts = [_search(part) for part in _in_parts(distinct)]
    bits = np.concatenate(parts) if parts else np.zeros(0, np.uint8)
    table = pl.DataFrame({"text": distinct, "bits": pl.Series(bits, dtype=pl.UInt8)})
    keys = texts.alias("text").to_frame()
    joined = keys.join(table, on="text", how="left", maintain_order="left")
    return joined["bits"].fill_null(0).alias(texts.name)


def flag_topics(texts: pl.Series) -> pl.DataFrame:
    """Return a Boolean column per sensitive topic.

    >>> flags = flag_topics(pl.Series(["gay church", "church street"]))
    >>> [name for name in flags.columns if flags[name][0]], flags.row(1) == (False,) * 6
    (['sexuality', 'religion'], True)
    """
    bits = topic_bits(texts)
    return pl.DataFrame({name: bits & (1 << place) != 0 for place, name in enumerate(TOPICS)})


def has_topic(texts: pl.Series, topics: Sequence[str]) -> pl.Series:
    """Return whether each text has one of the named topics: Booleans, never null.

    >>> has_topic(pl.Series(["flu", "county jail"]), ["crime"]).to_list()
    [False, True]
    """
    if not topics:
        return pl.repeat(False, len(texts), eager=True).alias(texts.name)
    wanted = sum(1 << TOPICS.index(topic) for topic in topics)
    return topic_bits(texts.cast(pl.String)) & wanted != 0


def _in_parts(texts: pl.Series) -> list[pl.Series]:
    return [texts.slice(start, _MAX_TEXTS) for start in range(0, len(texts), _MAX_TEXTS)]


def _search(texts: pl.Series) -> NDArray[np.uint8]:
    """Return the topics of texts as bits."""
    terms = read_terms()
    split = _Split(split_signs(texts), terms)
    matches = split.find()
    contexts = np.zeros(len(texts), np.int64)
    np.bitwise_or.at(contexts, split.texts, (split.flags >> MAKES) & ALL_CONTEXTS)
    counted = matches.keep((matches.flags >> CANCELLED) & contexts[matches.texts] == 0)
    bits = np.zeros(len(texts), np.uint8)
    for topic in range(N_TOPICS):
        allowed = contexts & terms.topic_contexts[topic] == 0
        has = allowed & counted.have(topic, len(texts))
        bits |= has.astype(np.uint8) << np.uint8(topic)
    return bits


@dataclass(frozen=True, eq=False)
class _Matches:
    """The terms in the texts: in which text, which one (by its hash), and its flags."""

    texts: Numbers
    hashes: Hashes
    flags: Numbers

    def keep(self, which: NDArray[np.bool_]) -> _Matches:
        return _Matches(self.texts[which], self.hashes[which], self.flags[which])

    def have(self, topic: int, n_texts: int) -> NDArray[np.bool_]:
        """Return which texts have a term that is enough for a topic, or enough hints."""
        has_topic = np.zeros(n_texts, np.bool_)
        has_topic[self.texts[self.flags & (1 << topic) != 0]] = True
        hints = self.keep(self.flags & (1 << (topic + HINT)) != 0)
        pairs = pl.DataFrame({"text": hints.texts, "hash": hints.hashes}).unique()
        counts = pairs.group_by("text").len().filter(pl.col("len") >= _MIN_HINTS)
        has_topic[counts["text"].to_numpy()] = True
        return has_topic


class _Split:
    """The words of texts with their flags, and the search for phrases among them."""

    def __init__(self, folded: pl.Series, terms: Terms) -> None:
        self.terms = terms
        self.table = WordTable.of(folded)
        self.texts = np.repeat(np.arange(len(folded)), self.table.sizes)
        self.flags = _flag_words(self.table, terms)[self.table.numbers]
        self.hashes = self.table.hashes[self.table.numbers]

    def find(self) -> _Matches:
        """Return the terms of all texts that no longer harmless phrase hides."""
        phrases = list(self._find_phrases())
        hidden = self._hide(phrases)
        words = np.flatnonzero(self.flags)
        candidates = [(words, 1, self.hashes[words], self.flags[words]), *phrases]
        kept = []
        for starts, size, hashes, flags in candidates:
            seen = (hidden[starts] <= size) & (hidden[starts + size - 1] <= size)
            kept.append(_Matches(self.texts[starts[seen]], hashes[seen], flags[seen]))
        return _Matches(
            np.concatenate([matches.texts for matches in kept]),
            np.concatenate([matches.hashes for matches in kept]),
            np.concatenate([matches.flags for matches in kept]),
        )

    def _find_phrases(self) -> list[tuple[Numbers, int, Hashes, Numbers]]:
        """Return starts, number of words, hashes and flags of the phrases, by number of words."""
        begins = self.table.distinct.is_in(self.terms.first_words.implode()).to_numpy()
        starts = np.flatnonzero(begins[self.table.numbers])
        hashes = self.hashes[starts]
        phrases = []
        for size in range(2, self.terms.longest + 1):
            ends = starts + size - 1
            inside = ends < len(self.texts)
            inside[inside] = self.texts[ends[inside]] == self.texts[starts[inside]]
            starts = starts[inside]
            hashes = join_hashes(hashes[inside], self.hashes[starts + size - 1])
            places = np.minimum(
                np.searchsorted(self.terms.hashes, hashes), len(self.terms.hashes) - 1
            )
            is_phrase = self.terms.hashes[places] == hashes
            flags = self.terms.phrase_flags[places[is_phrase]]
            phrases.append((starts[is_phrase], size, hashes[is_phrase], flags))
        return phrases

    def _hide(self, phrases: list[tuple[Numbers, int, Hashes, Numbers]]) -> Numbers:
        """Return for each word the size of the longest harmless phrase, or name, that it is in."""
        hidden = np.zeros(len(self.texts), np.int64)
        places = np.flatnonzero(self.flags & PLACE)
        before = places[places > 0] - 1
        hidden[before[self.texts[before] == self.texts[before + 1]]] = 2
        for starts, size, _, flags in phrases:
            harmless = starts[flags & HARMLESS != 0]
            for step in range(size):
                hidden[harmless + step] = size
        return hidden


def _flag_words(table: WordTable, terms: Terms) -> Numbers:
    """Return the flags of each distinct word; a harmless word has none by its parts."""
    flags = table.flags(terms.words).astype(np.int64)
    no_parts = flags & HARMLESS != 0
    for flag, pattern in terms.patterns:
        fits = table.distinct.str.contains(pattern).to_numpy() & ~no_parts
        flags |= np.where(fits, flag, 0)
    return np.asarray(flags)
