"""Frequent queries by weighted selection, in one round or several, and their noisy counts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ...dp.noise import Noise
from ...dp.union import UnionTables, WeightedSelection
from ...engine import Chance, Table, alike, summed
from .contributions import at_most

__all__ = ["Like", "select_queries"]

_SEVERAL = 2  # users: a query of one user alone weighs nothing


Like = Callable[[pl.DataFrame], NDArray[np.float64] | None]


def select_queries(
    pairs: Table, made: UnionTables, chance: Chance, noise: Noise, like: Like | None = None
) -> pl.DataFrame:
    """Find the queries that many users sent, and count their users, with noise.

    `pairs` says who sent what, each pair once, and `like` how gladly a user contributes each
    of them. Users are bounded here, anew for each round: what a round has found leaves room for
    further queries of hers.
    """
    found = pl.DataFrame(schema={"query": pl.String})
    for one in made.rounds:
        mine = partial(_weighed, one=one, found=found, like=like)
        sums = summed(
            pairs, mine, ["query"], chance, tops=["heaviest"], at_least=("users", _SEVERAL)
        )
        # Noise falls on queries in an order that is the same every time.
        sums = sums.with_columns(pl.col("query").cast(pl.String)).sort("query")
        total, heaviest = (sums[name].to_numpy() for name in ("total", "heaviest"))
        found = pl.concat([found, sums[one.shown(total, heaviest, noise)].select("query")])
    return _counted(pairs, found, made, chance, noise)


def _weighed(
    frame: pl.LazyFrame,
    chance: Chance,
    *,
    one: WeightedSelection,
    found: pl.DataFrame,
    like: Like | None,
) -> pl.DataFrame:
    """Give what some users weigh each query that is not found yet: query, total, heaviest, users.

    Of a query that one user alone has, the heaviest weight is the total: it gets no noise, and
    need not be known.
    """
    left = alike(frame, found, "query").lazy()
    pairs = frame.join(left, on="query", how="anti", maintain_order="left").collect()
    mine = at_most(pairs, one.keys, None if like is None else like(pairs), chance)
    _, user = np.unique(mine["user"].to_physical().to_numpy(), return_inverse=True)
    weight = pl.Series("weight", one.weights(user), pl.Int64)
    sums = mine.with_columns(weight).group_by("query")
    return sums.agg(
        total=pl.col("weight").sum(),
        heaviest=pl.col("weight").max(),
        users=pl.len().cast(pl.Int64),
    )


def _counted(
    pairs: Table, found: pl.DataFrame, made: UnionTables, chance: Chance, noise: Noise
) -> pl.DataFrame:
    """Count the users of queries that are known now; every one of them is shown."""
    mine = partial(_known_users, found=found, most=made.counts.keys)
    counted = summed(pairs, mine, ["query"], chance)
    counted = counted.with_columns(pl.col("query").cast(pl.String))
    table = found.sort("query").join(counted, on="query", how="left", maintain_order="left")
    counts = table["count"].fill_null(0).to_numpy().astype(np.int64)
    noisy = made.counts.release(counts, noise)
    return table.select("query").with_columns(count=pl.Series(noisy))


def _known_users(
    frame: pl.LazyFrame, chance: Chance, *, found: pl.DataFrame, most: int
) -> pl.DataFrame:
    wanted = alike(frame, found, "query").lazy()
    known = frame.select("user", "query").join(
        wanted, on="query", how="semi", maintain_order="left"
    )
    return at_most(known.collect(), most, None, chance).group_by("query").agg(count=pl.len())
