"""Known words at the start or the end of a word that is in no list: "toyotafinancial"."""

from __future__ import annotations

import numpy as np
import polars as pl

from ..taxonomy.arrays import IntArray

_MIN_REST = 3


def find_starts(words: pl.Series, starts: pl.DataFrame) -> IntArray:
    """Return the entry of the longest start of each word that a table has, or -1.

    >>> table = pl.DataFrame({"word": ["toyota"], "entry": [7]})
    >>> find_starts(pl.Series(["toyotafinancial", "toyotas"]), table).tolist()
    [7, -1]
    """
    return _find(words, starts, at_end=False)


def find_tails(words: pl.Series, tails: pl.DataFrame) -> IntArray:
    """Return the entry of the longest end of each word that a table has, or -1.

    >>> table = pl.DataFrame({"word": ["motors"], "entry": [7]})
    >>> find_tails(pl.Series(["spedwaymotors", "motors"]), table).tolist()
    [7, -1]
    """
    return _find(words, tails, at_end=True)


def _find(words: pl.Series, table: pl.DataFrame, *, at_end: bool) -> IntArray:
    entries = np.full(len(words), -1, np.int64)
    if not len(words):
        return entries
    lengths = words.str.len_chars().to_numpy()
    for size in table["word"].str.len_chars().unique().sort():  # the longest is last
        rows = np.flatnonzero(lengths >= size + _MIN_REST)
        part = words.gather(rows)
        part = part.str.tail(size) if at_end else part.str.head(size)
        asked = pl.DataFrame({"word": part})
        hits = asked.join(table, on="word", how="left", maintain_order="left")["entry"]
        is_hit = hits.is_not_null().to_numpy()
        entries[rows[is_hit]] = hits.drop_nulls().to_numpy()
    return entries
