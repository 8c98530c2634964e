"""A log that nobody wrote: walks through released tables, for programs that need rows.

Nothing here looks at a user's log. It reads tables that were already released with noise, and
public constants. So whatever the tables promise holds for the log too, at no further cost.
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
# that is protected. Tables give numbers and their weights.
_SESSIONS = {1: 25, 2: 15, 4: 20, 8: 18, 16: 14, 32: 8}  # sessions of a user; 7.6 on average
_QUERIES = {1: 45, 2: 22, 3: 12, 4: 7, 5: 4, 6: 4, 8: 3, 10: 3}  # of a session; 2.6 on average
_RESTART = 25  # percent of steps that go to any query, though the table knows a next one
_CLICK = 50  # percent of queries with a click, of those for which the table has clicks
# How often each position is clicked: as published for the log of AOL, clicks farther down left out.
_RANKS = {1: 42, 2: 12, 3: 8, 4: 6, 5: 5, 6: 4, 7: 3, 8: 3, 9: 3, 10: 3}
_FIRST_DAY = date(2000, 1, 1)  # any day that is clearly none of the log's
_DAYS = 90  # from the first day on, all equally likely

SYNTHESIS_NOTE = (
    "The log is synthetic: no row of it was sent by anybody, and no user of it is a person. Which "
    "queries there are, which follow each other and which URLs are clicked for them is drawn by "
    "the noisy counts of the tables. All else comes from public constants: how many sessions a "
    "user has and how many queries a session, the days, the ranks, the share of queries with a "
    "click, and how often a session goes on with a query that the one before does not lead to."
)


def public_constants() -> dict[str, str]:
    """Give the constants in words, for the card.

    >>> public_constants()["queries with a click"]
    '50% of those for which the table has clicks'
    """
    lines = _mean(_SESSIONS) * _mean(_QUERIES)
    days = f"{_DAYS} days from {_FIRST_DAY.isoformat()} on, all equally likely"
    return {
        "sessions of a user": _in_words(_SESSIONS),
        "queries of a session": f"{_in_words(_QUERIES)}; so {lines:.0f} rows a user on average",
        "steps to any query": f"{_RESTART}%, and all where the table knows no next query",
        "queries with a click": f"{_CLICK}% of those for which the table has clicks",
        "ranks of clicks": f"{_in_words(_RANKS)}, whatever the URL",
        "days": f"{days}, one for each session",
    }


def synthesize_log(
    tables: Mapping[str, pl.DataFrame], users: int, chance: RandomSource
) -> pl.DataFrame:
    """Make the log of so many users from released tables, in random order.

    `tables` has `queries`, and perhaps `clicks` and `transitions`, as they are published. How
    many users there are must be a public choice too: the number of users of a log is none.
    """
    if users < 1:
        raise ParameterError(f"a log of {users:,} users", hint="take one user or more")
    names, weight = _queries(tables)
    anywhere = _Choices.of(np.zeros(len(names), np.int64), np.arange(len(names)), weight, 1)
    steps, clicks, urls = _steps(tables, names), *_clicks(tables, names)
    owner = np.repeat(np.arange(users), _drawn(_SESSIONS, users, chance))
    length = _drawn(_QUERIES, len(owner), chance)
    day = (chance.uint64s(len(owner)) % np.uint64(_DAYS)).astype(np.int32)
    query = _walks(length, anywhere, steps, chance)
    url, rank = _clicked(query, clicks, chance)
    pseudonym = pl.Series(chance.tokens(users)).cast(pl.String)
    order = chance.permutation(
        len(query)
    )  # rows of a user, or of a session, must not stand together
    session = np.repeat(np.arange(len(owner)), length)[order]
    first = (_FIRST_DAY - date(1970, 1, 1)).days
    return pl.DataFrame(
        {
            "user": pseudonym.gather(owner[session]),
            "query": names.gather(query[order]),
            "time": pl.Series(first + day[session]).cast(pl.Date),
            "rank": _filled(rank[order]).cast(pl.Int32),
            "url": urls.gather(_filled(url[order])),
        }
    )


@dataclass(frozen=True)
class _Choices:
    """What can be drawn for each key, by whole weights; rows of a key lie together.

    `sums` are the weights added up, row by row; `before` is the sum ahead of a key's first row
    and `whole` the weight of all its rows, 0 where it has none.
    """

    values: Ints
    sums: NDArray[np.uint64]
    before: NDArray[np.uint64]
    whole: NDArray[np.uint64]

    @classmethod
    def of(cls, key: Ints, value: Ints, weight: Ints, keys: int) -> _Choices:
        """Put rows of key, value and weight in order; keys are numbers below `keys`."""
        order = np.argsort(key, kind="stable")
        sums = np.r_[0, np.cumsum(weight[order])].astype(np.uint64)
        edges = np.searchsorted(key[order], np.arange(keys + 1))
        at = sums[edges]
        return cls(value[order], sums[1:], at[:-1], np.diff(at))

    def draw(self, keys: Ints, chance: RandomSource) -> Ints:
        """Draw a value for each key; every key must have one.

        The rest of a division favours small numbers by less than the whole weight in 2^64.
        """
        number = self.before[keys] + chance.uint64s(len(keys)) % self.whole[keys]
        return self.values[np.searchsorted(self.sums, number, side="right")]


def _queries(tables: Mapping[str, pl.DataFrame]) -> tuple[pl.Series, Ints]:
    """Give the released queries and their weights; a count that noise made negative weighs 0."""
    if "queries" not in tables or not (tables["queries"]["count"] > 0).any():
        raise InputError(
            "no query was released, so there is nothing to make a synthetic log of",
            hint="take a larger epsilon or delta, or a log of more users",
        )
    table = tables["queries"].filter(pl.col("count") > 0)
    return table["query"].cast(pl.String), _weights(table)


def _steps(tables: Mapping[str, pl.DataFrame], names: pl.Series) -> _Choices:
    """Give what follows each released query."""
    table = _known(tables, "transitions", names)
    to = names.to_frame("next").with_row_index("value")
    table = table.join(to, on="next", maintain_order="left")
    value = table["value"].to_numpy().astype(np.int64)
    return _Choices.of(_keys(table), value, _weights(table), len(names))


def _clicks(tables: Mapping[str, pl.DataFrame], names: pl.Series) -> tuple[_Choices, pl.Series]:
    """Give what is clicked for each released query, as places in the URLs that are given too."""
    table = _known(tables, "clicks", names)
    place = np.arange(table.height)
    return _Choices.of(_keys(table), place, _weights(table), len(names)), table["url"]


_SECOND = {"transitions": "next", "clicks": "url"}


def _known(tables: Mapping[str, pl.DataFrame], name: str, names: pl.Series) -> pl.DataFrame:
    """Give the rows of a table that can be drawn, numbered by the query; none if it is missing."""
    texts = ["query", _SECOND[name]]
    empty = pl.DataFrame(schema=dict.fromkeys(texts, pl.String) | {"count": pl.Int64})
    table = tables.get(name, empty).filter(pl.col("count") > 0)
    number = names.to_frame("query").with_row_index("key")
    named = table.with_columns(pl.col(texts).cast(pl.String))
    return named.join(number, on="query", maintain_order="left")


def _keys(table: pl.DataFrame) -> Ints:
    return table["key"].to_numpy().astype(np.int64)


def _weights(table: pl.DataFrame) -> Ints:
    return table["count"].to_numpy().astype(np.int64)


def _walks(length: Ints, anywhere: _Choices, steps: _Choices, chance: RandomSource) -> Ints:
    """Draw the queries of all sessions, one after the other: all first ones, all second ones."""
    place = np.cumsum(length) - length
    query = np.empty(int(length.sum()), np.int64)
    query[place] = anywhere.draw(np.zeros(len(place), np.int64), chance)
    for step in range(1, max(_QUERIES)):
        place = place[length > step] + 1
        length = length[length > step]
        query[place] = _next(query[place - 1], anywhere, steps, chance)
    return query


def _next(query: Ints, anywhere: _Choices, steps: _Choices, chance: RandomSource) -> Ints:
    """Draw what follows: by the table of transitions, or by that of queries as a restart."""
    led = ~_percent(_RESTART, len(query), chance) & (steps.whole[query] > 0)
    found = np.empty(len(query), np.int64)
    found[led] = steps.draw(query[led], chance)
    found[~led] = anywhere.draw(np.zeros(int((~led).sum()), np.int64), chance)
    return found


def _clicked(query: Ints, clicks: _Choices, chance: RandomSource) -> tuple[Ints, Ints]:
    """Draw a URL's place and a rank for some queries; -1 and -1 where there is no click."""
    some = _percent(_CLICK, len(query), chance) & (clicks.whole[query] > 0)
    url, rank = np.full(len(query), -1), np.full(len(query), -1)
    url[some] = clicks.draw(query[some], chance)
    rank[some] = _drawn(_RANKS, int(some.sum()), chance)
    return url, rank


def _percent(share: int, size: int, chance: RandomSource) -> NDArray[np.bool_]:
    return chance.uint64s(size) % np.uint64(100) < np.uint64(share)


def _drawn(table: Mapping[int, int], size: int, chance: RandomSource) -> Ints:
    """Draw numbers by a table of numbers and weights."""
    numbers, weights = np.array(list(table)), np.array(list(table.values()))
    choices = _Choices.of(np.zeros(len(numbers), np.int64), numbers, weights, 1)
    return choices.draw(np.zeros(size, np.int64), chance)


def _filled(numbers: Ints) -> pl.Series:
    """Make nulls of what is below 0."""
    return pl.select(value=pl.when(pl.Series(numbers) >= 0).then(pl.Series(numbers)))["value"]


def _mean(table: Mapping[int, int]) -> float:
    return sum(n * weight for n, weight in table.items()) / sum(table.values())


def _in_words(table: Mapping[int, int]) -> str:
    """Say a table as shares."""
    whole = sum(table.values())
    return ", ".join(f"{n} in {100 * weight / whole:.0f}%" for n, weight in table.items())
