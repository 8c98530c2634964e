"""Recognize full names of people in texts, by lists of names and a filter of known people.

A full name is a given name, a middle name or initial if any, and a surname; or surname, comma,
given name. Words of the dictionary that are names as well (*mark*, *rose*, *baker*) count only
beside a name that is none, or where the whole is the name of a known person. Towns, brands and
institutions named after people are no persons. The rules miss rare names and misspelled ones, and
flag some titles and firms: `docs/how-to/identifiers.md` has the measured shares.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from .filters import HashFilter
from .storage import DATA, read_lists
from .words import Hashes, Numbers, WordTable, fold, hash_texts, join_hashes

Mask = NDArray[np.bool_]

_LISTS = (
    "given", "given words", "surnames", "surname words", "common surnames", "places", "regions",
    "titles", "particles", "suffixes", "institutions",
)  # fmt: skip
_GIVEN, _GIVEN_WORD, _SURNAME, _SURNAME_WORD, _COMMON, _PLACE, _REGION = (1 << n for n in range(7))
_TITLE, _PARTICLE, _SUFFIX, _INSTITUTION, _INITIAL, _CONNECTOR = (1 << n for n in range(7, 13))
_ANY_GIVEN, _ANY_SURNAME = _GIVEN | _GIVEN_WORD, _SURNAME | _SURNAME_WORD
_CONNECTORS = ("and", "vs", "or", "&")  # "smith and wesson", "kramer vs kramer"
# Shapes of a name between given name and surname: (middle names, particles, further surnames).
_SHAPES = ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 2, 0), (0, 0, 1), (1, 1, 0), (1, 2, 0), (2, 0, 0))
_REVERSED = r"^([^,]+), *([^,]+)$"


def is_full_name(texts: pl.Series) -> pl.Series:
    """Return whether each text as a whole is the full name of a person: Booleans, never null.

    >>> queries = ["jane kowalski", "Dr. John F. Kowalski", "kowalski, jane", "rose garden"]
    >>> is_full_name(pl.Series(queries)).to_list()
    [True, True, True, False]
    """
    return _apply(texts, whole=True)


def contains_full_name(texts: pl.Series) -> pl.Series:
    """Return whether a full name stands anywhere in each text: Booleans, never null.

    >>> queries = ["jane kowalski obituary", "jackson mississippi", "calvin klein jeans"]
    >>> contains_full_name(pl.Series(queries)).to_list()
    [True, False, False]
    """
    return _apply(texts, whole=False)


def is_known_person(texts: pl.Series) -> pl.Series:
    """Return whether each text is the name of a person whom an encyclopedia has.

    The filter has hashes alone: one of a hundred other names is in it by chance, and private
    people share the names of known ones. A name in the filter is therefore no proof.

    >>> is_known_person(pl.Series(["abraham lincoln", "jane kowalczykova"])).to_list()
    [True, False]
    """
    folded = fold(texts.fill_null(""))
    known = _lexicon().known.contains(hash_texts(folded)) & (folded.str.contains(" ")).to_numpy()
    return pl.Series(texts.name, known, pl.Boolean)


@dataclass(frozen=True, eq=False)
class _Lexicon:
    """The flags of words, the phrases that are no names, and the known people."""

    flags: pl.DataFrame
    phrases: Hashes
    known: HashFilter


@cache
def _lexicon() -> _Lexicon:
    lists = read_lists(DATA / "people.zst")
    tables = [
        pl.DataFrame({"word": lists[name], "flags": 1 << place})
        for place, name in enumerate(_LISTS)
    ]
    letters = [chr(ord("a") + number) for number in range(26)]
    tables += [
        pl.DataFrame({"word": words, "flags": flag})
        for words, flag in ((letters, _INITIAL), (_CONNECTORS, _CONNECTOR))
    ]
    flags = pl.concat(tables).group_by("word").agg(pl.col("flags").sum())
    phrases = pl.Series(sorted({*lists["brands"], *lists["towns"]}))
    return _Lexicon(flags, np.sort(hash_texts(phrases)), HashFilter.read(DATA / "known-people.zst"))


def _apply(texts: pl.Series, *, whole: bool) -> pl.Series:
    """Test distinct texts once; a text with one comma is tested in both orders."""
    distinct = texts.unique().drop_nulls()
    folded = fold(distinct)
    found = _find(folded, whole)
    both = distinct.str.contains(_REVERSED).arg_true()
    if len(both):
        turned = fold(distinct.gather(both).str.replace(_REVERSED, "$2 $1"))
        is_place = _ends_in_region(folded.gather(both))
        found[both.to_numpy()] |= _find(turned, True) & ~is_place
    table = pl.DataFrame({"text": distinct, "found": found})
    joined = (
        texts.alias("text").to_frame().join(table, on="text", how="left", maintain_order="left")
    )
    return joined["found"].fill_null(False).alias(texts.name)


def _ends_in_region(folded: pl.Series) -> Mask:
    regions = read_lists(DATA / "people.zst")["regions"]
    return folded.str.extract(r"([^ ]+)$").is_in(regions).fill_null(False).to_numpy()


def _find(folded: pl.Series, whole: bool) -> Mask:
    """Return which folded texts are, or contain, a full name."""
    split = _Split(folded)
    found = np.zeros(len(folded), np.bool_)
    for middles, particles, further in _SHAPES:
        rows = split.find_shape(middles, particles, further, whole)
        found[rows] = True
    return found


class _Split:
    """The words of texts with their flags, and the search for names among them."""

    def __init__(self, folded: pl.Series) -> None:
        self.table = WordTable.of(folded)
        lexicon = _lexicon()
        # A guard of words without flags stands behind the last text.
        numbers = np.concatenate([self.table.numbers, np.full(8, len(self.table.distinct))])
        flags = np.append(self.table.flags(lexicon.flags), 0)
        self.numbers, self.flags = numbers, flags[numbers]
        self.texts = np.repeat(np.arange(len(folded)), self.table.sizes)
        self.ends = np.cumsum(self.table.sizes)
        # Most words are in no list: names are searched from the given names on.
        self.first = np.flatnonzero((self.flags[: len(self.texts)] & _ANY_GIVEN) > 0)

    @cached_property
    def hashes(self) -> Hashes:
        """The hash of each distinct word, and 0 for the guard."""
        return np.append(self.table.hashes, np.uint64(0))

    def has(self, places: Numbers, flag: int) -> Mask:
        """Return whether the words at these places have one of the flags."""
        return np.asarray((self.flags[places] & flag) > 0)

    def find_shape(self, middles: int, particles: int, further: int, whole: bool) -> Numbers:
        """Return the texts with a name of this shape."""
        begin = self.first
        last = begin + 1 + middles + particles + further
        keep = last < self.ends[self.texts[begin]]
        keep &= self.has(last, _ANY_SURNAME)
        for step in range(1, 1 + middles):
            keep &= self.has(begin + step, _ANY_GIVEN | _INITIAL | _SURNAME)
        for step in range(1 + middles, 1 + middles + particles):
            keep &= self.has(begin + step, _PARTICLE)
        if further:
            keep &= self.has(last - 1, _SURNAME) & self.has(last, _SURNAME)
        begin, last = begin[keep], last[keep]
        keep, is_whole = self._fits(begin, last, whole)
        begin, last, is_whole = begin[keep], last[keep], is_whole[keep]
        return np.asarray(self.texts[begin[self._is_person(begin, last, is_whole)]])

    def _fits(self, begin: Numbers, last: Numbers, whole: bool) -> tuple[Mask, Mask]:
        """Return which names have neighbors that a person's name can have, and which have none."""
        texts = self.texts[begin]
        starts, ends = self.ends[texts] - self.table.sizes[texts], self.ends[texts]
        before, after = np.maximum(begin - 1, 0), last + 1
        at_start = (begin == starts) | ((begin == starts + 1) & self.has(before, _TITLE))
        at_end = (after == ends) | ((after == ends - 1) & self.has(after, _SUFFIX))
        is_whole = at_start & at_end
        if whole:
            return np.asarray(is_whole), is_whole
        inside = after < ends
        named_after = inside & self.has(after, _INSTITUTION | _REGION | _CONNECTOR)
        return np.asarray(is_whole | ~named_after), is_whole

    def _is_person(self, begin: Numbers, last: Numbers, whole: Mask) -> Mask:
        """Decide by the given name and the surname, and by the filter where both are doubtful."""
        given, surname = self.has(begin, _GIVEN), self.has(last, _SURNAME)
        place_first, place_last = self.has(begin, _PLACE), self.has(last, _PLACE)
        region = self.has(last, _REGION)
        common = self.has(last, _COMMON)
        hashes = self._hash(begin, last)
        known = _lexicon().known.contains(hashes)
        sure = given & surname & ~(place_first & (place_last | region))
        likely = given & ~surname & common & ~place_first
        likely |= ~given & surname & ~place_last & ~region
        person = sure | (likely & whole) | known
        return np.asarray(person & ~self._is_phrase(begin, last, hashes))

    def _hash(self, begin: Numbers, last: Numbers) -> Hashes:
        whole = self.hashes[self.numbers[begin]]
        for step in range(1, int((last - begin).max(initial=0)) + 1):
            places = np.minimum(begin + step, last)
            word = self.hashes[self.numbers[places]]
            whole = join_hashes(whole, np.where(begin + step <= last, word, np.uint64(0)))
        return np.asarray(whole)

    def _is_phrase(self, begin: Numbers, last: Numbers, hashes: Hashes) -> Mask:
        """Return which names are, begin or end with, a brand or a town."""
        phrases = _lexicon().phrases
        before = np.where(begin > 0, begin - 1, begin)  # "puerto rico" before "posadas"
        spans = ((begin, begin + 1), (last - 1, last), (begin, last + 1), (before, begin))
        parts = (hashes, *(self._hash(*span) for span in spans))
        return np.asarray(np.any([np.isin(part, phrases) for part in parts], axis=0))
