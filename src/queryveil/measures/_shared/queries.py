"""The texts of users: how often each user sent each text, and which logs overlap most.

The first part finds the logs with the largest overlap, exactly, by an inverted index that has the
holders of each text. So only pairs with a common text are visited, and memory depends on the size
of a block of logs (at least one log), not on the number of pairs. The second part counts the
queries or phrases of users as the measures compare them.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ...concepts.mapping.options import LANGUAGE_HELP, SAME, TERMS_HELP, MappingOptions
from ...core.parameters import parameter
from ...errors import InputError, UsageError
from ...release.formats import has_kinds
from ...release.release import Release
from ..base import Measure
from ..context import MeasureContext, restore_users

_CELLS = 1 << 20  # maximum number of cells of a block's table (logs by holders), if not one log
_VISITS = 1 << 20  # maximum number of pairs (text, holder) that a block visits, if not one log

Ints = NDArray[np.int64]


def best_matches(
    asked: pl.DataFrame, held: pl.DataFrame, holders: int, pairs: pl.DataFrame
) -> pl.DataFrame:
    """Score pairs of a log and a holder, and return the maximum score of each log beside them.

    Holders are the candidates for a log: users for a released log, or the reverse.

    The overlap counts with multiplicity: for each text the smaller count.

    Args:
        asked: The queried logs, with columns ask, text and count; each pair of ask and text once.
        held: The logs of the holders, with columns owner, text and count; each pair once.
        holders: The number of holders.
        pairs: The pairs to score, with columns ask and owner.

    Returns:
        The pairs with their `score`, the `best` score of any holder for that log, and `ties`: how
        many holders have the best score. A log without any overlap has a best score of 0, and all
        holders tie.

    >>> asked = pl.DataFrame({"ask": [0, 0], "text": [7, 9], "count": [3, 1]})
    >>> held = pl.DataFrame({"owner": [0, 1, 2], "text": [7, 7, 9], "count": [2, 3, 5]})
    >>> best_matches(asked, held, 3, pl.DataFrame({"ask": [0, 0], "owner": [0, 1]})).rows()
    [(0, 0, 2, 3, 1), (0, 1, 3, 3, 1)]
    """
    pairs = pairs.sort("ask", "owner")
    ask, owner = _to_integers(pairs, "ask", "owner")
    asks, index = (
        _QueriedLogs.of(asked, 1 + int(ask.max(initial=-1))),
        _InvertedIndex.of(held, holders),
    )
    scores = np.zeros((3, len(ask)), np.int64)
    table = np.zeros(asks.width(index) * holders, np.int64)
    for first, last in asks.blocks(index):
        block = slice(*np.searchsorted(ask, (first, last)))
        row, (log, cell, count) = ask[block] - first, index.visit(asks, first, last)
        np.add.at(table, cell, count)
        best, hits = _best_scores(table, log, cell, last - first)
        scores[:2, block] = table[row * holders + owner[block]], best[row]
        scores[2, block] = _count_ties(table, log[hits], cell[hits], best, holders)[row]
        table[cell] = 0
    return pairs.with_columns(score=scores[0], best=scores[1], ties=scores[2])


def group_equal_logs(rows: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Group equal logs: return the owners of each, and its content.

    `rows` has the columns owner, text and count. The owners have the columns ask and owner, the
    contents ask, text and count.

    >>> rows = {"owner": [0, 1, 2], "text": [5, 5, 5], "count": [1, 2, 1]}
    >>> owners, contents = group_equal_logs(pl.DataFrame(rows))
    >>> owners.height, contents.sort("count").select("text", "count").rows()
    (3, [(5, 1), (5, 2)])
    """
    ordered = rows.sort("owner", "text").group_by("owner", maintain_order=True)
    logs = ordered.agg("text", "count")
    distinct = (
        logs.group_by("text", "count", maintain_order=True).agg("owner").with_row_index("ask")
    )
    owners = distinct.select("ask", "owner").explode("owner")
    return owners, distinct.select("ask", "text", "count").explode("text", "count")


@dataclass(frozen=True, eq=False)
class _QueriedLogs:
    """The queried logs as a ragged array: log a has the rows start[a] to start[a + 1]."""

    start: Ints
    texts: Ints
    counts: Ints

    @classmethod
    def of(cls, queried: pl.DataFrame, size: int) -> _QueriedLogs:
        ask, texts, counts = _to_integers(queried.sort("ask", "text"), "ask", "text", "count")
        return cls(np.searchsorted(ask, np.arange(size + 1)), texts, counts)

    def width(self, index: _InvertedIndex) -> int:
        """Return the maximum number of logs of a block."""
        return max(1, min(_CELLS // max(index.holders, 1), len(self.start) - 1))

    def blocks(self, index: _InvertedIndex) -> Iterator[tuple[int, int]]:
        """Yield blocks of logs with a bounded number of visits and a bounded table."""
        logs = np.arange(len(self.start) - 1)
        if not len(logs):
            return
        visits = np.concatenate([[0], np.cumsum(index.sizes(self.texts))])[self.start[:-1]]
        new = (np.diff(visits // _VISITS) > 0) | (np.diff(logs // self.width(index)) > 0)
        edges = np.concatenate([[0], 1 + np.flatnonzero(new), [len(logs)]])
        yield from pairwise(edges.tolist())


@dataclass(frozen=True, eq=False)
class _InvertedIndex:
    """The inverted index: text t has the owners and counts start[t] to start[t + 1].

    After the last text there is an extra text without owners.
    """

    start: Ints
    owners: Ints
    counts: Ints
    holders: int

    @classmethod
    def of(cls, held: pl.DataFrame, holders: int) -> _InvertedIndex:
        texts, owners, counts = _to_integers(held.sort("text", "owner"), "text", "owner", "count")
        start = np.searchsorted(texts, np.arange(2 + int(texts.max(initial=-1))))
        return cls(np.append(start, len(texts)), owners, counts, holders)

    def clip_unknown(self, texts: Ints) -> Ints:
        """Replace unknown texts by the extra text without owners."""
        return np.minimum(texts, len(self.start) - 2)

    def sizes(self, texts: Ints) -> Ints:
        """Count the owners of texts."""
        known = self.clip_unknown(texts)
        return self.start[known + 1] - self.start[known]

    def visit(self, asks: _QueriedLogs, first: int, last: int) -> tuple[Ints, Ints, Ints]:
        """Visit the owners of the texts of a block's logs.

        Returns:
            For each visit the log, the cell of the table (one row per log, one column per
            holder), and the overlap of the two in that text.
        """
        rows = slice(asks.start[first], asks.start[last])
        texts, sizes = self.clip_unknown(asks.texts[rows]), self.sizes(asks.texts[rows])
        begin = self.start[texts] - (np.cumsum(sizes) - sizes)
        entry = np.repeat(begin, sizes) + np.arange(sizes.sum())
        log = np.repeat(np.arange(last - first), np.diff(asks.start[first : last + 1]))
        log = np.repeat(log, sizes)
        count = np.minimum(np.repeat(asks.counts[rows], sizes), self.counts[entry])
        return log, log * self.holders + self.owners[entry], count


def _best_scores(table: Ints, log: Ints, cell: Ints, logs: int) -> tuple[Ints, NDArray[np.bool_]]:
    """Return the best score of each log, and a mask of the visits that lead to it."""
    score, best = table[cell], np.zeros(logs, np.int64)
    np.maximum.at(best, log, score)
    return best, score == best[log]


def _count_ties(table: Ints, log: Ints, cell: Ints, best: Ints, holders: int) -> Ints:
    """Count the distinct cells with the best score; this overwrites these cells.

    Several visits can lead to one cell. If a log has no overlap with any holder, all holders tie.
    """
    number = np.arange(len(cell))
    # If several visits share a cell, the last one stays in it, so that each cell is counted once.
    table[cell] = number
    ties = np.bincount(log[table[cell] == number], minlength=len(best))
    return np.where(best > 0, ties, holders)


def _to_integers(rows: pl.DataFrame, *names: str) -> list[Ints]:
    return [rows[name].to_numpy().astype(np.int64) for name in names]


_ID_TYPE = pl.UInt32


@dataclass(frozen=True, eq=False, repr=False)
class UserQueryCounts:
    """The counts of texts per user.

    `rows` has the columns owner and text, as indices of `users` and `queries`, and count; each
    pair once.
    """

    users: pl.Series
    queries: pl.Series
    rows: pl.DataFrame


@dataclass(frozen=True)
class QueryTextMeasure(Measure, ABC):
    """The base of the measures that compare texts: whole queries, or phrases."""

    taxonomy: str = parameter(
        "auto", "taxonomy that detects phrases, if phrases are released; auto: that of the release"
    )
    language: str = parameter(SAME, f"{LANGUAGE_HELP}, or that of the release")
    terms: str = parameter("", f"{TERMS_HELP}; or that of the release")

    def prepare(self, context: MeasureContext) -> None:
        """Assign numbers to the users and the queries of the log."""
        count_original_queries(context)

    def original_counts(self, context: MeasureContext, release: Release) -> UserQueryCounts:
        """Return the counts of the original queries, or of phrases if the release has phrases."""
        options = self.phrase_mapping(release)
        if options is None:
            return count_original_queries(context)
        try:
            return count_original_phrases(context, options)
        except InputError as error:
            raise UsageError(
                f'the release has phrases of the taxonomy "{options.taxonomy}", but: {error}',
                hint=f"give the path of the file: {self.name}:taxonomy=FILE, or terms=FILE",
            ) from error

    def unit_of(self, release: Release, number: int = 2) -> str:
        """Return the name of the texts of a release: queries or phrases."""
        singular, plural = (
            ("query", "queries") if self.phrase_mapping(release) is None else ("phrase", "phrases")
        )
        return singular if number == 1 else plural

    def basis(self, release: Release) -> str:
        """Return a description of the compared texts."""
        options = self.phrase_mapping(release)
        if options is None:
            return "released queries against the log's queries"
        detected = f"detected by {options.taxonomy}"
        kinds = release.log is not None and has_kinds(release.log)
        texts = "queries and parts of queries" if kinds else "phrases"
        return f"released {texts} against the phrases of the log's queries ({detected})"

    def phrase_mapping(self, release: Release) -> MappingOptions | None:
        """Return how phrases were detected, or None if queries are released."""
        if release.parameters.get("output_unit") != "phrase":
            return None
        own = MappingOptions.of(release.parameters)
        return MappingOptions(
            own.taxonomy if self.taxonomy == "auto" else self.taxonomy,
            own.language if self.language == SAME else self.language,
            self.terms or own.terms,
        )


def count_user_queries(log: pl.LazyFrame) -> UserQueryCounts:
    """Count the queries of each user of a log.

    >>> log = pl.LazyFrame({"user": ["b", "a", "a"], "query": ["x", "y", "y"]})
    >>> counts = count_user_queries(log)
    >>> counts.users.to_list(), counts.queries.to_list(), counts.rows.rows()
    (['a', 'b'], ['x', 'y'], [(0, 1, 2), (1, 0, 1)])
    """
    counts = log.group_by("user", "query").agg(count=pl.len()).collect(engine="streaming")
    rows, owners = _number_names(counts, "user")
    rows, texts = _number_names(rows, "query")
    return UserQueryCounts(
        owners, texts, _sort_counts(rows.rename({"user": "owner", "query": "text"}))
    )


def released_log(release: Release) -> pl.LazyFrame:
    """Return the log of a release, or raise if it has none."""
    if release.log is None:
        raise UsageError(
            f"this release ({release.method}) has no logs of users",
            hint="measure a release of users' logs",
        )
    return release.log


def released_counts(original: UserQueryCounts, release: Release) -> UserQueryCounts:
    """Count the texts of each released log that are in `original`, with its numbers of texts."""
    counts = count_user_queries(released_log(release))
    known = pl.DataFrame({"name": original.queries}).with_row_index("number")
    numbers = counts.queries.to_frame("name").join(
        known, on="name", how="left", maintain_order="left"
    )
    rows = counts.rows.with_columns(text=pl.lit(numbers["number"]).gather(pl.col("text")))
    return UserQueryCounts(counts.users, original.queries, _sort_counts(rows.drop_nulls("text")))


def true_pairs(users: pl.Series, logs: pl.Series, release: Release) -> pl.DataFrame:
    """Return the true pairs of released log and user, as indices.

    They come from the private mapping of the release. A user may have several logs, and a
    synthetic log belongs to no user.
    """
    named = restore_users(pl.DataFrame({"user": logs}).with_row_index("log"), release)
    numbers = pl.DataFrame({"user": users}).with_row_index("number")
    pairs = named.join(numbers, on="user").select("log", user="number").sort("log", "user")
    if named.height and not pairs.height:
        raise UsageError(
            f"no user of this release ({release.method}) is in the log",
            hint="use the original log of the release",
        )
    return pairs


def count_original_queries(context: MeasureContext) -> UserQueryCounts:
    """Count the queries of each user of the original log."""
    return context.cached("sent queries", lambda: count_user_queries(context.log.local_frame))


def count_original_phrases(context: MeasureContext, options: MappingOptions) -> UserQueryCounts:
    """Count the phrases of the queries of each user of the original log."""
    return context.cached(("sent phrases", options), lambda: _count_phrases(context, options))


def _count_phrases(context: MeasureContext, options: MappingOptions) -> UserQueryCounts:
    queries = count_original_queries(context)
    # A mapping numbers the distinct queries in sorted order, as `queries.queries` has them.
    mapping = context.map_queries(queries.queries.to_frame("query").lazy(), options)
    phrases = mapping.phrase_texts().select(
        pl.col("phrase").alias("query"), text=mapping.phrases["query"]
    )
    pairs = queries.rows.join(phrases.with_columns(pl.col("text").cast(_ID_TYPE)), on="text")
    counts = pairs.group_by("owner", "query").agg(pl.col("count").sum())
    rows, texts = _number_names(counts, "query")
    return UserQueryCounts(queries.users, texts, _sort_counts(rows.rename({"query": "text"})))


def _number_names(rows: pl.DataFrame, column: str) -> tuple[pl.DataFrame, pl.Series]:
    """Replace names by numbers, in the order of the names; return the names too."""
    known = rows.select(pl.col(column).unique())
    known = known.with_columns(name=pl.col(column).cast(pl.String)).sort("name")
    numbered = rows.join(known.select(column).with_row_index("number"), on=column)
    return numbered.drop(column).rename({"number": column}), known["name"]


def _sort_counts(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.select("owner", "text", pl.col("count").cast(_ID_TYPE)).sort("owner", "text")
