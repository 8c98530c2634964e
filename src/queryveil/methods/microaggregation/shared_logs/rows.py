"""Rows of a query: what a released log can hold in its place.

A query that enough users sent is a row itself. Of any other query, each phrase with a concept is a
row: the longest part that means this concept alone, else any text of the concept or of a near one.
Words that are left are rows of their own, if enough users sent them.

Rows have cells. The cell of a row with a concept is the concept: any text that means it alone can
stand there. Other texts are cells of their own, numbered after the concepts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from ....concepts.mapping.result import ConceptMapping
from ....concepts.similarity.distance import distance_table
from ....concepts.taxonomy.arrays import BoolArray, IntArray, RaggedArray
from ....concepts.taxonomy.graph import Taxonomy
from .texts import MAX_WORDS, NO_TEXT, SentQueries, Texts

_NEAR = 0.8  # the maximal distance of a concept that stands for one without a text
_TABLE_CELLS = 1 << 24


@dataclass(frozen=True, eq=False, repr=False)
class UserRows:
    """The rows of all users: user, cell, text (or `NO_TEXT`) and how often."""

    user: IntArray
    cell: IntArray
    text: IntArray
    count: IntArray

    def select(self, kept: BoolArray) -> UserRows:
        """Return some of the rows."""
        return UserRows(self.user[kept], self.cell[kept], self.text[kept], self.count[kept])


@dataclass(frozen=True, eq=False, repr=False)
class QueryRows:
    """The rows of each query: numbers of cells and texts (or `NO_TEXT`)."""

    lists: RaggedArray
    cell: IntArray
    text: IntArray

    def of_users(self, sent: SentQueries) -> UserRows:
        """Return the rows of all users."""
        item, index = self.lists.take(sent.pairs["query"].to_numpy())
        return UserRows(
            sent.pairs["user"].to_numpy().astype(np.int64)[index],
            self.cell[item],
            self.text[item],
            sent.pairs["count"].to_numpy().astype(np.int64)[index],
        )


def find_rows(mapping: ConceptMapping, texts: Texts) -> QueryRows:
    """Return the rows of all queries."""
    taxonomy = mapping.taxonomy
    frequent = np.flatnonzero(texts.of_query >= 0)
    query_text = texts.of_query[frequent].astype(np.int64)
    phrase_query, phrase_text, cell, used = _phrase_rows(mapping, texts)
    left_query, left_text = _left_over_rows(texts, used)
    own = np.where(
        texts.only_concept >= 0, texts.only_concept, len(taxonomy) + np.arange(len(texts))
    )
    without = phrase_text < 0
    cell[without] = _nearest_with_text(cell[without], texts, taxonomy)
    known = cell >= 0
    query = np.concatenate([frequent, phrase_query[known], left_query])
    return QueryRows(
        RaggedArray.group_by(query, np.arange(len(query), dtype=np.int32), len(texts.of_query)),
        np.concatenate([own[query_text], cell[known], len(taxonomy) + left_text]).astype(np.int32),
        np.concatenate([query_text, phrase_text[known], left_text]).astype(np.int32),
    )


def _phrase_rows(
    mapping: ConceptMapping, texts: Texts
) -> tuple[IntArray, IntArray, IntArray, BoolArray]:
    """Return query, text and concept of each phrase of a rare query, and the words they use."""
    phrases = mapping.phrases.filter(pl.col("concept") >= 0)
    query = phrases["query"].to_numpy()
    rare = texts.of_query[query] < 0
    query, concept = query[rare], phrases["concept"].to_numpy()[rare].astype(np.int64)
    begin = texts.tokens.lists.start[query] + phrases["begin"].to_numpy()[rare]
    end = np.minimum(begin + phrases["words"].to_numpy()[rare], texts.tokens.lists.start[query + 1])
    text = np.full(len(query), NO_TEXT, np.int64)
    best = np.full(len(query), -1, np.int64)  # the number of users of the best text so far
    place, length = begin.copy(), np.zeros(len(query), np.int64)
    for size in range(MAX_WORDS, 0, -1):
        waiting = np.flatnonzero(text < 0)
        part = texts.tokens.parts[size - 1]
        for shift in range(int((end - begin)[waiting].max(initial=0)) - size + 1):
            first = begin[waiting] + shift
            fits = waiting[first + size <= end[waiting]]
            part_text = part[begin[fits] + shift]
            means = (part_text >= 0) & (texts.only_concept[part_text] == concept[fits])
            better = means & (texts.users[part_text] > best[fits])
            rows = fits[better]
            text[rows], best[rows] = part_text[better], texts.users[part_text[better]]
            place[rows], length[rows] = begin[rows] + shift, size
    used = np.zeros(len(texts.tokens.lists.items), np.bool_)
    for step in range(MAX_WORDS):
        used[(place + step)[length > step]] = True
    return query, text, concept, used


def _left_over_rows(texts: Texts, used: BoolArray) -> tuple[IntArray, IntArray]:
    """Return query and text of the words that are left of rare queries, longest parts first."""
    lists = texts.tokens.lists
    size, text = np.zeros(len(used), np.int64), np.full(len(used), NO_TEXT, np.int64)
    free = ~used
    open_run = free.copy()  # whether all words of the part are free
    for length in range(1, MAX_WORDS + 1):
        if length > 1:
            ends = free[length - 1 :]
            open_run[: len(ends)] &= ends
        part = texts.tokens.parts[length - 1]
        fits = open_run & (part >= 0)
        size[fits], text[fits] = length, part[fits]
    rare = np.flatnonzero((texts.of_query < 0) & (lists.sizes > 0))
    at, end = lists.start[rare].copy(), lists.start[rare + 1]
    queries, chosen = list[IntArray](), list[IntArray]()
    while len(at):  # one part of every query at a time
        hit = size[at] > 0
        queries.append(rare[hit])
        chosen.append(text[at[hit]])
        at = at + np.maximum(size[at], 1)
        going = at < end
        rare, at, end = rare[going], at[going], end[going]
    none = [np.zeros(0, np.int64)]
    return np.concatenate(queries or none), np.concatenate(chosen or none)


def _nearest_with_text(concepts: IntArray, texts: Texts, taxonomy: Taxonomy) -> IntArray:
    """Return the nearest concept that has a text of its own; -1 if none is near."""
    known = np.unique(texts.only_concept[texts.only_concept >= 0])
    nearest = np.full(len(taxonomy), -1, np.int64)
    nearest[known] = known
    missing = np.setdiff1d(concepts, known)
    step = max(1, _TABLE_CELLS // max(len(known), 1))
    for begin in range(0, len(missing) if len(known) else 0, step):
        batch = missing[begin : begin + step]
        table = distance_table(taxonomy, batch, known)
        best = table.argmin(axis=1)
        near = table[np.arange(len(batch)), best] <= _NEAR
        nearest[batch[near]] = known[best[near]]
    return nearest[concepts]
