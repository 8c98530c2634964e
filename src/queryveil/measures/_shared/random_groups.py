"""The baseline of a microaggregation: random groups of users, with the same prototype rule.

A method that groups similar users should lose less than one that groups random users. The loss of
the latter is computed here on concepts alone, without texts: each user contributes their quota of
the group's prototype (eq. 7 of Batet 2013), and a concept of too few users is replaced by the
nearest concept of enough users.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from ...concepts.similarity.distance import distance_table, pairwise_distances
from ...concepts.similarity.profiles import UNMAPPED, Profiles, build_profiles, centroid_concept
from ...concepts.taxonomy.arrays import IntArray
from ...concepts.taxonomy.graph import Taxonomy
from ...core.randomness import RandomSource
from ...release.release import Release

# Which concepts enter a prototype first: those near the centroid of the group, or repeated ones.
PROTOTYPE_RULES = {
    "semantic-microaggregation": "nearest",
    "string-microaggregation": "repeated",
    "category-microaggregation": "repeated",
    "syntactic-microaggregation": "repeated",
}
REPEATS = 3  # random groupings, of which the mean is reported
_SEED = 2013
_CELLS = 1 << 24  # of a table of distances at a time


@dataclass(frozen=True)
class Grouping:
    """How a release grouped its users: sizes, prototype rule, and minimum users per concept."""

    sizes: tuple[int, ...]
    rule: str
    min_users: int


def infer_grouping(release: Release, users: int) -> Grouping | str:
    """Return how a release grouped that many users, or a message why it has no such baseline."""
    groups = None if release.mapping is None else release.mapping.lazy().collect()
    if groups is None or "group" not in groups.columns or release.guarantee.k is None:
        return "none: this release has no groups of k users"
    if release.method not in PROTOTYPE_RULES:
        return f"none: the prototype rule of {release.method} is not known"
    sizes = groups.select("user", "group").unique().group_by("group").len()["len"]
    if int(sizes.sum()) != users:
        return "none: not every user of the log is in one group"
    min_users = int(release.parameters.get("min_users") or 1)
    return Grouping(tuple(sizes.sort().to_list()), PROTOTYPE_RULES[release.method], min_users)


def sample_random_prototypes(
    taxonomy: Taxonomy, profiles: Profiles, grouping: Grouping, turn: int = 0
) -> tuple[Profiles, IntArray]:
    """Sample random groups of the same sizes; return the prototypes, and the group of each user.

    The groups are always the same for the same sizes and turn.
    """
    group = np.empty(len(profiles), np.int64)
    numbers = np.arange(len(grouping.sizes))
    group[RandomSource(_SEED + turn).permutation(len(profiles))] = np.repeat(
        numbers, grouping.sizes
    )
    contributed = _contributions(taxonomy, profiles, group, grouping.rule)
    replacement = _replacements(taxonomy, profiles, grouping.min_users)
    contributed = contributed.with_columns(
        concept=pl.Series(replacement[contributed["concept"].to_numpy()])
    )
    all_groups = pl.DataFrame({"group": numbers}, schema_overrides={"group": pl.Int64})
    rows = all_groups.join(contributed, on="group", how="left")  # keeps groups without concepts
    name = pl.col("group").cast(pl.String).str.zfill(12)  # profiles are sorted by name
    return build_profiles(rows.select(name.alias("user"), "concept", "count")), group


def sample_random_concepts(
    taxonomy: Taxonomy, profiles: Profiles, grouping: Grouping, turn: int = 0
) -> pl.DataFrame:
    """Return the concepts that each user gets from their random group: user, concept, count."""
    prototypes, group = sample_random_prototypes(taxonomy, profiles, grouping, turn)
    lists = prototypes.lists
    rows = pl.DataFrame(
        {
            "group": lists.row_ids.astype(np.int64),
            "concept": lists.items,
            "count": prototypes.counts,
        }
    )
    users = pl.DataFrame({"user": profiles.users, "group": group})
    known = rows.filter(pl.col("concept") != UNMAPPED)
    return users.join(known, on="group").select("user", "concept", "count")


def describe_baseline(grouping: Grouping) -> str:
    """Return a description of the baseline."""
    first = {"nearest": "those nearest to the centroid", "repeated": "the most repeated"}
    return (
        f"{len(grouping.sizes):,} random groups of the same sizes; each user contributes a quota "
        f"of concepts, {first[grouping.rule]} first; without texts; mean of {REPEATS} turns"
    )


def _contributions(
    taxonomy: Taxonomy, profiles: Profiles, group: IntArray, rule: str
) -> pl.DataFrame:
    """Return the contributions of users to the prototypes: group, concept, count."""
    known = profiles.lists.items != UNMAPPED
    user = profiles.lists.row_ids[known].astype(np.int64)
    concept, count = profiles.lists.items[known].astype(np.int64), profiles.counts[known]
    weights = np.bincount(user, count, len(profiles)).astype(np.int64)
    distance = np.zeros(len(user))
    if rule == "nearest" and len(user):
        distance = pairwise_distances(
            taxonomy, concept, _group_centroids(taxonomy, profiles, group)[group[user]]
        )
    rows = pl.DataFrame(
        {"user": user, "group": group[user], "concept": concept, "count": count}
    ).with_columns(
        distance=pl.Series(distance.round(9)), quota=pl.Series(length_quotas(weights, group)[user])
    )
    rows = rows.sort("user", "distance", pl.col("count").neg(), "concept")
    used = pl.col("count").cum_sum().over("user") - pl.col("count")
    contribution = pl.min_horizontal((pl.col("quota") - used).clip(0), "count")
    return rows.select("group", "concept", count=contribution).filter(pl.col("count") > 0)


def length_quotas(weights: IntArray, group: IntArray) -> IntArray:
    """Apportion the mean log length of each group to its users, in proportion to their lengths.

    >>> length_quotas(np.array([3, 4, 6]), np.array([0, 0, 0])).tolist()
    [1, 1, 2]
    """
    order = np.argsort(group, kind="stable")
    size = 2 * np.bincount(group)[group[order]]
    total = np.cumsum(weights[order])
    first = np.searchsorted(group[order], group[order])
    total -= (total - weights[order])[first]
    quotas = np.empty(len(weights), np.int64)
    # Rounding the running total ensures that the quotas add up to the rounded mean.
    rounded = (2 * total + size // 2) // size
    quotas[order] = rounded - (2 * (total - weights[order]) + size // 2) // size
    return quotas


def _group_centroids(taxonomy: Taxonomy, profiles: Profiles, group: IntArray) -> IntArray:
    """Return the centroid of each group, eq. (6) of Batet 2013; 0 for a group without concepts."""
    mapped = np.flatnonzero(profiles.lists.items[profiles.lists.start[:-1]] != UNMAPPED)
    mapped = mapped[np.argsort(group[mapped], kind="stable")]
    numbers, first = np.unique(group[mapped], return_index=True)
    centroids = np.zeros(int(group.max()) + 1, np.int64)
    members = np.split(mapped, first[1:])
    centroids[numbers] = [centroid_concept(taxonomy, profiles, users) for users in members]
    return centroids


def _replacements(taxonomy: Taxonomy, profiles: Profiles, min_users: int) -> IntArray:
    """Return each concept, or the nearest concept of enough users in place of a rare one."""
    replacement = np.arange(len(taxonomy))
    items = profiles.lists.items
    have = np.bincount(items[items != UNMAPPED], minlength=len(taxonomy))
    common, rare = (
        np.flatnonzero(have >= max(min_users, 1)),
        np.flatnonzero((have > 0) & (have < min_users)),
    )
    if not len(common):
        return replacement
    step = max(1, _CELLS // len(common))
    for begin in range(0, len(rare), step):
        block = rare[begin : begin + step]
        replacement[block] = common[distance_table(taxonomy, block, common).argmin(axis=1)]
    return replacement
