"""Semantic microaggregation (Batet, Erola, Sánchez, Castellà-Roca 2013), and its string variant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from ...concepts import Mapper, Mapping, Profiles, open_taxonomy, profiles_of
from ...concepts.taxonomy import Ints
from ...engine import Chance, Progress
from ...log import QueryLog
from ..base import parameter
from .family import Microaggregation, partition_profiles
from .prototype import Items, semantic_items
from .texts import Pool, draw_texts, pool_of

__all__ = ["SemanticMicroaggregation", "StringMicroaggregation"]

_PARTITIONS = ("auto", "exact", "blocked")


@dataclass(frozen=True)
class SemanticMicroaggregation(Microaggregation):
    """Group users whose queries mean similar things; each group shares a log of real queries.

    >>> str(SemanticMicroaggregation(k=3))
    'semantic-microaggregation:k=3'
    """

    name: ClassVar[str] = "semantic-microaggregation"
    title: ClassVar[str] = "groups of k users of similar interests share one log of real queries"
    paper: ClassVar[str] = "Batet, Erola, Sánchez, Castellà-Roca 2013"
    promise: ClassVar[str] = "k-anonymity: every released log is shared by at least k users"

    taxonomy: str = parameter("wordnet", "what queries mean: wordnet, or a taxonomy's file")
    emit: str = parameter(
        "phrase", "whether phrases or whole queries are released", choices=("phrase", "full")
    )
    partition: str = parameter(
        "auto", "whether all users are compared, or blocks of similar ones", choices=_PARTITIONS
    )
    refine: bool = parameter(False, "whether groups are improved by swaps after MDAV")

    def _about_texts(self) -> str:
        if self.emit == "phrase":
            return "Every phrase in it stands in queries of"
        return super()._about_texts()

    def _prototypes(
        self, log: QueryLog, chance: Chance, progress: Progress
    ) -> tuple[pl.DataFrame, pl.DataFrame]:
        opened = open_taxonomy(self.taxonomy)
        queries = log.frame.select("query").unique().collect(engine="streaming")["query"].sort()
        found = Mapper(opened).map(queries, progress)
        with progress.stage("profiles"):
            profiles = found.profiles(log)
        group = partition_profiles(opened, profiles, self.k, self.partition, self.refine, progress)
        with progress.stage("choose texts"):
            items = semantic_items(opened, profiles, group)
            sent = _sent(log, profiles, found)
            pool, _ = pool_of(found, sent, self.emit, self.min_users, len(opened))
            items = _none_empty(items, pool, group)
            texts = draw_texts(items, pool, opened, chance)
        return _members(log, profiles, group), _texts(items, pool, texts)


@dataclass(frozen=True)
class StringMicroaggregation(Microaggregation):
    """Group users who sent the same queries; no taxonomy. The paper's own comparison.

    >>> str(StringMicroaggregation(k=3))
    'string-microaggregation:k=3'
    """

    name: ClassVar[str] = "string-microaggregation"
    title: ClassVar[str] = "groups of k users with the same queries share one log of real queries"
    paper: ClassVar[str] = "Batet et al. 2013, the variant without semantics"
    promise: ClassVar[str] = "k-anonymity: every released log is shared by at least k users"

    partition: str = parameter(
        "auto", "whether all users are compared, or blocks of similar ones", choices=_PARTITIONS
    )
    refine: bool = parameter(False, "whether groups are improved by swaps after MDAV")

    def _prototypes(
        self,
        log: QueryLog,
        chance: Chance,  # noqa: ARG002  (which queries go first is no matter of chance here)
        progress: Progress,
    ) -> tuple[pl.DataFrame, pl.DataFrame]:
        with progress.stage("profiles"):
            profiles, pool = _string_profiles(log, self.min_users)
        group = partition_profiles(None, profiles, self.k, self.partition, self.refine, progress)
        items = semantic_items(None, profiles, group)
        items = _none_empty(items, pool, group)
        return _members(log, profiles, group), _texts(items, pool, items.concept)


def _string_profiles(log: QueryLog, min_users: int) -> tuple[Profiles, Pool]:
    """Take each query as its own concept; those of too few users are left out of profiles."""
    sent = log.frame.group_by("user", "query").agg(count=pl.len()).collect(engine="streaming")
    users = sent.group_by("query").len().filter(pl.col("len") >= min_users)
    names = users.select("query").with_columns(name=pl.col("query").cast(pl.String)).sort("name")
    names = names.with_columns(concept=pl.int_range(pl.len(), dtype=pl.Int32))
    pairs = sent.join(names, on="query", how="left").select("user", "concept", "count")
    size = names.height
    pool = Pool(np.arange(size + 1), np.arange(size), names["name"], np.empty(0, np.int64))
    return profiles_of(pairs), pool


def _sent(log: QueryLog, profiles: Profiles, found: Mapping) -> pl.DataFrame:
    """Give who sent what, by the numbers of users and queries."""
    users = pl.DataFrame({"user": profiles.users}).with_row_index("number")
    kind = log.frame.collect_schema()["user"]
    users = users.with_columns(pl.col("user").cast(kind))
    queries = pl.DataFrame({"query": found.queries}).with_row_index("place")
    pairs = log.frame.select("user", "query").unique()
    numbered = pairs.join(users.lazy(), on="user").join(queries.lazy(), on="query")
    return numbered.select(
        user=pl.col("number").cast(pl.Int64), query=pl.col("place").cast(pl.Int64)
    ).collect(engine="streaming")


def _none_empty(items: Items, pool: Pool, group: Ints) -> Items:
    """Give a group without any item one, of the concept that has the most texts."""
    groups = np.arange(int(group.max()) + 1)
    empty = np.setdiff1d(groups, items.group)
    if not len(empty) or not len(pool.texts):
        return items
    most = int(np.argmax(np.diff(pool.start)))
    _, first = np.unique(group, return_index=True)
    return Items(
        np.concatenate([items.group, empty]),
        np.concatenate([items.concept, np.full(len(empty), most)]),
        np.concatenate([items.user, first[empty]]),
    )


def _members(log: QueryLog, profiles: Profiles, group: Ints) -> pl.DataFrame:
    kind = log.frame.collect_schema()["user"]
    return pl.DataFrame({"user": profiles.users, "group": group.astype(np.int64)}).with_columns(
        pl.col("user").cast(kind)
    )


def _texts(items: Items, pool: Pool, texts: Ints) -> pl.DataFrame:
    return pl.DataFrame({"group": items.group.astype(np.int64), "query": pool.names.gather(texts)})
