"""What a release would hold, told from public parameters alone, before anything is spent."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...dp import NoisyCounts, UnionTables
from .approx import Mechanisms

__all__ = ["forecast_of"]

# The public shape: the share of users who send the query of a rank, as in the synthetic log that
# is shaped like AOL's of 2006. Between these ranks it is a straight line in logarithms.
_RANKS = (1, 3, 10, 30, 100, 300, 1_000, 3_000, 7_000, 10_000, 20_000, 200_000)
_SHARES = (
    0.22, 0.07, 0.027, 0.0096, 0.0047, 0.0027, 0.0014, 0.00074, 0.00036, 0.00014, 2.8e-5, 1.1e-5,
)  # fmt: skip
_CAUGHT = 0.6  # of a query's users have it among those of their queries that count
_VOLUME = 28.0  # distinct queries that a user sends


def forecast_of(made: Mechanisms, population: int) -> dict[str, Any]:
    """Tell noise, thresholds and the expected yield of what makes the tables."""
    named = {"queries": made.queries, "clicks": made.clicks, "transitions": made.transitions}
    tables = [_of_table(name, table) for name, table in named.items() if table]
    if made.queries is not None:
        needed, spread = made.queries.users, float(made.queries.scale)
    elif made.union is not None:
        last = made.union.rounds[-1]
        needed, spread = last.users, float(last.spread)
        tables.insert(0, _of_union(made.union))
    return {
        "selection": made.selection,
        "expected": _expected(needed, spread, population),
        "tables": tables,
    }


def _expected(needed: int, spread: float, population: int) -> dict[str, Any]:
    """Tell about how many queries would show, and which share of what users send they are.

    A query needs so many users to show in half of all cases; noise spreads that.
    """
    ranks = np.arange(1, _RANKS[-1] + 1)
    shares = np.exp(np.interp(np.log(ranks), np.log(_RANKS), np.log(_SHARES)))
    users = population * shares * _CAUGHT
    shown = _chance((users - needed) / spread)
    return {
        "queries": round(float(shown.sum())),
        "share_of_what_users_send": round(float((shown * shares).sum()) / _VOLUME, 4),
    }


def _chance(distance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give about the chance that noise stays above a line so many scales below the count."""
    return np.asarray(1 / (1 + np.exp(-1.7 * np.clip(distance, -40, 40))))


def _of_union(union: UnionTables) -> dict[str, Any]:
    last = union.rounds[-1]
    return {
        "table": "queries",
        "noise": "gaussian",
        "rounds": len(union.rounds),
        "scale of the counts": round(float(union.counts.scale), 2),
        "a key needs about so many users": last.users,
        "a user changes at most so many counts, by one each": union.counts.keys,
        "chance that a key of one user alone shows": float(sum(r.chance for r in union.rounds)),
    }


def _of_table(name: str, table: NoisyCounts) -> dict[str, Any]:
    """Tell the noise and the threshold of one table."""
    return {
        "table": name,
        "noise": table.noise,
        "scale": round(float(table.scale), 2),
        "a key needs about so many users": table.users,
        "a user changes at most so many counts, by one each": table.keys,
        "chance that a key of one user alone shows": float(table.chance),
    }
