"""The simulated users and their queries, taken from a log."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ...errors import InputError
from ...log.query_log import QueryLog

Numbers = NDArray[np.int64]


@dataclass(frozen=True, repr=False)
class Population:
    """Users, numbered from 0, and their searches in order of time.

    `who` is the user of each search and `what` the number of its text.
    """

    names: pl.Series
    texts: pl.Series
    who: Numbers
    what: Numbers

    @property
    def users(self) -> int:
        """The number of users."""
        return len(self.names)

    @property
    def searches(self) -> int:
        """The number of searches."""
        return len(self.who)


def population_from_log(log: QueryLog, queries: int | None = None) -> Population:
    """Return the users of a log with their events, at most the first `queries` of each user.

    Events are in order of time. Events without a time come last, in rounds of one per user.

    >>> rows = [("b", "y", None, None, None), ("a", "x", None, None, None)]
    >>> population_from_log(QueryLog.from_rows(rows)).who.tolist()
    [0, 1]
    """
    texts = [pl.col(name).cast(pl.String) for name in ("user", "query")]
    events = log.events().select(*texts, "time").collect()
    if not events.height:
        raise InputError("the log has no queries", hint="see `profile()`")
    events = events.with_columns(turn=pl.int_range(pl.len()).over("user"))
    if queries is not None:
        events = events.filter(pl.col("turn") < queries)
    events = events.sort("time", "turn", "user", nulls_last=True)
    names, sent = (events[name].unique().sort() for name in ("user", "query"))
    return Population(names, sent, _indices(events["user"], names), _indices(events["query"], sent))


def _indices(values: pl.Series, known: pl.Series) -> Numbers:
    """Return the index of each value in a sorted series of distinct values."""
    return known.search_sorted(values).to_numpy().astype(np.int64)


def repeated_queries(names: pl.Series, times: int) -> Population:
    """Return users who each send one text of their own `times` times: test T1 of the P2P paper.

    >>> repeated_queries(pl.Series(["a", "b"]), 2).what.tolist()
    [0, 1, 0, 1]
    """
    rounds = np.tile(np.arange(len(names), dtype=np.int64), times)
    return Population(names, "only of " + names.cast(pl.String), rounds, rounds)


_BLOCK = 500  # users whose similarities with all others are held at once


def similar_users(people: Population, k: int) -> Iterator[tuple[int, int]]:
    """Yield pairs of users: each user with the k users most similar to them.

    The similarity is the cosine of TF-IDF profiles of words. Words of only one user, and of more
    than a twentieth of the users, are left out. So a user may have no similar users.
    """
    profiles = _profiles(people)
    others = profiles.T.tocsr()
    for start in range(0, people.users, _BLOCK):
        similarity = (profiles[start : start + _BLOCK] @ others).tocsr()
        for row in range(similarity.shape[0]):
            user, (low, high) = start + row, similarity.indptr[row : row + 2]
            near, score = similarity.indices[low:high], similarity.data[low:high]
            best = near[np.lexsort((near, -score))[: k + 1]]
            yield from ((user, int(other)) for other in best[best != user][:k])


def _profiles(people: Population) -> Any:
    """Return a sparse matrix of users by words, whose rows have length 1."""
    from scipy import sparse  # noqa: PLC0415  (slow to import)

    max_users = max(30, people.users // 20)
    sent = pl.DataFrame({"user": people.who, "text": people.texts.gather(people.what)})
    words = sent.select("user", word=pl.col("text").str.split(" ")).explode("word")
    counts = words.group_by("user", "word").len("count").with_columns(users=pl.len().over("word"))
    counts = counts.filter(pl.col("users").is_between(2, max_users)).sort("user", "word")
    weight = (1 + pl.col("count").log()) * (people.users / pl.col("users")).log()
    counts = counts.with_columns(weight=weight)
    counts = counts.with_columns(
        pl.col("weight") / (pl.col("weight") ** 2).sum().over("user").sqrt()
    )
    columns = (counts["word"].rank("dense") - 1).to_numpy()
    width = 1 + int(columns.max(initial=0))
    cells = (counts["weight"].to_numpy(), (counts["user"].to_numpy(), columns))
    return sparse.csr_matrix(cells, shape=(people.users, width))
