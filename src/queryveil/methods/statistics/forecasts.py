"""Forecasts of a release from public parameters alone; they spend no budget."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ...dp.public_counts import PublicCounts
from ...dp.set_union import SetUnionRelease
from ...dp.thresholded_counts import ThresholdedCounts
from ...errors import UsageError
from ...release.noise import CountNoise
from ..forecast import ExpectedQueries, Forecast, TableForecast
from .approximate import TableMechanisms

# A public model: the fraction of users who send the query of each rank. The first ranks are those
# of the web shape of the synthetic log; ranks from 300 on are between those of the web and the
# classic shape. Between these ranks it is interpolated linearly in logarithms.
_RANKS = (1, 3, 10, 30, 100, 300, 1_000, 3_000, 7_000, 10_000, 20_000, 200_000)
_FRACTIONS = (
    0.25, 0.12, 0.046, 0.0158, 0.0056, 0.00245, 0.00112, 0.00057, 0.000286, 0.000164, 5.5e-5,
    1.1e-5,
)  # fmt: skip
_QUERIES_PER_USER = 26.5  # distinct ones
# What a query counts for each of its users, by the contribution bound. By users, at most 1; by
# weights, users with few queries count more; by first events, repeats of a user count too.
_BOUNDS = (1, 2, 3, 5, 10, 20, 50, 200)
_BY_USERS = (0.078, 0.15, 0.2, 0.285, 0.42, 0.55, 0.71, 0.92)
_BY_WEIGHTS = (0.085, 0.163, 0.232, 0.34, 0.5, 0.69, 1.03, 2.05)
_BY_FIRST_EVENTS = (0.049, 0.088, 0.128, 0.208, 0.35, 0.57, 1.0, 2.0)
_LISTED = 0.4  # with a public list: so much at most, because many frequent queries are not on it
# On synthetic logs of the web and the classic shape with 3,000 to 20,000 users, the number of
# released queries is between the forecast divided by this factor and multiplied by it.
FACTOR = 3.0
LISTED_FACTOR = 6.0  # with a public list: logs differ in how many of their queries are on it
_POISSON_TERMS = 120
_MAX_POISSON = 40.0  # up to this mean, the probabilities of each number of users are summed


@dataclass(frozen=True)
class SelectionThreshold:
    """The threshold of queries, and its noise.

    Attributes:
        median_release_count: The number of users with whom a query is released with probability
            one half.
        counted_fraction: What a query counts for each of its users, on average.
        max_keys: The maximal number of different queries, if there is one.
        factor: How far the released number may be from the expected one, by a factor.
    """

    median_release_count: int
    noise: Literal["laplace", "gaussian"]
    noise_scale: float
    counted_fraction: float
    max_keys: int | None = None
    factor: float = FACTOR

    @classmethod
    def of_public_list(
        cls, threshold: int, scale: float, bound: int, cells: int
    ) -> SelectionThreshold:
        """Return the threshold of the queries on a public list."""
        counted = min(_LISTED, _interpolate(_BY_USERS, bound))
        return cls(threshold, "laplace", scale, counted, cells, LISTED_FACTOR)

    @classmethod
    def of_first_events(cls, threshold: int, scale: float, bound: int) -> SelectionThreshold:
        """Return the threshold of queries among each user's first events, repeats included."""
        return cls(threshold, "laplace", scale, _interpolate(_BY_FIRST_EVENTS, bound))

    @classmethod
    def of(cls, mechanisms: TableMechanisms, contribution_order: str) -> SelectionThreshold:
        """Return the threshold of the mechanism of queries."""
        if mechanisms.union is not None:
            last = mechanisms.union.rounds[-1]
            return cls(
                last.median_release_count,
                "gaussian",
                float(last.noise_in_users),
                _interpolate(_BY_WEIGHTS, last.contribution_bound),
            )
        if (queries := mechanisms.queries) is not None:
            counted = _interpolate(_BY_USERS, queries.contribution_bound)
            if contribution_order == "random":  # no better than the first queries of a user
                counted = min(counted, _interpolate(_BY_FIRST_EVENTS, queries.contribution_bound))
            return cls(queries.median_release_count, queries.noise, float(queries.scale), counted)
        raise UsageError("there is no table of queries: this is a bug, please report it")

    def expected(self, expected_users: int) -> ExpectedQueries:
        """Return the expected number of released queries, and their fraction of all queries."""
        ranks, width = _split_ranks(min(_RANKS[-1], self.max_keys or _RANKS[-1]))
        fractions = np.exp(np.interp(np.log(ranks), np.log(_RANKS), np.log(_FRACTIONS)))
        users = expected_users * fractions * self.counted_fraction
        released = self._release_probability(users) * width
        sent_fraction = float((released * fractions).sum()) / _QUERIES_PER_USER
        expected = round(float(released.sum()))
        return ExpectedQueries(
            expected,
            int(expected / self.factor),
            math.ceil(expected * self.factor),
            round(sent_fraction, 4),
        )

    def queries(self, expected_users: int) -> int:
        """Return the expected number of released queries."""
        return self.expected(expected_users).queries

    def _release_probability(self, users: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probability that a query with this expected number of users is released.

        For few expected users the exact number is random (Poisson). This matters far below the
        threshold, where 200,000 rare queries would else have a probability of almost 0 each.
        """
        if self.noise == "laplace":
            probability = self._laplace_probability(users)
            few = users < _MAX_POISSON
            exact = self._laplace_probability(np.arange(_POISSON_TERMS, dtype=float))
            probability[few] = _poisson_probabilities(users[few]) @ exact
            return probability
        # The number of a query's users who are counted is random too.
        distance = (users - self.median_release_count) / np.sqrt(self.noise_scale**2 + users)
        return np.array([NormalDist().cdf(x) for x in np.clip(distance, -38, 38)])

    def _laplace_probability(self, users: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probability that this number of users plus Laplace noise is released."""
        distance = np.clip((users - self.median_release_count) / self.noise_scale, -700, 700)
        below = np.exp(-np.abs(distance)) / 2
        return np.where(distance < 0, below, 1 - below)


def _poisson_probabilities(expected: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the Poisson probabilities of 0, 1, 2 ... users for each expected number.

    >>> _poisson_probabilities(np.array([0.5]))[0, :3].round(3).tolist()
    [0.607, 0.303, 0.076]
    """
    numbers = np.arange(_POISSON_TERMS)
    factorials = np.concatenate(([0.0], np.cumsum(np.log(numbers[1:]))))
    return np.exp(np.log(expected)[:, None] * numbers - expected[:, None] - factorials)


def _split_ranks(last: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return ranks, and how many ranks each represents: low ranks one, higher ranks more.

    >>> int(_split_ranks(200_000)[1].sum())
    200000
    """
    edges = np.unique(np.geomspace(1, last + 1, 2_000).astype(np.int64))
    return np.sqrt(edges[:-1] * (edges[1:] - 1.0)), np.diff(edges)


def forecast_tables(
    mechanisms: TableMechanisms, contribution_order: str, expected_users: int
) -> Forecast:
    """Return noise, thresholds and the expected number of queries."""
    named = {
        "queries": mechanisms.queries,
        "clicks": mechanisms.clicks,
        "transitions": mechanisms.transitions,
    }
    tables = [_forecast_table(name, table) for name, table in named.items() if table]
    if mechanisms.union is not None:
        tables.insert(0, _forecast_set_union(mechanisms.union))
    expected = SelectionThreshold.of(mechanisms, contribution_order).expected(expected_users)
    return Forecast(mechanisms.selection, expected, tuple(tables))


def _forecast_set_union(union: SetUnionRelease) -> TableForecast:
    return TableForecast(
        table="queries",
        noise="gaussian",
        scale=round(float(union.counts.scale), 2),
        rounds=len(union.rounds),
        median_release_count=union.rounds[-1].median_release_count,
        contribution_bound=union.counts.keys,
        single_user_probability=float(sum(r.delta_per_key for r in union.rounds)),
    )


def _forecast_table(name: str, table: ThresholdedCounts) -> TableForecast:
    """Return the noise and the threshold of one table."""
    return TableForecast(
        table=name,
        noise=table.noise,
        scale=round(float(table.scale), 2),
        median_release_count=table.median_release_count,
        contribution_bound=table.contribution_bound,
        single_user_probability=float(table.delta_per_key),
    )


def _interpolate(counted: Sequence[float], bound: int) -> float:
    """Return what a query counts for each of its users, with this contribution bound.

    >>> _interpolate(_BY_USERS, 5), _interpolate(_BY_FIRST_EVENTS, 1_000)
    (0.285, 2.0)
    """
    return float(np.interp(np.log(bound), np.log(_BOUNDS), counted))


_NOUNS = {"queries": "A query", "clicks": "A click", "transitions": "A transition"}


def approx_noise(mechanisms: TableMechanisms) -> tuple[CountNoise, ...]:
    """Return the noise of the tables of mode approx."""
    named = {
        "queries": mechanisms.queries,
        "clicks": mechanisms.clicks,
        "transitions": mechanisms.transitions,
    }
    tables = [_table_noise(name, table) for name, table in named.items() if table]
    return (*([] if mechanisms.union is None else [_set_union_noise(mechanisms.union)]), *tables)


def public_noise(name: str, mechanism: PublicCounts, cells: int) -> CountNoise:
    """Return the noise of a table over public cells."""
    rule = (
        f"{_NOUNS[name]} is released if its noisy count is {mechanism.threshold:,} or more. All "
        f"{cells:,} public cells have noise, so about one is released that nobody has."
    )
    return CountNoise(
        name,
        "laplace",
        float(mechanism.scale),
        rule,
        _state_bound(name, mechanism.contribution_bound),
    )


def paper_noise(scale: float, threshold: int, bounds: Mapping[str, int]) -> tuple[CountNoise, ...]:
    """Return the noise of the tables in the paper."""
    min_counts = {"queries": threshold + 1, "clicks": 1, "transitions": 1}
    return tuple(
        CountNoise(
            name,
            "laplace",
            scale,
            f"{_NOUNS[name]} is released if its noisy count is {min_counts[name]:,} or more.",
            f"the first {bounds[name]:,} of each user are counted.",
        )
        for name in bounds
    )


def _table_noise(name: str, table: ThresholdedCounts) -> CountNoise:
    count = f"{table.median_release_count:,}"
    rule = f"{_NOUNS[name]} is released if its noisy count is {count} or more."
    return CountNoise(
        name, table.noise, float(table.scale), rule, _state_bound(name, table.contribution_bound)
    )


def _set_union_noise(union: SetUnionRelease) -> CountNoise:
    """Return the noise of queries that were selected by other noise than that of their counts."""
    last, keys = union.rounds[-1], union.counts.keys
    rounds = "" if len(union.rounds) == 1 else f", in {len(union.rounds)} rounds"
    rule = (
        f"Queries were selected before, by other noise{rounds}: a query needs about "
        f"{last.median_release_count:,} users if each of them sent {keys:,} queries or more, and "
        "fewer users if they sent fewer queries."
    )
    return CountNoise(
        "queries", "gaussian", float(union.counts.scale), rule, _state_bound("queries", keys),
        own_threshold=False, floor=1,
    )  # fmt: skip


def _state_bound(name: str, keys: int) -> str:
    return f"each user contributes at most {keys:,} {name}, each once."
