"""Names that WordNet does not know: given names, surnames, cities and towns.

Queries are full of names. WordNet has the famous ones; for the others it is enough to know that
they name a person, a city or a town. A name counts only where no better reading is known.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from ..taxonomy.arrays import BoolArray, IntArray
from ..taxonomy.graph import Taxonomy
from ..text.english import load_word_list
from .language import Language
from .tagging import english_lexicon
from .tokens import Vocabulary

__all__ = ["Gazetteer", "PersonNames", "load_gazetteer"]

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
