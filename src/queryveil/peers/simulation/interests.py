"""Users of like interests: those whose queries have rare words in common.

The P2P paper proposes such friends: what a person submits for them fits her own profile, so that
the engine's service stays of use to her.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl

from ...core.extras import import_extra
from .population import Population

__all__ = ["similar_users"]

_BLOCK = 500  # users whose likeness with all others is held at once


def similar_users(people: Population, k: int) -> Iterator[tuple[int, int]]:
    """Give pairs of users: each with the k who are most like her.

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
    """Give the users' profiles as rows of length 1: a sparse matrix of users by words."""
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
