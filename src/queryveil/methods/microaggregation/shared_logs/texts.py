"""Texts that can be released: whole queries and parts of queries that enough users sent.

A part is a run of up to four words that neither starts nor ends with a stop word. Runs are counted
from short to long: a run that enough users sent consists of shorter runs that they sent, too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ....concepts.mapping.mapper import Mapper
from ....concepts.mapping.result import ConceptMapping
from ....concepts.mapping.tokens import Vocabulary
from ....concepts.taxonomy.arrays import BoolArray, IntArray, RaggedArray
from ....errors import InputError
from ....lexicons.sensitive import has_topic
from ....log.identifiers import kinds_of

MAX_WORDS = 4  # of a part
NO_TEXT = -1
_KEYS = 1 << 23  # runs that are counted at a time


@dataclass(frozen=True, eq=False, repr=False)
class SentQueries:
    """Who sent what: one row per user and query, by number, with its count.

    Attributes:
        mapping: The concepts of the distinct queries.
        pairs: The columns user, query and count, sorted.
        users: The number of users.
    """

    mapping: ConceptMapping
    pairs: pl.DataFrame
    users: int

    def select(self, begin: int, end: int) -> SentQueries:
        """Return what users from one number to another sent, numbered from 0."""
        users = self.pairs["user"]
        rows = slice(*(int(users.search_sorted(edge)) for edge in (begin, end)))
        part = self.pairs[rows].with_columns(pl.col("user") - begin)
        return SentQueries(self.mapping, part, end - begin)

    def senders(self) -> IntArray:
        """Return the number of users of each query."""
        return np.bincount(self.pairs["query"].to_numpy(), minlength=len(self.mapping.queries))


@dataclass(frozen=True, eq=False, repr=False)
class Tokens:
    """The words of all queries, one after another, and the parts that begin at each word.

    `parts[n - 1]` is the text of the n words from a word on, or `NO_TEXT`.
    """

    lists: RaggedArray
    words: pl.Series
    is_stop: BoolArray
    parts: list[IntArray]


@dataclass(frozen=True, eq=False, repr=False)
class Texts:
    """The texts that can be released.

    Attributes:
        names: The texts.
        users: How many users sent each, as a query or as a part of one.
        is_query: Whether enough users sent it as a whole query.
        of_query: The text that is the whole query, for each query, or `NO_TEXT`.
        concept: The first concept of each text, or -1.
        only_concept: The concept of a text with exactly one, or -1.
        words: The words of each text that are not stop words.
        tokens: The words of the queries.
    """

    names: pl.Series
    users: IntArray
    is_query: BoolArray
    of_query: IntArray
    concept: IntArray
    only_concept: IntArray
    words: RaggedArray
    tokens: Tokens

    def __len__(self) -> int:
        return len(self.names)


def find_texts(
    sent: SentQueries,
    mapper: Mapper,
    min_users: int,
    dropped_topics: tuple[str, ...] = (),
    with_parts: bool = True,
) -> Texts:
    """Return all texts that at least `min_users` users sent: queries, and parts of queries.

    A part that looks like an identifier, or has a dropped topic, is not a text: only the queries
    themselves were searched for these.

    Raises:
        InputError: There is no such text.
    """
    vocabulary = Vocabulary()
    lists = vocabulary.encode(sent.mapping.texts())
    words = vocabulary.words.cast(pl.String)
    is_stop = words.is_in(sorted(mapper.language.stop_words)).to_numpy()
    parts, counted = _count_parts(lists, words, is_stop, sent, min_users)
    known = counted.with_row_index("text")
    clean = kinds_of(known["name"]).is_null() & ~has_topic(known["name"], dropped_topics)
    if not with_parts:
        clean = pl.zeros(known.height, pl.Boolean, eager=True)
    senders = sent.senders()
    frequent = pl.DataFrame({"number": np.flatnonzero(senders >= min_users)})
    frequent = frequent.with_columns(
        name=sent.mapping.queries.cast(pl.String).gather(frequent["number"]),
        senders=pl.Series(senders[frequent["number"].to_numpy()]),
    )
    kept = known.filter(clean).join(frequent.select("name"), on="name", how="anti")
    names = pl.concat([frequent["name"], kept["name"]])
    if not len(names):
        raise InputError(
            "no text was sent by enough users, so nothing could be released",
            hint="use more of the log, or a smaller `k` (the default of `min_users`)",
        )
    same = frequent.select("name").join(known, on="name", how="left", maintain_order="left")
    number = np.full(known.height + 1, NO_TEXT, np.int32)  # the last one is for `NO_TEXT` itself
    number[kept["text"].to_numpy()] = np.arange(len(kept)) + len(frequent)
    is_part = same["text"].is_not_null()
    number[same["text"].drop_nulls().to_numpy()] = np.flatnonzero(is_part.to_numpy())
    of_query = np.full(len(senders), NO_TEXT, np.int32)
    of_query[frequent["number"].to_numpy()] = np.arange(len(frequent))
    held = pl.max_horizontal(frequent["senders"], same["users"].fill_null(0))
    concept, only_concept = _concepts_of(names, mapper)
    return Texts(
        names=names,
        users=np.concatenate([pl.select(held).to_series().to_numpy(), kept["users"].to_numpy()]),
        is_query=np.arange(len(names)) < len(frequent),
        of_query=of_query,
        concept=concept,
        only_concept=only_concept,
        words=_content_words(names, vocabulary, is_stop),
        tokens=Tokens(lists, words, is_stop, [number[part] for part in parts]),
    )


def _count_parts(
    lists: RaggedArray, words: pl.Series, is_stop: BoolArray, sent: SentQueries, min_users: int
) -> tuple[list[IntArray], pl.DataFrame]:
    """Return the number of the part of each length at each word, and the parts themselves.

    A number is a row of the second result, with the columns name and users; -1 for no part.
    """
    token, query = lists.items, lists.row_ids
    left = _words_left(lists)
    run = np.zeros(len(token), np.int32)  # the number of the run so far; -1: too few users
    run[is_stop[token]] = -1
    run_names = pl.Series([""], dtype=pl.String)
    parts, tables, total = list[IntArray](), list[pl.DataFrame](), 0
    for length in range(1, MAX_WORDS + 1):
        run[left < length] = -1
        begins = np.flatnonzero(run >= 0)
        key = run[begins].astype(np.int64) * len(words) + token[begins + length - 1]
        keys, users = _frequent_keys(key, query[begins], sent, min_users)
        index = np.minimum(np.searchsorted(keys, key), max(len(keys) - 1, 0))
        known = keys[index] == key if len(keys) else np.zeros(len(key), np.bool_)
        run[begins] = np.where(known, index, -1)
        name = run_names.gather(keys // len(words)) + words.gather(keys % len(words))
        is_part = ~is_stop[keys % len(words)]
        number = np.where(is_part, total + np.cumsum(is_part) - 1, -1)
        part = np.full(len(token), -1, np.int32)
        part[begins[known]] = number[index[known]]
        parts.append(part)
        tables.append(pl.DataFrame({"name": name, "users": users}).filter(pl.Series(is_part)))
        total += int(is_part.sum())
        run_names = name + " "
    return parts, pl.concat(tables)


def _words_left(lists: RaggedArray) -> NDArray[np.int16]:
    """Return the number of words from each word to the end of its query, capped."""
    end = lists.start[1:][lists.row_ids]
    return np.asarray(np.minimum(end - np.arange(len(end)), MAX_WORDS), np.int16)


def _frequent_keys(
    key: IntArray, query: IntArray, sent: SentQueries, min_users: int
) -> tuple[IntArray, IntArray]:
    """Return the runs (keys) of at least `min_users` users, sorted, and their numbers of users."""
    rows = pl.DataFrame({"key": key, "query": query.astype(np.uint32)}).lazy()
    pairs = sent.pairs.lazy().select("user", pl.col("query").cast(pl.UInt32))
    pieces = 1 + len(key) // _KEYS
    counted = [
        rows.filter(pl.col("key") % pieces == piece)
        .unique()
        .join(pairs, on="query")
        .group_by("key")
        .agg(users=pl.col("user").n_unique())
        .filter(pl.col("users") >= min_users)
        .collect(engine="streaming")
        for piece in range(pieces)
    ]
    frequent = pl.concat(counted).sort("key")
    return frequent["key"].to_numpy(), frequent["users"].to_numpy().astype(np.int64)


def _concepts_of(names: pl.Series, mapper: Mapper) -> tuple[IntArray, IntArray]:
    """Return the first concept of each text, and the concept of each text with exactly one."""
    mapped = mapper.map(names)
    phrases = mapped.phrases.filter(pl.col("concept") >= 0)
    first = phrases.group_by("query", maintain_order=True).agg(
        pl.col("concept").first(), count=pl.len()
    )
    numbered = pl.DataFrame({"name": mapped.queries.cast(pl.String)}).with_row_index("query")
    numbered = numbered.with_columns(pl.col("query").cast(pl.Int64)).join(
        first, on="query", how="left"
    )
    joined = names.to_frame("name").join(numbered, on="name", how="left", maintain_order="left")
    concept = joined["concept"].fill_null(-1).to_numpy()
    return concept, np.where(joined["count"].fill_null(0).to_numpy() == 1, concept, -1)


def _content_words(names: pl.Series, vocabulary: Vocabulary, is_stop: BoolArray) -> RaggedArray:
    """Return the words of the texts by number, without stop words."""
    lists = vocabulary.encode(names)
    known = len(is_stop)  # all words of texts are words of queries
    kept = (lists.items < known) & ~is_stop[np.minimum(lists.items, known - 1)]
    return RaggedArray.group_by(lists.row_ids[kept], lists.items[kept], len(lists))
