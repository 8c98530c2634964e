"""Find the head of compounds in languages that write them as one word: "gartenstuhl"."""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from .language import Language

# Letters between the parts of a compound: "arbeitszimmer", "blumentopf".
_JOINTS = ("", "s", "n", "en", "e", "es", "er", "ns", "a", "o")
_MIN_START, _MIN_TAIL = 2, 3
_MIN_FREE_TAIL, _MIN_FREE_NOUN = 5, 4  # the shortest tail after an unknown start
_ENDINGS = ("", "n", "en", "s", "e", "er")  # of plurals, "platinen" are no "platin"
_MIN_LETTERS, _MAX_LETTERS = 6, 60


class CompoundTails:
    """Find the longest known noun at the end of a word, also of an inflected one.

    A noun of three or four letters counts only after a known word: "tischuhr", but not "besuch".

    >>> from queryveil.concepts.mapping.language import get_language
    >>> tails = CompoundTails(["stuhl", "uhr", "such", "tisch"], ["tisch"], get_language("german"))
    >>> tails.last_words(pl.Series(["gartenstühle", "tischuhren", "besuch", "stuhl"]))
    ['stuhl', 'uhr', '', '']
    """

    def __init__(self, nouns: Iterable[str], starts: Iterable[str], language: Language) -> None:
        self._language = language
        texts = pl.Series(list(nouns), dtype=pl.String)
        folded, stems = language.fold(texts), language.stem(texts)
        self._by_text: dict[str, str] = dict(zip(reversed(folded), reversed(texts), strict=True))
        self._by_text |= {text: text for text in texts}
        self._by_stem: dict[str, str] = dict(zip(reversed(stems), reversed(texts), strict=True))
        listed = pl.Series([*starts, *texts], dtype=pl.String)
        forms = (*listed, *language.fold(listed))
        self._starts = frozenset(text for text in forms if len(text) >= _MIN_START)

    def last_words(self, words: pl.Series) -> list[str]:
        """Return the noun that each compound ends in, as it is listed, or an empty string."""
        # A word with an accent is spelled in full: "schränke" does not end in "schranke".
        is_plain = words.str.normalize("NFD") == words
        texts = words.zip_with(~is_plain, self._language.fold(words))
        stems = self._language.stem(words)
        return [self._last_word(*forms) for forms in zip(texts, stems, strict=True)]

    def _last_word(self, text: str, stem: str) -> str:
        if not _MIN_LETTERS <= len(text) <= _MAX_LETTERS or not text.isalpha():
            return ""
        free = ""
        for cut in range(_MIN_START, len(text) - _MIN_TAIL + 1):
            if self._is_start(text[:cut]):
                tail = self._find_noun(text[cut:], stem[cut:], _MIN_TAIL)
                if tail:
                    return tail
            if not free and len(text) - cut >= _MIN_FREE_TAIL:
                free = self._find_noun(text[cut:], stem[cut:], _MIN_FREE_NOUN)
        return free

    def _find_noun(self, tail: str, stem: str, least: int) -> str:
        """Return the noun that a tail is, by itself, by an ending of plurals or by its stem."""
        for ending in _ENDINGS:
            form = tail.removesuffix(ending)
            if len(form) >= least and form in self._by_text:
                return self._by_text[form]
        return self._by_stem.get(stem, "") if len(stem) >= least else ""

    def _is_start(self, text: str) -> bool:
        """Return whether a compound can begin with this text: a known word, and a joint."""
        return any(
            text[: len(text) - len(joint)] in self._starts
            for joint in _JOINTS
            if text.endswith(joint) and len(text) - len(joint) >= _MIN_START
        )
