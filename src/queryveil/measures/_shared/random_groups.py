"""The fair floor of a microaggregation: random groups of users, with the same kind of prototype.

A method that groups alike users should lose less than one that groups any users. What the latter
would give is worked out here on concepts alone, without texts: each user gives her share of the
group's prototype (eq. 7 of Batet 2013), and a concept that too few users have is replaced by the
nearest that enough have.
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

# What goes into a prototype first: concepts near the centre of the group, or repeated ones.
PROTOTYPE_RULES = {
    "semantic-microaggregation": "nearest",
    "string-microaggregation": "repeated",
    "category-microaggregation": "repeated",
    "syntactic-microaggregation": "repeated",
}
REPEATS = 3  # of random groups, of which the mean is told
_SEED = 2013
_CELLS = 1 << 24  # of a table of distances at a time


@dataclass(frozen=True)
class Grouping:
    """How a release grouped its users: sizes, what goes first, and how many must have a concept."""

    sizes: tuple[int, ...]
    rule: str
    least: int


def infer_grouping(release: Release, users: int) -> Grouping | str:
    """Give how a release grouped so many users, or say why it has no floor of this kind."""
    groups = None if release.mapping is None else release.mapping.lazy().collect()
    if groups is None or "group" not in groups.columns or release.guarantee.k is None:
        return "none: this release has no groups of k users"
    if release.method not in PROTOTYPE_RULES:
        return f"none: how {release.method} makes a prototype is not known here"
    sizes = groups.select("user", "group").unique().group_by("group").len()["len"]
    if int(sizes.sum()) != users:
        return "none: not every user of the log is in one group"
    least = int(release.parameters.get("min_users", 1))
    return Grouping(tuple(sizes.sort().to_list()), PROTOTYPE_RULES[release.method], least)


def sample_random_prototypes(
    taxonomy: Taxonomy, profiles: Profiles, grouping: Grouping, turn: int = 0
) -> tuple[Profiles, IntArray]:
    """Put users into random groups of the same sizes; give the prototypes, and who is in which.

    The groups are always the same for the same sizes and turn.
    """
    group = np.empty(len(profiles), np.int64)
    numbers = np.arange(len(grouping.sizes))
    group[RandomSource(_SEED + turn).permutation(len(profiles))] = np.repeat(
        numbers, grouping.sizes
    )
    given = _given(taxonomy, profiles, group, grouping.rule)
    stand_in = _stand_ins(taxonomy, profiles, grouping.least)
    given = given.with_columns(concept=pl.Series(stand_in[given["concept"].to_numpy()]))
    everyone = pl.DataFrame({"group": numbers}, schema_overrides={"group": pl.Int64})
    rows = everyone.join(given, on="group", how="left")  # a group that gives nothing has a place
    name = pl.col("group").cast(pl.String).str.zfill(12)  # profiles stand in the order of names
    return build_profiles(rows.select(name.alias("user"), "concept", "count")), group


def sample_random_concepts(
    taxonomy: Taxonomy, profiles: Profiles, grouping: Grouping, turn: int = 0
) -> pl.DataFrame:
    """Give what each user would get from such a group: user, concept, count."""
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
    """Say what the floor is."""
    first = {"nearest": "those nearest to the centre", "repeated": "the most repeated"}
    return (
        f"{len(grouping.sizes):,} random groups of the same sizes; each user gives her share of "
        f"concepts, {first[grouping.rule]} first; without texts; mean of {REPEATS} turns"
    )


def _given(taxonomy: Taxonomy, profiles: Profiles, group: IntArray, rule: str) -> pl.DataFrame:
    """Give what each user puts into the prototype of her group: group, concept, count."""
    known = profiles.lists.items != UNMAPPED
    user = profiles.lists.row_ids[known].astype(np.int64)
    concept, count = profiles.lists.items[known].astype(np.int64), profiles.counts[known]
    weights = np.bincount(user, count, len(profiles)).astype(np.int64)
    far = np.zeros(len(user))
    if rule == "nearest" and len(user):
        far = pairwise_distances(
            taxonomy, concept, _centres(taxonomy, profiles, group)[group[user]]
        )
    rows = pl.DataFrame(
        {"user": user, "group": group[user], "concept": concept, "count": count}
    ).with_columns(
        far=pl.Series(far.round(9)), quota=pl.Series(length_quotas(weights, group)[user])
    )
    rows = rows.sort("user", "far", pl.col("count").neg(), "concept")
    before = pl.col("count").cum_sum().over("user") - pl.col("count")
    taken = pl.min_horizontal((pl.col("quota") - before).clip(0), "count")
    return rows.select("group", "concept", count=taken).filter(pl.col("count") > 0)


def length_quotas(weights: IntArray, group: IntArray) -> IntArray:
    """Share out the mean length of each group's logs among its users, by how long theirs are.

    >>> length_quotas(np.array([3, 4, 6]), np.array([0, 0, 0])).tolist()
    [1, 1, 2]
    """
    order = np.argsort(group, kind="stable")
    size = 2 * np.bincount(group)[group[order]]
    total = np.cumsum(weights[order])
    first = np.searchsorted(group[order], group[order])
    total -= (total - weights[order])[first]
    found = np.empty(len(weights), np.int64)
    # Rounding the running total makes the quotas add up to the rounded mean.
    rounded = (2 * total + size // 2) // size
    found[order] = rounded - (2 * (total - weights[order]) + size // 2) // size
    return found


def _centres(taxonomy: Taxonomy, profiles: Profiles, group: IntArray) -> IntArray:
    """Give the centre of each group, eq. (6) of Batet 2013; 0 for one without concepts."""
    mapped = np.flatnonzero(profiles.lists.items[profiles.lists.start[:-1]] != UNMAPPED)
    mapped = mapped[np.argsort(group[mapped], kind="stable")]
    numbers, first = np.unique(group[mapped], return_index=True)
    found = np.zeros(int(group.max()) + 1, np.int64)
    members = np.split(mapped, first[1:])
    found[numbers] = [centroid_concept(taxonomy, profiles, some) for some in members]
    return found


def _stand_ins(taxonomy: Taxonomy, profiles: Profiles, least: int) -> IntArray:
    """Give for each concept itself, or the nearest that enough users have."""
    found = np.arange(len(taxonomy))
    items = profiles.lists.items
    have = np.bincount(items[items != UNMAPPED], minlength=len(taxonomy))
    common, rare = (
        np.flatnonzero(have >= max(least, 1)),
        np.flatnonzero((have > 0) & (have < least)),
    )
    if not len(common):
        return found
    step = max(1, _CELLS // len(common))
    for begin in range(0, len(rare), step):
        some = rare[begin : begin + step]
        found[some] = common[distance_table(taxonomy, some, common).argmin(axis=1)]
    return found
