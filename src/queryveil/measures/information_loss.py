"""The information loss of Batet et al. 2013: how the clusters of similar users change.

Equations (8) and (9): users are clustered by the distance of their profiles before and after, and
L is 100 times the distance of the two clusterings (see `_shared/clustering.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, Self

import numpy as np
import polars as pl

from ..concepts.similarity.distance import cache_distances
from ..concepts.similarity.profiles import (
    UNMAPPED,
    Matrix,
    Profiles,
    build_profiles,
    profile_distance_matrix,
)
from ..concepts.taxonomy.arrays import BoolArray
from ..core.parameters import parameter
from ..errors import InputError, ParameterError
from ..release.release import Release
from ._shared.clustering import (
    Labels,
    best_cluster_count,
    cut_tree,
    expected_distance,
    linkage_tree,
    partition_distance,
)
from ._shared.random_groups import (
    REPEATS,
    Grouping,
    describe_baseline,
    infer_grouping,
    sample_random_prototypes,
)
from .base import ConceptMeasure
from .context import MeasureContext, released_concepts
from .result import MeasureResult

_CLUSTERS_PER_USER = 0.08  # the paper has 80 clusters of 1,000 users
_MAX_USERS = 10_000  # the distance matrix has a cell for each pair of users


@dataclass(frozen=True, eq=False)
class _OriginalClusters:
    """The clustering of the original log: profiles, users with a concept, and cluster labels."""

    profiles: Profiles
    mapped: BoolArray
    number: int
    labels: Labels


@dataclass(frozen=True)
class InformationLoss(ConceptMeasure):
    """L, in percent; 0: the clusters of users are unchanged, 100: they are unrelated."""

    name: ClassVar[str] = "information-loss"
    title: ClassVar[str] = "loss of the clusters of similar users"
    description: ClassVar[str] = (
        "how much the clusters of users with similar interests change: 0 if they are those of "
        "the log, 100 if they are unrelated to them; the baselines are shuffled clusters and "
        "random groups"
    )
    paper: ClassVar[str] = "Batet, Erola, Sánchez, Castellà-Roca 2013, eq. (8) and (9)"
    unit: ClassVar[str] = "percent"
    better: ClassVar[Literal["lower", "higher"]] = "lower"
    kind: ClassVar[Literal["risk", "utility"]] = "utility"

    clusters: int | Literal["auto", "calinski-harabasz"] = parameter(
        "auto",
        "number of clusters of users; auto: 8% of the users, calinski-harabasz: the number with "
        "the best index of that name",
        min=2,
        max=_MAX_USERS,
    )
    linkage: str = parameter(
        "ward", "linkage of the hierarchical clustering", choices=("ward", "average")
    )

    def compute(self, context: MeasureContext, release: Release) -> MeasureResult:
        """Return L with its baselines, and the basis."""
        was = self._original_clusters(context)
        matrix, note = self._released_distances(context, was, release)
        labels = self._cut(matrix, was.number)
        baseline, description = self._baseline(context, was, release)
        chance = _percent(expected_distance(was.labels, labels))
        clusters = {"before": _count_clusters(was.labels), "after": _count_clusters(labels)}
        return self.result(
            _percent(partition_distance(was.labels, labels)),
            baselines={"chance": chance, "random_groups": baseline},
            counts={"users": len(was.profiles), "unmapped": int((~was.mapped).sum())},
            details={
                "mapped_only": _loss_of_mapped(was, labels),
                "random_groups_note": description,
                "clusters": clusters,
            },
            basis=f"{self._basis(context, was)}; {note}",
        )

    @classmethod
    def variants(cls) -> tuple[Self, ...]:
        """Return the measure with both linkages: they share all distances."""
        return cls(), cls(linkage="average")

    def prepare(self, context: MeasureContext) -> None:
        """Cluster the users of the log, and raise if all users are equal."""
        self._original_clusters(context)

    def _original_clusters(self, context: MeasureContext) -> _OriginalClusters:
        return context.cached((self, "clusters"), lambda: self._cluster_original(context))

    def _original_distances(self, context: MeasureContext) -> tuple[Profiles, Matrix]:
        """Return profiles and distances of the log's users; measures in a row share them."""
        taxonomy = context.taxonomy(self.mapping_options)

        def compute_distances() -> tuple[Profiles, Matrix]:
            profiles = build_profiles(context.concepts(self.mapping_options))
            self._check_size(len(profiles))
            concepts = np.unique(profiles.lists.items)
            cache_distances(taxonomy, concepts[concepts != UNMAPPED])
            return profiles, profile_distance_matrix(taxonomy, profiles)

        key = ("distances of users", self.mapping_options)
        return context.latest(key, context.log, compute_distances)

    def _released_distances(
        self, context: MeasureContext, was: _OriginalClusters, release: Release
    ) -> tuple[Matrix, str]:
        """Return the distances of released logs, and a note; both linkages share them."""

        def compute_distances() -> tuple[Matrix, str]:
            pairs, note = released_concepts(context, release, self.mapping_options)
            now = build_profiles(_add_missing_users(pairs, was.profiles.users))
            return profile_distance_matrix(context.taxonomy(self.mapping_options), now), note

        # The name is that of the original's distances: only one matrix is in memory.
        key = ("distances of users", self.mapping_options)
        return context.latest(key, release, compute_distances)

    def _cluster_original(self, context: MeasureContext) -> _OriginalClusters:
        taxonomy = context.taxonomy(self.mapping_options)
        profiles, matrix = self._original_distances(context)
        self._check_size(len(profiles))  # the distances may be those of a measure before
        number = self._choose_cluster_count(matrix)
        labels = self._cut(matrix, number)
        if _count_clusters(labels) < 2:
            raise InputError(
                f"all users of this log have the same profile in {taxonomy.title}, so there is "
                "only one cluster",
                hint="use another taxonomy, or a larger log",
            )
        mapped = profiles.lists.items[profiles.lists.start[:-1]] != UNMAPPED
        return _OriginalClusters(profiles, mapped, number, labels)

    def _check_size(self, users: int) -> None:
        if not 2 <= users <= _MAX_USERS:
            raise InputError(
                f"clustering compares all pairs of users: it needs 2 to {_MAX_USERS:,} users, and "
                f"this log has {users:,}",
                hint=f"`sample_users={_MAX_USERS}`" if users > 2 else None,
            )
        if isinstance(self.clusters, int) and self.clusters > users:
            raise ParameterError(
                f"clusters is {self.clusters}, but the log has {users} users",
                hint=f"use 2 to {users}, or auto for 8%",
            )

    def _choose_cluster_count(self, matrix: Matrix) -> int:
        if self.clusters == "calinski-harabasz":
            return best_cluster_count(matrix, linkage_tree(matrix, self.linkage))
        if self.clusters == "auto":
            return max(2, round(_CLUSTERS_PER_USER * len(matrix)))
        return self.clusters

    def _cut(self, matrix: Matrix, number: int) -> Labels:
        return cut_tree(linkage_tree(matrix, self.linkage), number)

    def _baseline(
        self, context: MeasureContext, was: _OriginalClusters, release: Release
    ) -> tuple[float | None, str]:
        """Return L of random groups with the same prototype rule, and a description."""
        grouping = infer_grouping(release, len(was.profiles))
        if isinstance(grouping, str):
            return None, grouping
        key = (self, "random groups", grouping)
        loss = context.cached(key, lambda: self._random_loss(context, was, grouping))
        return loss, describe_baseline(grouping)

    def _random_loss(
        self, context: MeasureContext, was: _OriginalClusters, grouping: Grouping
    ) -> float:
        return _percent(
            float(
                np.mean([self._random_distance(context, was, grouping, t) for t in range(REPEATS)])
            )
        )

    def _random_distance(
        self, context: MeasureContext, was: _OriginalClusters, grouping: Grouping, turn: int
    ) -> float:
        taxonomy = context.taxonomy(self.mapping_options)
        prototypes, group = sample_random_prototypes(taxonomy, was.profiles, grouping, turn)
        matrix = profile_distance_matrix(taxonomy, prototypes)[np.ix_(group, group)]
        return partition_distance(was.labels, self._cut(matrix, was.number))

    def _basis(self, context: MeasureContext, was: _OriginalClusters) -> str:
        choices = {"auto": "8% of the users", "calinski-harabasz": "by Calinski-Harabasz"}
        choice = choices.get(str(self.clusters), "as requested")
        return (
            f"{context.taxonomy(self.mapping_options).title}, {was.number} clusters ({choice}), "
            f"{self.linkage} linkage"
        )


def _add_missing_users(pairs: pl.DataFrame, users: pl.Series) -> pl.DataFrame:
    """Add the users that the release does not have, without a concept."""
    all_users = pl.DataFrame({"user": users})
    known = pairs.select("user", pl.col("concept").cast(pl.Int32), pl.col("count").cast(pl.Int64))
    return all_users.join(known, on="user", how="left").with_columns(pl.col("count").fill_null(1))


def _loss_of_mapped(was: _OriginalClusters, labels: Labels) -> float | None:
    """Return L over the users who had a concept.

    The others all have the same empty profile. They stay in one cluster, which lowers L.
    """
    own = was.labels[was.mapped]
    return (
        _percent(partition_distance(own, labels[was.mapped])) if _count_clusters(own) > 1 else None
    )


def _count_clusters(labels: Labels) -> int:
    return len(np.unique(labels))


def _percent(fraction: float) -> float:
    return round(100 * fraction, 4)
