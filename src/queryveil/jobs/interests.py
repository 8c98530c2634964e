"""The words that users with interests ask about: labels of concepts, by topic."""

from __future__ import annotations

from functools import cache

import numpy as np
import polars as pl

from ..concepts.loaders.registry import open_taxonomy
from ..concepts.mapping.mapper import Mapper
from ..concepts.similarity.domain_sets import DomainSet, open_domains
from ..concepts.taxonomy.labels import publishable_labels
from ..errors import UsageError
from ..synthetic.topical import generate_topical

__all__ = ["topical_rows"]


def topical_rows(about: str, users: int, queries: int, seed: int) -> pl.DataFrame:
    """Make a log of users who ask about the topics of a domain (`A`, or concepts with commas)."""
    words, groups = _words(about)
    return generate_topical(words, groups, users=users, queries=queries, seed=seed)


@cache
def _words(about: str) -> tuple[list[list[str]], list[int]]:
    """Give for each topic the labels that are understood as one of its concepts, and its domain."""
    domains = open_domains(open_taxonomy("wordnet"), about, "auto")
    topics, of = domains.topics, domains.topics.topic_of
    concepts = np.unique(domains.concepts)
    names = publishable_labels(domains.taxonomy)
    items, owners = names.of.take(concepts)
    meant = pl.DataFrame({"text": names.texts.gather(items), "topic": of[concepts[owners]]})
    meant = meant.filter(pl.col("topic") >= 0).unique("text", keep="none").sort("text")
    known = meant.filter(pl.Series(_understood(domains, meant)))
    words = [known.filter(pl.col("topic") == n)["text"].to_list() for n in range(len(topics))]
    used = [number for number, texts in enumerate(words) if texts]
    if len(used) < 2:
        raise UsageError(f'"{about}" has fewer than two topics to be interested in')
    tops = topics.roots or ()
    group = [int(domains.domain_of_concept[tops[n]]) if tops else 0 for n in used]
    return [words[n] for n in used], [max(one, 0) for one in group]


def _understood(domains: DomainSet, meant: pl.DataFrame) -> list[bool]:
    """Tell which texts are mapped to one concept, and that of their topic."""
    found = Mapper(domains.taxonomy).map(meant["text"])
    phrases = found.phrases.group_by("query").agg(pl.len(), pl.col("concept").first())
    phrases = pl.DataFrame({"query": np.arange(meant.height)}).join(
        phrases, on="query", how="left", maintain_order="left"
    )
    concept = phrases["concept"].fill_null(-1).to_numpy()
    right = domains.topics.topic_of[concept] == meant["topic"].to_numpy()
    return list((concept >= 0) & right & (phrases["len"].to_numpy() == 1))
