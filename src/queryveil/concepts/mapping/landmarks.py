"""Named counties, lakes and universities inside queries: "kern county jobs" is about a county.

The name before the noun, or behind "of", is a part of it. Without this rule a town or a person of
the same name counts, or nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from ...lexicons.words import TextNumbers
from ..taxonomy.arrays import BoolArray, IntArray, RaggedArray
from ..taxonomy.graph import Taxonomy
from .names import NameMatches
from .stop_words import LISTS
from .tagging import common_words
from .tokens import Vocabulary, WordFeature

_COUNTY, _UNIVERSITY = "n#08546870", "n#08286569"
_CITY, _TOWN = "n#08524735", "n#08665504"
_LAKE, _RIVER, _ISLAND = "n#09328904", "n#09411430", "n#09316454"
# Nouns with the name before them. Any word can be the name of a county ("orange county").
_AFTER_NAME = {
    "county": _COUNTY, "cnty": _COUNTY, "university": _UNIVERSITY, "univ": _UNIVERSITY,
    "lake": _LAKE, "river": _RIVER, "island": _ISLAND,
}  # fmt: skip
# Nouns with the name behind them, and those with "of" and the name.
_BEFORE_NAME = {"lake": _LAKE}
_OF_NAME = {
    "university": _UNIVERSITY, "univ": _UNIVERSITY, "county": _COUNTY, "city": _CITY,
    "town": _TOWN, "village": _TOWN, "borough": _TOWN, "township": _TOWN,
}  # fmt: skip
# Words that are no names of counties, and first words of names of two words.
_NO_NAMES = (
    "state", "states", "city", "which", "what", "us", "usa", "every", "each", "all", "free",
    "rural", "town", "local", "public", "by", "tri", "largest", "map", "maps", "court", "courts",
)  # fmt: skip
_FIRST_PARTS = (
    "st", "saint", "san", "santa", "los", "las", "la", "el", "de", "du", "prince", "king", "new",
    "east", "west", "north", "south", "northern", "southern", "eastern", "western", "central",
    "fort", "palm", "grand", "van", "rock", "big", "little", "notre", "puerto", "mc", "del", "le",
    "long", "great", "upper", "lower", "ann", "anne", "contra", "salt", "miami", "lac", "eau",
)  # fmt: skip
_LATER_PARTS = ("state", "tech", "christian", "wesleyan", "baptist", "international", "george")


class Landmarks:
    """Find counties, lakes, rivers, islands, universities and towns with their names.

    `regions` are states and countries, which are phrases of their own beside a lake.
    """

    def __init__(self, taxonomy: Taxonomy, vocabulary: Vocabulary, regions: Iterable[str]) -> None:
        kinds = (_AFTER_NAME, _BEFORE_NAME, _OF_NAME)
        names = sorted({name for kind in kinds for name in kind.values()})
        numbers = dict(taxonomy.find_all(names))
        self._after, self._before, self._of = (
            _number_words(vocabulary, {w: numbers[n] for w, n in kind.items() if n in numbers})
            for kind in kinds
        )
        stop_words = LISTS["english"].split()
        self._no_name = vocabulary.flags({*stop_words, *_NO_NAMES})
        self._vocabulary = vocabulary
        self._region = vocabulary.flags(regions)
        self._first_part, self._later_part = map(vocabulary.flags, (_FIRST_PARTS, _LATER_PARTS))
        self._not_number = WordFeature(
            vocabulary, lambda new: new.str.contains(r"^\pL+$").to_numpy()
        )
        self._link = vocabulary.flags(("of",))
        self._any_name = vocabulary.flags(("county", "cnty"))
        self._university = vocabulary.flags(("university", "univ"))

    def find(self, texts: RaggedArray) -> NameMatches:
        """Return the landmarks; of those that overlap the first."""
        items = texts.items
        if not len(items):
            return NameMatches(items, items, items, np.zeros(0, np.bool_))
        parts = (self._find_after(texts), self._find_before(texts), self._find_of(texts))
        begins, ends, concepts = (np.concatenate(column) for column in zip(*parts, strict=True))
        order = np.lexsort((-ends, begins))
        begins, ends, concepts = begins[order], ends[order], concepts[order]
        reach = np.maximum.accumulate(np.concatenate([[-1], ends[:-1]])) if len(ends) else ends
        separate = begins > reach
        return NameMatches(
            begins[separate], ends[separate], concepts[separate], np.zeros(separate.sum(), np.bool_)
        )

    def _is_common(self, words: IntArray) -> BoolArray:
        """Return which of a few words are common ones; a feature would test all words."""
        common = common_words()
        texts = self._vocabulary.words.gather(words)
        return np.array([text in common for text in texts], np.bool_)

    def _find_after(self, texts: RaggedArray) -> _Spans:
        """Find nouns behind their name: "kern county", "clark atlanta university"."""
        words, concepts = texts.items, self._after()[texts.items]
        room = np.arange(len(words)) - texts.start[texts.row_ids]
        heads = np.flatnonzero((concepts >= 0) & (room > 0))
        is_plain = self._any_name()[words[heads]]
        is_university = self._university()[words[heads]]
        name = words[heads - 1]
        fits = ~self._no_name()[name] & (is_plain | ~self._is_common(name))
        fits &= is_plain | is_university | ~self._region()[name]
        fits |= is_university & self._later_part()[name]
        heads, is_university = heads[fits], is_university[fits]
        begins = heads - 1
        for _ in range(2):
            before = words[np.maximum(begins - 1, 0)]
            is_part = self._later_part()[words[begins]]  # "ball" before "state university"
            is_name = (is_part | ~self._is_common(before)) & ~self._no_name()[before]
            longer = self._first_part()[before] | (is_university & is_name)
            begins = begins - (longer & (room[begins] > 0))
        return begins, heads, concepts[heads]

    def _find_before(self, texts: RaggedArray) -> _Spans:
        """Find nouns before their name: "lake tahoe"."""
        words, concepts = texts.items, self._before()[texts.items]
        left = texts.start[texts.row_ids + 1] - np.arange(len(words)) - 1
        heads = np.flatnonzero((concepts >= 0) & (left > 0))
        name = words[heads + 1]
        is_other = self._is_common(name) | self._no_name()[name] | self._region()[name]
        heads = heads[~is_other & self._not_number()[name]]
        return heads, heads + 1, concepts[heads]

    def _find_of(self, texts: RaggedArray) -> _Spans:
        """Find nouns with "of" and a name: "university of arkansas"."""
        words, concepts = texts.items, self._of()[texts.items]
        left = texts.start[texts.row_ids + 1] - np.arange(len(words)) - 1
        heads = np.flatnonzero((concepts >= 0) & (left > 1))
        heads = heads[self._link()[words[heads + 1]]]
        first = words[heads + 2]
        is_part = self._first_part()[first]
        heads = heads[is_part | ~(self._is_common(first) | self._no_name()[first])]
        ends = heads + 2
        ends = ends + (self._first_part()[words[ends]] & (left[heads] > 2))
        return heads, ends, concepts[heads]


_Spans = tuple[IntArray, IntArray, IntArray]


def _number_words(vocabulary: Vocabulary, concepts: Mapping[str, int]) -> WordFeature:
    """Return the concept of each word, or -1."""
    numbers = TextNumbers(list(concepts), list(concepts.values()), missing=-1)
    return WordFeature(vocabulary, numbers.look_up)
