"""Find texts inside of queries: as a run of consecutive words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from ..taxonomy.arrays import IntArray, RaggedArray
from .accents import ELISIONS, split_elisions
from .tokens import Vocabulary, tokenize

_QUERIES = 200_000  # that are searched at a time


@dataclass(frozen=True, eq=False, repr=False)
class _Level:
    """One level of the tree of all texts, word by word.

    Attributes:
        keys: The node of the level above, times the number of words, plus a word; sorted. The
            position of a key is the number of its node.
        texts: The texts that end at each node.
    """

    keys: IntArray
    texts: RaggedArray


class TextRuns:
    """Texts that are looked for in queries; a text without any word is in no query.

    >>> runs = TextRuns(pl.Series(["red shoes", "shoes", "red"]))
    >>> runs.find(pl.Series(["Cheap red shoes", "redder shoes"])).rows()
    [(0, 0), (0, 1), (0, 2), (1, 1)]
    """

    def __init__(self, texts: pl.Series) -> None:
        self._vocabulary = Vocabulary()
        words = self._vocabulary.encode(texts)
        self._levels: list[_Level] = []
        node, text = np.zeros(len(words), np.int64), np.flatnonzero(words.sizes)
        while len(text):
            depth = len(self._levels)
            key = node[text] * len(self._vocabulary) + words.items[words.start[text] + depth]
            keys, place = np.unique(key, return_inverse=True)
            node[text] = place
            is_last = words.sizes[text] == depth + 1
            ended = RaggedArray.group_by(place[is_last], text[is_last], len(keys))
            self._levels.append(_Level(keys, ended))
            text = text[~is_last]

    def find(self, queries: pl.Series) -> pl.DataFrame:
        """Return which texts are in which queries, by their numbers: query, text; each pair once.

        In languages with elisions a query is read with and without a blank after the article,
        as the mapping to concepts does.
        """
        schema = {"query": pl.UInt32, "text": pl.UInt32}
        parts = [pl.DataFrame(schema=schema)]
        for first in range(0, len(queries), _QUERIES):
            block = queries[first : first + _QUERIES].cast(pl.String)
            number = pl.Series(np.arange(first, first + len(block)))
            for texts, numbers in _readings(block, number):
                query, text = self._search(texts)
                pairs = pl.DataFrame({"query": numbers.gather(query), "text": text})
                parts.append(pairs.cast(schema))  # type: ignore[arg-type]
        return pl.concat(parts).unique().sort("query", "text")

    def _search(self, queries: pl.Series) -> tuple[IntArray, IntArray]:
        lists = tokenize(queries.fill_null(""))
        known = self._vocabulary.known(lists.explode(empty_as_null=False))
        words = RaggedArray.from_sizes(lists.list.len().to_numpy(), known)
        end, row = words.start[1:], words.row_ids
        begin = np.arange(len(words.items))
        node = np.zeros(len(begin), np.int64)
        rows: list[IntArray] = [np.zeros(0, np.int64)]
        texts: list[IntArray] = [np.zeros(0, np.int64)]
        for depth, level in enumerate(self._levels):
            within = begin + depth < end[row[begin]]
            begin, node = begin[within], node[within]
            word = words.items[begin + depth]
            key = node * len(self._vocabulary) + word
            place = np.minimum(np.searchsorted(level.keys, key), len(level.keys) - 1)
            matches = (word >= 0) & (level.keys[place] == key)
            begin, node = begin[matches], place[matches]
            ended, at = level.texts.take(node)
            rows.append(row[begin[at]])
            texts.append(ended)
        return np.concatenate(rows), np.concatenate(texts)


def _readings(block: pl.Series, numbers: pl.Series) -> list[tuple[pl.Series, pl.Series]]:
    """Return the queries, and those with an elided article as words of their own."""
    readings = [(block, numbers)]
    for language in ELISIONS:
        split = split_elisions(block, language)
        differs = (split != block).fill_null(False)
        if differs.any():
            readings.append((split.filter(differs), numbers.filter(differs)))
    return readings
