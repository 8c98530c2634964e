"""Who has most in common with each of many logs: exactly, by an inverted index, in small blocks.

For each text the index knows who holds it. So only those are visited who share something with a
log, and memory is bounded by the size of a block, not by the number of pairs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import polars as pl
from numpy.typing import NDArray

_CELLS = 1 << 20  # of a block's table of asking logs and holders, or one log if there are more
_VISITS = 1 << 20  # texts times their holders in a block, or those of one log if they are more

Ints = NDArray[np.int64]


def best_matches(
    asked: pl.DataFrame, held: pl.DataFrame, holders: int, pairs: pl.DataFrame
) -> pl.DataFrame:
    """Compare each pair of log and holder with the best holders of that log.

    `asked` has the columns ask, text and count, `held` owner, text and count, each pair once;
    `pairs` has ask and owner. What two have in common counts with multiplicity: for each text the
    smaller count. Gives the pairs with their `score`, the `best` score of any of the `holders`
    for that log, and `ties`: how many have it.

    >>> asked = pl.DataFrame({"ask": [0, 0], "text": [7, 9], "count": [3, 1]})
    >>> held = pl.DataFrame({"owner": [0, 1, 2], "text": [7, 7, 9], "count": [2, 3, 5]})
    >>> best_matches(asked, held, 3, pl.DataFrame({"ask": [0, 0], "owner": [0, 1]})).rows()
    [(0, 0, 2, 3, 1), (0, 1, 3, 3, 1)]
    """
    pairs = pairs.sort("ask", "owner")
    ask, owner = _numbers(pairs, "ask", "owner")
    asks, index = _Asks.of(asked, 1 + int(ask.max(initial=-1))), _Index.of(held, holders)
    found = np.zeros((3, len(ask)), np.int64)
    table = np.zeros(asks.width(index) * holders, np.int64)
    for first, last in asks.blocks(index):
        here = slice(*np.searchsorted(ask, (first, last)))
        row, (log, cell, count) = ask[here] - first, index.visit(asks, first, last)
        np.add.at(table, cell, count)
        best, hits = _best(table, log, cell, last - first)
        found[:2, here] = table[row * holders + owner[here]], best[row]
        found[2, here] = _ties(table, log[hits], cell[hits], best, holders)[row]
        table[cell] = 0
    return pairs.with_columns(score=found[0], best=found[1], ties=found[2])


def group_equal_logs(rows: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Take equal logs together: who has each, and what is in it.

    `rows` has the columns owner, text and count. Gives ask and owner, and ask, text and count.

    >>> rows = {"owner": [0, 1, 2], "text": [5, 5, 5], "count": [1, 2, 1]}
    >>> who, what = alike(pl.DataFrame(rows))
    >>> who.height, what.sort("count").select("text", "count").rows()
    (3, [(5, 1), (5, 2)])
    """
    ordered = rows.sort("owner", "text").group_by("owner", maintain_order=True)
    logs = ordered.agg("text", "count")
    kinds = logs.group_by("text", "count", maintain_order=True).agg("owner").with_row_index("ask")
    who = kinds.select("ask", "owner").explode("owner")
    return who, kinds.select("ask", "text", "count").explode("text", "count")


@dataclass(frozen=True, eq=False)
class _Asks:
    """The logs that are asked for, one after the other: log a has rows start[a] to start[a + 1]."""

    start: Ints
    texts: Ints
    counts: Ints

    @classmethod
    def of(cls, asked: pl.DataFrame, size: int) -> _Asks:
        ask, texts, counts = _numbers(asked.sort("ask", "text"), "ask", "text", "count")
        return cls(np.searchsorted(ask, np.arange(size + 1)), texts, counts)

    def width(self, index: _Index) -> int:
        """Tell how many logs a block has at most."""
        return max(1, min(_CELLS // max(index.holders, 1), len(self.start) - 1))

    def blocks(self, index: _Index) -> Iterator[tuple[int, int]]:
        """Cut the logs into blocks that neither visit too many holders nor need a large table."""
        logs = np.arange(len(self.start) - 1)
        if not len(logs):
            return
        visits = np.concatenate([[0], np.cumsum(index.sizes(self.texts))])[self.start[:-1]]
        new = (np.diff(visits // _VISITS) > 0) | (np.diff(logs // self.width(index)) > 0)
        edges = np.concatenate([[0], 1 + np.flatnonzero(new), [len(logs)]])
        yield from pairwise(edges.tolist())


@dataclass(frozen=True, eq=False)
class _Index:
    """For each text its owners, and how often each has it: those from start[t] to start[t + 1].

    After the last text stands one that nobody has.
    """

    start: Ints
    owners: Ints
    counts: Ints
    holders: int

    @classmethod
    def of(cls, held: pl.DataFrame, holders: int) -> _Index:
        texts, owners, counts = _numbers(held.sort("text", "owner"), "text", "owner", "count")
        start = np.searchsorted(texts, np.arange(2 + int(texts.max(initial=-1))))
        return cls(np.append(start, len(texts)), owners, counts, holders)

    def known(self, texts: Ints) -> Ints:
        """Put the text that nobody has in place of all that are unknown."""
        return np.minimum(texts, len(self.start) - 2)

    def sizes(self, texts: Ints) -> Ints:
        """Count the owners of texts."""
        places = self.known(texts)
        return self.start[places + 1] - self.start[places]

    def visit(self, asks: _Asks, first: int, last: int) -> tuple[Ints, Ints, Ints]:
        """Go from the texts of a block's logs to their owners.

        Gives for each visit the log, the cell of the table (a row a log, a column a holder), and
        how much the two have in common in that text.
        """
        rows = slice(asks.start[first], asks.start[last])
        texts, sizes = self.known(asks.texts[rows]), self.sizes(asks.texts[rows])
        begin = self.start[texts] - (np.cumsum(sizes) - sizes)
        place = np.repeat(begin, sizes) + np.arange(sizes.sum())
        log = np.repeat(np.arange(last - first), np.diff(asks.start[first : last + 1]))
        log = np.repeat(log, sizes)
        count = np.minimum(np.repeat(asks.counts[rows], sizes), self.counts[place])
        return log, log * self.holders + self.owners[place], count


def _best(table: Ints, log: Ints, cell: Ints, logs: int) -> tuple[Ints, NDArray[np.bool_]]:
    """Give the best score of each log, and which visits led to it."""
    score, best = table[cell], np.zeros(logs, np.int64)
    np.maximum.at(best, log, score)
    return best, score == best[log]


def _ties(table: Ints, log: Ints, cell: Ints, best: Ints, holders: int) -> Ints:
    """Count the cells with the best score; several visits lead to one. Spoils these cells.

    Of a log that shares nothing with anybody all are equally good.
    """
    number = np.arange(len(cell))
    table[cell] = number  # of equal cells the last one stays
    ties = np.bincount(log[table[cell] == number], minlength=len(best))
    return np.where(best > 0, ties, holders)


def _numbers(rows: pl.DataFrame, *names: str) -> list[Ints]:
    return [rows[name].to_numpy().astype(np.int64) for name in names]
