"""How many released logs can be given back to their users: the record linkage of the papers.

Batet et al. 2013 and before: whoever holds the whole original log gives each released log to the
users who have most queries in common with it (SPEC 8.3).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import polars as pl

from ...engine.table import RemoteTable
from ...release.release import Release
from .._shared.queries import best_matches, group_equal_logs
from ..original import MeasureContext
from ..record_linkage import link_records_on_spark
from .texts import QueryTextMeasure, UserQueryCounts, released_counts, true_pairs

__all__ = ["RecordLinkage", "linkage_probabilities"]


@dataclass(frozen=True)
class RecordLinkage(QueryTextMeasure):
    """The share of users who are linked to their released log; 100: everybody is."""

    name: ClassVar[str] = "record-linkage"
    title: ClassVar[str] = "users linked to their released logs"
    description: ClassVar[str] = (
        "how many of 100 users are found by somebody who holds the whole original log and gives "
        "each released log to the user who has most queries in common with it"
    )
    paper: ClassVar[str] = "Batet, Erola, Sánchez, Castellà-Roca 2013, record linkage (RL)"
    unit: ClassVar[str] = "percent of the log's users"
    better: ClassVar[Literal["lower", "higher"]] = "lower"
    kind: ClassVar[Literal["risk", "use"]] = "risk"

    def prepare(self, before: MeasureContext) -> None:
        """Number the users and the queries of a log that is here."""
        if not isinstance(before.log.table, RemoteTable):
            super().prepare(before)

    def compute(self, before: MeasureContext, after: Release) -> dict[str, Any]:
        """Give the share of users linked, the level of guessing, and who is not there any more."""
        if isinstance(before.log.table, RemoteTable):
            return self._told(
                after, **link_records_on_spark(before.log.table, after, self.phrases_of(after))
            )
        sent = self.original_counts(before, after)
        logs = released_counts(sent, after)
        pairs = true_pairs(sent.users, logs.users, after)
        found = float(linkage_probabilities(sent, logs, pairs)["linked"].sum())
        released, size = pairs["user"].n_unique(), len(logs.users)
        return self._told(
            after, linked=found, users=len(sent.users), released=released, logs=size, sample=size
        )

    def _told(
        self, after: Release, *, linked: float, users: int, released: int, logs: int, sample: int
    ) -> dict[str, Any]:
        value = 100 * linked / max(users, 1)
        guess = 100 / max(users, 1)
        return {
            "value": round(value, 6),
            "chance": round(guess, 6),
            "users": users,
            "vanished": users - released,
            "logs": logs,
            **({} if sample == logs else {"sample": sample}),
            "words": (
                f"somebody who holds the whole original log finds {value:.1f} of 100 users in "
                f"the release; guessing finds {guess:.2g}"
            ),
            "ruler": self.basis(after),
        }


def linkage_probabilities(
    sent: UserQueryCounts, logs: UserQueryCounts, pairs: pl.DataFrame
) -> pl.DataFrame:
    """Give each released user's chance to be linked, P_rl: user, linked.

    A log that shares nothing with anybody is linked to nobody. Users who have the most in common
    with a log, and the same, share the guess. If a user has several logs, the mean is taken.
    """
    who, what = group_equal_logs(logs.rows)
    claims = pairs.join(who, left_on="log", right_on="owner", how="left")
    wanted = claims.drop_nulls("ask").select("ask", owner="user").unique()
    found = best_matches(what, sent.rows, len(sent.users), wanted)
    # Only logs with a text that somebody had sent are asked for, so the best is never 0.
    is_best = pl.col("score") == pl.col("best")
    chance = found.select("ask", user="owner", linked=pl.when(is_best).then(1 / pl.col("ties")))
    every = claims.join(chance, on=["ask", "user"], how="left")
    return every.group_by("user").agg(pl.col("linked").fill_null(0.0).mean()).sort("user")
