"""What a release would hold, told from public parameters alone, before anything is spent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ...dp.public_counts import PublicCounts
from ...dp.set_union import SetUnionRelease
from ...dp.thresholded_counts import ThresholdedCounts
from ...errors import UsageError
from ...release.noise import CountNoise
from .approximate import TableMechanisms

# The public shape: the share of users who send the query of a rank, as in the synthetic log that
# is shaped like AOL's of 2006. Between these ranks it is a straight line in logarithms.
_RANKS = (1, 3, 10, 30, 100, 300, 1_000, 3_000, 7_000, 10_000, 20_000, 200_000)
_SHARES = (
    0.22, 0.07, 0.027, 0.0096, 0.0047, 0.0027, 0.0014, 0.00074, 0.00036, 0.00014, 2.8e-5, 1.1e-5,
)  # fmt: skip
_CAUGHT = 0.6  # of a query's users have it among those of their queries that count
_WEIGHED = 0.85  # the same by weights: users with few queries weigh more
_VOLUME = 28.0  # distinct queries that a user sends
# The share of a query's users who have it among so many of their first queries, in the same log.
_FIRST = (1, 2, 3, 5, 7, 10, 20, 50, 200)
_COUNTED = (0.048, 0.083, 0.118, 0.18, 0.235, 0.3, 0.475, 0.735, 1.0)
_NUMBERS = 120
_FEW = 40.0  # up to so many users, the chance of each number of them is added up


@dataclass(frozen=True)
class Cut:
    """Where a query begins to show: about so many users in half of all cases, and the noise there.

    `caught` is the share of a query's users who have it among what counts of them. Only so many
    different queries can show at all, if `most` is given.
    """

    needed: int
    noise: Literal["laplace", "gaussian"]
    spread: float
    caught: float = _CAUGHT
    most: int | None = None

    @classmethod
    def of(cls, made: TableMechanisms) -> Cut:
        """Take it from what makes the tables."""
        if made.union is not None:
            last = made.union.rounds[-1]
            return cls(last.median_release_count, "gaussian", float(last.noise_in_users), _WEIGHED)
        if made.queries is not None:
            return cls(
                made.queries.median_release_count, made.queries.noise, float(made.queries.scale)
            )
        raise UsageError("there is no table of queries: this is a defect, report it")

    def expected(self, population: int) -> dict[str, Any]:
        """Return about how many queries would show, and which share of what users send they are."""
        ranks, width = _steps(min(_RANKS[-1], self.most or _RANKS[-1]))
        shares = np.exp(np.interp(np.log(ranks), np.log(_RANKS), np.log(_SHARES)))
        users = population * shares * self.caught
        shown = self._shown(users) * width
        return {
            "queries": round(float(shown.sum())),
            "share_of_what_users_send": round(float((shown * shares).sum()) / _VOLUME, 4),
        }

    def queries(self, population: int) -> int:
        """Return about how many queries would show."""
        return int(self.expected(population)["queries"])

    def _shown(self, users: NDArray[np.float64]) -> NDArray[np.float64]:
        """Give the chance that noise lifts so many users over the cut.

        That differs far from the cut: of 200,000 rare queries none may seem to show.
        """
        if self.noise == "laplace":
            shown = self._lifted(users)
            few = users < _FEW
            shown[few] = _chances(users[few]) @ self._lifted(np.arange(_NUMBERS, dtype=float))
            return shown
        # How many of a query's users count is chance too.
        distance = (users - self.needed) / np.sqrt(self.spread**2 + users)
        return np.array([NormalDist().cdf(x) for x in np.clip(distance, -38, 38)])

    def _lifted(self, users: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the chance that Laplace noise lifts exactly so many users over the cut."""
        distance = np.clip((users - self.needed) / self.spread, -700, 700)
        below = np.exp(-np.abs(distance)) / 2
        return np.where(distance < 0, below, 1 - below)


def _chances(expected: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the chances of 0, 1, 2 ... users where so many are expected (Poisson).

    >>> _chances(np.array([0.5]))[0, :3].round(3).tolist()
    [0.607, 0.303, 0.076]
    """
    numbers = np.arange(_NUMBERS)
    factorials = np.concatenate(([0.0], np.cumsum(np.log(numbers[1:]))))
    return np.exp(np.log(expected)[:, None] * numbers - expected[:, None] - factorials)


def _steps(last: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Give ranks and how many each stands for: the first ones for themselves, later ones for more.

    >>> int(_steps(200_000)[1].sum())
    200000
    """
    edges = np.unique(np.geomspace(1, last + 1, 2_000).astype(np.int64))
    return np.sqrt(edges[:-1] * (edges[1:] - 1.0)), np.diff(edges)


def forecast_tables(made: TableMechanisms, population: int) -> dict[str, Any]:
    """Tell noise, thresholds and the expected yield of what makes the tables."""
    named = {"queries": made.queries, "clicks": made.clicks, "transitions": made.transitions}
    tables = [_forecast_table(name, table) for name, table in named.items() if table]
    if made.union is not None:
        tables.insert(0, _forecast_set_union(made.union))
    return {
        "selection": made.selection,
        "expected": Cut.of(made).expected(population),
        "tables": tables,
    }


def _forecast_set_union(union: SetUnionRelease) -> dict[str, Any]:
    last = union.rounds[-1]
    return {
        "table": "queries",
        "noise": "gaussian",
        "rounds": len(union.rounds),
        "scale of the counts": round(float(union.counts.scale), 2),
        "a key needs about so many users": last.median_release_count,
        "a user changes at most so many counts, by one each": union.counts.keys,
        "chance that a key of one user alone shows": float(
            sum(r.delta_per_key for r in union.rounds)
        ),
    }


def _forecast_table(name: str, table: ThresholdedCounts) -> dict[str, Any]:
    """Tell the noise and the threshold of one table."""
    return {
        "table": name,
        "noise": table.noise,
        "scale": round(float(table.scale), 2),
        "a key needs about so many users": table.median_release_count,
        "a user changes at most so many counts, by one each": table.contribution_bound,
        "chance that a key of one user alone shows": float(table.delta_per_key),
    }


def share_counted(first: int) -> float:
    """Return about which share of a query's users have it among so many first queries.

    >>> round(share_counted(7), 3), share_counted(1_000)
    (0.235, 1.0)
    """
    return float(np.interp(np.log(first), np.log(_FIRST), _COUNTED))


_ONE = {"queries": "A query", "clicks": "A click", "transitions": "A transition"}


def approx_noise(made: TableMechanisms) -> tuple[CountNoise, ...]:
    """Tell the noise of the tables of mode approx."""
    named = {"queries": made.queries, "clicks": made.clicks, "transitions": made.transitions}
    tables = [_table_noise(name, table) for name, table in named.items() if table]
    return (*([] if made.union is None else [_set_union_noise(made.union)]), *tables)


def public_noise(name: str, made: PublicCounts, cells: int) -> CountNoise:
    """Tell the noise of a table over public cells."""
    shows = (
        f"{_ONE[name]} shows if its count with noise is {made.threshold:,} or more. All of "
        f"{cells:,} public cells have noise, so about one shows that nobody has."
    )
    return CountNoise(
        name, "laplace", float(made.scale), shows, _bounded(name, made.contribution_bound)
    )


def paper_noise(scale: float, threshold: int, most: Mapping[str, int]) -> tuple[CountNoise, ...]:
    """Tell the noise of the paper's tables."""
    least = {"queries": threshold + 1, "clicks": 1, "transitions": 1}
    return tuple(
        CountNoise(
            name,
            "laplace",
            scale,
            f"{_ONE[name]} shows if its count with noise is {least[name]:,} or more.",
            f"the first {most[name]:,} of each person count.",
        )
        for name in most
    )


def _table_noise(name: str, table: ThresholdedCounts) -> CountNoise:
    shows = f"{_ONE[name]} shows if its count with noise is {table.median_release_count:,} or more."
    return CountNoise(
        name, table.noise, float(table.scale), shows, _bounded(name, table.contribution_bound)
    )


def _set_union_noise(union: SetUnionRelease) -> CountNoise:
    """Tell the noise of queries that were found by other noise than their counts have."""
    last, keys = union.rounds[-1], union.counts.keys
    rounds = "" if len(union.rounds) == 1 else f", in {len(union.rounds)} rounds"
    shows = (
        f"Which queries show was decided before, by other noise{rounds}: a query needs about "
        f"{last.median_release_count:,} people if each of them sent {keys:,} queries or more, and fewer if they "
        "sent less."
    )
    return CountNoise(
        "queries", "gaussian", float(union.counts.scale), shows, _bounded("queries", keys),
        own_threshold=False, floor=1,
    )  # fmt: skip


def _bounded(name: str, keys: int) -> str:
    return f"each person counts for at most {keys:,} {name}, once each."
