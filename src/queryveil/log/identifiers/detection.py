"""Search columns of texts for all kinds of identifiers."""

from __future__ import annotations

import polars as pl

from ...lexicons.people import classify_names
from .kinds import IDENTIFIER_KINDS, KNOWN, NAME, NAME_KINDS, PATTERN_KINDS
from .normalization import plain, plain_url
from .patterns import ANY


def flag_identifiers(texts: pl.Series) -> pl.DataFrame:
    """Return whether each text has an identifier of each kind: Booleans, named by kind.

    Each text should occur once.

    >>> flag_identifiers(pl.Series(["078-05-1120", None]))["ssn"].to_list()
    [True, False]
    """
    normal = plain(texts)
    names = classify_names(normal)
    flags = [kind.search(normal).alias(kind.name) for kind in PATTERN_KINDS]
    return pl.DataFrame([*flags, *((names == kind.code).alias(kind.name) for kind in NAME_KINDS)])


def kinds_of(texts: pl.Series, *, known_names: bool = False) -> pl.Series:
    """Return the index in `IDENTIFIER_KINDS` of the first kind in each text, or null.

    Args:
        texts: Each text should occur once.
        known_names: Whether names of known people count as well.

    >>> kinds_of(pl.Series(["weather", "078-05-1120"])).to_list()
    [None, 4]
    """
    normal = plain(texts)
    names = classify_names(normal)
    kinds = _first_pattern(normal, texts)
    for kind in (NAME, KNOWN) if known_names else (NAME,):
        new = (names == kind.code) & kinds.is_null()
        kinds = kinds.scatter(new.arg_true(), IDENTIFIER_KINDS.index(kind))
    return kinds


def kinds_of_urls(urls: pl.Series) -> pl.Series:
    """Return the index in `IDENTIFIER_KINDS` of the first kind in each URL, or null.

    URLs are not searched for names: most names in them are those of authors and of known people.

    >>> kinds = kinds_of_urls(pl.Series(["http://a.example/?to=jane%40mail.example"]))
    >>> IDENTIFIER_KINDS[kinds[0]].name
    'email'
    """
    return _first_pattern(plain_url(urls), urls.str.to_lowercase())


def _first_pattern(texts: pl.Series, written: pl.Series) -> pl.Series:
    """Return the first kind; for secrets in URLs the original text is searched, too."""
    indices = texts.str.contains(ANY).fill_null(False).arg_true()
    first = pl.repeat(None, len(indices), dtype=pl.Int8, eager=True)
    candidates, originals = texts.gather(indices), written.gather(indices)
    for number, kind in reversed(tuple(enumerate(PATTERN_KINDS))):
        matches = kind.search(candidates)
        if kind.name == "url-token":
            matches |= kind.search(originals)
        first = first.scatter(matches.arg_true(), number)
    return pl.repeat(None, len(texts), dtype=pl.Int8, eager=True).scatter(indices, first)
