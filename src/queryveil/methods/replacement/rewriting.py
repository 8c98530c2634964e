"""Texts as the paper writes them: new phrases among the user's other words.

The other words, their order and plurals are copied, so no guarantee covers such a text.
"""

from __future__ import annotations

import polars as pl

from ...concepts.mapping.label_index import MATCH_KINDS
from ...concepts.mapping.language import get_language
from ...concepts.mapping.result import ConceptMapping
from ...concepts.mapping.tokens import tokenize
from ...concepts.taxonomy.arrays import IntArray
from ...core.randomness import RandomSource
from ...engine.operations import shuffle_rows
from .phrases import BoundedPhrases
from .rendering import ReplacementRows

__all__ = ["substitute_phrases"]

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
