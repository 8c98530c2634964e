"""What a log is about, and how much of it a taxonomy knows."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from ..concepts import Mapper, Mapping, default_topics
from ..engine import Progress
from ..log import QueryLog, redact

__all__ = ["log_topics"]

_CONCEPTS, _EXAMPLES = 10, 8


def log_topics(
    log: QueryLog, users: pl.DataFrame, mapper: Mapper, progress: Progress
) -> dict[str, Any]:
    """Tell the topics of a log, the share of it with a concept, and what found none.

    `users` has each distinct query and how many users sent it.
    """
    lines = log.frame.group_by("query").agg(lines=pl.len()).collect(engine="streaming")
    table = lines.join(users, on="query", how="left").sort("query")
    found = mapper.map(table["query"], progress)
    weights = table["lines"].to_numpy().astype(np.int64)
    with progress.stage("topics"):
        return {
            "taxonomy": found.taxonomy.title,
            "queries_with_a_concept_share": round(found.coverage(), 4),
            "lines_with_a_concept_share": _share(weights[found.mapped].sum(), weights.sum()),
            "phrases_with_a_concept_share": _known_phrases(found),
            **_shares(found, weights),
            "frequent_queries_without_a_concept": _examples(table, found),
        }


def _known_phrases(found: Mapping) -> float:
    known = found.phrases.select((pl.col("concept") >= 0).mean()).item()
    return round(known or 0.0, 4)


def _shares(found: Mapping, weights: Any) -> dict[str, Any]:
    """Give the share of each topic in the phrases of all lines, and the most frequent concepts."""
    hits = found.phrases.filter(pl.col("concept") >= 0)
    concepts = hits["concept"].to_numpy()
    times = weights[hits["query"].to_numpy()]
    counts = np.bincount(concepts, times, minlength=len(found.taxonomy))
    topics, total = default_topics(found.taxonomy), counts.sum()
    by_topic = np.bincount(topics.of + 1, counts, minlength=len(topics) + 1)
    named = zip(["other", *topics.names], by_topic.tolist(), strict=True)
    order = np.argsort(-counts, kind="stable")[:_CONCEPTS]
    return {
        "shares": {
            name: _share(count, total)
            for name, count in sorted(named, key=lambda pair: -pair[1])
            if count
        },
        "frequent_concepts": [
            {
                "concept": found.taxonomy.name(int(concept)),
                "label": found.taxonomy.label(int(concept)),
                "share": _share(counts[concept], total),
            }
            for concept in order
            if counts[concept]
        ],
    }


def _examples(table: pl.DataFrame, found: Mapping) -> list[str]:
    missed = table.filter(~pl.Series(found.mapped)).sort(
        "users", "lines", "query", descending=[True, True, False]
    )
    return [redact(query) for query in missed["query"].head(_EXAMPLES).cast(pl.String)]


def _share(part: float, whole: float) -> float:
    return round(float(part) / float(whole), 4) if whole else 0.0
