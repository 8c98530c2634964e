"""How differently users fall into clusters of alike ones: the information loss of Batet 2013.

Equations (8) and (9): users are clustered by the distance of their profiles before and after, and
L is 100 times the distance of the two partitions (see `partitions.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

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
from .base import Measure
from .context import MeasureContext, released_concepts

_SHARE = 0.08  # clusters per user: the paper has 80 of 1,000
_MOST_USERS = 10_000  # all are compared with each other


@dataclass(frozen=True, eq=False)
class _Before:
    """The log's profiles, in how many clusters its users are and in which, and who has concepts."""

    profiles: Profiles
    mapped: BoolArray
    number: int
    labels: Labels


@dataclass(frozen=True)
class InformationLoss(Measure):
    """L, in percent; 0: the same users are alike as before, 100: nothing of that is left."""

    name: ClassVar[str] = "information-loss"
    title: ClassVar[str] = "loss of who is alike"
    description: ClassVar[str] = (
        "how differently users fall into clusters of similar interests: 0 where the clusters are "
        "those of the log, 100 where they tell nothing of them; compare it with the level of "
        "chance and with random groups, which stand beside it"
    )
    paper: ClassVar[str] = "Batet, Erola, Sánchez, Castellà-Roca 2013, eq. (8) and (9)"
    unit: ClassVar[str] = "percent"
    better: ClassVar[Literal["lower", "higher"]] = "lower"
    kind: ClassVar[Literal["risk", "use"]] = "use"

    taxonomy: str = parameter("wordnet", "ruler: wordnet, a .qvt file or a path list")
    clusters: int = parameter(
        0,
        "clusters of users: a number from 2 on, 0 for 8% of the users, or -1 for the number that "
        "parts the log best (Calinski-Harabasz)",
        min=-1,
        max=_MOST_USERS,
    )
    linkage: str = parameter("ward", "how clusters are joined", choices=("ward", "average"))

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.clusters == 1:
            raise ParameterError(
                "--clusters cannot be 1", hint="one cluster tells nothing: 2 or more"
            )

    def compute(self, before: MeasureContext, after: Release) -> dict[str, Any]:
        """Give L with all that it must be compared with, and the ruler."""
        was = self._before(before)
        pairs, read = released_concepts(before, after, self.taxonomy)
        now = build_profiles(_with_everybody(pairs, was.profiles.users))
        matrix = profile_distance_matrix(before.taxonomy(self.taxonomy), now)
        labels = self._cut(matrix, was.number)
        floor, about = self._floor(before, was, after)
        return {
            "value": _percent(partition_distance(was.labels, labels)),
            "users": len(was.profiles),
            "unmapped": int((~was.mapped).sum()),
            "mapped_only": _mapped_only(was, labels),
            "chance": _percent(expected_distance(was.labels, labels)),
            "random_groups": floor,
            "random_groups_are": about,
            "clusters": {"before": _size(was.labels), "after": _size(labels)},
            "ruler": f"{self._ruler(before, was)}; {read}",
        }

    def prepare(self, before: MeasureContext) -> None:
        """Cluster the users of the log, and refuse a log whose users cannot be told apart."""
        self._before(before)

    def _before(self, before: MeasureContext) -> _Before:
        return before.cached((self, "clusters"), lambda: self._find(before))

    def _find(self, before: MeasureContext) -> _Before:
        taxonomy = before.taxonomy(self.taxonomy)
        profiles = build_profiles(before.concepts(self.taxonomy))
        self._check(len(profiles))
        concepts = np.unique(profiles.lists.items)
        cache_distances(taxonomy, concepts[concepts != UNMAPPED])
        matrix = profile_distance_matrix(taxonomy, profiles)
        number = self._number(matrix)
        labels = self._cut(matrix, number)
        if _size(labels) < 2:
            raise InputError(
                f"all users of this log are alike to {taxonomy.title}: there is nothing to lose",
                hint="take another taxonomy, or a larger log",
            )
        mapped = profiles.lists.items[profiles.lists.start[:-1]] != UNMAPPED
        return _Before(profiles, mapped, number, labels)

    def _check(self, users: int) -> None:
        if not 2 <= users <= _MOST_USERS:
            raise InputError(
                f"users are clustered by comparing each with each: that needs 2 to "
                f"{_MOST_USERS:,}, and this log has {users:,}",
                hint=f"--sample-users {_MOST_USERS}" if users > 2 else None,
            )
        if self.clusters > users:
            raise ParameterError(
                f"--clusters is {self.clusters}, but the log has {users} users",
                hint=f"take 2 to {users}, or 0 for 8%",
            )

    def _number(self, matrix: Matrix) -> int:
        if self.clusters == -1:
            return best_cluster_count(matrix, linkage_tree(matrix, self.linkage))
        return self.clusters or max(2, round(_SHARE * len(matrix)))

    def _cut(self, matrix: Matrix, number: int) -> Labels:
        return cut_tree(linkage_tree(matrix, self.linkage), number)

    def _floor(
        self, before: MeasureContext, was: _Before, after: Release
    ) -> tuple[float | None, str]:
        """Give L of random groups with the same kind of prototype, and what that is."""
        grouping = infer_grouping(after, len(was.profiles))
        if isinstance(grouping, str):
            return None, grouping
        key = (self, "random groups", grouping)
        found = before.cached(key, lambda: self._random(before, was, grouping))
        return found, describe_baseline(grouping)

    def _random(self, before: MeasureContext, was: _Before, grouping: Grouping) -> float:
        return _percent(
            float(np.mean([self._turn(before, was, grouping, t) for t in range(REPEATS)]))
        )

    def _turn(self, before: MeasureContext, was: _Before, grouping: Grouping, turn: int) -> float:
        taxonomy = before.taxonomy(self.taxonomy)
        prototypes, group = sample_random_prototypes(taxonomy, was.profiles, grouping, turn)
        matrix = profile_distance_matrix(taxonomy, prototypes)[np.ix_(group, group)]
        return partition_distance(was.labels, self._cut(matrix, was.number))

    def _ruler(self, before: MeasureContext, was: _Before) -> str:
        how = {0: "8% of the users", -1: "by Calinski-Harabasz"}.get(self.clusters, "as asked")
        return (
            f"{before.taxonomy(self.taxonomy).title}, {was.number} clusters ({how}), "
            f"{self.linkage} linkage"
        )


def _with_everybody(pairs: pl.DataFrame, users: pl.Series) -> pl.DataFrame:
    """Give those who are not in the release any more a place, without a concept."""
    everybody = pl.DataFrame({"user": users})
    known = pairs.select("user", pl.col("concept").cast(pl.Int32), pl.col("count").cast(pl.Int64))
    return everybody.join(known, on="user", how="left").with_columns(pl.col("count").fill_null(1))


def _mapped_only(was: _Before, labels: Labels) -> float | None:
    """Give L over those who had a concept: the others are all alike, and kept for free."""
    own = was.labels[was.mapped]
    return _percent(partition_distance(own, labels[was.mapped])) if _size(own) > 1 else None


def _size(labels: Labels) -> int:
    return len(np.unique(labels))


def _percent(share: float) -> float:
    return round(100 * share, 4)
