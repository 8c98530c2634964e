"""The rows that are published: a label for each concept, a number for each slot, no clicks."""

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
    """The published rows, what each means, and who got which pseudonym.

    Times are numbers of rows, as short as they can be.
    """

    log: pl.DataFrame
    concepts: pl.DataFrame
    mapping: pl.DataFrame


def by_pseudonym(mapping: pl.DataFrame, sizes: IntArray, concepts: IntArray) -> IntArray:
    """Return concepts, which stand user after user of `mapping`, in the order of pseudonyms."""
    order, found, done = _order(mapping), np.empty(len(concepts), np.int32), 0
    begins = np.cumsum(sizes) - sizes
    for begin, end in _pieces(sizes[order]):
        users = order[begin:end]
        number = _counted_up(sizes[users])
        number += np.repeat(begins[users], sizes[users])
        found[done : done + len(number)] = concepts[number]
        done += len(number)
    return found


def render_rows(
    taxonomy: Taxonomy,
    mapping: pl.DataFrame,
    sizes: IntArray,
    concepts: IntArray,
    chance: RandomSource,
    before: IntArray | None = None,
) -> ReplacementRows:
    """Name users and concepts.

    The users of `mapping` have so many rows each (`sizes`); rows are numbered from 1 on, or from
    what was used `before`. They are written in the order of pseudonyms, which are random, and of
    these numbers: that tells nothing. The concepts stand in that order already (`by_pseudonym`).

    Rows are made in pieces: there may be a hundred million, and each step needs some memory. So
    that `concepts` is the only copy of them, it becomes a column of what is returned.
    """
    order = _order(mapping)
    who, names = as_categorical(mapping["pseudonym"].gather(order)), publishable_labels(taxonomy)
    texts = as_categorical(names.texts)
    first = np.zeros(len(sizes), np.int64) if before is None else before
    logs, done = [], 0
    for begin, end in _pieces(sizes[order]):
        users = order[begin:end]
        number = _counted_up(sizes[users])
        place = np.repeat(np.arange(begin, end, dtype=np.uint32), sizes[users])
        own = concepts[done : done + len(number)]
        labels = names.sample(own, chance.uint64s(len(own)))
        time = number + np.repeat(first[users], sizes[users]) + 1
        columns = {"user": who.gather(place), "query": texts.gather(labels)}
        logs.append(pl.DataFrame(columns | {"time": time.astype(_short(sizes, first))}))
        done += len(own)
    log = pl.concat(logs).with_columns(rank=pl.lit(None, pl.Int32), url=pl.lit(None, pl.String))
    meant = pl.Series("concept", concepts, pl.Int32)  # not copied
    return ReplacementRows(log, log.select("user").with_columns(meant), mapping)


def _order(mapping: pl.DataFrame) -> IntArray:
    return mapping["pseudonym"].arg_sort().to_numpy()


def _pieces(sizes: IntArray) -> Iterator[tuple[int, int]]:
    """Cut users into runs that have about so many rows; at least one, which may be empty."""
    ends = np.cumsum(sizes)
    begin, done = 0, 0
    while begin < len(sizes):
        end = max(begin + 1, int(np.searchsorted(ends, done + PIECE, side="right")))
        yield begin, end
        begin, done = end, int(ends[end - 1])
    if not len(sizes):
        yield 0, 0


def _counted_up(sizes: IntArray) -> IntArray:
    """Return 0, 1, ... for each size, one after the other.

    >>> _counted_up(np.array([2, 0, 3])).tolist()
    [0, 1, 0, 1, 2]
    """
    begins = np.cumsum(sizes) - sizes
    return np.arange(int(sizes.sum()), dtype=np.int64) - np.repeat(begins, sizes)


def _short(sizes: IntArray, first: IntArray) -> type[np.int16] | type[np.int32]:
    """Return the shortest kind of number that counts the rows of every user."""
    most = int(sizes.max(initial=0)) + int(first.max(initial=0))
    return np.int16 if most < 2**15 else np.int32


def as_categorical(texts: pl.Series) -> pl.Series:
    """Hold each text once, however often it is gathered."""
    return texts.cast(pl.Categorical(pl.Categories.random()))


_PLURALS = [MATCH_KINDS.index(how) for how in MATCH_KINDS if "plural" in how]


def substitute_phrases(
    written: ReplacementRows,
    found: ConceptMapping,
    slots: BoundedPhrases,
    names: pl.DataFrame,
    before: IntArray,
    chance: RandomSource,
) -> ReplacementRows:
    """Give one row a query, its phrases replaced; `written` has the label of each phrase.

    `before` has the slots that each user had used; `written` is sorted by pseudonym and slot.
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
    texts = _texts(table, found)
    first = table.group_by("event").agg(pl.col("user", "time").first())
    log = first.join(texts, on="event").with_columns(
        time=pl.col("time").rank("ordinal").over("user").cast(pl.Int32),
        rank=pl.lit(None, pl.Int32),
        url=pl.lit(None, pl.String),
    )
    shuffled = shuffle_rows(
        log.select("user", "query", "time", "rank", "url").lazy(), chance
    ).collect()
    return ReplacementRows(shuffled, written.concepts, written.mapping)


def _texts(table: pl.DataFrame, found: ConceptMapping) -> pl.DataFrame:
    """Put labels in the place of the words that were found, and leave all other words."""
    spans = found.phrases.with_row_index("phrase")
    replaced = table.select("event", "phrase", label="query").join(spans, on="phrase")
    queries = replaced.group_by("event").agg(pl.col("query").first())
    words = queries.with_columns(
        word=tokenize(found.queries.cast(pl.String)).gather(queries["query"])
    )
    words = words.select("event", "word", place=pl.int_ranges(pl.col("word").list.len()))
    words = words.explode("word", "place", empty_as_null=True)
    marks = _marked(replaced, words, found)
    whole = words.join(marks, on=["event", "place"], how="left", maintain_order="left")
    text = pl.when(pl.col("first")).then("label").when(pl.col("label").is_null()).then("word")
    return (
        whole.with_columns(text=text).sort("event", "place").group_by("event", maintain_order=True)
        .agg(query=pl.col("text").drop_nulls().str.join(" "))
    )  # fmt: skip


def _marked(replaced: pl.DataFrame, words: pl.DataFrame, found: ConceptMapping) -> pl.DataFrame:
    """Tell which words a label takes the place of: event, place, label, and whether the first.

    A label stands for the last so many words of a phrase that are no stop words.
    """
    stop = sorted(get_language(found.taxonomy.language).stop_words)
    plural = pl.col("how").is_in(_PLURALS) & ~pl.col("label").str.ends_with("s")
    spans = replaced.select(
        "event", "phrase", "matched",
        label=pl.when(plural).then(pl.col("label") + "s").otherwise("label"),
        place=pl.int_ranges(pl.col("begin"), pl.col("begin") + pl.col("words")).cast(
            pl.List(pl.Int64)
        ),
    ).explode("place", empty_as_null=True)  # fmt: skip
    spans = spans.join(words, on=["event", "place"]).sort("event", "phrase", "place")
    content = ~pl.col("word").is_in(stop)
    after = content.cast(pl.Int32).reverse().cum_sum().reverse().over("event", "phrase")
    inside = (after < pl.col("matched")) | ((after == pl.col("matched")) & content)
    kept = spans.filter(inside)
    first = pl.int_range(pl.len()).over("event", "phrase") == 0
    return kept.select("event", "place", "label", first=first)
