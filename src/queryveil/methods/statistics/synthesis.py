"""Synthesize a log by random walks over released tables, for programs that need rows.

This module never reads the log of a user. It reads tables that were already released with noise,
and public constants. So the guarantee of the tables holds for the synthetic log too, at no further
privacy loss (post-processing).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ...core.randomness import RandomSource
from ...errors import InputError, ParameterError

Ints = NDArray[np.int64]

# Public constants: rough figures of published studies of web search. None is taken from the log
# that is anonymized. The dictionaries map numbers to their weights.
_SESSIONS = {1: 25, 2: 15, 4: 20, 8: 18, 16: 14, 32: 8}  # sessions of a user; 7.6 on average
_QUERIES = {1: 45, 2: 22, 3: 12, 4: 7, 5: 4, 6: 4, 8: 3, 10: 3}  # of a session; 2.6 on average
_RESTART = 25  # percent of steps to any query, although the table has a next query
_CLICK = 50  # percent of queries with a click, of those for which the table has clicks
# How often each rank is clicked, as published for the AOL log; ranks below 10 are omitted.
_RANKS = {1: 42, 2: 12, 3: 8, 4: 6, 5: 5, 6: 4, 7: 3, 8: 3, 9: 3, 10: 3}
_FIRST_DAY = date(2000, 1, 1)  # any day that is clearly not a day of the log
_DAYS = 90  # from the first day on, all equally likely

SYNTHESIS_NOTE = (
    "The log is synthetic: no row of it was sent by anybody, and no user of it is a person. Which "
    "queries there are, which follow each other and which URLs are clicked for them is drawn by "
    "the noisy counts of the tables. All else comes from public constants: the number of sessions "
    "of a user and of queries in a session, the days, the ranks, the fraction of queries with a "
    "click, and how often the next query is independent of the one before."
)


def public_constants() -> dict[str, str]:
    """Return the constants as texts, for the card.

    >>> public_constants()["queries with a click"]
    '50% of those for which the table has clicks'
    """
    rows = f"{_mean(_SESSIONS) * _mean(_QUERIES):.0f} rows a user on average"
    days = f"{_DAYS} days from {_FIRST_DAY.isoformat()} on, all equally likely"
    return {
        "sessions of a user": _format_fractions(_SESSIONS),
        "queries of a session": f"{_format_fractions(_QUERIES)}; so {rows}",
        "steps to any query": f"{_RESTART}%, and all where the table knows no next query",
        "queries with a click": f"{_CLICK}% of those for which the table has clicks",
        "ranks of clicks": f"{_format_fractions(_RANKS)}, whatever the URL",
        "days": f"{days}, one for each session",
    }


def synthesize_log(
    tables: Mapping[str, pl.DataFrame], users: int, rng: RandomSource
) -> pl.DataFrame:
    """Return a synthetic log of `users` users, in random order.

    Args:
        tables: The published tables `queries` and optionally `clicks` and `transitions`.
        users: A public choice. The number of users of the log itself is not public.
    """
    if users < 1:
        raise ParameterError(f"users must be an integer of at least 1, got {users}")
    names, weight = _weighted_queries(tables)
    anywhere = _Choices.of(np.zeros(len(names), np.int64), np.arange(len(names)), weight, 1)
    steps, clicks, urls = _build_steps(tables, names), *_build_clicks(tables, names)
    owner = np.repeat(np.arange(users), _sample(_SESSIONS, users, rng))
    length = _sample(_QUERIES, len(owner), rng)
    day = (rng.uint64s(len(owner)) % np.uint64(_DAYS)).astype(np.int32)
    query = _sample_walks(length, anywhere, steps, rng)
    url, rank = _sample_clicks(query, clicks, rng)
    pseudonym = pl.Series(rng.tokens(users)).cast(pl.String)
    # The order of rows must not reveal which rows belong to one user or one session.
    order = rng.permutation(len(query))
    session = np.repeat(np.arange(len(owner)), length)[order]
    first = (_FIRST_DAY - date(1970, 1, 1)).days
    return pl.DataFrame(
        {
            "user": pseudonym.gather(owner[session]),
            "query": names.gather(query[order]),
            "time": pl.Series(first + day[session]).cast(pl.Date),
            "rank": _negative_to_null(rank[order]).cast(pl.Int32),
            "url": urls.gather(_negative_to_null(url[order])),
        }
    )


@dataclass(frozen=True)
class _Choices:
    """The values that can be drawn for each key, by integer weights; sorted by key.

    `sums` are the cumulative weights of the rows. `before` is the sum before the first row of a
    key, and `total` the weight of all its rows, 0 if it has none.
    """

    values: Ints
    sums: NDArray[np.uint64]
    before: NDArray[np.uint64]
    total: NDArray[np.uint64]

    @classmethod
    def of(cls, key: Ints, value: Ints, weight: Ints, keys: int) -> _Choices:
        """Build the choices from rows of key, value and weight; keys are integers below `keys`."""
        order = np.argsort(key, kind="stable")
        sums = np.r_[0, np.cumsum(weight[order])].astype(np.uint64)
        edges = np.searchsorted(key[order], np.arange(keys + 1))
        sums_at_edges = sums[edges]
        return cls(value[order], sums[1:], sums_at_edges[:-1], np.diff(sums_at_edges))

    def sample(self, keys: Ints, rng: RandomSource) -> Ints:
        """Draw a value for each key; every key must have one.

        The modulo bias towards small numbers is less than the total weight over 2^64.
        """
        number = self.before[keys] + rng.uint64s(len(keys)) % self.total[keys]
        return self.values[np.searchsorted(self.sums, number, side="right")]


def _weighted_queries(tables: Mapping[str, pl.DataFrame]) -> tuple[pl.Series, Ints]:
    """Return the released queries with a positive count, and their weights."""
    if "queries" not in tables or not (tables["queries"]["count"] > 0).any():
        raise InputError(
            "no query was released, so a synthetic log cannot be built",
            hint="use a larger epsilon or delta, or a log of more users",
        )
    table = tables["queries"].filter(pl.col("count") > 0)
    return table["query"].cast(pl.String), _weights(table)


def _build_steps(tables: Mapping[str, pl.DataFrame], names: pl.Series) -> _Choices:
    """Return the choices of the next query, by query."""
    table = _positive_rows(tables, "transitions", names)
    numbers = names.to_frame("next").with_row_index("value")
    table = table.join(numbers, on="next", maintain_order="left")
    value = table["value"].to_numpy().astype(np.int64)
    return _Choices.of(_keys(table), value, _weights(table), len(names))


def _build_clicks(
    tables: Mapping[str, pl.DataFrame], names: pl.Series
) -> tuple[_Choices, pl.Series]:
    """Return the choices of clicks, by query, as indices of the URLs; and the URLs."""
    table = _positive_rows(tables, "clicks", names)
    index = np.arange(table.height)
    return _Choices.of(_keys(table), index, _weights(table), len(names)), table["url"]


_SECOND = {"transitions": "next", "clicks": "url"}


def _positive_rows(tables: Mapping[str, pl.DataFrame], name: str, names: pl.Series) -> pl.DataFrame:
    """Return the rows of a table that can be drawn, with the number of the query as `key`."""
    texts = ["query", _SECOND[name]]
    empty = pl.DataFrame(schema=dict.fromkeys(texts, pl.String) | {"count": pl.Int64})
    table = tables.get(name, empty).filter(pl.col("count") > 0)
    number = names.to_frame("query").with_row_index("key")
    as_text = table.with_columns(pl.col(texts).cast(pl.String))
    return as_text.join(number, on="query", maintain_order="left")


def _keys(table: pl.DataFrame) -> Ints:
    return table["key"].to_numpy().astype(np.int64)


def _weights(table: pl.DataFrame) -> Ints:
    return table["count"].to_numpy().astype(np.int64)


def _sample_walks(length: Ints, anywhere: _Choices, steps: _Choices, rng: RandomSource) -> Ints:
    """Draw the queries of all sessions: all first queries, then all second ones, and so on."""
    index = np.cumsum(length) - length
    query = np.empty(int(length.sum()), np.int64)
    query[index] = anywhere.sample(np.zeros(len(index), np.int64), rng)
    for step in range(1, max(_QUERIES)):
        index = index[length > step] + 1
        length = length[length > step]
        query[index] = _sample_next(query[index - 1], anywhere, steps, rng)
    return query


def _sample_next(query: Ints, anywhere: _Choices, steps: _Choices, rng: RandomSource) -> Ints:
    """Draw the next queries by the table of transitions, or by that of queries as a restart."""
    follows = ~_sample_percent(_RESTART, len(query), rng) & (steps.total[query] > 0)
    following = np.empty(len(query), np.int64)
    following[follows] = steps.sample(query[follows], rng)
    following[~follows] = anywhere.sample(np.zeros(int((~follows).sum()), np.int64), rng)
    return following


def _sample_clicks(query: Ints, clicks: _Choices, rng: RandomSource) -> tuple[Ints, Ints]:
    """Draw the index of a URL and a rank for each query; -1 and -1 without a click."""
    clicked = _sample_percent(_CLICK, len(query), rng) & (clicks.total[query] > 0)
    url, rank = np.full(len(query), -1), np.full(len(query), -1)
    url[clicked] = clicks.sample(query[clicked], rng)
    rank[clicked] = _sample(_RANKS, int(clicked.sum()), rng)
    return url, rank


def _sample_percent(percent: int, size: int, rng: RandomSource) -> NDArray[np.bool_]:
    return rng.uint64s(size) % np.uint64(100) < np.uint64(percent)


def _sample(table: Mapping[int, int], size: int, rng: RandomSource) -> Ints:
    """Draw numbers by their weights."""
    numbers, weights = np.array(list(table)), np.array(list(table.values()))
    choices = _Choices.of(np.zeros(len(numbers), np.int64), numbers, weights, 1)
    return choices.sample(np.zeros(size, np.int64), rng)


def _negative_to_null(numbers: Ints) -> pl.Series:
    """Replace negative numbers by nulls."""
    return pl.select(value=pl.when(pl.Series(numbers) >= 0).then(pl.Series(numbers)))["value"]


def _mean(table: Mapping[int, int]) -> float:
    return sum(n * weight for n, weight in table.items()) / sum(table.values())


def _format_fractions(table: Mapping[int, int]) -> str:
    """Return the weights of a table as percentages."""
    total = sum(table.values())
    return ", ".join(f"{n} in {100 * weight / total:.0f}%" for n, weight in table.items())
