"""What a user contributes: at most so many queries, clicks and transitions, by her own log alone.

Which ones is decided by her own log, by public facts (shorter queries are more frequent), by
chance, and by what was released with noise before. No other user's log has a say.
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

_USERS = 1 << 16  # whose rows are put in order at a time


def query_pairs(frame: pl.LazyFrame, chance: RandomSource) -> pl.DataFrame:
    """Give who sent what, each pair once."""
    return _distinct(frame.select("user", "query"), chance)


def click_pairs(frame: pl.LazyFrame, queries: pl.DataFrame, chance: RandomSource) -> pl.DataFrame:
    """Give who clicked what for which released query, each once."""
    clicks = frame.select("user", "query", "url").drop_nulls("url")
    known = match_encoding(frame, queries, "query").lazy()
    return _distinct(clicks.join(known, on="query", how="semi"), chance)


def transition_pairs(
    frame: pl.LazyFrame, queries: pl.DataFrame, chance: RandomSource
) -> pl.DataFrame:
    """Give who went from which released query directly to which other one, in one session."""
    known = (
        match_encoding(frame, queries, "query").select("query").with_row_index("number", offset=1)
    )
    code = pl.col("user").to_physical()
    last = int(frame.select(code.max()).collect(engine="streaming").item() or 0)
    # Some users at a time: sorting all rows of a large log would take gigabytes.
    parts = [
        _steps(frame.filter(code.is_between(first, first + _USERS - 1)), known)
        for first in range(0, last + 1, _USERS)
    ]
    return _distinct(pl.concat(parts).lazy(), chance)


def transition_counts(
    frame: pl.LazyFrame, chance: RandomSource, *, queries: pl.DataFrame, most: int
) -> pl.DataFrame:
    """Count the users of each step, of which at most so many of a user count."""
    steps = bound_contributions(transition_pairs(frame, queries, chance), most, None, chance)
    return steps.group_by("number", "next").agg(count=pl.len())


def _steps(frame: pl.LazyFrame, known: pl.DataFrame) -> pl.DataFrame:
    """Give user, number and next number of all steps between known queries."""
    rows = (
        frame.select("user", "query", "time")
        .join(known.lazy(), on="query", how="left", maintain_order="left")
        .select(pl.col("user"), "time", pl.col("number").fill_null(0))
        .collect(engine="streaming")
        .sort("user", "time", maintain_order=True)
    )
    near = (pl.col("time").shift(-1) - pl.col("time")) <= pl.duration(minutes=SESSION_GAP_MINUTES)
    follows = (pl.col("user") == pl.col("user").shift(-1)) & near.fill_null(True)
    both = (pl.col("number") > 0) & (pl.col("next") > 0) & (pl.col("number") != pl.col("next"))
    pairs = rows.lazy().with_columns(next=pl.col("number").shift(-1))
    return pairs.filter(follows & both).select("user", "number", "next").collect()


def _distinct(pairs: pl.LazyFrame, chance: RandomSource) -> pl.DataFrame:
    rows = pairs.unique().collect(engine="streaming")
    if chance.is_secure:
        return rows
    return rows.sort(pl.all().to_physical())  # the same seed must meet the same rows


def brevity_scores(queries: pl.Series) -> Floats:
    """Say how short each query is: 0 for one word, less for more."""
    words = queries.cast(pl.String).str.count_matches(" ").to_numpy() + 1.0
    return -np.log(words)


def bound_contributions(
    pairs: pl.DataFrame, most: int, liking: Floats | None, chance: RandomSource
) -> pl.DataFrame:
    """Keep at most so many rows of each user, those that she likes most first, then by chance."""
    order = chance.uint64s(pairs.height) >> np.uint64(47)
    if liking is not None:
        order |= _levels(liking) << np.uint64(17)
    order |= pairs["user"].to_physical().to_numpy().astype(np.uint64) << np.uint64(32)
    rows = pairs.with_columns(order=pl.Series(order)).sort("order")
    order = rows["order"].to_numpy()
    # Which of equal rows stands first is up to the rows of others: they count all or not at all.
    before = _run_ends(order >> np.uint64(32), 0)
    return rows.filter(pl.Series(_run_ends(order, 1) - before <= most)).drop("order")


def _run_ends(ordered: NDArray[np.uint64], end: int) -> NDArray[np.int64]:
    """Give where the run of equal numbers at each place begins (0), or where the next does (1)."""
    edges = np.r_[0, np.flatnonzero(ordered[1:] != ordered[:-1]) + 1, len(ordered)]
    return np.repeat(edges[end : len(edges) - 1 + end], np.diff(edges))


def _levels(liking: Floats) -> NDArray[np.uint64]:
    """Cut likings into 2^15 fixed levels, the most liked lowest.

    The levels are the first bits of short floats, put in order. A scale taken from the data
    would let one user's log decide what another one contributes.
    """
    bits = liking.astype(np.float32).view(np.int32)
    rising = np.where(bits < 0, ~bits, bits | np.int32(-(2**31))).view(np.uint32)
    return np.asarray((~rising >> np.uint32(17)).astype(np.uint64))


_LEAN = 1.5  # how much more a user weighs her shorter queries
_TRUST = 4.0  # noise units that one step of shortness is worth
_SEED = 20160717  # of the public hash: any number that is not taken from a log


@dataclass(frozen=True, eq=False)
class ContributionPriority:
    """Says how much a user likes to contribute each query; by chance alone if None.

    `seen` is what a guide released: by buckets of a public hash, what is frequent.
    """

    prefer: str
    buckets: int = 0
    seen: np.ndarray | None = None

    def __call__(self, pairs: pl.DataFrame) -> np.ndarray | None:
        """Give the liking of each row of user and query."""
        if self.seen is None and self.prefer != "short":
            return None
        code, short, bucket = self.codes(pairs)
        if self.seen is None:
            return np.asarray(short[code])
        return np.asarray((self.seen[bucket] + _TRUST * short).astype(np.float32)[code])

    def codes(self, pairs: pl.DataFrame) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Give the number of each row's query; how short each query is, and its bucket."""
        queries = pairs["query"].unique()
        code, codes = pairs["query"].to_physical().to_numpy(), queries.to_physical().to_numpy()
        short = np.zeros(int(codes.max(initial=0)) + 1)  # by the number that stands for a query
        if self.prefer == "short":
            short[codes] = brevity_scores(queries)
        bucket = np.zeros(len(short), np.int32)
        if self.buckets:
            bucket[codes] = (queries.cast(pl.String).hash(_SEED) % self.buckets).to_numpy()
        return code, short, bucket


def contribution_priority(
    pairs: Table, guide: NoisySketch | None, prefer: str, noise: NoiseSource
) -> ContributionPriority:
    """Say what users like to contribute; where there is a guide it is released here."""
    if guide is None:
        return ContributionPriority(prefer)
    weighed = aggregate(pairs, partial(_sketched, guide=guide, prefer=prefer), ["bucket"])
    sums = np.zeros(guide.buckets, np.int64)
    sums[weighed["bucket"].to_numpy()] = weighed["weight"].to_numpy()
    return ContributionPriority(prefer, guide.buckets, guide.add_noise(sums, noise))


def _sketched(
    frame: pl.LazyFrame, _: RandomSource, *, guide: NoisySketch, prefer: str
) -> pl.DataFrame:
    """Sum up, bucket by bucket, what some users weigh their queries."""
    pairs = frame.collect()
    code, short, bucket = ContributionPriority(prefer, guide.buckets).codes(pairs)
    user = pairs["user"].to_physical().to_numpy()
    sums = guide.bucket_sums(user, code, bucket, np.exp(_LEAN * short))
    places = np.flatnonzero(sums)
    return pl.DataFrame({"bucket": places.astype(np.int64), "weight": sums[places]})
