"""What a log is about, and how much of it a taxonomy knows."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import polars as pl

from ..concepts.mapping.mapper import Mapper
from ..concepts.similarity.topics import default_topics
from ..concepts.taxonomy.graph import Taxonomy
from ..core.progress import Progress
from ..core.randomness import RandomSource
from ..engine.operations import aggregate, map_partitions
from ..engine.table import Table
from ..log.identifiers import mask_identifiers

__all__ = ["profile_topics"]

_CONCEPTS, _TOPIC_EXAMPLES = 10, 8


def profile_topics(sizes: Table, mapper: Mapper, progress: Progress) -> dict[str, Any]:
    """Tell the topics of a log, the share of it with a concept, and what found none.

    `sizes` has each distinct query, how many users sent it and on how many lines.
    """
    with progress.stage("map queries"):
        phrases = map_partitions(sizes, partial(_phrases, mapper=mapper), RandomSource())
    with progress.stage("topics"):
        told = aggregate(phrases, _coverage, ["all"]).row(0, named=True)
        return {
            "taxonomy": mapper.taxonomy.title,
            "queries_with_a_concept_share": _topic_fraction(told["mapped"], told["queries"]),
            "lines_with_a_concept_share": _topic_fraction(told["mapped_lines"], told["lines"]),
            "phrases_with_a_concept_share": _topic_fraction(told["known"], told["phrases"]),
            **_shares(aggregate(phrases, _concepts, ["concept"]), mapper.taxonomy),
            "frequent_queries_without_a_concept": _topic_examples(phrases),
        }


def _phrases(sizes: pl.LazyFrame, _: RandomSource, *, mapper: Mapper) -> pl.DataFrame:
    """Give a row a phrase: its query with users and lines, its concept or -1, and marks.

    A query without any phrase has one row all the same. `first` marks one row of each query,
    `found` whether the query has a concept, and `real` that there is a phrase.
    """
    table = sizes.collect().sort("query")
    found = mapper.map(table["query"])
    phrases = found.phrases.select("query", "concept", real=pl.lit(True))
    marked = table.with_columns(found=pl.Series(found.has_concept, dtype=pl.Boolean))
    numbered = marked.with_columns(number=pl.int_range(pl.len(), dtype=pl.Int64))
    rows = numbered.join(
        phrases.rename({"query": "number"}), on="number", how="left", maintain_order="left"
    )
    return rows.select(
        pl.col("query").cast(pl.String),
        pl.col("users", "lines").cast(pl.Int64),
        pl.col("concept").fill_null(-1).cast(pl.Int64),
        pl.col("real").fill_null(False),
        "found",
        first=pl.col("number").is_first_distinct(),
    )


def _coverage(frame: pl.LazyFrame, _: RandomSource) -> pl.DataFrame:
    first, mapped = pl.col("first"), pl.col("first") & pl.col("found")
    found = frame.select(
        queries=first.sum(),
        mapped=mapped.sum(),
        lines=pl.col("lines").filter(first).sum(),
        mapped_lines=pl.col("lines").filter(mapped).sum(),
        phrases=pl.col("real").sum(),
        known=(pl.col("concept") >= 0).sum(),
    )
    return found.cast(pl.Int64).collect().with_columns(all=pl.lit(0))


def _concepts(frame: pl.LazyFrame, _: RandomSource) -> pl.DataFrame:
    known = frame.filter(pl.col("concept") >= 0)
    return known.group_by("concept").agg(pl.col("lines").sum()).collect()


def _shares(lines: pl.DataFrame, taxonomy: Taxonomy) -> dict[str, Any]:
    """Give the share of each topic in the phrases of all lines, and the most frequent concepts."""
    counts = np.zeros(len(taxonomy))
    counts[lines["concept"].to_numpy()] = lines["lines"].to_numpy()
    topics, total = default_topics(taxonomy), counts.sum()
    by_topic = np.bincount(topics.topic_of + 1, counts, minlength=len(topics) + 1)
    named = zip(["other", *topics.names], by_topic.tolist(), strict=True)
    order = np.argsort(-counts, kind="stable")[:_CONCEPTS]
    return {
        "shares": {
            name: _topic_fraction(count, total)
            for name, count in sorted(named, key=lambda pair: -pair[1])
            if count
        },
        "frequent_concepts": [
            {
                "concept": taxonomy.name(int(concept)),
                "label": taxonomy.label(int(concept)),
                "share": _topic_fraction(counts[concept], total),
            }
            for concept in order
            if counts[concept]
        ],
    }


def _topic_examples(phrases: Table) -> list[str]:
    missed = aggregate(phrases, _missed, ["query", "users", "lines"])
    return [mask_identifiers(query) for query in _most_frequent(missed)["query"]]


def _missed(frame: pl.LazyFrame, _: RandomSource) -> pl.DataFrame:
    missed = frame.filter(pl.col("first") & ~pl.col("found"))
    return _most_frequent(missed.select("query", "users", "lines").collect())


def _most_frequent(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.sort("users", "lines", "query", descending=[True, True, False]).head(
        _TOPIC_EXAMPLES
    )


def _topic_fraction(part: float, whole: float) -> float:
    return round(float(part) / float(whole), 4) if whole else 0.0
