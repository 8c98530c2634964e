"""Semantic microaggregation, after Batet, Erola, Sánchez, Castellà-Roca 2013; string variant."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import polars as pl

from ...concepts.mapping.result import ConceptMapping
from ...concepts.similarity.distance import cache_distances
from ...concepts.similarity.profiles import (
    UNMAPPED,
    Profiles,
    build_profiles,
    compute_coverage,
    profile_distance_matrix,
)
from ...concepts.taxonomy.arrays import IntArray
from ...concepts.taxonomy.graph import Taxonomy
from ...core.parameters import parameter
from ...core.progress import Progress
from ...core.randomness import RandomSource
from ...engine.operations import unique_queries
from ...log.query_log import QueryLog
from ...release.checks import ROW_KINDS
from ...release.formats import KIND
from ...release.guarantee import Check, Guarantee
from ..base import MethodOutput
from .base import ByMeaning, Microaggregation
from .blocking import split_into_blocks
from .contributions import NOBODY
from .distances import grouping_distances
from .emission import Prototypes, emit_logs
from .grouping import check_groups, check_users, group_users, mdav
from .prototypes import PrototypeItems, select_items
from .queries import (
    QueryPool,
    build_query_pool,
    sample_queries,
    substitute_rare_queries,
    user_query_pairs,
)
from .refinement import refine_groups
from .shared_logs.composition import compose_logs
from .shared_logs.texts import SentQueries, find_texts

_BLOCKINGS = ("auto", "exact", "blocked")
EXACT_USERS = 2_500  # the maximum for which `auto` compares all users with each other
BLOCK_USERS = 1_000


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
    good_for: ClassVar[str] = (
        "logs of real queries per group of users, for partners under contract: user modeling, "
        "linguistics"
    )

    output_unit: str = parameter(
        "phrase", "released texts: phrases, or whole queries", choices=("phrase", "query")
    )
    blocking: str = parameter(
        "auto",
        "users that are compared: all (exact), or those of a block (faster)",
        choices=_BLOCKINGS,
    )

    def guarantee(self) -> Guarantee:
        """Return k-anonymity, for phrases or whole queries."""
        if self.output_unit != "phrase":
            return super().guarantee()
        if self.as_published:
            return self._state_guarantee("Every phrase in it occurs in queries of")
        stated = self._state_guarantee(
            f"Every query in it was sent by at least {self.min_senders} users of the log, and "
            "every part of a query occurs in queries of"
        )
        return replace(stated, checks=(*stated.checks, Check(ROW_KINDS, {})))

    def run(
        self,
        log: QueryLog,
        rng: RandomSource,
        progress: Progress,
        groups: pl.DataFrame | None = None,
    ) -> MethodOutput:
        """Map queries to concepts, group users, and compose a log for each group."""
        check_users(log.count_distinct("user"), self.k)
        prototypes = self._build_prototypes(log, rng, progress, groups)
        # The concepts are released from memory here: the logs of all users need much of it.
        return emit_logs(log, prototypes, self.emission_rules(), rng, progress)

    def _build_prototypes(
        self, log: QueryLog, rng: RandomSource, progress: Progress, groups: pl.DataFrame | None
    ) -> Prototypes:
        """Return the groups, and the texts that each shares."""
        mapper = self.mapping_options.mapper()
        mapping = mapper.map(unique_queries(log.local_frame), progress)
        with progress.stage("profiles"):
            concepts = mapping.concepts(log)
            self.check_coverage(compute_coverage(concepts))
            profiles = build_profiles(concepts)
            del concepts
        group = _group_new_users(self, mapper.taxonomy, profiles, groups, progress)
        members = _build_members(log, profiles, group)
        with progress.stage("choose texts"):
            pairs = user_query_pairs(log, profiles.users, mapping)
            if self.as_published:
                return self._published_texts(log, mapping, profiles, pairs, members, rng)
            sent = SentQueries(mapping, pairs, len(profiles))
            with_parts = self.output_unit == "phrase"
            texts = find_texts(sent, mapper, self.min_senders, log.dropped_topics, with_parts)
            rows = compose_logs(sent, texts, group, rng)
            rows = rows if with_parts else rows.drop(KIND)
            return Prototypes(members, rows, np.zeros(int(group.max()) + 1, np.int64))

    def _published_texts(
        self,
        log: QueryLog,
        mapping: ConceptMapping,
        profiles: Profiles,
        pairs: pl.DataFrame,
        members: pl.DataFrame,
        rng: RandomSource,
    ) -> Prototypes:
        """Select concepts by eq. (6) and (7) of Batet 2013, and draw a text for each."""
        group = members["group"].to_numpy()
        items = select_items(mapping.taxonomy, profiles, group, self.member_fraction)
        pool = build_query_pool(
            mapping, pairs, self.output_unit, self.min_senders, log.dropped_topics
        )
        items = _fill_empty_groups(items, pool, group)
        texts = pool.names.gather(sample_queries(items, pool, mapping.taxonomy, rng))
        named = pl.DataFrame({"group": items.group, "user": items.user, "query": texts})
        return Prototypes(members, named, items.short)


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
    good_for: ClassVar[str] = (
        "logs in a language without a taxonomy, and comparisons with semantic-microaggregation"
    )

    blocking: str = parameter(
        "auto",
        "users that are compared: all (exact), or those of a block (faster)",
        choices=_BLOCKINGS,
    )

    def run(
        self,
        log: QueryLog,
        rng: RandomSource,
        progress: Progress,
        groups: pl.DataFrame | None = None,
    ) -> MethodOutput:
        """Group users by MDAV on their queries, and select queries."""
        check_users(log.count_distinct("user"), self.k)
        with progress.stage("profiles"):
            profiles, names = _string_profiles(log)
        group = _group_new_users(self, None, profiles, groups, progress)
        members = _build_members(log, profiles, group)
        with progress.stage("choose texts"):
            items = select_items(None, profiles, group, self.member_fraction)
            texts = pl.DataFrame(
                {"group": items.group, "user": items.user, "query": names.gather(items.concept)}
            )
        rules = self.emission_rules()
        texts = substitute_rare_queries(texts, members, log, rules, rng, progress)
        return emit_logs(log, Prototypes(members, texts, items.short), rules, rng, progress)


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
            taxonomy, selected, method.k, method.blocking, not method.as_published, progress
        )

    return group_users(profiles.users, known, method.k, split)


def partition_profiles(
    taxonomy: Taxonomy | None,
    profiles: Profiles,
    k: int,
    how: str,
    refined: bool,
    progress: Progress,
) -> IntArray:
    """Group users, at least k in a group: all users at once, or block by block.

    Groups are formed by MDAV on Ds (Batet 2013), or refined, on distances that count topics too.
    """
    exact = how == "exact" or (how == "auto" and len(profiles) <= EXACT_USERS)
    if exact:
        blocks: list[IntArray] = [np.arange(len(profiles))]
    else:
        with progress.stage("cut into blocks"):
            blocks = split_into_blocks(taxonomy, profiles, max(BLOCK_USERS, 4 * k))
    if taxonomy is not None:
        concepts = np.unique(profiles.lists.items)
        cache_distances(taxonomy, concepts[concepts != UNMAPPED])
    group = np.empty(len(profiles), np.int64)
    first = 0
    with progress.stage("group users", len(profiles)) as advance, ThreadPoolExecutor(2) as pool:

        def work(users: IntArray) -> IntArray:
            part = profiles if exact else profiles.select(users)
            report = advance if exact else lambda _: None
            if not refined:
                return mdav(profile_distance_matrix(taxonomy, part, report), k)
            matrix = grouping_distances(taxonomy, part, report)
            return refine_groups(matrix, mdav(matrix, k))

        for users, labels in zip(blocks, pool.map(work, blocks), strict=True):
            group[users] = first + labels
            first += int(labels.max()) + 1
            if not exact:
                advance(len(users))
    check_groups(group, k)
    return group


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
