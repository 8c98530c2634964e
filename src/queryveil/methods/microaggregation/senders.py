"""Who of a group sent the texts of its log: as a query, or as consecutive words of one."""

from __future__ import annotations

import itertools

import numpy as np
import polars as pl

from ...concepts.mapping.occurrences import TextRuns
from ...concepts.taxonomy.arrays import IntArray
from .contributions import NOBODY

_PAIRS = 1 << 20  # of user and query at a time


def sole_senders(texts: pl.DataFrame, members: pl.DataFrame, frame: pl.LazyFrame) -> IntArray:
    """Return for each row the member who alone of the group sent its text, or `NOBODY`.

    Args:
        texts: The rows of the shared logs: group and query.
        members: user and group; the result has row numbers of it.
        frame: The log.
    """
    names = texts["query"].cast(pl.String).unique(maintain_order=True)
    number = pl.DataFrame({"query": names}).with_row_index("text")
    text = texts.select(pl.col("query").cast(pl.String)).join(
        number, on="query", how="left", maintain_order="left"
    )["text"]
    key = texts["group"].to_numpy() * len(names) + text.to_numpy()
    released, row = np.unique(key, return_inverse=True)
    group = members["group"].to_numpy().astype(np.int64)
    count, sender = np.zeros(len(released), np.int64), np.full(len(released), NOBODY, np.int64)
    runs = TextRuns(names)
    numbers = members.select("user").with_row_index("number").lazy()
    sent = frame.select("user", "query").unique().join(numbers, on="user")
    pairs = sent.select("number", "query").collect(engine="streaming").sort("number")
    for part in _split_by_user(pairs["number"].to_numpy()):
        held = _held_texts(pairs[part], runs, number)
        user = held["number"].to_numpy().astype(np.int64)
        key = group[user] * len(names) + held["text"].to_numpy()
        place = np.minimum(np.searchsorted(released, key), len(released) - 1)
        hit = released[place] == key
        place, user = np.divmod(np.unique(place[hit] * len(group) + user[hit]), len(group))
        np.add.at(count, place, 1)
        sender[place] = user
    return np.where(count == 1, sender, NOBODY)[row]


def _split_by_user(user: IntArray) -> list[slice]:
    """Split sorted rows into parts of a bounded size that keep the rows of a user together."""
    edges = np.searchsorted(user, user[_PAIRS::_PAIRS]) if len(user) else np.zeros(0, np.int64)
    bounds = np.unique(np.concatenate([[0], edges, [len(user)]])).tolist()
    return [slice(begin, end) for begin, end in itertools.pairwise(bounds)]


def _held_texts(pairs: pl.DataFrame, runs: TextRuns, texts: pl.DataFrame) -> pl.DataFrame:
    """Return who sent which text, as a query or inside of one: number and text."""
    queries = pairs["query"].unique(maintain_order=True)
    numbered = pl.DataFrame({"query": queries}).with_row_index("index")
    own = pairs.join(numbered, on="query").select("number", "index")
    inside = runs.find(queries.cast(pl.String)).rename({"query": "index"})
    same = numbered.with_columns(pl.col("query").cast(pl.String)).join(texts, on="query")
    held = pl.concat([inside, same.select("index", "text")]).unique()
    return own.join(held, on="index").select("number", "text")
