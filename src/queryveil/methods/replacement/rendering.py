"""Render the published rows: a label for each concept, a number for each slot, no clicks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

from ...concepts.mapping.label_index import MATCH_KINDS
from ...concepts.mapping.language import get_language
from ...concepts.mapping.result import ConceptMapping
from ...concepts.mapping.tokens import tokenize
from ...concepts.taxonomy.arrays import IntArray
from ...concepts.taxonomy.graph import Taxonomy
from ...concepts.taxonomy.labels import publishable_labels
from ...core.randomness import RandomSource
from ...engine.operations import shuffle_rows
from .mechanism import PIECE
from .phrases import BoundedPhrases


@dataclass(frozen=True, eq=False, repr=False)
class ReplacementRows:
    """The published rows, their concepts, and the mapping of users to pseudonyms.

    Times are the numbers of rows, in the smallest integer type that fits.
    """

    log: pl.DataFrame
    concepts: pl.DataFrame
    mapping: pl.DataFrame


def by_pseudonym(mapping: pl.DataFrame, sizes: IntArray, concepts: IntArray) -> IntArray:
    """Return concepts, which are sorted by the users of `mapping`, in the order of pseudonyms."""
    order, by_name, done = _pseudonym_order(mapping), np.empty(len(concepts), np.int32), 0
    begins = np.cumsum(sizes) - sizes
    for begin, end in _split_users(sizes[order]):
        users = order[begin:end]
        number = _count_up(sizes[users])
        number += np.repeat(begins[users], sizes[users])
        by_name[done : done + len(number)] = concepts[number]
        done += len(number)
    return by_name


def render_rows(
    taxonomy: Taxonomy,
    mapping: pl.DataFrame,
    sizes: IntArray,
    concepts: IntArray,
    rng: RandomSource,
    before: IntArray | None = None,
) -> ReplacementRows:
    """Render the rows of all users with pseudonyms and labels.

    Rows are sorted by pseudonym, which is random, and by number; so the order reveals nothing.
    They are rendered in pieces: there may be a hundred million, and each step needs memory.

    Args:
        sizes: The number of rows of each user of `mapping`.
        concepts: Concepts in the order of pseudonyms (see `by_pseudonym`). To avoid a copy, the
            array becomes a column of the output.
        before: The slots that each user had used; rows are numbered after them, from 1 on.
    """
    order = _pseudonym_order(mapping)
    users_by_name = as_categorical(mapping["pseudonym"].gather(order))
    names = publishable_labels(taxonomy)
    texts = as_categorical(names.texts)
    first = np.zeros(len(sizes), np.int64) if before is None else before
    logs, done = [], 0
    for begin, end in _split_users(sizes[order]):
        users = order[begin:end]
        number = _count_up(sizes[users])
        index = np.repeat(np.arange(begin, end, dtype=np.uint32), sizes[users])
        own = concepts[done : done + len(number)]
        labels = names.sample(own, rng.uint64s(len(own)))
        time = number + np.repeat(first[users], sizes[users]) + 1
        columns = {"user": users_by_name.gather(index), "query": texts.gather(labels)}
        logs.append(pl.DataFrame(columns | {"time": time.astype(_smallest_type(sizes, first))}))
        done += len(own)
    log = pl.concat(logs).with_columns(rank=pl.lit(None, pl.Int32), url=pl.lit(None, pl.String))
    concept = pl.Series("concept", concepts, pl.Int32)  # not copied
    return ReplacementRows(log, log.select("user").with_columns(concept), mapping)


def _pseudonym_order(mapping: pl.DataFrame) -> IntArray:
    return mapping["pseudonym"].arg_sort().to_numpy()


def _split_users(sizes: IntArray) -> Iterator[tuple[int, int]]:
    """Split users into runs of about `PIECE` rows; there is at least one run."""
    ends = np.cumsum(sizes)
    begin, done = 0, 0
    while begin < len(sizes):
        end = max(begin + 1, int(np.searchsorted(ends, done + PIECE, side="right")))
        yield begin, end
        begin, done = end, int(ends[end - 1])
    if not len(sizes):
        yield 0, 0


def _count_up(sizes: IntArray) -> IntArray:
    """Return the concatenation of 0, 1, ..., size - 1 for each size.

    >>> _count_up(np.array([2, 0, 3])).tolist()
    [0, 1, 0, 1, 2]
    """
    begins = np.cumsum(sizes) - sizes
    return np.arange(int(sizes.sum()), dtype=np.int64) - np.repeat(begins, sizes)


def _smallest_type(sizes: IntArray, first: IntArray) -> type[np.int16] | type[np.int32]:
    """Return the smallest integer type that can number the rows of every user."""
    maximum = int(sizes.max(initial=0)) + int(first.max(initial=0))
    return np.int16 if maximum < 2**15 else np.int32


def as_categorical(texts: pl.Series) -> pl.Series:
    """Return texts as a categorical, which stores each distinct text once."""
    return texts.cast(pl.Categorical(pl.Categories.random()))


_PLURALS = [MATCH_KINDS.index(how) for how in MATCH_KINDS if "plural" in how]


def substitute_phrases(
    written: ReplacementRows,
    concept_mapping: ConceptMapping,
    slots: BoundedPhrases,
    names: pl.DataFrame,
    before: IntArray,
    rng: RandomSource,
) -> ReplacementRows:
    """Return one row per query, with its phrases replaced by labels.

    Args:
        written: The label of each phrase, sorted by pseudonym and slot.
        before: The slots that each user had used.
    """
    used = pl.lit(pl.Series(before).cast(pl.Int32)).gather(pl.col("user"))
    named = slots.table.select(
        "event",
        "phrase",
        user=pl.lit(names["pseudonym"]).gather(pl.col("user")),
        time=(pl.col("slot") + used + 1).cast(pl.Int32),
    )
    labels = written.log.select(
        pl.col("user", "query").cast(pl.String), pl.col("time").cast(pl.Int32)
    )
    table = named.join(labels, on=["user", "time"]).sort("event", "phrase")
    texts = _replace_words(table, concept_mapping)
    first = table.group_by("event").agg(pl.col("user", "time").first())
    log = first.join(texts, on="event").with_columns(
        time=pl.col("time").rank("ordinal").over("user").cast(pl.Int32),
        rank=pl.lit(None, pl.Int32),
        url=pl.lit(None, pl.String),
    )
    shuffled = shuffle_rows(
        log.select("user", "query", "time", "rank", "url").lazy(), rng
    ).collect()
    return ReplacementRows(shuffled, written.concepts, written.mapping)


def _replace_words(table: pl.DataFrame, concept_mapping: ConceptMapping) -> pl.DataFrame:
    """Replace the words of phrases by labels, and keep all other words."""
    spans = concept_mapping.phrases.with_row_index("phrase")
    replaced = table.select("event", "phrase", label="query").join(spans, on="phrase")
    queries = replaced.group_by("event").agg(pl.col("query").first())
    words = queries.with_columns(word=tokenize(concept_mapping.texts()).gather(queries["query"]))
    words = words.select("event", "word", index=pl.int_ranges(pl.col("word").list.len()))
    words = words.explode("word", "index", empty_as_null=True)
    labels = _label_words(replaced, words, concept_mapping)
    labeled = words.join(labels, on=["event", "index"], how="left", maintain_order="left")
    text = pl.when(pl.col("first")).then("label").when(pl.col("label").is_null()).then("word")
    return (
        labeled.with_columns(text=text).sort("event", "index")
        .group_by("event", maintain_order=True)
        .agg(query=pl.col("text").drop_nulls().str.join(" "))
    )  # fmt: skip


def _label_words(
    replaced: pl.DataFrame, words: pl.DataFrame, concept_mapping: ConceptMapping
) -> pl.DataFrame:
    """Return the words that a label replaces: event, index, label, first.

    A label replaces the last `matched` words of a phrase that are not stop words. `first` flags
    the first of them.
    """
    stop = sorted(get_language(concept_mapping.taxonomy.language).stop_words)
    plural = pl.col("how").is_in(_PLURALS) & ~pl.col("label").str.ends_with("s")
    spans = replaced.select(
        "event", "phrase", "matched",
        label=pl.when(plural).then(pl.col("label") + "s").otherwise("label"),
        index=pl.int_ranges(pl.col("begin"), pl.col("begin") + pl.col("words")).cast(
            pl.List(pl.Int64)
        ),
    ).explode("index", empty_as_null=True)  # fmt: skip
    spans = spans.join(words, on=["event", "index"]).sort("event", "phrase", "index")
    content = ~pl.col("word").is_in(stop)
    after = content.cast(pl.Int32).reverse().cum_sum().reverse().over("event", "phrase")
    is_replaced = (after < pl.col("matched")) | ((after == pl.col("matched")) & content)
    kept = spans.filter(is_replaced)
    first = pl.int_range(pl.len()).over("event", "phrase") == 0
    return kept.select("event", "index", "label", first=first)
