"""Microaggregation by how queries are written (Navarro-Arribas and Torra 2009)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from ...core.parameters import parameter
from ...core.progress import Progress
from ...core.randomness import RandomSource
from ...errors import InputError
from ...log.query_log import QueryLog
from .base import Microaggregation, Prototypes
from .grouping import Floats, GroupLabels, check_groups, mdav
from .known import group_users, of_some
from .refinement import refine_groups
from .repetition import most_repeated_queries
from .syntactic import syntactic_distance_matrix

__all__ = ["SyntacticMicroaggregation"]

_MOST_USERS = 2_000  # all rows of all users are compared: minutes for a thousand


@dataclass(frozen=True)
class SyntacticMicroaggregation(Microaggregation):
    """Group users by the times, hosts, letters, words and lengths of their queries.

    >>> str(SyntacticMicroaggregation(k=3))
    'syntactic-microaggregation:k=3'
    """

    name: ClassVar[str] = "syntactic-microaggregation"
    title: ClassVar[str] = "groups of k users whose queries are written alike share one log"
    paper: ClassVar[str] = "Navarro-Arribas and Torra 2009"
    guarantee_summary: ClassVar[str] = (
        "k-anonymity: every released log is shared by at least k users"
    )

    rows: int = parameter(50, "rows of a user that are compared", low=1, high=1_000, unit="rows")
    refine: bool = parameter(False, "whether groups are improved by swaps after MDAV")

    def _prototypes(
        self, log: QueryLog, known: pl.DataFrame | None, chance: RandomSource, progress: Progress
    ) -> Prototypes:
        users = log.local_frame.select("user").unique().collect()
        users = users.sort(pl.col("user").cast(pl.String)).with_row_index("number")
        if users.height > _MOST_USERS:
            raise InputError(
                f"{users.height:,} users are too many to compare all their queries",
                hint=f"--sample-users {_MOST_USERS}, or semantic-microaggregation",
            )
        with progress.stage("group users"):
            matrix = syntactic_distance_matrix(self._some_rows(log, users, chance), cap=self.rows)
            group = group_users(
                users["user"], known, self.k, lambda some: self._split(of_some(matrix, some))
            )
            check_groups(group, self.k)
        members = users.select("user", group=pl.Series(group.astype(np.int64)))
        texts, short = most_repeated_queries(log.local_frame, members, chance, self.most_share)
        texts = self._frequent(texts, members, log, chance, progress)
        return Prototypes(members, texts, short)

    def _split(self, matrix: Floats) -> GroupLabels:
        group = mdav(matrix, self.k)
        return refine_groups(matrix, group, self.k) if self.refine else group

    def _some_rows(self, log: QueryLog, users: pl.DataFrame, chance: RandomSource) -> pl.DataFrame:
        """Draw at most so many rows of each user."""
        texts = pl.col("query", "url").cast(pl.String)
        frame = log.local_frame.join(users.lazy(), on="user", maintain_order="left")
        lines = frame.select("time", texts, user=pl.col("number").cast(pl.Int64)).collect()
        lines = lines.sort("user", "time", "query", "url")
        drawn = lines[chance.permutation(lines.height)]
        return (
            drawn.group_by("user", maintain_order=True)
            .head(self.rows)
            .sort("user", maintain_order=True)
        )
