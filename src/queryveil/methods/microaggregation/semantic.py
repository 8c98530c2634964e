"""Semantic microaggregation (Batet, Erola, Sánchez, Castellà-Roca 2013), and its string variant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from ...concepts.loaders.registry import open_taxonomy
from ...concepts.mapping.mapper import Mapper
from ...concepts.similarity.profiles import Profiles, build_profiles
from ...concepts.taxonomy.arrays import IntArray
from ...concepts.taxonomy.graph import Taxonomy
from ...core.parameters import parameter
from ...core.progress import Progress
from ...core.randomness import RandomSource
from ...engine.operations import unique_queries
from ...log.query_log import QueryLog
from .base import Microaggregation, Prototypes, partition_profiles
from .concept_based import ByMeaning
from .contributions import NOBODY
from .coverage import covered_share
from .emission import QueryPool, build_query_pool, sample_queries, user_query_pairs
from .grouping import group_users
from .prototypes import PrototypeItems, select_items, select_items_greedily

_BLOCKINGS = ("auto", "exact", "blocked")


@dataclass(frozen=True)
class SemanticMicroaggregation(ByMeaning):
    """Group users whose queries mean similar things; each group shares a log of real queries.

    >>> str(SemanticMicroaggregation(k=3))
    'semantic-microaggregation:k=3'
    """

    name: ClassVar[str] = "semantic-microaggregation"
    title: ClassVar[str] = "groups of k users of similar interests share one log of real queries"
    paper: ClassVar[str] = "Batet, Erola, Sánchez, Castellà-Roca 2013"
    guarantee_summary: ClassVar[str] = (
        "k-anonymity: every released log is shared by at least k users"
    )

    output_unit: str = parameter(
        "phrase", "whether phrases or whole queries are released", choices=("phrase", "query")
    )
    blocking: str = parameter(
        "auto", "whether all users are compared, or blocks of similar ones", choices=_BLOCKINGS
    )
    refine: bool = parameter(
        False, "whether groups are refined after MDAV, and items selected greedily"
    )

    def _about_texts(self) -> str:
        if self.output_unit == "phrase":
            return "Every phrase in it stands in queries of"
        return super()._about_texts()

    def _prototypes(
        self, log: QueryLog, known: pl.DataFrame | None, rng: RandomSource, progress: Progress
    ) -> Prototypes:
        opened = open_taxonomy(self.taxonomy)
        concept_mapping = Mapper(opened).map(unique_queries(log.local_frame), progress)
        with progress.stage("profiles"):
            concepts = concept_mapping.concepts(log)
            self._check_coverage(covered_share(concepts))
            profiles = build_profiles(concepts)
        group = _group_new_users(self, opened, profiles, known, progress)
        with progress.stage("choose texts"):
            items = _select_items(opened, profiles, group, self.refine, self.most_share)
            sent = user_query_pairs(log, profiles.users, concept_mapping)
            pool = build_query_pool(concept_mapping, sent, self.output_unit, self.least)
            items = _fill_empty_groups(items, pool, group)
            texts = sample_queries(items, pool, opened, rng)
        named = pl.DataFrame(
            {"group": items.group, "user": items.user, "query": pool.names.gather(texts)}
        )
        return Prototypes(_build_members(log, profiles, group), named, items.short)


@dataclass(frozen=True)
class StringMicroaggregation(Microaggregation):
    """Group users who sent the same queries, without a taxonomy; the baseline of the paper.

    >>> str(StringMicroaggregation(k=3))
    'string-microaggregation:k=3'
    """

    name: ClassVar[str] = "string-microaggregation"
    title: ClassVar[str] = "groups of k users with the same queries share one log of real queries"
    paper: ClassVar[str] = "Batet et al. 2013, the variant without semantics"
    guarantee_summary: ClassVar[str] = (
        "k-anonymity: every released log is shared by at least k users"
    )

    blocking: str = parameter(
        "auto", "whether all users are compared, or blocks of similar ones", choices=_BLOCKINGS
    )
    refine: bool = parameter(
        False, "whether groups are refined after MDAV, and items selected greedily"
    )

    def _prototypes(
        self, log: QueryLog, known: pl.DataFrame | None, rng: RandomSource, progress: Progress
    ) -> Prototypes:
        with progress.stage("profiles"):
            profiles, names = _string_profiles(log)
        group = _group_new_users(self, None, profiles, known, progress)
        members = _build_members(log, profiles, group)
        with progress.stage("choose texts"):
            items = _select_items(None, profiles, group, self.refine, self.most_share)
            texts = pl.DataFrame(
                {"group": items.group, "user": items.user, "query": names.gather(items.concept)}
            )
        texts = self._substitute_rare(texts, members, log, rng, progress)
        return Prototypes(members, texts, items.short)


def _group_new_users(
    method: SemanticMicroaggregation | StringMicroaggregation,
    taxonomy: Taxonomy | None,
    profiles: Profiles,
    known: pl.DataFrame | None,
    progress: Progress,
) -> IntArray:
    """Group the users who have no group yet."""

    def split(users: IntArray) -> IntArray:
        selected = profiles if len(users) == len(profiles) else profiles.select(users)
        return partition_profiles(
            taxonomy, selected, method.k, method.blocking, method.refine, progress
        )

    return group_users(profiles.users, known, method.k, split)


def _select_items(
    taxonomy: Taxonomy | None, profiles: Profiles, group: IntArray, refined: bool, share: float
) -> PrototypeItems:
    select = select_items_greedily if refined else select_items
    return select(taxonomy, profiles, group, share)


def _string_profiles(log: QueryLog) -> tuple[Profiles, pl.Series]:
    """Return profiles in which each query is a concept of its own, and the queries."""
    sent = log.local_frame.group_by("user", "query").agg(count=pl.len()).collect(engine="streaming")
    names = sent.select("query").unique().with_columns(name=pl.col("query").cast(pl.String))
    names = names.sort("name").with_columns(concept=pl.int_range(pl.len(), dtype=pl.Int32))
    pairs = sent.join(names, on="query").select("user", "concept", "count")
    return build_profiles(pairs), names["name"]


def _fill_empty_groups(items: PrototypeItems, pool: QueryPool, group: IntArray) -> PrototypeItems:
    """Add one item to each group without any: the concept with the most texts, of `NOBODY`."""
    groups = np.arange(int(group.max()) + 1)
    empty = np.setdiff1d(groups, items.group)
    if not len(empty) or not len(pool.texts):
        return items
    concept = int(np.argmax(np.diff(pool.start)))
    return PrototypeItems(
        np.concatenate([items.group, empty]),
        np.concatenate([items.concept, np.full(len(empty), concept)]),
        np.concatenate([items.user, np.full(len(empty), NOBODY)]),
        items.short,
    )


def _build_members(log: QueryLog, profiles: Profiles, group: IntArray) -> pl.DataFrame:
    user_type = log.local_frame.collect_schema()["user"]
    return pl.DataFrame({"user": profiles.users, "group": group.astype(np.int64)}).with_columns(
        pl.col("user").cast(user_type)
    )
