"""Read the terms of the sensitive topics: words, phrases and parts of words with their flags."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np
import polars as pl
from numpy.typing import NDArray

from .storage import DATA, read_lists
from .words import Hashes, TextNumbers, fold, hash_texts

TOPICS = ("health", "sexuality", "religion", "politics", "crime", "self-harm")
N_TOPICS = len(TOPICS)
_MAX_CONTEXTS = 8
# Bits of a term: a topic for which it is enough, a topic of which it is a hint, whether it is
# harmless, whether it makes the word before it a name, the contexts that it makes, and the
# contexts in which it does not count.
HINT = N_TOPICS
HARMLESS, PLACE = 1 << 2 * N_TOPICS, 1 << (2 * N_TOPICS + 1)
MAKES = 2 * N_TOPICS + 2
CANCELLED = MAKES + _MAX_CONTEXTS
ALL_CONTEXTS = (1 << _MAX_CONTEXTS) - 1

_PLURAL_IN_S = ("en", "fr", "es", "pt", "nl")
_DIGRAPHS = {"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa"}
_SEPARATORS = r"[./_:;,+&=%@#|()\[\]{}<>\\*~^$!?-]+"


_Line = tuple[str, str, str]


def split_signs(texts: pl.Series) -> pl.Series:
    """Return folded texts in which any sign separates words, so that addresses have words too.

    >>> split_signs(pl.Series(["www.Example.org/alzheimer's"])).to_list()
    ['www example org alzheimers']
    """
    return fold(texts.str.replace_all(_SEPARATORS, " "))


@dataclass(frozen=True, eq=False, repr=False)
class Terms:
    """The terms, as the search for topics needs them.

    Attributes:
        words: Flags of single words.
        patterns: Flags and the regular expression of the words that have them.
        hashes: Sorted hashes of phrases.
        phrase_flags: The flags of the phrases.
        first_words: The words with which phrases begin.
        longest: The number of words of the longest phrase.
        topic_contexts: For each topic the contexts in which none of its terms counts.
    """

    words: TextNumbers
    patterns: tuple[tuple[int, str], ...]
    hashes: Hashes
    phrase_flags: NDArray[np.int64]
    first_words: pl.Series
    longest: int
    topic_contexts: tuple[int, ...]


@cache
def read_terms() -> Terms:
    """Return the terms of the file that comes with the program."""
    further = read_lists(DATA / "sensitive-wordnet.zst")
    return parse_terms((DATA / "sensitive.txt").read_text("utf-8"), further)


def parse_terms(text: str, further: Mapping[str, Sequence[str]] | None = None) -> Terms:
    r"""Return the terms of a text in the format that `data/sensitive.txt` describes.

    Args:
        text: The lists.
        further: English terms that are enough, by topic.

    >>> terms = parse_terms("[crime]\nen: arson, bank robber")
    >>> terms.words.look_up(pl.Series(["arson", "arsons", "bank"])).tolist()
    [16, 16, 0]
    """
    collected = _Collected()
    for topic, terms in (further or {}).items():
        collected.lines += [(topic, "en", term) for term in terms]
    collected.lines += _split_lines(text)
    return collected.terms()


def _split_lines(text: str) -> Iterator[_Line]:
    """Yield section, language and term."""
    section = ""
    for line in text.splitlines():
        if line.startswith("["):
            section = line.strip("[] ")
        elif line and not line.startswith("#"):
            language, _, terms = line.partition(":")
            for term in terms.split(","):
                yield section, language, term.strip()


@dataclass
class _Collected:
    """The terms while the file is read: section, language, term."""

    lines: list[_Line] = field(default_factory=list)
    contexts: list[str] = field(default_factory=list)
    topic_contexts: list[int] = field(default_factory=lambda: [0] * N_TOPICS)

    def terms(self) -> Terms:
        flags: dict[str, int] = {}
        parts: dict[int, list[str]] = {}
        for term, flag in self._spelled():
            if "*" in term:
                parts.setdefault(flag, []).append(term)
            else:
                flags[term] = flags.get(term, 0) | flag
        words = {term: flags[term] for term in flags if " " not in term}
        phrases = {term: flags[term] for term in flags if " " in term}
        hashes = hash_texts(pl.Series(list(phrases), dtype=pl.String))
        order = np.argsort(hashes)
        return Terms(
            words=TextNumbers(list(words), list(words.values())),
            patterns=tuple((flag, _pattern(texts)) for flag, texts in parts.items()),
            hashes=hashes[order],
            phrase_flags=np.array(list(phrases.values()), np.int64)[order],
            first_words=pl.Series(
                sorted({term.split(" ")[0] for term in phrases}), dtype=pl.String
            ),
            longest=max((term.count(" ") + 1 for term in phrases), default=1),
            topic_contexts=tuple(self.topic_contexts),
        )

    def _spelled(self) -> Iterator[tuple[str, int]]:
        """Yield each form of each term with its flag; all are folded at once."""
        forms = [
            (form, self._flag_of(section))
            for section, language, term in self.lines
            if not self._cancels_topic(section, term)
            for form in _forms(term, language)
        ]
        folded = fold(pl.Series([form.strip("*") for form, _ in forms], dtype=pl.String))
        for (form, flag), text in zip(forms, folded, strict=True):
            yield f"{'*' * form.startswith('*')}{text}{'*' * form.endswith('*')}", flag

    def _cancels_topic(self, section: str, term: str) -> bool:
        is_topic = term.startswith("topic:")
        if is_topic:
            topic = TOPICS.index(term.removeprefix("topic:"))
            self.topic_contexts[topic] |= self._flag_of(section) >> CANCELLED
        return is_topic

    def _flag_of(self, section: str) -> int:
        first, _, second = section.partition(" ")
        if section in ("harmless", "place"):
            return HARMLESS if section == "harmless" else PLACE
        if first == "context":
            return 1 << (MAKES + self._context(second))
        if second == "cancels":
            return 1 << (CANCELLED + self._context(first))
        return 1 << (TOPICS.index(first) + (HINT if second == "hint" else 0))

    def _context(self, name: str) -> int:
        if name not in self.contexts:
            self.contexts.append(name)
        return self.contexts.index(name)


def _forms(term: str, language: str) -> set[str]:
    """Return a term also with ae for ä, and with the "s" of the plural."""
    forms = {term, "".join(_DIGRAPHS.get(letter, letter) for letter in term)}
    if language in _PLURAL_IN_S and "*" not in term and not term.endswith("s"):
        forms |= {f"{form}s" for form in forms}
    return forms


def _pattern(parts: Iterable[str]) -> str:
    """Return the regular expression of words that begin, end or go on like this."""
    parts = sorted(parts)
    ends = [part for part in parts if not part.endswith("*")]
    begins = [part for part in parts if not part.startswith("*")]
    inside = [part for part in parts if part.startswith("*") and part.endswith("*")]
    kinds = (("^(?:{})", begins), ("(?:{})$", ends), ("(?:{})", inside))
    return "|".join(
        shape.format("|".join(re.escape(part.strip("*")) for part in texts))
        for shape, texts in kinds
        if texts
    )
