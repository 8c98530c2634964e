"""Render the queries of the shapes `web` and `shop`, and the addresses that are clicked."""

from __future__ import annotations

import numpy as np
import polars as pl

from . import distributions as common
from .distributions import BlockRandom, Bools, Ints
from .queries import identifier
from .shapes import LogShape
from .vocabulary import load_vocabulary, mix64
from .web_queries import WebIntent, WebPart
from .words import INVENTED, WordTables

# What untidy queries have at their end; the first is for tidy ones.
_ENDS = pl.Series(["", " ", "?", "!", ",", " ."])

LONGEST_QUERY = 341  # what is pasted is cut there
_PIECES, _PIECE_LAW = 24, (1.2, 1.0)  # of sentences: mostly two or three, some very many
_SHORTEST_SLIP = 5  # letters of a word that is misspelled


def render_web_queries(
    intent: Ints, parts: Ints, shape: LogShape, words: WordTables, dice: BlockRandom
) -> pl.Series:
    """Write queries out, a few of them as a dash or a personal identifier instead."""
    size = parts.shape[1]
    place = np.arange(size)
    sentences = np.flatnonzero(intent == WebIntent.SENTENCE)
    personal = np.flatnonzero(dice.bernoulli(common.PERSONAL, size))
    place[sentences] = size + np.arange(len(sentences))
    place[personal] = size + len(sentences) + np.arange(len(personal))
    place[dice.bernoulli(common.DASH, size)] = size + len(sentences) + len(personal)
    numbers = dice.integers(10**15, len(personal)).tolist()
    others = [identifier(number, load_vocabulary()) for number in numbers]
    texts = (
        _short_texts(intent, parts, shape, words, dice),
        _sentences(parts[WebPart.WORD, sentences], words),
        pl.Series([*others, "-"]),
    )
    return pl.concat(texts).gather(place)


def _short_texts(
    intent: Ints, parts: Ints, shape: LogShape, words: WordTables, dice: BlockRandom
) -> pl.Series:
    """Put the parts of queries together."""
    size = parts.shape[1]
    is_sentence = intent == WebIntent.SENTENCE
    untidy = np.where(
        dice.bernoulli(common.UNTIDY, size), 1 + dice.integers(len(_ENDS) - 1, size), 0
    )
    slips = dice.bernoulli(shape.misspelled, size) & ~is_sentence
    numbers = dice.integers(1 << 30, int(slips.sum()))
    terms = words.render(np.where(is_sentence, 0, parts[WebPart.WORD]))
    columns = [
        words.befores.gather(parts[WebPart.BEFORE]),
        _replace(terms, slips, misspell(terms.filter(pl.Series(slips)), numbers)),
        words.joins.gather(parts[WebPart.JOIN]),
        words.render(parts[WebPart.SECOND]),
        words.afters.gather(parts[WebPart.AFTER]),
        words.places.gather(parts[WebPart.PLACE]),
        _ENDS.gather(untidy),
    ]
    return pl.select(pl.concat_str(columns)).to_series()


def _replace(texts: pl.Series, mask: Bools, others: pl.Series) -> pl.Series:
    """Return texts with others in the places of a mask."""
    place = np.arange(len(texts))
    place[mask] = len(texts) + np.arange(len(others))
    return pl.concat([texts, others]).gather(place)


def misspell(texts: pl.Series, numbers: Ints) -> pl.Series:
    """Return words with one slip each: a letter left out, doubled or exchanged with the next.

    Short words are returned as they are.

    >>> misspell(pl.Series(["guitar", "guitar", "guitar", "cat"]), np.array([0, 1, 2, 3])).to_list()
    ['gitar', 'guuitar', 'giutar', 'cat']
    """
    table = pl.DataFrame({"text": texts, "number": numbers}).with_columns(
        at=1 + (pl.col("number") // 3) % (pl.col("text").str.len_chars().cast(pl.Int64) - 2).clip(1)
    )
    text, at = pl.col("text"), pl.col("at")
    head, here, after = text.str.slice(0, at), text.str.slice(at, 1), text.str.slice(at + 1, 1)
    slip = (
        pl.when(pl.col("number") % 3 == 0)
        .then(pl.concat_str(head, text.str.slice(at + 1)))
        .when(pl.col("number") % 3 == 1)
        .then(pl.concat_str(head, here, text.str.slice(at)))
        .otherwise(pl.concat_str(head, after, here, text.str.slice(at + 2)))
    )
    is_long = text.str.len_chars() >= _SHORTEST_SLIP
    return table.select(pl.when(is_long).then(slip).otherwise(text)).to_series()


def _sentences(numbers: Ints, words: WordTables) -> pl.Series:
    """Return pasted sentences, always the same for the same numbers."""
    mixed = mix64(numbers.astype(np.uint64))
    table = common.zipf_table(_PIECES, *_PIECE_LAW)
    uniform = (mixed >> np.uint64(11)).astype(np.float64) / (1 << 53)
    pieces = 2 + np.searchsorted(table, uniform, side="right")
    texts: list[pl.Series] = []
    for piece in range(int(pieces.max(initial=0))):
        mixed = mix64(mixed + np.uint64(0x9E3779B97F4A7C15))
        clause = words.clauses.gather((mixed % np.uint64(len(words.clauses))).astype(np.int64))
        total = np.uint64(int(words.sizes.sum()))
        word = words.terms.gather(1 + ((mixed >> np.uint64(20)) % total).astype(np.int64))
        text = pl.select(pl.concat_str([clause, word])).to_series()
        here = pl.Series(piece < pieces)
        texts.append(pl.select(pl.when(here).then(text)).to_series().alias(str(piece)))
    if not texts:
        return pl.Series([], dtype=pl.String)
    joined = pl.select(pl.concat_str(texts, separator=" ", ignore_nulls=True)).to_series()
    return joined.str.slice(0, LONGEST_QUERY).str.strip_chars_end()


def render_web_urls(intent: Ints, parts: Ints, rank: Ints, words: WordTables) -> pl.Series:
    """Name the site of a result, always the same for the same query and place."""
    mixed = parts[0].astype(np.uint64)
    for number in (*parts[1:], rank):
        mixed = mix64(mixed * np.uint64(0x9E3779B97F4A7C15) + number.astype(np.uint64))
    large = (mixed % np.uint64(1000)).astype(np.int64) < 1000 * common.LARGE_SITE_CLICKS
    # The product of two even draws prefers the first of the large sites.
    draws = (mixed >> np.uint64(12)) % np.uint64(4096), (mixed >> np.uint64(24)) % np.uint64(4096)
    site = (draws[0] * draws[1] * np.uint64(common.LARGE_SITES)) >> np.uint64(24)
    is_own = (intent == WebIntent.SITE) & (rank == 1)
    elsewhere = (large | (intent == WebIntent.SENTENCE)) & ~is_own
    term = np.where(elsewhere, INVENTED + site.astype(np.int64), parts[WebPart.WORD])
    endings = np.uint64(len(words.endings))
    ending = 1 + ((mixed >> np.uint64(40)) % endings).astype(np.int64)
    ending[is_own | elsewhere] = 0
    endings_table = pl.concat([pl.Series([""]), words.endings])
    hosts = words.render_hosts(term)
    prefix, suffix = pl.lit("http://www."), pl.lit(".example")
    host = endings_table.gather(ending)
    return pl.select(pl.concat_str([prefix, hosts, host, suffix])).to_series()
