"""Words that were typed without a blank: "freebingogames" ends in "games"."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["CompoundSplitter"]

_LEAST, _MOST = 7, 30
_LEAST_PART, _LEAST_HEAD = 3, 4


class CompoundSplitter:
    """Finds the last word of glued ones.

    `heads` are the words that may come last, `words` all that may stand before, `whole` the
    words that are not to be taken apart.

    >>> gluing = Gluing({"games", "mower"}, {"free", "bingo", "lawn"}, {"pergames"})
    >>> [gluing.head(word) for word in ("freebingogames", "lawnmower", "pergames", "xyzgames")]
    ['games', 'mower', '', '']
    """

    def __init__(self, heads: Iterable[str], words: Iterable[str], whole: Iterable[str]) -> None:
        self._heads = {head for head in heads if len(head) >= _LEAST_HEAD}
        self._words = {word for word in words if len(word) >= _LEAST_PART} | self._heads
        self._whole = frozenset(whole)

    def last_word(self, word: str) -> str:
        """Give the longest known last word after known words, or an empty text."""
        if not _LEAST <= len(word) <= _MOST or word in self._whole or not word.isalpha():
            return ""
        for cut in range(_LEAST_PART, len(word) - _LEAST_HEAD + 1):
            if word[cut:] in self._heads and self._known(word[:cut]):
                return word[cut:]
        return ""

    def _known(self, start: str) -> bool:
        """Tell whether this is a known word, or two."""
        return start in self._words or any(
            start[:cut] in self._words and start[cut:] in self._words
            for cut in range(_LEAST_PART, len(start) - _LEAST_PART + 1)
        )
