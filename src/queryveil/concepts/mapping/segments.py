"""Split words that join several others: "badcreditcarloans" is "bad credit car loans".

People type names of sites so. Only words that are in no list are split, and only into words that
are all known.
"""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

_MIN_LETTERS, _MAX_LETTERS = 8, 45
_MIN_PART, _MAX_PART = 4, 16
# Shorter words that begin or end such names; others count only between longer ones.
_SHORT = frozenset((
    "the", "my", "new", "big", "hot", "all", "car", "web", "tv", "cd", "pc", "usa", "uk", "ny",
    "nj", "air", "art", "bar", "bed", "bus", "cat", "dog", "fun", "gas", "gay", "gun", "job",
    "jobs", "kid", "law", "map", "men", "pet", "sex", "ski", "tax", "toy", "you", "get", "buy",
    "top", "old", "red", "sun", "boy", "spa", "inn", "dvd", "mp3", "pic", "zoo", "hip", "hop",
    "free", "girl", "com",
))  # fmt: skip
_MIDDLE = frozenset((
    "of", "in", "on", "to", "at", "by", "or", "is", "a", "and", "for", "your", "with", "from",
    "are", "how",
))  # fmt: skip
# A part costs more the shorter it is, so that few long words win.
_PART_COST, _SHORT_COST = 10, 14


class Segmenter:
    """Split joined words.

    >>> splitter = Segmenter(["free", "credit", "card", "cards", "cradle", "filth"])
    >>> splitter.split(pl.Series(["freecreditcards", "cradleoffilth", "xyzcards"]))
    ['free credit cards', 'cradle of filth', '']
    """

    def __init__(self, words: Iterable[str]) -> None:
        listed = (word for word in words if _MIN_PART <= len(word) <= _MAX_PART)
        self._words = frozenset((*listed, *_SHORT))

    def split(self, words: pl.Series) -> list[str]:
        """Return the parts of each word with blanks, or an empty text where it has none."""
        return [self._split_word(word) for word in words]

    def _split_word(self, word: str) -> str:
        if not _MIN_LETTERS <= len(word) <= _MAX_LETTERS or not word.isascii():
            return ""
        # The cheapest parts up to each letter: their cost, and where the last one begins.
        best: dict[int, tuple[int, int]] = {0: (0, 0)}
        for begin in range(len(word)):
            if begin not in best:
                continue
            for end in range(begin + 1, min(begin + _MAX_PART, len(word)) + 1):
                cost = self._rate(word, begin, end)
                option = (best[begin][0] + cost, begin)
                if cost and (end not in best or option < best[end]):
                    best[end] = option
        if len(word) not in best or not best[len(word)][1]:
            return ""
        parts, end = [], len(word)
        while end:
            begin = best[end][1]
            parts.append(word[begin:end])
            end = begin
        return " ".join(reversed(parts))

    def _rate(self, word: str, begin: int, end: int) -> int:
        """Return the cost of a part, or 0 if it is no word and no number."""
        part = word[begin:end]
        if part in self._words:
            return _PART_COST if len(part) >= _MIN_PART else _SHORT_COST
        if part in _MIDDLE and begin > 0 and end < len(word):
            return _SHORT_COST
        return _PART_COST if begin and len(part) < _MIN_PART and part.isdigit() else 0
