"""Compose the shared log of every group: its cells, their texts, and what each row is."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import polars as pl

from ....concepts.taxonomy.arrays import BoolArray, IntArray
from ....core.randomness import RandomSource
from ....release.formats import KIND, PART, QUERY
from ..apportionment import Floats, sum_by
from ..contributions import NOBODY
from .assignment import GroupTexts, assign_texts
from .cells import MAX_COUNT, CellNumbers, Groups, count_cells
from .rows import QueryRows, find_rows
from .texts import SentQueries, Texts

_USERS = 50_000  # whose logs are composed together


def compose_logs(
    sent: SentQueries, texts: Texts, group: IntArray, rng: RandomSource
) -> pl.DataFrame:
    """Return the rows of all shared logs: group, user (`NOBODY`), query and kind.

    Every group has at least one row. Very many users are composed in parts, each calibrated to
    what its own users sent, so that memory is bounded.
    """
    rows = find_rows(sent.mapping, texts)
    order = np.argsort(group, kind="stable")
    if len(group) <= _USERS:
        return _compose_part(sent, texts, rows, group, rng)
    place = np.empty(len(group), np.uint32)
    place[order] = np.arange(len(group), dtype=np.uint32)
    pairs = sent.pairs.with_columns(user=pl.Series(place).gather(sent.pairs["user"]))
    by_group = SentQueries(sent.mapping, pairs.sort("user", "query"), sent.users)
    group = group[order]
    begins = np.flatnonzero(np.r_[True, group[1:] != group[:-1]])
    edges = begins[np.searchsorted(begins, np.arange(0, len(group), _USERS))]
    logs = []
    for begin, end in pairwise([*edges.tolist(), len(group)]):
        first = int(group[begin])
        part = _compose_part(
            by_group.select(begin, end), texts, rows, group[begin:end] - first, rng
        )
        logs.append(part.with_columns(pl.col("group") + first))
    return pl.concat(logs)


def _compose_part(
    sent: SentQueries, texts: Texts, rows: QueryRows, group: IntArray, rng: RandomSource
) -> pl.DataFrame:
    taxonomy = sent.mapping.taxonomy
    cells, kept, groups = count_cells(rows.of_users(sent), texts, taxonomy, group, rng)
    numbers = CellNumbers(len(taxonomy), len(texts))
    words, queries = _count_words(sent, texts), _count_queries(sent, texts)
    logs = assign_texts(cells, kept, texts, groups, numbers, words, queries, rng)
    logs = _fill_empty(logs, texts, len(groups))
    is_query = _mark_queries(logs, queries, groups, rng)
    kinds = pl.Series([PART, QUERY]).gather(is_query.astype(np.uint8))
    return pl.DataFrame(
        {
            "group": logs.group,
            "user": np.full(len(logs.group), NOBODY),
            "query": texts.names.gather(logs.text).cast(pl.Categorical),
            KIND: kinds.cast(pl.Categorical),
        }
    )


def _count_words(sent: SentQueries, texts: Texts) -> Floats:
    """Count the words of the log."""
    of_query = _capped_counts(sent)
    lists = texts.tokens.lists
    return sum_by(lists.items, of_query[lists.row_ids], len(texts.tokens.words))


def _capped_counts(sent: SentQueries) -> Floats:
    """Count the rows of each query; a user counts at most `MAX_COUNT` times."""
    count = np.minimum(sent.pairs["count"].to_numpy(), MAX_COUNT)
    return sum_by(sent.pairs["query"].to_numpy(), count, len(sent.mapping.queries))


def _fill_empty(logs: GroupTexts, texts: Texts, groups: int) -> GroupTexts:
    """Add the text of the most users to each group without any row."""
    empty = np.setdiff1d(np.arange(groups), logs.group)
    eligible = texts.users * (texts.is_query if texts.is_query.any() else 1)
    return GroupTexts(
        np.concatenate([logs.group, empty]),
        np.concatenate([logs.text, np.full(len(empty), int(np.argmax(eligible)))]),
    )


def _count_queries(sent: SentQueries, texts: Texts) -> Floats:
    """Count how often each text is a whole query of the log."""
    frequent = np.flatnonzero(texts.of_query >= 0)
    return sum_by(texts.of_query[frequent], _capped_counts(sent)[frequent], len(texts))


def _mark_queries(logs: GroupTexts, goal: Floats, groups: Groups, rng: RandomSource) -> BoolArray:
    """Return which rows are whole queries: as many of a text as the log has, if there are so many.

    All other rows of the text stand for parts of queries.
    """
    order = rng.permutation(len(logs.text))
    order = order[np.argsort(logs.text[order], kind="stable")]
    text, size = logs.text[order], groups.sizes[logs.group[order]]
    released = np.cumsum(size)
    before = released - size
    first = np.searchsorted(text, text)
    before = before - before[first]  # rows of the same text that come earlier
    marked = np.zeros(len(text), np.bool_)
    marked[order] = before + size / 2 <= goal[text]
    return marked
