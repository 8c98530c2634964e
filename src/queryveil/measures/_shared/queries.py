"""Who has most in common with each of many logs: exactly, by an inverted index, in small blocks.

For each text the index knows who holds it. So only those are visited who share something with a
log, and memory is bounded by the size of a block, not by the number of pairs.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ...core.parameters import parameter
from ...errors import InputError, UsageError
from ...release.release import Release
from ..base import Measure
from ..context import MeasureContext, restore_users

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
    >>> who, what = group_equal_logs(pl.DataFrame(rows))
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


_NUMBER = pl.UInt32


@dataclass(frozen=True, eq=False, repr=False)
class UserQueryCounts:
    """Who sent which text how often.

    `rows` has the columns owner and text, as places in the names, and count; each pair once.
    """

    users: pl.Series
    queries: pl.Series
    rows: pl.DataFrame


@dataclass(frozen=True)
class QueryTextMeasure(Measure, ABC):
    """The base of the measures that compare texts: whole queries, or phrases."""

    taxonomy: str = parameter(
        "auto", "what finds phrases, where these are released: auto takes the release's own"
    )

    def prepare(self, before: MeasureContext) -> None:
        """Number the users and the queries of the log."""
        _queries(before)

    def original_counts(self, before: MeasureContext, release: Release) -> UserQueryCounts:
        """Give what was sent before, in the unit in which the release gives texts."""
        found = self.phrases_of(release)
        if found is None:
            return _queries(before)
        return before.cached(("sent phrases", found), lambda: self._phrases(before, found))

    def unit_of(self, release: Release, number: int = 2) -> str:
        """Name the texts of a release: queries or phrases."""
        one, many = (
            ("query", "queries") if self.phrases_of(release) is None else ("phrase", "phrases")
        )
        return one if number == 1 else many

    def basis(self, release: Release) -> str:
        """Say what was compared with what."""
        taxonomy = self.phrases_of(release)
        if taxonomy is None:
            return "released queries against the log's queries"
        return f"released phrases against the phrases of the log's queries (found by {taxonomy})"

    def phrases_of(self, release: Release) -> str | None:
        """Give the taxonomy that finds the phrases, or none where queries are released."""
        if release.parameters.get("emit") != "phrase":
            return None
        own = str(release.parameters.get("taxonomy", "wordnet"))
        return own if self.taxonomy == "auto" else self.taxonomy

    def _phrases(self, before: MeasureContext, taxonomy: str) -> UserQueryCounts:
        try:
            before.taxonomy(taxonomy)
        except InputError as error:
            raise UsageError(
                f'the release has phrases of the taxonomy "{taxonomy}", which {error.what}',
                hint=f"say where it lies: {self.name}:taxonomy=FILE",
            ) from error
        queries = _queries(before)
        # The texts stand in order, so their places are the numbers that the mapping gives them.
        found = before.map_queries(queries.queries.to_frame("query").lazy(), taxonomy)
        phrases = found.phrase_texts().select(
            pl.col("phrase").alias("query"), text=found.phrases["query"]
        )
        pairs = queries.rows.join(phrases.with_columns(pl.col("text").cast(_NUMBER)), on="text")
        counts = pairs.group_by("owner", "query").agg(pl.col("count").sum())
        rows, texts = _numbered(counts, "query")
        return UserQueryCounts(queries.users, texts, _sorted(rows.rename({"query": "text"})))


def count_user_queries(log: pl.LazyFrame) -> UserQueryCounts:
    """Count the queries of each user of a log.

    >>> log = pl.LazyFrame({"user": ["b", "a", "a"], "query": ["x", "y", "y"]})
    >>> found = count_user_queries(log)
    >>> found.users.to_list(), found.queries.to_list(), found.rows.rows()
    (['a', 'b'], ['x', 'y'], [(0, 1, 2), (1, 0, 1)])
    """
    counts = log.group_by("user", "query").agg(count=pl.len()).collect(engine="streaming")
    rows, owners = _numbered(counts, "user")
    rows, texts = _numbered(rows, "query")
    return UserQueryCounts(owners, texts, _sorted(rows.rename({"user": "owner", "query": "text"})))


def released_log(release: Release) -> pl.LazyFrame:
    """Give the log of a release, or say that it has none."""
    if release.log is None:
        raise UsageError(
            f"this release ({release.method}) has no users' logs that could be linked to anybody",
            hint="measure a release of users' logs",
        )
    return release.log


def released_counts(sent: UserQueryCounts, release: Release) -> UserQueryCounts:
    """Give the texts of each released log that somebody had sent, in the numbers of `sent`."""
    found = count_user_queries(released_log(release))
    known = pl.DataFrame({"name": sent.queries}).with_row_index("number")
    place = found.queries.to_frame("name").join(known, on="name", how="left", maintain_order="left")
    rows = found.rows.with_columns(text=pl.lit(place["number"]).gather(pl.col("text")))
    return UserQueryCounts(found.users, sent.queries, _sorted(rows.drop_nulls("text")))


def true_pairs(users: pl.Series, logs: pl.Series, release: Release) -> pl.DataFrame:
    """Give the pairs of user and released log, as places, that belong together.

    A user may have several logs. A log that was made up belongs to nobody.
    """
    named = restore_users(pl.DataFrame({"user": logs}).with_row_index("log"), release)
    people = pl.DataFrame({"user": users}).with_row_index("number")
    pairs = named.join(people, on="user").select("log", user="number").sort("log", "user")
    if named.height and not pairs.height:
        raise UsageError(
            f"no user of this release ({release.method}) is in the log",
            hint="give the log that the release was made from",
        )
    return pairs


def _queries(before: MeasureContext) -> UserQueryCounts:
    return before.cached("sent queries", lambda: count_user_queries(before.log.local_frame))


def _numbered(rows: pl.DataFrame, column: str) -> tuple[pl.DataFrame, pl.Series]:
    """Put numbers in place of names, in the order of the names; give these too."""
    known = rows.select(pl.col(column).unique())
    known = known.with_columns(name=pl.col(column).cast(pl.String)).sort("name")
    numbered = rows.join(known.select(column).with_row_index("number"), on=column)
    return numbered.drop(column).rename({"number": column}), known["name"]


def _sorted(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.select("owner", "text", pl.col("count").cast(_NUMBER)).sort("owner", "text")
