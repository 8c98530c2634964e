"""Mask identifiers in a text."""

from __future__ import annotations

import re

import polars as pl

from ...lexicons.people import name_words
from ...lexicons.words import fold
from .countries import EUROPEAN_STREET
from .normalization import plain
from .patterns import IBAN_PYTHON, LONG_VALUE, STREET


def mask(texts: pl.Series) -> pl.Series:
    """Mask the identifiers of texts; more is masked than necessary.

    >>> mask(pl.Series(["call Jane(at)mail.example or 212-555-0123"])).to_list()
    ['call •••@••• or •••-•••-••••']
    """
    return pl.Series(texts.name, list(map(_mask_all, _mask_names(plain(texts)))), pl.String)


def _mask_all(text: str) -> str:
    masked = re.sub(r"[^ ]* ?@ ?[^ ]*", "•••@•••", text)
    return _mask_numbers(re.sub(IBAN_PYTHON, _dots, masked))


def mask_identifiers(query: str) -> str:
    """Mask what may identify a user, to show an example on a screen.

    More is masked than the kinds detect: every digit, long word and value after "=", and the names
    of known people.

    >>> mask_identifiers("jane.doe@mail.example"), mask_identifiers("call 212-555-0123")
    ('j•••@•••', 'call •••-•••-••••')
    """
    (named,) = _mask_names(pl.Series([query]))
    return _mask_numbers(named)


def _mask_numbers(text: str) -> str:
    words = re.sub(f"{STREET}|{EUROPEAN_STREET}", _dots, text).split(" ")
    masked = " ".join(_mask_email(word) if "@" in word else word for word in words)
    masked = re.sub(rf"=[^ &]+|(?<!/){LONG_VALUE}", lambda match: match[0][0] + "•••", masked)
    return re.sub(r"\d", "•", re.sub(r"[a-z0-9_%+~-]{20,}", "•••", masked))


def _dots(text: str | re.Match[str]) -> str:
    return re.sub(r"\w", "•", text if isinstance(text, str) else text[0])


def _mask_email(word: str) -> str:
    return word if word.startswith("•") else f"{word[0]}•••@•••"


def _mask_names(texts: pl.Series) -> list[str]:
    """Mask each word that has a part of a full name."""
    names = name_words(texts)
    split = [text.split(" ") if own else [] for text, own in zip(texts, names, strict=True)]
    words = pl.Series(sorted({word for line in split for word in line}), dtype=pl.String)
    parts = dict(zip(words, (parts.split(" ") for parts in fold(words)), strict=True))
    return [
        " ".join(_dots(word) if own.intersection(parts[word]) else word for word in line) or text
        for text, line, own in zip(texts, split, names, strict=True)
    ]
