"""Cut the users of a far log into blocks of similar ones, of which each fits one process.

The cuts are found on a sample of users, here, and applied to all of them, there. A block with fewer
than k users joins its neighbour, so that each can be partitioned by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ...concepts.loaders.registry import open_taxonomy
from ...concepts.mapping.mapper import Mapper
from ...concepts.similarity.profiles import UNMAPPED, Profiles, build_profiles
from ...concepts.taxonomy.arrays import IntArray, RaggedArray
from ...concepts.taxonomy.graph import Taxonomy
from ...core.progress import Progress
from ...core.randomness import RandomSource
from ...engine.operations import aggregate, unique_queries
from ...engine.table import RemoteTable
from ...log.query_log import QueryLog
from .coverage import covered_share
from .grouping import check_users

_FEATURES = 128
_ROUNDS = 12  # of the power method: enough to find a direction that parts well
_COMMON = 0.4  # what is below a concept of more than this share tells users hardly apart
_USERS = 20_000  # drawn at a time
_WHOLE = 1 << 17  # users whose points are all looked at for a direction


def split_into_blocks(taxonomy: Taxonomy | None, profiles: Profiles, most: int) -> list[IntArray]:
    """Cut users into blocks of at most so many, similar ones together; no randomness."""
    spread = concept_weights(profiles)
    points = embed_profiles(embedding_columns(taxonomy, spread / len(profiles)), profiles)
    waiting: list[IntArray] = [np.arange(len(profiles))]
    done: list[IntArray] = []
    while waiting:
        users = waiting.pop()
        if len(users) <= most:
            done.append(np.sort(users))
            continue
        side = _places(points, users)
        parts = -(-len(users) // most)
        first = len(users) * (parts // 2) // parts
        order = np.lexsort((users, side))
        waiting += [users[order[first:]], users[order[:first]]]
    return done


def _places(points: NDArray[np.float32], users: IntArray) -> NDArray[np.float64]:
    """Return where users lie along the direction in which they differ most.

    Of many users an even sample gives the direction, and they are placed some at a time: a copy of
    all points, and another around their middle, took most of the memory of a run.
    """
    if len(users) <= _WHOLE:
        return principal_projection(points[users])[0]
    sample = points[users[:: -(-len(users) // _WHOLE)]]
    direction = principal_projection(sample)[1]
    middle = sample.mean(axis=0)
    pieces = (users[begin : begin + _USERS] for begin in range(0, len(users), _USERS))
    found = [((points[some] - middle) @ direction).round(5) for some in pieces]
    return np.concatenate(found).astype(np.float64)


def _local_weights(profiles: Profiles) -> tuple[IntArray, NDArray[np.float64]]:
    """Give the concepts of all profiles, and what share of the profile each is."""
    concept = profiles.lists.items
    share = profiles.counts / np.maximum(profiles.weights, 1)[profiles.lists.row_ids]
    share[concept == UNMAPPED] = 0  # whoever has no concept lies at the origin
    return np.maximum(concept, 0), share


def concept_weights(profiles: Profiles, size: int = 0) -> NDArray[np.float64]:
    """Sum up the shares of each concept over all profiles."""
    concept, share = _local_weights(profiles)
    return np.asarray(np.bincount(concept, share, size), np.float64)


def embed_profiles(columns: RaggedArray, profiles: Profiles) -> NDArray[np.float32]:
    """Give each user's shares of the larger concepts, in square roots, which even out sizes.

    A concept that nobody had when the columns were chosen counts for none of them.
    """
    concept, share = _local_weights(profiles)
    known = concept < len(columns)
    concept, share = np.where(known, concept, 0), np.where(known, share, 0)
    points = np.empty((len(profiles), _FEATURES), np.float32)
    for first in range(0, len(profiles), _USERS):
        last = min(first + _USERS, len(profiles))
        rows = slice(*profiles.lists.start[[first, last]].tolist())
        column, place = columns.take(concept[rows])
        user = profiles.lists.row_ids[rows][place] - first
        flat = np.bincount(
            user * _FEATURES + column, share[rows][place], (last - first) * _FEATURES
        )
        points[first:last] = np.sqrt(flat).reshape(-1, _FEATURES)
    return points


def embedding_columns(taxonomy: Taxonomy | None, spread: NDArray[np.float64]) -> RaggedArray:
    """Give for each concept the larger ones that it lies below, numbered as columns.

    `spread` is the mean share of each concept.
    """
    every: IntArray = np.arange(len(spread))
    above, below = every, every
    if taxonomy is not None:
        above, below = taxonomy.all_ancestors.take(every)
    whole = np.bincount(above, spread[below])
    whole[whole > _COMMON] = 0
    chosen = np.argsort(-whole, kind="stable")[:_FEATURES]
    column = np.full(len(whole), -1)
    column[chosen] = np.arange(len(chosen))
    used = column[above] >= 0
    return RaggedArray.group_by(below[used], column[above[used]], len(spread))


def principal_projection(
    points: NDArray[np.float32],
) -> tuple[NDArray[np.float64], NDArray[np.float32]]:
    """Give where each point lies along the direction of the greatest spread, and the direction."""
    middle = points.mean(axis=0)
    centred = points - middle
    spread = centred.T @ centred
    direction = np.ones(spread.shape[0], np.float32) + np.arange(spread.shape[0]) * 1e-3
    for _ in range(_ROUNDS):
        direction = spread @ direction
        norm = float(np.linalg.norm(direction))
        if norm == 0:  # all alike
            return np.zeros(len(points)), np.zeros_like(middle)
        direction /= norm
    place = np.asarray((centred @ direction).round(5), np.float64)
    return place, np.asarray(direction, np.float32)


BLOCK_USERS = 4_000  # so that all users of a block are compared with each other
_SAMPLE = 20_000
_UNIT = 1 << 20  # shares are added up as whole numbers: floats would depend on the order
_SEED = 20130601  # of a public hash that samples users

Embedding = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class BlockTree:
    """Halves of halves: a point goes left where it lies below a cut, and ends in a leaf.

    Nodes are numbered; `left` and `right` have the next node, or -1 - leaf.
    """

    directions: NDArray[np.float64]
    edges: NDArray[np.float64]
    left: IntArray
    right: IntArray
    leaves: int

    @classmethod
    def of(cls, points: Embedding, most: float) -> BlockTree:
        """Halve points again and again, until none has more than so many."""
        nodes: list[tuple[NDArray[np.float64], float, int, int]] = []
        leaves = 0

        def grow(some: Embedding) -> int:
            nonlocal leaves
            side, direction = principal_projection(some)
            if len(some) <= most or len(np.unique(side)) == 1:
                leaves += 1
                return -leaves
            place = some.astype(np.float64) @ direction.astype(np.float64)
            edge = float(np.median(place))
            if not (place < edge).any():  # more than half of them lie there
                edge = float(np.nextafter(edge, np.inf))
            below = place < edge
            number = len(nodes)
            nodes.append((direction.astype(np.float64), edge, 0, 0))
            nodes[number] = (*nodes[number][:2], grow(some[below]), grow(some[~below]))
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
        """Give the leaf of each point."""
        at = np.zeros(len(points), np.int64) if len(self.edges) else np.full(len(points), -1)
        while (going := np.flatnonzero(at >= 0)).size:
            node = at[going]
            place = np.einsum("ij,ij->i", points[going].astype(np.float64), self.directions[node])
            at[going] = np.where(place < self.edges[node], self.left[node], self.right[node])
        return -1 - at


def repartition_by_similarity(
    rows: RemoteTable,
    taxonomy: str,
    k: int,
    min_users: int,
    progress: Progress,
    covered: Callable[[float], object] | None = None,
) -> RemoteTable:
    """Give the same rows, in shares that are blocks of similar users.

    Each has at least k users, and enough that some text is frequent among them. `covered` is
    given the share of phrases that have a concept, and may refuse.
    """
    with progress.stage("profiles"):
        profiles = rows.map_partitions(partial(_concepts, taxonomy=taxonomy), RandomSource())
        users = int(aggregate(profiles, _users, ["all"])["users"].sum())
        check_users(users, k)
        if covered is not None:
            covered(covered_share(aggregate(profiles, _counts, ["concept"])))
    with progress.stage("cut into blocks"):
        sums = aggregate(profiles, _partition_weights, ["concept"])
        spread = np.zeros(len(open_taxonomy(taxonomy)))
        spread[sums["concept"].to_numpy()] = sums["share"].to_numpy() / _UNIT
        columns = embedding_columns(open_taxonomy(taxonomy), spread / users)
        every = max(1, users // _SAMPLE)
        drawn = aggregate(
            profiles, partial(_sampled, columns=columns, every=every), ["user", "point"]
        )
        cuts = BlockTree.of(_points(drawn), max(1.0, max(BLOCK_USERS, 4 * k) / every))
        leaves = profiles.map_partitions(
            partial(_leaves, columns=columns, cuts=cuts), RandomSource()
        )
        sizes = aggregate(leaves, _sizes, ["block"])
        least = min(users, max(k, min_users, BLOCK_USERS // 8))
        joined = _joined(sizes, cuts.leaves, least)
        blocks = leaves.map_partitions(partial(_renumbered, joined=joined), RandomSource())
        return rows.repartition(blocks)


def _concepts(frame: pl.LazyFrame, _: RandomSource, *, taxonomy: str) -> pl.DataFrame:
    """Give user, concept and count of a share; each distinct query is mapped once."""
    found = Mapper(open_taxonomy(taxonomy)).map(unique_queries(frame))
    return found.concepts(QueryLog(frame))


def _counts(frame: pl.LazyFrame, _: RandomSource) -> pl.DataFrame:
    return frame.group_by("concept").agg(pl.col("count").sum()).collect()


def _users(frame: pl.LazyFrame, _: RandomSource) -> pl.DataFrame:
    users = frame.select(users=pl.col("user").n_unique().cast(pl.Int64)).collect()
    return users.with_columns(all=pl.lit(0))


def _partition_weights(frame: pl.LazyFrame, _: RandomSource) -> pl.DataFrame:
    shares = np.rint(concept_weights(build_profiles(frame)) * _UNIT).astype(np.int64)
    places = np.flatnonzero(shares)
    return pl.DataFrame({"concept": places.astype(np.int64), "share": shares[places]})


def _sampled(
    frame: pl.LazyFrame, _: RandomSource, *, columns: RaggedArray, every: int
) -> pl.DataFrame:
    """Give some users' points, each as one cell."""
    some = frame.filter(pl.col("user").hash(_SEED) % every == 0)
    profiles = build_profiles(some)
    points = embed_profiles(columns, profiles)
    cells = pl.Series("point", [point.tobytes() for point in points], pl.Binary)
    return pl.DataFrame({"user": profiles.users.cast(pl.String), "point": cells})


def _points(drawn: pl.DataFrame) -> Embedding:
    cells = drawn.sort("user")["point"].to_list()
    return np.frombuffer(b"".join(cells), np.float32).reshape(len(cells), -1)


def _leaves(
    frame: pl.LazyFrame, _: RandomSource, *, columns: RaggedArray, cuts: BlockTree
) -> pl.DataFrame:
    profiles = build_profiles(frame)
    leaf = cuts.leaf(embed_profiles(columns, profiles))
    return pl.DataFrame({"user": profiles.users.cast(pl.String), "block": leaf})


def _sizes(frame: pl.LazyFrame, _: RandomSource) -> pl.DataFrame:
    return frame.group_by("block").agg(users=pl.len().cast(pl.Int64)).collect()


def _renumbered(frame: pl.LazyFrame, _: RandomSource, *, joined: IntArray) -> pl.DataFrame:
    return frame.with_columns(block=pl.lit(pl.Series(joined)).gather(pl.col("block"))).collect()


def _joined(sizes: pl.DataFrame, leaves: int, least: int) -> IntArray:
    """Let leaves with too few users join the next ones: neighbours are alike."""
    users = np.zeros(leaves, np.int64)
    users[sizes["block"].to_numpy()] = sizes["users"].to_numpy()
    block, number, held = np.zeros(leaves, np.int64), 0, 0
    for leaf in range(leaves):
        block[leaf] = number
        held += int(users[leaf])
        if held >= least:
            number, held = number + 1, 0
    if held and number:  # what is left at the end joins the last whole block
        block[block == number] = number - 1
    return block
