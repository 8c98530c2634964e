"""Writing queries out, naming the sites that are clicked, and making up personal identifiers.

No identifier belongs to anybody; all are from ranges that are reserved or never issued: addresses
at ``.example`` (RFC 2606), telephone numbers 555-01xx (kept for fiction), cards that begin with
400000 (test cards) and social security numbers 987-65-432x (kept for advertisements).
"""

from __future__ import annotations

import numpy as np
import polars as pl

from ...synthetic import distributions as shape
from ...synthetic.distributions import BlockRandom, Ints
from ...synthetic.queries import QueryPart
from ...synthetic.vocabulary import QueryVocabulary, mix64, site_parts

__all__ = ["fake_card_number", "render_queries", "render_urls"]

# What untidy queries have after their word and at their end; the first is for tidy ones.
GAPS = pl.Series(["", " ", " ", "", "", "", ""])
ENDS = pl.Series(["", "", " ", "?", "!", ",", " ."])

CARD_PREFIX = 400_000_000_000_000  # and nine digits more, then a check digit


def render_queries(parts: Ints, words: QueryVocabulary, dice: BlockRandom) -> pl.Series:
    """Write queries out, a few of them as a dash or a personal identifier instead."""
    size = parts.shape[1]
    place = np.arange(size)
    personal = np.flatnonzero(dice.bernoulli(shape.PERSONAL, size))
    place[personal] = size + np.arange(len(personal))
    place[dice.bernoulli(shape.DASH, size)] = size + len(personal)
    others = [_identifier(n, words) for n in dice.integers(10**15, len(personal)).tolist()]
    return _texts(parts, words, dice).append(pl.Series([*others, "-"])).gather(place)


def _texts(parts: Ints, words: QueryVocabulary, dice: BlockRandom) -> pl.Series:
    """Put the parts of queries together."""
    size = parts.shape[1]
    untidy = np.where(dice.bernoulli(shape.UNTIDY, size), 1 + dice.integers(len(GAPS) - 1, size), 0)
    columns = (
        (words.befores, parts[QueryPart.BEFORE]),
        (words.words, parts[QueryPart.WORD]),
        (GAPS, untidy),
        (words.seconds, parts[QueryPart.SECOND]),
        (words.afters, parts[QueryPart.AFTER]),
        (words.places, parts[QueryPart.PLACE]),
        (ENDS, untidy),
    )
    return pl.select(pl.concat_str([table.gather(places) for table, places in columns])).to_series()


def render_urls(parts: Ints, rank: Ints, words: QueryVocabulary) -> pl.Series:
    """Name the site of a result, always the same for the same query and place."""
    mixed = parts[0].astype(np.uint64)
    for number in (*parts[1:], rank):
        mixed = mix64(mixed * np.uint64(0x9E3779B97F4A7C15) + number.astype(np.uint64))
    large = (mixed % np.uint64(1000)).astype(np.int64) < 1000 * shape.LARGE_SITE_CLICKS
    # The product of two even draws prefers the first of the large sites.
    draws = (mixed >> np.uint64(12)) % np.uint64(4096), (mixed >> np.uint64(24)) % np.uint64(4096)
    site = (draws[0] * draws[1] * np.uint64(shape.LARGE_SITES)) >> np.uint64(24)
    large_word, large_ending = site_parts(site.astype(np.int64), words)
    own = parts[QueryPart.SECOND] - words.ending
    is_own = (own >= 0) & (own < len(words.domains)) & (rank == 1)
    ending = ((mixed >> np.uint64(40)) % np.uint64(len(words.domains))).astype(np.int64)
    word = np.where(large & ~is_own, large_word, parts[QueryPart.WORD])
    ending = np.where(is_own, own, np.where(large, large_ending, ending))
    hosts, domains = words.hosts.gather(word), words.domains.gather(ending)
    return pl.select(pl.concat_str([hosts, domains])).to_series()


def _identifier(number: int, words: QueryVocabulary) -> str:
    """Make up an identifier from a number: what people type into a search box by mistake."""
    kind, number = number % 5, number // 5
    given = words.words[words.given + number % (len(words.words) - words.given)]
    family = words.seconds[words.family + number // 7 % (len(words.seconds) - words.family)].strip()
    site = words.domains[number % len(words.domains)]
    return (
        f"{given}.{family}@{site}",
        f"{201 + number % 789}-555-01{number // 1000 % 100:02}",
        fake_card_number(number),
        f"987-65-432{number % 10}",
        f"http://www.{site}/reset?token={number:014x}",
    )[kind]


def fake_card_number(number: int) -> str:
    """Make a test card from a number and the check digit of Luhn.

    >>> card(0)
    '4000000000000002'
    """
    body = str(CARD_PREFIX + number % 10**9)
    doubled = (2 * int(digit) for digit in body[::2])
    total = sum(digit // 10 + digit % 10 for digit in doubled) + sum(map(int, body[1::2]))
    return f"{body}{-total % 10}"
