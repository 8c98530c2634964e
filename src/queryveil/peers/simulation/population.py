"""Who takes part in a simulation, and what they search for: the users of a log."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ...core.extras import import_extra
from ...errors import InputError
from ...log.query_log import QueryLog

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
    >>> population_from_log(QueryLog.from_rows(rows)).who.tolist()
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
    """Return the place of each value among the known ones, which are in order."""
    return known.search_sorted(values).to_numpy().astype(np.int64)


def repeated_queries(names: pl.Series, times: int) -> Population:
    """Let each user send one text of her own, so many times: the test T1 of the P2P paper.

    >>> repeated_queries(pl.Series(["a", "b"]), 2).what.tolist()
    [0, 1, 0, 1]
    """
    rounds = np.tile(np.arange(len(names), dtype=np.int64), times)
    return Population(names, "only of " + names.cast(pl.String), rounds, rounds)


_BLOCK = 500  # users whose likeness with all others is held at once


def similar_users(people: Population, k: int) -> Iterator[tuple[int, int]]:
    """Return pairs of users: each with the k who are most similar to them.

    Likeness is the cosine of profiles of words, each word weighted by how few users have it. A
    word of one user links nobody, one of more than a twentieth of them tells little: both are
    left out. So a user may have nobody like her.
    """
    profiles = _profiles(people)
    others = profiles.T.tocsr()
    for start in range(0, people.users, _BLOCK):
        likeness = (profiles[start : start + _BLOCK] @ others).tocsr()
        for row in range(likeness.shape[0]):
            user, (low, high) = start + row, likeness.indptr[row : row + 2]
            near, score = likeness.indices[low:high], likeness.data[low:high]
            best = np.lexsort((near, -score))[: k + 1]
            yield from ((user, int(one)) for one in near[best][near[best] != user][:k])


def _profiles(people: Population) -> Any:
    """Return the users' profiles as rows of length 1: a sparse matrix of users by words."""
    sparse = import_extra("scipy.sparse", "a graph of interests", of="peers")
    most = max(30, people.users // 20)
    sent = pl.DataFrame({"user": people.who, "text": people.texts.gather(people.what)})
    words = sent.select("user", word=pl.col("text").str.split(" ")).explode("word")
    counts = words.group_by("user", "word").len("count").with_columns(users=pl.len().over("word"))
    counts = counts.filter(pl.col("users").is_between(2, most)).sort("user", "word")
    weight = (1 + pl.col("count").log()) * (people.users / pl.col("users")).log()
    counts = counts.with_columns(weight=weight)
    counts = counts.with_columns(
        pl.col("weight") / (pl.col("weight") ** 2).sum().over("user").sqrt()
    )
    columns = (counts["word"].rank("dense") - 1).to_numpy()
    width = 1 + int(columns.max(initial=0))
    cells = (counts["weight"].to_numpy(), (counts["user"].to_numpy(), columns))
    return sparse.csr_matrix(cells, shape=(people.users, width))
