"""Frequent queries by weighted selection, in one round or several, and their noisy counts."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ...dp.noise import Noise
from ...dp.union import UnionTables, WeightedSelection
from ...engine import Chance
from .contributions import at_most

__all__ = ["select_queries"]


def select_queries(
    pairs: pl.DataFrame,
    made: UnionTables,
    chance: Chance,
    noise: Noise,
    liking: NDArray[np.float64] | None = None,
) -> pl.DataFrame:
    """Find the queries that many users sent, and count their users, with noise.

    `pairs` says who sent what, each pair once, and `liking` how gladly a user contributes each
    of them. Users are bounded here, anew for each round: what a round has found leaves room for
    further queries of hers.
    """
    liked = np.zeros(len(pairs)) if liking is None else liking
    left = pairs.select("user", "query").with_columns(liking=pl.Series(liked))
    found = pairs.select("query").clear()
    for one in made.rounds:
        mine = at_most(left, one.keys, left["liking"].to_numpy(), chance)
        found = pl.concat([found, _shown(mine, one, noise)])
        left = left.join(found, on="query", how="anti", maintain_order="left")
    return _counted(pairs, found, made, chance, noise)


def _shown(pairs: pl.DataFrame, one: WeightedSelection, noise: Noise) -> pl.DataFrame:
    """Run one round."""
    if pairs.is_empty():
        return pairs.select("query")
    _, user = np.unique(pairs["user"].to_physical().to_numpy(), return_inverse=True)
    # Noise falls on queries in an order that is the same every time. Queries of one user alone
    # get none, so their order does not matter, and they need not be sorted.
    sizes = pairs.group_by("query").agg(users=pl.len())
    many, few = sizes.filter(pl.col("users") > 1), sizes.filter(pl.col("users") == 1)
    place = pl.concat([many.sort("query"), few]).select("query").with_row_index("place")
    rows = pairs.join(place, on="query", how="left", maintain_order="left")["place"]
    shown = one.release(user, rows.to_numpy().astype(np.int64), noise)
    return place[shown].select("query")


def _counted(
    pairs: pl.DataFrame, found: pl.DataFrame, made: UnionTables, chance: Chance, noise: Noise
) -> pl.DataFrame:
    """Count the users of queries that are known now; every one of them is shown."""
    known = pairs.select("user", "query").join(found, on="query", how="semi", maintain_order="left")
    counted = at_most(known, made.counts.keys, None, chance).group_by("query").agg(count=pl.len())
    table = found.sort("query").join(counted, on="query", how="left", maintain_order="left")
    counts = table["count"].fill_null(0).to_numpy().astype(np.int64)
    noisy = made.counts.release(counts, noise)
    return table.select("query").with_columns(count=pl.Series(noisy))
