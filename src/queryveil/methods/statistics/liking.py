"""Which of her queries a user contributes first: shorter ones, and those that seem frequent.

What seems frequent is told by a guide, a small table that was released with noise before.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import polars as pl

from ...core.randomness import RandomSource
from ...dp.noise import NoiseSource
from ...dp.sketch import NoisySketch
from ...engine.operations import aggregate
from ...engine.table import Table
from .contributions import brevity_scores

__all__ = ["ContributionPriority", "contribution_priority"]

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
