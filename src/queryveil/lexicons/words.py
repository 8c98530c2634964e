"""Split texts into words, and give each distinct word its number, flags and hash."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

Numbers = NDArray[np.int64]
Hashes = NDArray[np.uint64]
Flags = NDArray[np.uint16]

_LETTERS = {"ß": "ss", "ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe", "\u0131": "i"}
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_MIXERS = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
_MAX_LETTERS = 40


def fold(texts: pl.Series) -> pl.Series:
    """Return texts in lower case without accents, apostrophes, periods and hyphens.

    >>> fold(pl.Series(["Zoë  O'Brien-Müller", "J. Doe?"])).to_list()
    ['zoe obrien muller', 'j doe']
    """
    lower = texts.str.to_lowercase()
    odd = lower.str.contains(r"[^a-z0-9 ]|  |^ | $").fill_null(False).arg_true()
    return lower.scatter(odd, _fold_odd(lower.gather(odd))) if len(odd) else lower


def _fold_odd(texts: pl.Series) -> pl.Series:
    if texts.str.contains(r"[^\x00-\x7f]").any():
        texts = texts.str.normalize("NFKD").str.replace_all(r"\p{M}", "")
        texts = texts.str.replace_many(_LETTERS)
    texts = texts.str.replace_all("['\u2019\u2018`\".?!]", "")
    # Any other sign stands alone, so that no name continues across it.
    texts = texts.str.replace_all(r"[-\s]+", " ").str.replace_all(r"([^a-z0-9 ]+)", " $1 ")
    return texts.str.replace_all(" +", " ").str.strip_chars(" ")


def hash_words(words: pl.Series) -> Hashes:
    """Return a hash of each word: the same on every machine and in every version.

    >>> hash_words(pl.Series(["jane"]))[0]
    np.uint64(5863278741921956710)
    """
    cut = words.fill_null("").str.slice(0, _MAX_LETTERS).str.replace_all(r"[^\x00-\x7f]", "?")
    fixed = np.array(cut.to_list(), dtype=f"S{_MAX_LETTERS}")
    letters = fixed.view(np.uint8).reshape(len(fixed), _MAX_LETTERS).astype(np.uint64)
    hashes = np.zeros(len(fixed), np.uint64)
    for letter in letters.T:
        hashes = np.where(letter > 0, (hashes + letter) * _FACTOR, hashes)
    return mix(hashes)


def mix(numbers: Hashes) -> Hashes:
    """Return numbers whose bits all depend on all bits (the last step of SplitMix64)."""
    for shift, factor in zip((30, 27), _MIXERS, strict=True):
        numbers = (numbers ^ (numbers >> np.uint64(shift))) * factor
    return numbers ^ (numbers >> np.uint64(31))


def join_hashes(first: Hashes, second: Hashes) -> Hashes:
    """Return the hashes of two texts, one after the other; a hash of 0 is an empty text.

    >>> words = hash_words(pl.Series(["jane", "doe"]))
    >>> bool(join_hashes(words[:1], words[1:])[0] == hash_texts(pl.Series(["jane doe"]))[0])
    True
    """
    both = mix(first * _FACTOR + second)
    return np.where(second == 0, first, np.where(first == 0, second, both))


def hash_texts(texts: pl.Series) -> Hashes:
    """Return the hashes of folded texts of several words."""
    split = WordTable.of(texts)
    table = split.hashes
    hashes = np.zeros(len(texts), np.uint64)
    for index in range(int(split.sizes.max(initial=0))):
        has = np.flatnonzero(split.sizes > index)
        hashes[has] = join_hashes(hashes[has], table[split.numbers[split.starts[has] + index]])
    return hashes


_FEW = 2_000  # texts that are looked up one by one; a join reads the whole table first


class TextNumbers:
    """A table of texts and their numbers, for few texts and for many.

    >>> numbers = TextNumbers(["jane", "john"], [1, 2])
    >>> numbers.look_up(pl.Series(["john", "mary"])).tolist()
    [2, 0]
    """

    def __init__(self, texts: Sequence[str], numbers: Sequence[int], missing: int = 0) -> None:
        self._table = pl.DataFrame(
            {"text": texts, "number": numbers}, schema={"text": pl.String, "number": pl.Int64}
        )
        self._missing = missing

    @cached_property
    def _numbers(self) -> dict[str, int]:
        # Columns, not rows: a hundred thousand tuples would keep the garbage collector busy.
        texts, numbers = (column.to_list() for column in self._table.get_columns())
        return dict(zip(texts, numbers, strict=True))

    def look_up(self, texts: pl.Series) -> Numbers:
        """Return the number of each text."""
        if len(texts) <= _FEW:
            values = [self._numbers.get(text, self._missing) for text in texts]
            return np.array(values, np.int64)
        asked = texts.alias("text").to_frame()
        joined = asked.join(self._table, on="text", how="left", maintain_order="left")
        return joined["number"].fill_null(self._missing).to_numpy()


def contains_sorted(ordered: Hashes, values: Hashes) -> NDArray[np.bool_]:
    """Return which values are in an ordered array."""
    places = np.minimum(np.searchsorted(ordered, values), max(len(ordered) - 1, 0))
    return np.asarray(ordered[places] == values) if len(ordered) else np.zeros(len(values), bool)


@dataclass(frozen=True, eq=False, repr=False)
class WordTable:
    """The words of many texts: word `numbers[i]` of `distinct`, one text after the other."""

    distinct: pl.Series
    numbers: Numbers
    sizes: Numbers

    @classmethod
    def of(cls, folded: pl.Series) -> WordTable:
        """Split folded texts at blanks; null is a text without words."""
        lists = folded.fill_null("").str.split(" ")
        words = lists.explode(empty_as_null=False)
        # Categories of their own, because the codes of shared ones would be many more.
        coded = words.cast(pl.Categorical(pl.Categories.random()))
        numbers = coded.to_physical().cast(pl.Int64).to_numpy()
        place = np.zeros(int(numbers.max(initial=-1)) + 1, np.int64)
        place[numbers] = np.arange(len(numbers))
        sizes = lists.list.len().cast(pl.Int64).to_numpy()
        return cls(words.gather(place), numbers, sizes)

    @property
    def starts(self) -> Numbers:
        """The index of the first word of each text."""
        return np.asarray(np.cumsum(self.sizes) - self.sizes)

    @property
    def hashes(self) -> Hashes:
        """The hash of each distinct word."""
        return hash_words(self.distinct)

    def flags(self, flags_of: TextNumbers) -> NDArray[Any]:
        """Return the flags of each distinct word; 0 for words without any."""
        return flags_of.look_up(self.distinct)
