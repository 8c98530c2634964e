"""Noun phrases: runs of modifiers and nouns that end in a noun, found for all queries at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from ..taxonomy.arrays import BoolArray, ByteArray, IntArray, RaggedArray
from ..taxonomy.graph import Taxonomy
from .language import Language, load_word_list
from .tagging import MODIFIER, NOUN, OTHER, VERB, english_lexicon
from .tokens import Vocabulary


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

    >>> from queryveil.concepts.mapping.tagging import MODIFIER, NOUN, OTHER
    >>> kinds = np.array([MODIFIER, NOUN, NOUN, OTHER, NOUN, MODIFIER], np.uint8)
    >>> found = noun_phrases(RaggedArray.from_lists([[10, 11, 12, 13, 14, 15]]), kinds)
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


_PERSON, _CITY, _TOWN = "n#00007846", "n#08524735", "n#08665504"


@dataclass(frozen=True)
class Gazetteer:
    """What names mean in a taxonomy.

    `instead` are labels that stand in for WordNet's own: a given name of which it knows only a
    common word ("mike"), and the usual meaning where its first one is by chance ("chess" is a
    grass first). `after` go behind all labels: places. `person` is the concept of a
    given name with a surname.
    """

    overrides: tuple[tuple[str, int], ...] = ()
    fallbacks: tuple[tuple[str, int], ...] = ()
    person: int | None = None


class PersonNames:
    """Tells which phrases are a person's name."""

    def __init__(self, person: int, vocabulary: Vocabulary) -> None:
        self.person = person
        common = english_lexicon().filter(pl.col("word").str.contains("^[a-z]+$"))["word"]
        self._given = vocabulary.flags(load_word_list("given names"))
        self._alone = vocabulary.flags(load_word_list("given names alone"))
        self._surname = vocabulary.flags(load_word_list("surnames"))
        self._common = vocabulary.flags(common)

    def is_person(
        self, first: IntArray, last: IntArray, lengths: IntArray, known: BoolArray
    ) -> BoolArray:
        """Tell which phrases of two or three words begin with a given name and end in a surname.

        A surname that is also a common word counts only after a name that is nothing else. For
        a surname also goes what is no word of any label (`known`).
        """
        surname = self._surname()[last] & (~self._common()[last] | self._alone()[first])
        named = self._given()[first] & (surname | ~known[last])
        return np.asarray(named & np.isin(lengths, (2, 3)))


def load_gazetteer(taxonomy: Taxonomy, language: Language) -> Gazetteer:
    """Give the names for a taxonomy that holds WordNet; an empty gazetteer for any other."""
    numbers = dict(taxonomy.find_all([_PERSON, _CITY, _TOWN]))
    if len(numbers) < 3 or language.name != "english":
        return Gazetteer()
    person = numbers[_PERSON]
    places = [
        (name, numbers[kind])
        for kind, names in ((_CITY, "cities"), (_TOWN, "towns"))
        for name in load_word_list(names)
    ]
    alone = [(name, person) for name in load_word_list("given names alone")]
    pairs = [line.split("\t") for line in load_word_list("usual meanings")]
    named = dict(taxonomy.find_all([name for _, name in pairs]))
    usual = [(label, named[name]) for label, name in pairs]
    return Gazetteer((*usual, *alone), tuple(places), person)
