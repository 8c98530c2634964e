"""Contribution bounds: at most so many queries, clicks and transitions of each user.

Which of them count is decided by the user's own log, by public facts (shorter queries are more
frequent), by the random source, and by what was released with noise before. The logs of other
users have no influence.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ...core.randomness import RandomSource
from ...dp.noise import NoiseSource
from ...dp.sketch import NoisySketch
from ...engine.operations import aggregate, match_encoding
from ...engine.table import Table
from ...log.query_log import SESSION_GAP_MINUTES

Floats = NDArray[np.float64]

_USERS = 1 << 16  # whose rows are sorted at a time


def query_pairs(frame: pl.LazyFrame, rng: RandomSource) -> pl.DataFrame:
    """Return the distinct pairs of user and query."""
    return _collect_distinct(frame.select("user", "query"), rng)


def click_pairs(frame: pl.LazyFrame, queries: pl.DataFrame, rng: RandomSource) -> pl.DataFrame:
    """Return the distinct triples of user, released query and clicked URL."""
    clicks = frame.select("user", "query", "url").drop_nulls("url")
    known = match_encoding(frame, queries, "query").lazy()
    return _collect_distinct(clicks.join(known, on="query", how="semi"), rng)


def transition_pairs(frame: pl.LazyFrame, queries: pl.DataFrame, rng: RandomSource) -> pl.DataFrame:
    """Return who went directly from one released query to another in one session.

    Queries are numbered from 1 on, in the order of `queries`. Columns: user, number, next.
    """
    known = (
        match_encoding(frame, queries, "query").select("query").with_row_index("number", offset=1)
    )
    code = pl.col("user").to_physical()
    last = int(frame.select(code.max()).collect(engine="streaming").item() or 0)
    # In batches of users: sorting all rows of a large log would take gigabytes.
    parts = [
        _find_transitions(frame.filter(code.is_between(first, first + _USERS - 1)), known)
        for first in range(0, last + 1, _USERS)
    ]
    return _collect_distinct(pl.concat(parts).lazy(), rng)


def transition_counts(
    frame: pl.LazyFrame, rng: RandomSource, *, queries: pl.DataFrame, bound: int
) -> pl.DataFrame:
    """Count the users of each transition, of which a user contributes at most `bound`."""
    pairs = transition_pairs(frame, queries, rng)
    kept = bound_contributions(pairs, bound, None, rng)
    return kept.group_by("number", "next").agg(count=pl.len())


def _find_transitions(frame: pl.LazyFrame, known: pl.DataFrame) -> pl.DataFrame:
    """Return all transitions between known queries: user, number, next."""
    rows = (
        frame.select("user", "query", "time")
        .join(known.lazy(), on="query", how="left", maintain_order="left")
        .select(pl.col("user"), "time", pl.col("number").fill_null(0))
        .collect(engine="streaming")
        .sort("user", "time", maintain_order=True)
    )
    in_session = (pl.col("time").shift(-1) - pl.col("time")) <= pl.duration(
        minutes=SESSION_GAP_MINUTES
    )
    follows = (pl.col("user") == pl.col("user").shift(-1)) & in_session.fill_null(True)
    both = (pl.col("number") > 0) & (pl.col("next") > 0) & (pl.col("number") != pl.col("next"))
    pairs = rows.lazy().with_columns(next=pl.col("number").shift(-1))
    return pairs.filter(follows & both).select("user", "number", "next").collect()


def _collect_distinct(pairs: pl.LazyFrame, rng: RandomSource) -> pl.DataFrame:
    rows = pairs.unique().collect(engine="streaming")
    if rng.is_secure:
        return rows
    return rows.sort(pl.all().to_physical())  # a seed must meet the same rows each time


def brevity_scores(queries: pl.Series) -> Floats:
    """Return minus the logarithm of the number of words of each query: 0 for one word."""
    words = queries.cast(pl.String).str.count_matches(" ").to_numpy() + 1.0
    return -np.log(words)


def bound_contributions(
    pairs: pl.DataFrame, bound: int, priority: Floats | None, rng: RandomSource
) -> pl.DataFrame:
    """Return at most `bound` rows of each user, by descending priority, then at random.

    The sort key has the user in its upper 32 bits, then 15 bits of priority, then 17 random bits.
    """
    order = rng.uint64s(pairs.height) >> np.uint64(47)
    if priority is not None:
        order |= _priority_levels(priority) << np.uint64(17)
    order |= pairs["user"].to_physical().to_numpy().astype(np.uint64) << np.uint64(32)
    rows = pairs.with_columns(order=pl.Series(order)).sort("order")
    order = rows["order"].to_numpy()
    # The order of rows with equal keys depends on the rows of other users. So either all rows with
    # one key are kept, or none of them.
    before = _run_ends(order >> np.uint64(32), 0)
    return rows.filter(pl.Series(_run_ends(order, 1) - before <= bound)).drop("order")


def _run_ends(ordered: NDArray[np.uint64], end: int) -> NDArray[np.int64]:
    """Return for each index where its run of equal numbers begins (0) or ends (1)."""
    edges = np.r_[0, np.flatnonzero(ordered[1:] != ordered[:-1]) + 1, len(ordered)]
    return np.repeat(edges[end : len(edges) - 1 + end], np.diff(edges))


def _priority_levels(priority: Floats) -> NDArray[np.uint64]:
    """Map priorities to 2^15 fixed levels; the highest priority has the lowest level.

    The levels are the first bits of 32-bit floats, in numerical order. A scale taken from the
    data would let one user's log decide what another user contributes.
    """
    bits = priority.astype(np.float32).view(np.int32)
    rising = np.where(bits < 0, ~bits, bits | np.int32(-(2**31))).view(np.uint32)
    return np.asarray((~rising >> np.uint32(17)).astype(np.uint64))


_BREVITY_EXPONENT = 1.5  # of the weight that a user gives to short queries
_BREVITY_WEIGHT = 4.0  # noise units that one unit of brevity is worth
_SEED = 20160717  # of the public hash: any number that does not depend on a log


@dataclass(frozen=True, eq=False)
class ContributionPriority:
    """The contribution priority of each query of a user; None for a random choice.

    `seen` is the released sketch: noisy frequencies by buckets of a public hash.
    """

    prefer: str
    buckets: int = 0
    seen: np.ndarray | None = None

    def __call__(self, pairs: pl.DataFrame) -> np.ndarray | None:
        """Return the priority of each row of user and query."""
        if self.seen is None and self.prefer != "short":
            return None
        code, brevity, bucket = self.codes(pairs)
        if self.seen is None:
            return np.asarray(brevity[code])
        priority = self.seen[bucket] + _BREVITY_WEIGHT * brevity
        return np.asarray(priority.astype(np.float32)[code])

    def codes(self, pairs: pl.DataFrame) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the code of each row's query; and by code the brevity and the bucket."""
        queries = pairs["query"].unique()
        code, codes = pairs["query"].to_physical().to_numpy(), queries.to_physical().to_numpy()
        brevity = np.zeros(int(codes.max(initial=0)) + 1)
        if self.prefer == "short":
            brevity[codes] = brevity_scores(queries)
        bucket = np.zeros(len(brevity), np.int32)
        if self.buckets:
            bucket[codes] = (queries.cast(pl.String).hash(_SEED) % self.buckets).to_numpy()
        return code, brevity, bucket


def contribution_priority(
    pairs: Table, guide: NoisySketch | None, prefer: str, noise: NoiseSource
) -> ContributionPriority:
    """Return the priority of contributions; a guide is released here, with noise."""
    if guide is None:
        return ContributionPriority(prefer)
    weights = aggregate(pairs, partial(_sum_buckets, guide=guide, prefer=prefer), ["bucket"])
    sums = np.zeros(guide.buckets, np.int64)
    sums[weights["bucket"].to_numpy()] = weights["weight"].to_numpy()
    return ContributionPriority(prefer, guide.buckets, guide.add_noise(sums, noise))


def _sum_buckets(
    frame: pl.LazyFrame, _: RandomSource, *, guide: NoisySketch, prefer: str
) -> pl.DataFrame:
    """Sum the weights of a partition's queries by bucket."""
    pairs = frame.collect()
    code, brevity, bucket = ContributionPriority(prefer, guide.buckets).codes(pairs)
    user = pairs["user"].to_physical().to_numpy()
    sums = guide.bucket_sums(user, code, bucket, np.exp(_BREVITY_EXPONENT * brevity))
    buckets = np.flatnonzero(sums)
    return pl.DataFrame({"bucket": buckets.astype(np.int64), "weight": sums[buckets]})
