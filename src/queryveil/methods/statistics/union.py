"""Frequent queries by weighted selection, in one round or several, and their noisy counts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ...core.randomness import RandomSource
from ...dp.noise import NoiseSource
from ...dp.set_union import SetUnionRelease, WeightedSelection
from ...engine.operations import aggregate, match_encoding
from ...engine.table import Table
from .contributions import bound_contributions

__all__ = ["PriorityFunction", "release_set_union"]

_SEVERAL = 2  # users: a query of one user alone weighs nothing


PriorityFunction = Callable[[pl.DataFrame], NDArray[np.float64] | None]


def release_set_union(
    pairs: Table,
    made: SetUnionRelease,
    chance: RandomSource,
    noise: NoiseSource,
    like: PriorityFunction | None = None,
) -> pl.DataFrame:
    """Find the queries that many users sent, and count their users, with noise.

    `pairs` says who sent what, each pair once, and `like` how gladly a user contributes each
    of them. Users are bounded here, anew for each round: what a round has found leaves room for
    further queries of hers.
    """
    found = pl.DataFrame(schema={"query": pl.String})
    for one in made.rounds:
        mine = partial(_weighed, one=one, found=found, like=like)
        sums = aggregate(
            pairs, mine, ["query"], chance, tops=["heaviest"], at_least=("users", _SEVERAL)
        )
        # Noise falls on queries in an order that is the same every time.
        sums = sums.with_columns(pl.col("query").cast(pl.String)).sort("query")
        total, heaviest = (sums[name].to_numpy() for name in ("total", "heaviest"))
        found = pl.concat([found, sums[one.select(total, heaviest, noise)].select("query")])
    return _selected_counts(pairs, found, made, chance, noise)


def _weighed(
    frame: pl.LazyFrame,
    chance: RandomSource,
    *,
    one: WeightedSelection,
    found: pl.DataFrame,
    like: PriorityFunction | None,
) -> pl.DataFrame:
    """Give what some users weigh each query that is not found yet: query, total, heaviest, users.

    Of a query that one user alone has, the heaviest weight is the total: it gets no noise, and
    need not be known.
    """
    left = match_encoding(frame, found, "query").lazy()
    pairs = frame.join(left, on="query", how="anti", maintain_order="left").collect()
    mine = bound_contributions(
        pairs, one.contribution_bound, None if like is None else like(pairs), chance
    )
    _, user = np.unique(mine["user"].to_physical().to_numpy(), return_inverse=True)
    weight = pl.Series("weight", one.weights(user), pl.Int64)
    sums = mine.with_columns(weight).group_by("query")
    return sums.agg(
        total=pl.col("weight").sum(),
        heaviest=pl.col("weight").max(),
        users=pl.len().cast(pl.Int64),
    )


def _selected_counts(
    pairs: Table,
    found: pl.DataFrame,
    made: SetUnionRelease,
    chance: RandomSource,
    noise: NoiseSource,
) -> pl.DataFrame:
    """Count the users of queries that are known now; every one of them is shown."""
    mine = partial(_known_users, found=found, most=made.counts.keys)
    counted = aggregate(pairs, mine, ["query"], chance)
    counted = counted.with_columns(pl.col("query").cast(pl.String))
    table = found.sort("query").join(counted, on="query", how="left", maintain_order="left")
    counts = table["count"].fill_null(0).to_numpy().astype(np.int64)
    noisy = made.counts.release(counts, noise)
    return table.select("query").with_columns(count=pl.Series(noisy))


def _known_users(
    frame: pl.LazyFrame, chance: RandomSource, *, found: pl.DataFrame, most: int
) -> pl.DataFrame:
    wanted = match_encoding(frame, found, "query").lazy()
    known = frame.select("user", "query").join(
        wanted, on="query", how="semi", maintain_order="left"
    )
    return (
        bound_contributions(known.collect(), most, None, chance)
        .group_by("query")
        .agg(count=pl.len())
    )
