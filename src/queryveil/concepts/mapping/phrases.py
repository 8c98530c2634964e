"""Noun phrases: runs of modifiers and nouns that end in a noun, found for all queries at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..taxonomy.arrays import BoolArray, ByteArray, IntArray, RaggedArray
from ..text.kinds import MODIFIER, NOUN, OTHER, VERB

__all__ = ["Phrases", "noun_phrases", "whole_queries"]


@dataclass(frozen=True, eq=False)
class Phrases:
    """Phrases of many texts: where each begins and ends among all words, both included."""

    begins: IntArray
    ends: IntArray

    def __len__(self) -> int:
        return len(self.begins)

    def select(self, rows: IntArray | BoolArray) -> Phrases:
        """Take some of the phrases."""
        return Phrases(self.begins[rows], self.ends[rows])

    def drop_last_word(self) -> Phrases:
        """Take the last word off each phrase; those of one word are gone."""
        left = self.select(self.ends > self.begins)
        return Phrases(left.begins, left.ends - 1)


def noun_phrases(texts: RaggedArray, kinds: ByteArray) -> Phrases:
    """Find the noun phrases: modifiers, then nouns; a modifier after a noun begins a new one.

    >>> from queryveil.concepts.text.kinds import MODIFIER, NOUN, OTHER
    >>> kinds = np.array([MODIFIER, NOUN, NOUN, OTHER, NOUN, MODIFIER], np.uint8)
    >>> found = noun_phrases(Lists.of([[10, 11, 12, 13, 14, 15]]), kinds)
    >>> found.begins.tolist(), found.ends.tolist()
    ([0, 4], [2, 4])
    """
    noun = kinds == NOUN
    starts_text = np.zeros(len(kinds) + 1, np.bool_)
    starts_text[texts.start] = True
    followed = np.zeros(len(kinds), np.bool_)
    followed[:-1] = noun[1:] & ~starts_text[1:-1]
    ends = np.flatnonzero(noun & ~followed)
    return Phrases(_begins(kinds, starts_text[:-1], ends), ends)


def _begins(kinds: ByteArray, starts_text: BoolArray, ends: IntArray) -> IntArray:
    """Give for each last noun the place where its phrase begins.

    A phrase begins at a text's first word, after a word that belongs to none, or at the
    modifier after a noun: at the last such place up to its end.
    """
    before = np.empty(len(kinds), np.uint8)
    before[:1] = OTHER
    before[1:] = kinds[:-1]
    opens = (
        starts_text
        | (before == OTHER)
        | (before == VERB)
        | ((before == NOUN) & (kinds == MODIFIER))
    )
    places = np.where(opens, np.arange(len(kinds)), 0)
    return np.maximum.accumulate(places)[ends] if len(kinds) else ends


def whole_queries(texts: RaggedArray, rows: IntArray) -> Phrases:
    """Take each of these texts as one phrase; texts without words are left out."""
    rows = rows[texts.sizes[rows] > 0]
    return Phrases(texts.start[rows], texts.start[rows + 1] - 1)
