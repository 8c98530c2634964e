"""The rules for full names: flags of words, shapes of names, and what stands beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from .filters import HashFilter
from .storage import DATA, read_lists
from .words import (
    Hashes,
    Numbers,
    TextNumbers,
    WordTable,
    contains_sorted,
    hash_texts,
    join_hashes,
)

Mask = NDArray[np.bool_]

_LISTS = (
    "given", "given words", "surnames", "surname words", "common surnames", "places", "regions",
    "titles", "particles", "suffixes", "institutions", "common given",
)  # fmt: skip
_GIVEN, _GIVEN_WORD, _SURNAME, _SURNAME_WORD, _COMMON, _PLACE, _REGION = (1 << n for n in range(7))
_TITLE, _PARTICLE, _SUFFIX, _INSTITUTION, _COMMON_GIVEN = (1 << n for n in range(7, 12))
_INITIAL, _POSSESSIVE, _CONNECTOR = (1 << n for n in range(12, 15))
_WORD, _RARE = 1 << 15, 1 << 16  # any word of letters; one that no dictionary and no list has
_ANY_GIVEN, _ANY_SURNAME = _GIVEN | _GIVEN_WORD, _SURNAME | _SURNAME_WORD
_MIDDLE = _ANY_GIVEN | _INITIAL | _POSSESSIVE | _SURNAME
_CONNECTORS = ("and", "vs", "or", "&")  # "smith and wesson", "kramer vs kramer"
# Shapes of a name between given name and surname: (middle names, particles, further surnames).
_SHAPES = ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 2, 0), (0, 0, 1), (1, 1, 0), (1, 2, 0), (2, 0, 0))


@dataclass(frozen=True, eq=False, repr=False)
class NameLexicon:
    """The flags of words, the phrases that are no names, and the known people."""

    flags: TextNumbers
    given: frozenset[str]
    regions: frozenset[str]
    phrases: Hashes
    known: HashFilter
    ordinary: HashFilter


@cache
def name_lexicon() -> NameLexicon:
    """Return the lexicon that comes with the program, read once."""
    lists = read_lists(DATA / "people.zst")
    tables = [
        pl.DataFrame({"word": lists[name], "flags": 1 << place})
        for place, name in enumerate(_LISTS)
    ]
    tables += [
        pl.DataFrame({"word": list(words), "flags": flag})
        for words, flag in (
            ("abcdefghijklmnopqruvwxyz", _INITIAL),
            ("st", _POSSESSIVE),  # mostly what is left of "tony's" and "don't"
            (_CONNECTORS, _CONNECTOR),
        )
    ]
    flags = pl.concat(tables).group_by("word").agg(pl.col("flags").sum())
    phrases = pl.Series(sorted({*lists["brands"], *lists["towns"]}))
    known, ordinary = (
        HashFilter.read(DATA / f"{name}.zst") for name in ("known-people", "ordinary-words")
    )
    return NameLexicon(
        TextNumbers(flags["word"].to_list(), flags["flags"].to_list()),
        frozenset(lists["given"]),
        frozenset(lists["regions"]),
        np.sort(hash_texts(phrases)),
        known,
        ordinary,
    )


@dataclass(frozen=True, eq=False)
class Names:
    """Names in texts.

    Attributes:
        texts: The number of the text.
        begin: The first word, among the words of all texts.
        last: The last word.
        known: Whether the name is that of a known person.
        entire: Whether the text has nothing else but a title and a suffix.
    """

    texts: Numbers
    begin: Numbers
    last: Numbers
    known: Mask
    entire: Mask

    @classmethod
    def joined(cls, parts: Sequence[Names]) -> Names:
        """Return the names of several searches together."""
        texts, begin, last = (
            np.concatenate([getattr(part, field) for part in parts])
            for field in ("texts", "begin", "last")
        )
        known, entire = (
            np.concatenate([getattr(part, field) for part in parts])
            for field in ("known", "entire")
        )
        return cls(texts, begin, last, known, entire)

    def take(self, mask: Mask) -> Names:
        """Return the names under a mask."""
        return Names(
            self.texts[mask],
            self.begin[mask],
            self.last[mask],
            self.known[mask],
            self.entire[mask],
        )


@dataclass(frozen=True, eq=False)
class Surroundings:
    """What stands beside each name.

    Attributes:
        entire: Nothing but a title and a suffix.
        allows: Nothing that makes it a place or an institution named after a person.
        joined: A word such as "and" follows.
        formal: A title before it or a suffix behind it.
    """

    entire: Mask
    allows: Mask
    joined: Mask
    formal: Mask


class NameSearch:
    """The words of texts with their flags, and the search for names among them."""

    def __init__(self, folded: pl.Series) -> None:
        self.table = WordTable.of(folded)
        lexicon = name_lexicon()
        # A guard of words without flags stands behind the last text.
        numbers = np.concatenate([self.table.numbers, np.full(8, len(self.table.distinct))])
        flags = np.append(self.table.flags(lexicon.flags) | self._flag_unlisted(), 0)
        self.numbers, self.flags = numbers, flags[numbers]
        self.texts = np.repeat(np.arange(len(folded)), self.table.sizes)
        self.ends = np.cumsum(self.table.sizes)
        # Most words are in no list: names are searched from the given names on.
        self.first = np.flatnonzero((self.flags[: len(self.texts)] & _ANY_GIVEN) > 0)

    def _flag_unlisted(self) -> NDArray[np.int64]:
        """Return the flags of words that can be a surname although no list has them."""
        words = self.table.distinct
        is_word = words.str.contains("^[a-z]{3,}$").to_numpy()
        is_rare = words.str.contains("^[a-z]{4,}$").to_numpy()
        is_rare &= ~name_lexicon().ordinary.contains(self.table.hashes)
        return np.asarray(is_word * _WORD + is_rare * _RARE)

    @cached_property
    def hashes(self) -> Hashes:
        """The hash of each distinct word, and 0 for the guard."""
        return np.append(self.table.hashes, np.uint64(0))

    def has(self, places: Numbers, flag: int) -> Mask:
        """Return whether the words at these places have one of the flags."""
        return np.asarray((self.flags[places] & flag) > 0)

    def find(self, entire: bool) -> Names:
        """Return the names of all shapes; with `entire` those that are the whole text.

        Words of known people's names side by side are no other person: "john paul" in "john paul
        jones", or the last word of one known name and the first of the next.
        """
        names = Names.joined([self.find_shape(*shape, entire) for shape in _SHAPES])
        starts, stops = names.begin[names.known], names.last[names.known] + 1
        size = len(self.numbers) + 1
        depth = np.bincount(starts, minlength=size) - np.bincount(stops, minlength=size)
        covered = np.concatenate([[0], np.cumsum(np.cumsum(depth) > 0)])
        words = covered[names.last + 1] - covered[names.begin]
        return replace(names, known=words == names.last + 1 - names.begin)

    def find_shape(self, middles: int, particles: int, further: int, entire: bool) -> Names:
        """Return the names of this shape."""
        begin = self.first
        last = begin + 1 + middles + particles + further
        keep = last < self.ends[self.texts[begin]]
        sure = self.has(begin, _COMMON_GIVEN)
        for step in range(1, 1 + middles):
            keep &= self.has(begin + step, _MIDDLE)
            sure &= self.has(begin + step, _GIVEN | _INITIAL)
            keep &= ~self.has(begin + step, _POSSESSIVE) | self.has(last, _SURNAME)
        keep &= self.has(last, _ANY_SURNAME) | (sure & self.has(last, _WORD))
        for step in range(1 + middles, 1 + middles + particles):
            keep &= self.has(begin + step, _PARTICLE)
        if further:
            keep &= self.has(last - 1, _SURNAME) & self.has(last, _SURNAME)
        begin, last = begin[keep], last[keep]
        hashes = self._hash(begin, last)
        known = name_lexicon().known.contains(hashes)
        where = self._surroundings(begin, last)
        person = known | self._is_likely(begin, last, where, self._has_initial(begin, middles))
        person &= ~self._is_phrase(begin, last, hashes)
        person &= where.entire | (where.allows & (known | ~where.joined) & (not entire))
        return Names(self.texts[begin], begin, last, known, where.entire).take(person)

    def _has_initial(self, begin: Numbers, middles: int) -> Mask:
        initial = np.zeros(len(begin), np.bool_)
        for step in range(1, 1 + middles):
            initial |= self.has(begin + step, _INITIAL)
        return initial

    def _surroundings(self, begin: Numbers, last: Numbers) -> Surroundings:
        texts = self.texts[begin]
        starts, ends = self.ends[texts] - self.table.sizes[texts], self.ends[texts]
        before, after = np.maximum(begin - 1, 0), last + 1
        titled = (begin > starts) & self.has(before, _TITLE)
        inside = after < ends
        at_start = (begin == starts) | (titled & (begin == starts + 1))
        at_end = ~inside | ((after == ends - 1) & self.has(after, _SUFFIX))
        in_region = self.has(after, _REGION) & (self.has(begin, _PLACE) | self.has(last, _PLACE))
        return Surroundings(
            entire=np.asarray(at_start & at_end),
            allows=np.asarray(~(inside & (self.has(after, _INSTITUTION) | in_region))),
            joined=np.asarray(inside & self.has(after, _CONNECTOR)),
            formal=np.asarray(titled | (inside & self.has(after, _SUFFIX))),
        )

    def _is_likely(self, begin: Numbers, last: Numbers, where: Surroundings, initial: Mask) -> Mask:
        """Decide by the given name and the surname, and by what only people have beside them."""
        is_given, surname = self.has(begin, _GIVEN), self.has(last, _SURNAME)
        common = self.has(begin, _COMMON_GIVEN)
        place_first, place_last = self.has(begin, _PLACE), self.has(last, _PLACE)
        certain = where.formal | initial  # no town has a title, a suffix or an initial
        place_first &= ~(certain | (common & where.entire))
        region = self.has(last, _REGION)
        rare = self.has(last, _RARE)
        sure = is_given & surname & ~(place_first & (place_last | region))
        sure |= common & rare & ~self.has(begin, _PLACE)
        likely = is_given & (rare | self.has(last, _COMMON)) & ~place_first
        likely |= (common | (is_given & certain)) & self.has(last, _SURNAME_WORD | _RARE)
        doubtful = ~is_given & surname & ~place_last & ~region
        return np.asarray(sure | (likely & (where.entire | certain)) | (doubtful & where.entire))

    def _hash(self, begin: Numbers, last: Numbers) -> Hashes:
        hashes = self.hashes[self.numbers[begin]]
        for step in range(1, int((last - begin).max(initial=0)) + 1):
            places = np.minimum(begin + step, last)
            word = self.hashes[self.numbers[places]]
            hashes = join_hashes(hashes, np.where(begin + step <= last, word, np.uint64(0)))
        return np.asarray(hashes)

    def _is_phrase(self, begin: Numbers, last: Numbers, hashes: Hashes) -> Mask:
        """Return which names are, begin or end with, a brand or a town."""
        phrases = name_lexicon().phrases
        before = np.where(begin > 0, begin - 1, begin)  # "puerto rico" before "posadas"
        spans = ((begin, begin + 1), (last - 1, last), (begin, last + 1), (before, begin))
        parts = (hashes, *(self._hash(*span) for span in spans))
        return np.asarray(np.any([contains_sorted(phrases, part) for part in parts], axis=0))
