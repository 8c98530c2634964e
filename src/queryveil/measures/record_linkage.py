"""Record linkage of a log that lies on a cluster: some released logs against all users.

Every share looks for its own users who fit each of the released logs best. Of that the best of all
is known. The work grows with the users times the logs that are asked for, so of very many logs a
sample is taken.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl

from ..concepts.loaders.registry import open_taxonomy
from ..concepts.mapping.mapper import Mapper
from ..core.randomness import RandomSource
from ..engine.operations import aggregate, map_partitions, unique_queries
from ..engine.table import RemoteTable, Table
from ..release.release import Release
from ._shared.queries import (
    QueryTextMeasure,
    UserQueryCounts,
    best_matches,
    count_user_queries,
    group_equal_logs,
    released_counts,
    released_log,
    true_pairs,
)
from .context import MeasureContext, restore_users

MAX_LOGS = 20_000
_SEED = 8_300  # of the sample: a measure is no release, and should give the same again


def link_records_on_spark(rows: Table, after: Release, taxonomy: str | None) -> dict[str, Any]:
    """Give how many users are linked in all, and of how many logs that was seen."""
    sent = count_user_queries(released_log(after))
    logs = _sample(len(sent.users))
    named = restore_users(pl.DataFrame({"user": sent.users}).with_row_index("log"), after)
    claims = named.filter(pl.col("log").is_in(logs.implode()))
    some = sent.rows.filter(pl.col("owner").is_in(logs.implode()))
    who, what = group_equal_logs(some)
    claims = claims.join(who, left_on="log", right_on="owner").select("log", "ask", "user")
    texts = pl.DataFrame({"name": sent.queries}).with_row_index("text")
    texts = texts.join(what.select("text").unique(), on="text", how="semi")
    asked = partial(_scores, what=what, texts=texts, claims=claims, taxonomy=taxonomy)
    scores = map_partitions(rows, asked, RandomSource())
    best = aggregate(scores, _best, ["ask", "score"]).sort("score").unique("ask", keep="last")
    mine = aggregate(scores, _mine, ["ask", "user"])
    found = claims.join(mine, on=["ask", "user"], how="left").join(
        best.rename({"score": "best"}), on="ask"
    )
    is_best = (pl.col("score") == pl.col("best")) & (pl.col("best") > 0)
    chance = pl.when(is_best).then(1 / pl.col("ties")).otherwise(0.0)
    # A user of several logs counts once: each of them for its part of her.
    hers = named.group_by("user").agg(logs=pl.len())
    linked = found.with_columns(linked=chance).join(hers, on="user")
    scale = len(sent.users) / max(len(logs), 1)
    users = aggregate(scores, _users, ["all"])["users"].sum()
    return {
        "linked": float((linked["linked"] / linked["logs"]).sum()) * scale,
        "users": int(users),
        "released": hers.height,
        "logs": len(sent.users),
        "sample": len(logs),
    }


def _sample(logs: int) -> pl.Series:
    if logs <= MAX_LOGS:
        return pl.Series(np.arange(logs), dtype=pl.UInt32)
    return pl.Series(RandomSource(_SEED).permutation(logs)[:MAX_LOGS]).sort()


def _scores(
    frame: pl.LazyFrame,
    _: RandomSource,
    *,
    what: pl.DataFrame,
    texts: pl.DataFrame,
    claims: pl.DataFrame,
    taxonomy: str | None,
) -> pl.DataFrame:
    """Give for each log the best score of the share's users and how many have it, and claims.

    A row with a user is a claim of hers, one without the best; one with neither counts users.
    """
    counts = frame.group_by("user", "query").agg(count=pl.len()).collect()
    counts = counts.with_columns(pl.col("user", "query").cast(pl.String))
    people = counts.select(pl.col("user").unique().sort()).with_row_index("owner")
    sent = _phrases(counts, taxonomy) if taxonomy else counts
    known = sent.join(texts.rename({"name": "query"}), on="query").join(people, on="user")
    held = known.group_by("owner", "text").agg(pl.col("count").sum())
    hers = claims.join(people, on="user").select("ask", "owner", "user").unique()
    everybody = what.select("ask").unique().with_columns(owner=pl.lit(0, pl.UInt32))
    if not people.height:
        return _NOTHING
    pairs = pl.concat([everybody, hers.select("ask", "owner")]).unique()
    found = best_matches(what, held, people.height, pairs)
    best = found.unique("ask").select("ask", pl.lit(None, pl.String).alias("user"),
                                      score="best", ties="ties")  # fmt: skip
    mine = found.join(hers, on=["ask", "owner"]).select("ask", "user", "score", ties=pl.lit(0))
    size = pl.DataFrame({"ask": [-1], "user": [None], "score": [0], "ties": [people.height]})
    best = best.filter(pl.col("score") > 0)
    return pl.concat([part.cast(_KINDS) for part in (best, mine, size)])  # type: ignore[arg-type]


_KINDS = {"ask": pl.Int64, "user": pl.String, "score": pl.Int64, "ties": pl.Int64}
_NOTHING = pl.DataFrame(schema=_KINDS)


def _phrases(counts: pl.DataFrame, taxonomy: str) -> pl.DataFrame:
    """Put the phrases of queries in their place."""
    found = Mapper(open_taxonomy(taxonomy)).map(unique_queries(counts.lazy()))
    texts = found.phrase_texts().select("query", "phrase")
    joined = counts.join(texts, on="query").select("user", "count", query="phrase")
    return joined.group_by("user", "query").agg(pl.col("count").sum())


def _best(frame: pl.LazyFrame, _: RandomSource) -> pl.DataFrame:
    rows = frame.filter(pl.col("user").is_null() & (pl.col("ask") >= 0))
    return rows.select("ask", "score", "ties").collect()


def _mine(frame: pl.LazyFrame, _: RandomSource) -> pl.DataFrame:
    return frame.filter(pl.col("user").is_not_null()).select("ask", "user", "score").collect()


def _users(frame: pl.LazyFrame, _: RandomSource) -> pl.DataFrame:
    size = frame.filter(pl.col("ask") < 0).select(users=pl.col("ties").sum())
    return size.collect().with_columns(all=pl.lit(0))


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
