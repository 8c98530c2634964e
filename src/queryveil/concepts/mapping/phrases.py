"""Noun phrases, runs of modifiers and nouns that end in a noun; names of persons and places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from ..taxonomy.arrays import BoolArray, ByteArray, IntArray, RaggedArray
from ..taxonomy.graph import Taxonomy
from .language import Language, load_word_list
from .tagging import MODIFIER, NOUN, OTHER, VERB, english_lexicon
from .tokens import Vocabulary
from .towns import abbreviate
from .web_lexicon import ANYWHERE, WebLexicon, load_web_lexicon, nearest_concepts

_MAX_LINKERS = 3  # in sequence


@dataclass(frozen=True, eq=False)
class Phrases:
    """Phrases of many texts: the indices of the first and last word of each among all words."""

    begins: IntArray
    ends: IntArray

    def __len__(self) -> int:
        return len(self.begins)

    def select(self, rows: IntArray | BoolArray) -> Phrases:
        """Return a selection of the phrases."""
        return Phrases(self.begins[rows], self.ends[rows])

    def drop_last_word(self) -> Phrases:
        """Remove the last word of each phrase; phrases of one word are dropped."""
        longer = self.select(self.ends > self.begins)
        return Phrases(longer.begins, longer.ends - 1)

    def drop_first_word(self) -> Phrases:
        """Remove the first word of each phrase; phrases of one word are dropped."""
        longer = self.select(self.ends > self.begins)
        return Phrases(longer.begins + 1, longer.ends)


def mark_spans(size: int, begins: IntArray, ends: IntArray) -> BoolArray:
    """Return a mask of the words from each begin to each end.

    >>> mark_spans(5, np.array([1]), np.array([2])).tolist()
    [False, True, True, False, False]
    """
    edges = np.zeros(size + 1, np.int64)
    np.add.at(edges, begins, 1)
    np.add.at(edges, ends + 1, -1)
    return np.asarray(np.cumsum(edges)[:-1] > 0)


def inner_linkers(texts: RaggedArray, content: BoolArray, is_linker: BoolArray) -> BoolArray:
    """Return the linkers between content words: "de la" in "chaise de la cuisine"."""
    linkers = is_linker & ~content
    starts = np.zeros(len(content) + 1, np.bool_)
    starts[texts.start] = True
    before, after = linkers.copy(), linkers.copy()
    for _ in range(_MAX_LINKERS):
        before[1:] &= (content | before)[:-1] & ~starts[1:-1]
        after[:-1] &= (content | after)[1:] & ~starts[1:-1]
    if len(content):
        before[0] = after[-1] = False
    return np.asarray(before & after)


def side_words(
    texts: RaggedArray,
    content: BoolArray,
    non_noun: BoolArray,
    ambiguous: BoolArray,
    head_first: bool,
) -> BoolArray:
    """Return the words at the side of the head that are no nouns: "kaufen" in "schuhe kaufen".

    The head is the last noun of a phrase, or the first one. `ambiguous` words are nouns as well,
    as "rot" is; they count only if another word is left.
    """
    starts = np.zeros(len(content) + 1, np.bool_)
    starts[texts.start] = True
    before, after = np.zeros(len(content), np.bool_), np.zeros(len(content), np.bool_)
    before[1:] = content[:-1] & ~starts[1:-1]
    after[:-1] = content[1:] & ~starts[1:-1]
    inner, outer = (after, before) if head_first else (before, after)
    return np.asarray(content & ~outer & inner & (non_noun | ambiguous))


def noun_phrases(texts: RaggedArray, kinds: ByteArray, breaks: BoolArray | None = None) -> Phrases:
    """Find the noun phrases: modifiers, then nouns; a modifier after a noun starts a new one.

    No phrase continues across a word that is marked in `breaks`.

    >>> from queryveil.concepts.mapping.tagging import MODIFIER, NOUN, OTHER
    >>> kinds = np.array([MODIFIER, NOUN, NOUN, OTHER, NOUN, MODIFIER], np.uint8)
    >>> phrases = noun_phrases(RaggedArray.from_lists([[10, 11, 12, 13, 14, 15]]), kinds)
    >>> phrases.begins.tolist(), phrases.ends.tolist()
    ([0, 4], [2, 4])
    """
    noun = kinds == NOUN
    starts_text = np.zeros(len(kinds) + 1, np.bool_)
    starts_text[texts.start] = True
    if breaks is not None:
        starts_text[:-1] |= breaks
    followed = np.zeros(len(kinds), np.bool_)
    followed[:-1] = noun[1:] & ~starts_text[1:-1]
    ends = np.flatnonzero(noun & ~followed)
    return Phrases(_find_begins(kinds, starts_text[:-1], ends), ends)


def _find_begins(classes: ByteArray, starts_text: BoolArray, ends: IntArray) -> IntArray:
    """Return for each last noun the index of the first word of its phrase.

    A phrase can begin at the first word of a text, after a word that belongs to no phrase, or at
    a modifier after a noun. It begins at the last such word up to its end.
    """
    before = np.empty(len(classes), np.uint8)
    before[:1] = OTHER
    before[1:] = classes[:-1]
    opens = (
        starts_text
        | (before == OTHER)
        | (before == VERB)
        | ((before == NOUN) & (classes == MODIFIER))
    )
    starts = np.where(opens, np.arange(len(classes)), 0)
    return np.maximum.accumulate(starts)[ends] if len(classes) else ends


def whole_queries(texts: RaggedArray, rows: IntArray) -> Phrases:
    """Return each of these texts as one phrase; texts without words are omitted."""
    rows = rows[texts.sizes[rows] > 0]
    return Phrases(texts.start[rows], texts.start[rows + 1] - 1)


_PERSON, _CITY, _TOWN = "n#00007846", "n#08524735", "n#08665504"


@dataclass(frozen=True)
class Gazetteer:
    """Additional labels for names of persons and places.

    `overrides` replace labels of WordNet: a given name that WordNet has only as a common noun
    ("mike"), and the common meaning where WordNet lists a rare one first ("chess" is first a
    grass). `fallbacks` come after all labels: places. `person` is the concept of a given name
    with a surname.
    """

    overrides: tuple[tuple[str, int], ...] = ()
    fallbacks: tuple[tuple[str, int], ...] = ()
    person: int | None = None

    def with_overrides(self, labels: Sequence[tuple[str, int]]) -> Gazetteer:
        """Return the names with more overrides, unless a label is there already."""
        known = {label for label, _ in self.overrides}
        added = ((label, concept) for label, concept in labels if label not in known)
        return replace(self, overrides=(*self.overrides, *added))

    def with_fallbacks(self, labels: Sequence[tuple[str, int]]) -> Gazetteer:
        """Return the names with more labels after all others."""
        return replace(self, fallbacks=(*self.fallbacks, *labels))


class PersonNames:
    """Recognize phrases that are the name of a person."""

    def __init__(self, person: int, vocabulary: Vocabulary) -> None:
        self.person = person
        common = english_lexicon().filter(pl.col("word").str.contains("^[a-z]+$"))["word"]
        self._given_names = vocabulary.flags(load_word_list("given names"))
        self._unambiguous = vocabulary.flags(load_word_list("given names alone"))
        self._surnames = vocabulary.flags(load_word_list("surnames"))
        self._common_words = vocabulary.flags(common)

    def is_person(
        self, first: IntArray, last: IntArray, lengths: IntArray, known: BoolArray
    ) -> BoolArray:
        """Return which phrases of two or three words start with a given name, end in a surname.

        A surname that is also a common word counts only after a given name that is nothing else.
        A word that is in no label (`known`) also counts as a surname.
        """
        surname = self._surnames()[last] & (
            ~self._common_words()[last] | self._unambiguous()[first]
        )
        is_name = self._given_names()[first] & (surname | ~known[last])
        return np.asarray(is_name & np.isin(lengths, (2, 3)))


def load_gazetteer(taxonomy: Taxonomy, language: Language) -> Gazetteer:
    """Return the names for a taxonomy that holds WordNet, else an empty gazetteer.

    They are cached by taxonomy and language.
    """
    key = f"gazetteer {language.name}"
    cached = taxonomy.cache.get(key)
    if not isinstance(cached, Gazetteer):
        cached = taxonomy.cache[key] = _list_gazetteer(taxonomy, language)
    return cached


def _list_gazetteer(taxonomy: Taxonomy, language: Language) -> Gazetteer:
    numbers = dict(taxonomy.find_all([_PERSON, _CITY, _TOWN]))
    if len(numbers) < 3 or language.name != "english":
        return Gazetteer()
    person = numbers[_PERSON]
    places = [
        (name, numbers[kind])
        for kind, names in ((_CITY, "cities"), (_TOWN, "towns"))
        for name in _with_abbreviations(load_word_list(names))
    ]
    given_names = [(name, person) for name in load_word_list("given names alone")]
    lexicon = load_web_lexicon()
    # The web's usual senses come first.
    usual: dict[str, str] = dict(line.split("\t") for line in load_word_list("usual meanings"))
    usual |= dict(lexicon.senses)
    usual = {word: name for word, name in usual.items() if name != "-"}
    concepts = nearest_concepts(taxonomy, set(usual.values()))
    meanings = {label: concepts[name] for label, name in usual.items()}
    empty = {word for word, name in lexicon.senses if name == "-"}
    others = {*meanings, *empty}
    names_alone = [pair for pair in given_names if pair[0] not in others]
    return Gazetteer(
        (*meanings.items(), *names_alone), (*places, *_list_sites(taxonomy, lexicon)), person
    )


def _with_abbreviations(names: Sequence[str]) -> list[str]:
    long = pl.Series(names, dtype=pl.String)
    short = abbreviate(long)
    return [*names, *short.filter(short != long)]


def _list_sites(taxonomy: Taxonomy, lexicon: WebLexicon) -> list[tuple[str, int]]:
    """Return other spellings of sites and, where they are no concepts, the names themselves."""
    aliases = zip(lexicon.aliases, lexicon.alias_use, strict=True)
    names = [alias for alias, use in aliases if use == ANYWHERE]
    if "use" not in taxonomy.tags:
        own = zip(lexicon.concepts.labels, lexicon.concepts.names, strict=True)
        names += [
            pair for pair, use in zip(own, lexicon.concepts.use, strict=True) if use == ANYWHERE
        ]
    numbers = nearest_concepts(taxonomy, {name for _, name in names})
    return [(text, numbers[name]) for text, name in names]
