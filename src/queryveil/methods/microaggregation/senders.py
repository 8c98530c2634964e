"""Who of a group sent the texts of its log: as a query, or as consecutive words of one."""

from __future__ import annotations

import itertools

import numpy as np
import polars as pl

from ...concepts.mapping.tokens import Vocabulary
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
    held = locate_texts(queries["query"].cast(pl.String), names)
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


def locate_texts(queries: pl.Series, names: pl.Series) -> RaggedArray:
    """Return for each query the texts that it is, or that are consecutive words of it.

    >>> lists = locate_texts(pl.Series(["red sports car", "?"]), pl.Series(["sports car", "?"]))
    >>> lists[0].tolist(), lists[1].tolist()
    ([0], [1])
    """
    vocabulary = Vocabulary()
    words, parts = vocabulary.encode(queries), vocabulary.encode(names)
    last = words.start[1:][words.row_ids] - 1
    place = np.arange(len(words.items))
    run, text_run = np.zeros(len(place), np.int64), np.zeros(len(parts), np.int64)
    owners, found = list[IntArray](), list[IntArray]()
    base = len(vocabulary.words) + 1
    for length in range(1, int(parts.sizes.max(initial=0)) + 1):
        longer = np.flatnonzero(parts.sizes >= length)
        keys = text_run[longer] * base + parts.items[parts.start[longer] + length - 1]
        known, text_run[longer] = np.unique(keys, return_inverse=True)
        run[place + length - 1 > last] = -1
        begins = np.flatnonzero(run >= 0)
        key = run[begins] * base + words.items[begins + length - 1]
        index = np.minimum(np.searchsorted(known, key), len(known) - 1)
        run[begins] = np.where(known[index] == key, index, -1)
        ending = longer[parts.sizes[longer] == length]
        of_run = RaggedArray.group_by(text_run[ending], ending, len(known))
        hits = begins[run[begins] >= 0]
        text, item = of_run.take(run[hits])
        owners.append(words.row_ids[hits][item].astype(np.int64))
        found.append(text)
    same = (
        queries.to_frame("q")
        .with_row_index("query")
        .join(names.to_frame("q").with_row_index("text"), on="q")
    )
    owners.append(same["query"].to_numpy().astype(np.int64))
    found.append(same["text"].to_numpy().astype(np.int64))
    size = max(len(names), 1)
    pairs = np.unique(np.concatenate(owners) * size + np.concatenate(found))
    return RaggedArray.group_by(pairs // size, pairs % size, len(queries))
