"""Split users into blocks of similar users, each small enough for one process.

For a remote log the splits are computed locally on a sample of users, and applied to all users on
the cluster. A block with fewer than k users joins its neighbor, so that the users of each block can
be grouped independently.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ...concepts.mapping.options import MappingOptions
from ...concepts.similarity.profiles import (
    UNMAPPED,
    Profiles,
    build_profiles,
    compute_coverage,
)
from ...concepts.taxonomy.arrays import IntArray, RaggedArray
from ...concepts.taxonomy.graph import Taxonomy
from ...core.progress import Progress
from ...core.randomness import RandomSource
from ...engine.operations import aggregate, unique_queries
from ...engine.table import RemoteTable
from ...log.query_log import QueryLog
from .grouping import check_users

_FEATURES = 128
_ROUNDS = 12  # of the power method: enough for a direction that separates well
_COMMON = 0.4  # a concept with more than this fraction hardly separates users
_USERS = 20_000  # that are embedded at a time
_WHOLE = 1 << 17  # the maximal number of users whose points all determine a direction


def split_into_blocks(taxonomy: Taxonomy | None, profiles: Profiles, most: int) -> list[IntArray]:
    """Split users into blocks of at most `most` similar users, without randomness."""
    spread = concept_weights(profiles)
    points = embed_profiles(embedding_columns(taxonomy, spread / len(profiles)), profiles)
    waiting: list[IntArray] = [np.arange(len(profiles))]
    done: list[IntArray] = []
    while waiting:
        users = waiting.pop()
        if len(users) <= most:
            done.append(np.sort(users))
            continue
        side = _project(points, users)
        parts = -(-len(users) // most)
        first = len(users) * (parts // 2) // parts
        order = np.lexsort((users, side))
        waiting += [users[order[first:]], users[order[:first]]]
    return done


def _project(points: NDArray[np.float32], users: IntArray) -> NDArray[np.float64]:
    """Return the projections of users on their first principal direction.

    For many users an even sample determines the direction, and users are projected in batches: a
    copy of all points, and a centered copy, took most of the memory of a run.
    """
    if len(users) <= _WHOLE:
        return principal_projection(points[users])[0]
    sample = points[users[:: -(-len(users) // _WHOLE)]]
    direction = principal_projection(sample)[1]
    middle = sample.mean(axis=0)
    pieces = (users[begin : begin + _USERS] for begin in range(0, len(users), _USERS))
    projections = [((points[piece] - middle) @ direction).round(5) for piece in pieces]
    return np.concatenate(projections).astype(np.float64)


def _local_weights(profiles: Profiles) -> tuple[IntArray, NDArray[np.float64]]:
    """Return the concepts of all profiles, and their fractions of the profile."""
    concept = profiles.lists.items
    fraction = profiles.counts / np.maximum(profiles.weights, 1)[profiles.lists.row_ids]
    fraction[concept == UNMAPPED] = 0  # users without a concept are at the origin
    return np.maximum(concept, 0), fraction


def concept_weights(profiles: Profiles, size: int = 0) -> NDArray[np.float64]:
    """Sum the fractions of each concept over all profiles."""
    concept, fraction = _local_weights(profiles)
    return np.asarray(np.bincount(concept, fraction, size), np.float64)


def embed_profiles(columns: RaggedArray, profiles: Profiles) -> NDArray[np.float32]:
    """Return the square roots of each user's fractions of the larger concepts.

    Square roots reduce the weight of large fractions. A concept that nobody had when the columns
    were chosen has no column.
    """
    concept, fraction = _local_weights(profiles)
    known = concept < len(columns)
    concept, fraction = np.where(known, concept, 0), np.where(known, fraction, 0)
    points = np.empty((len(profiles), _FEATURES), np.float32)
    for first in range(0, len(profiles), _USERS):
        last = min(first + _USERS, len(profiles))
        rows = slice(*profiles.lists.start[[first, last]].tolist())
        column, index = columns.take(concept[rows])
        user = profiles.lists.row_ids[rows][index] - first
        flat = np.bincount(
            user * _FEATURES + column, fraction[rows][index], (last - first) * _FEATURES
        )
        points[first:last] = np.sqrt(flat).reshape(-1, _FEATURES)
    return points


def embedding_columns(taxonomy: Taxonomy | None, spread: NDArray[np.float64]) -> RaggedArray:
    """Return the columns of each concept: its ancestors with the largest weights.

    `spread` is the mean fraction of each concept.
    """
    every: IntArray = np.arange(len(spread))
    above, below = every, every
    if taxonomy is not None:
        above, below = taxonomy.all_ancestors.take(every)
    weight = np.bincount(above, spread[below])
    weight[weight > _COMMON] = 0
    chosen = np.argsort(-weight, kind="stable")[:_FEATURES]
    column = np.full(len(weight), -1)
    column[chosen] = np.arange(len(chosen))
    used = column[above] >= 0
    return RaggedArray.group_by(below[used], column[above[used]], len(spread))


def principal_projection(
    points: NDArray[np.float32],
) -> tuple[NDArray[np.float64], NDArray[np.float32]]:
    """Return the projection of each point on the first principal direction, and the direction."""
    middle = points.mean(axis=0)
    centered = points - middle
    spread = centered.T @ centered
    direction = np.ones(spread.shape[0], np.float32) + np.arange(spread.shape[0]) * 1e-3
    for _ in range(_ROUNDS):
        direction = spread @ direction
        norm = float(np.linalg.norm(direction))
        if norm == 0:  # all points are equal
            return np.zeros(len(points)), np.zeros_like(middle)
        direction /= norm
    projection = np.asarray((centered @ direction).round(5), np.float64)
    return projection, np.asarray(direction, np.float32)


BLOCK_USERS = 4_000  # so that all users of a block are compared with each other
_SAMPLE = 20_000
_UNIT = 1 << 20  # fractions are summed as integers: sums of floats depend on the order
_SEED = 20130601  # of a public hash that samples users

Embedding = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class BlockTree:
    """A binary tree of splits: a point goes left if its projection is below the edge.

    Nodes are numbered; `left` and `right` are the next node, or -1 - leaf.
    """

    directions: NDArray[np.float64]
    edges: NDArray[np.float64]
    left: IntArray
    right: IntArray
    leaves: int

    @classmethod
    def of(cls, points: Embedding, most: float) -> BlockTree:
        """Build the tree by median splits, until no leaf has more than `most` points."""
        nodes: list[tuple[NDArray[np.float64], float, int, int]] = []
        leaves = 0

        def grow(subset: Embedding) -> int:
            nonlocal leaves
            side, direction = principal_projection(subset)
            if len(subset) <= most or len(np.unique(side)) == 1:
                leaves += 1
                return -leaves
            projection = subset.astype(np.float64) @ direction.astype(np.float64)
            edge = float(np.median(projection))
            if not (projection < edge).any():  # more than half of the points are at the median
                edge = float(np.nextafter(edge, np.inf))
            below = projection < edge
            number = len(nodes)
            nodes.append((direction.astype(np.float64), edge, 0, 0))
            nodes[number] = (*nodes[number][:2], grow(subset[below]), grow(subset[~below]))
            return number

        grow(points)
        width = points.shape[1]
        return cls(
            np.array([n[0] for n in nodes]).reshape(-1, width),
            np.array([n[1] for n in nodes], np.float64),
            np.array([n[2] for n in nodes], np.int64),
            np.array([n[3] for n in nodes], np.int64),
            leaves,
        )

    def leaf(self, points: Embedding) -> IntArray:
        """Return the leaf of each point."""
        nodes = np.zeros(len(points), np.int64) if len(self.edges) else np.full(len(points), -1)
        while (active := np.flatnonzero(nodes >= 0)).size:
            node = nodes[active]
            vectors = points[active].astype(np.float64)
            projection = np.einsum("ij,ij->i", vectors, self.directions[node])
            is_left = projection < self.edges[node]
            nodes[active] = np.where(is_left, self.left[node], self.right[node])
        return -1 - nodes


def repartition_by_similarity(
    rows: RemoteTable,
    options: MappingOptions,
    k: int,
    min_users: int,
    progress: Progress,
    covered: Callable[[float], object] | None = None,
) -> RemoteTable:
    """Return the same rows in partitions that are blocks of similar users.

    Each block has at least k users, and enough users that some text is frequent among them.

    Args:
        covered: Receives the fraction of phrases that have a concept; may raise an error.
    """
    with progress.stage("profiles"):
        profiles = rows.map_partitions(partial(_map_concepts, options=options), RandomSource())
        users = int(aggregate(profiles, _count_users, ["all"])["users"].sum())
        check_users(users, k)
        if covered is not None:
            covered(compute_coverage(aggregate(profiles, _count_concepts, ["concept"])))
    with progress.stage("cut into blocks"):
        sums = aggregate(profiles, _partition_weights, ["concept"])
        taxonomy = options.open_taxonomy()
        spread = np.zeros(len(taxonomy))
        spread[sums["concept"].to_numpy()] = sums["share"].to_numpy() / _UNIT
        columns = embedding_columns(taxonomy, spread / users)
        every = max(1, users // _SAMPLE)
        drawn = aggregate(
            profiles, partial(_sample_points, columns=columns, every=every), ["user", "point"]
        )
        cuts = BlockTree.of(_decode_points(drawn), max(1.0, max(BLOCK_USERS, 4 * k) / every))
        leaves = profiles.map_partitions(
            partial(_assign_leaves, columns=columns, cuts=cuts), RandomSource()
        )
        sizes = aggregate(leaves, _count_block_users, ["block"])
        min_size = min(users, max(k, min_users, BLOCK_USERS // 8))
        block_of = _join_small_leaves(sizes, cuts.leaves, min_size)
        blocks = leaves.map_partitions(partial(_renumber, block_of=block_of), RandomSource())
        return rows.repartition(blocks)


def _map_concepts(frame: pl.LazyFrame, _: RandomSource, *, options: MappingOptions) -> pl.DataFrame:
    """Return user, concept and count of a partition; each distinct query is mapped once."""
    concept_mapping = options.mapper().map(unique_queries(frame))
    return concept_mapping.concepts(QueryLog(frame))


def _count_concepts(frame: pl.LazyFrame, _: RandomSource) -> pl.DataFrame:
    return frame.group_by("concept").agg(pl.col("count").sum()).collect()


def _count_users(frame: pl.LazyFrame, _: RandomSource) -> pl.DataFrame:
    users = frame.select(users=pl.col("user").n_unique().cast(pl.Int64)).collect()
    return users.with_columns(all=pl.lit(0))


def _partition_weights(frame: pl.LazyFrame, _: RandomSource) -> pl.DataFrame:
    weights = np.rint(concept_weights(build_profiles(frame)) * _UNIT).astype(np.int64)
    concepts = np.flatnonzero(weights)
    return pl.DataFrame({"concept": concepts.astype(np.int64), "share": weights[concepts]})


def _sample_points(
    frame: pl.LazyFrame, _: RandomSource, *, columns: RaggedArray, every: int
) -> pl.DataFrame:
    """Return the points of a sample of users, each encoded as one cell."""
    sample = frame.filter(pl.col("user").hash(_SEED) % every == 0)
    profiles = build_profiles(sample)
    points = embed_profiles(columns, profiles)
    cells = pl.Series("point", [point.tobytes() for point in points], pl.Binary)
    return pl.DataFrame({"user": profiles.users.cast(pl.String), "point": cells})


def _decode_points(drawn: pl.DataFrame) -> Embedding:
    cells = drawn.sort("user")["point"].to_list()
    return np.frombuffer(b"".join(cells), np.float32).reshape(len(cells), -1)


def _assign_leaves(
    frame: pl.LazyFrame, _: RandomSource, *, columns: RaggedArray, cuts: BlockTree
) -> pl.DataFrame:
    profiles = build_profiles(frame)
    leaf = cuts.leaf(embed_profiles(columns, profiles))
    return pl.DataFrame({"user": profiles.users.cast(pl.String), "block": leaf})


def _count_block_users(frame: pl.LazyFrame, _: RandomSource) -> pl.DataFrame:
    return frame.group_by("block").agg(users=pl.len().cast(pl.Int64)).collect()


def _renumber(frame: pl.LazyFrame, _: RandomSource, *, block_of: IntArray) -> pl.DataFrame:
    return frame.with_columns(block=pl.lit(pl.Series(block_of)).gather(pl.col("block"))).collect()


def _join_small_leaves(sizes: pl.DataFrame, leaves: int, min_size: int) -> IntArray:
    """Return the block of each leaf; leaves with too few users join the next, similar ones."""
    users = np.zeros(leaves, np.int64)
    users[sizes["block"].to_numpy()] = sizes["users"].to_numpy()
    block, number, held = np.zeros(leaves, np.int64), 0, 0
    for leaf in range(leaves):
        block[leaf] = number
        held += int(users[leaf])
        if held >= min_size:
            number, held = number + 1, 0
    if held and number:  # the rest at the end joins the last complete block
        block[block == number] = number - 1
    return block
