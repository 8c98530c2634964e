"""Who takes part in a simulation, and what they search for: the users of a log."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ...errors import InputError
from ...log.query_log import QueryLog

__all__ = ["Numbers", "Population", "population_from_log", "repeated_queries"]

Numbers = NDArray[np.int64]


@dataclass(frozen=True, repr=False)
class Population:
    """Users, numbered from 0 on, and their searches in the order in which they happen.

    `who` is the user of each search and `what` the number of its text.
    """

    names: pl.Series
    texts: pl.Series
    who: Numbers
    what: Numbers

    @property
    def users(self) -> int:
        """How many take part."""
        return len(self.names)

    @property
    def searches(self) -> int:
        """How often somebody searches."""
        return len(self.who)


def population_from_log(log: QueryLog, queries: int | None = None) -> Population:
    """Let each simulated user play one user of a log, with her first so many events.

    Events come in the order of time. Those without a time come last, a round after the other.

    >>> rows = [("b", "y", None, None, None), ("a", "x", None, None, None)]
    >>> population_of(QueryLog.from_rows(rows)).who.tolist()
    [0, 1]
    """
    texts = [pl.col(name).cast(pl.String) for name in ("user", "query")]
    events = log.events().select(*texts, "time").collect()
    if not events.height:
        raise InputError("nobody searches in this log", hint="see `queryveil profile`")
    events = events.with_columns(turn=pl.int_range(pl.len()).over("user"))
    if queries is not None:
        events = events.filter(pl.col("turn") < queries)
    events = events.sort("time", "turn", "user", nulls_last=True)
    names, sent = (events[name].unique().sort() for name in ("user", "query"))
    return Population(names, sent, _places(events["user"], names), _places(events["query"], sent))


def _places(values: pl.Series, known: pl.Series) -> Numbers:
    """Give the place of each value among the known ones, which are in order."""
    return known.search_sorted(values).to_numpy().astype(np.int64)


def repeated_queries(names: pl.Series, times: int) -> Population:
    """Let each user send one text of her own, so many times: the test T1 of the P2P paper.

    >>> echoes(pl.Series(["a", "b"]), 2).what.tolist()
    [0, 1, 0, 1]
    """
    rounds = np.tile(np.arange(len(names), dtype=np.int64), times)
    return Population(names, "only of " + names.cast(pl.String), rounds, rounds)
