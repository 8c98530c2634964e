"""Who of a group sent the texts of its log: as a query, or as consecutive words of one."""

from __future__ import annotations

import itertools

import numpy as np
import polars as pl

from ...concepts.mapping.occurrences import TextRuns
from ...concepts.taxonomy.arrays import IntArray, RaggedArray
from .contributions import NOBODY

_PAIRS = 1 << 20  # of user and query at a time


def sole_senders(texts: pl.DataFrame, members: pl.DataFrame, frame: pl.LazyFrame) -> IntArray:
    """Return for each row the member who alone of the group sent its text, or `NOBODY`.

    Args:
        texts: The rows of the shared logs: group and query.
        members: user and group; the result has row numbers of it.
        frame: The log.
    """
    sent = frame.select("user", pl.col("query")).unique()
    numbers = members.select("user").with_row_index("number").lazy()
    pairs = sent.join(numbers, on="user").select("number", "query").collect(engine="streaming")
    queries = pairs.select(pl.col("query").unique(maintain_order=True)).with_row_index("index")
    pairs = pairs.join(queries, on="query").select("number", "index").sort("number")
    names = texts["query"].cast(pl.String).unique(maintain_order=True)
    number = pl.DataFrame({"query": names}).with_row_index("text")
    text = texts.select(pl.col("query").cast(pl.String)).join(
        number, on="query", how="left", maintain_order="left"
    )["text"]
    held = _held_texts(queries["query"].cast(pl.String), names)
    key = texts["group"].to_numpy() * len(names) + text.to_numpy()
    released, row = np.unique(key, return_inverse=True)
    group = members["group"].to_numpy().astype(np.int64)
    count, sender = np.zeros(len(released), np.int64), np.full(len(released), NOBODY, np.int64)
    user, query = pairs["number"].to_numpy().astype(np.int64), pairs["index"].to_numpy()
    for part in _split_by_user(user):
        place, by = _released_pairs(user[part], query[part], held, group, released, len(names))
        np.add.at(count, place, 1)
        sender[place] = by
    return np.where(count == 1, sender, NOBODY)[row]


def _split_by_user(user: IntArray) -> list[slice]:
    """Split sorted rows into parts of a bounded size that keep the rows of a user together."""
    edges = np.searchsorted(user, user[_PAIRS::_PAIRS]) if len(user) else np.zeros(0, np.int64)
    bounds = np.unique(np.concatenate([[0], edges, [len(user)]])).tolist()
    return [slice(begin, end) for begin, end in itertools.pairwise(bounds)]


def _released_pairs(
    user: IntArray,
    query: IntArray,
    held: RaggedArray,
    group: IntArray,
    released: IntArray,
    texts: int,
) -> tuple[IntArray, IntArray]:
    """Return the pairs of released text (of a group) and member who sent it."""
    text, index = held.take(query)
    sender = user[index]
    key = group[sender] * texts + text
    place = np.minimum(np.searchsorted(released, key), len(released) - 1)
    hit = released[place] == key
    pairs = np.unique(place[hit] * len(group) + sender[hit])
    return np.divmod(pairs, len(group))


def _held_texts(queries: pl.Series, names: pl.Series) -> RaggedArray:
    """Return for each query the texts that it is, or that are consecutive words of it."""
    inside = TextRuns(names).find(queries)
    same = (
        queries.to_frame("name")
        .with_row_index("query")
        .join(names.to_frame("name").with_row_index("text"), on="name")
    )
    pairs = pl.concat([inside, same.select("query", "text")]).unique().sort("query", "text")
    return RaggedArray.group_by(
        pairs["query"].to_numpy().astype(np.int64),
        pairs["text"].to_numpy().astype(np.int64),
        len(queries),
    )
