"""Record linkage: an attacker assigns each released log to the most similar original user.

For a log on a cluster, every partition scores its own users against the released logs, and the best
scores of the partitions are combined. The work grows with the number of users times the number of
released logs, so a sample of very many logs is linked.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Literal

import numpy as np
import polars as pl

from ..concepts.mapping.options import MappingOptions
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
from .result import MeasureResult

MAX_LOGS = 20_000
_SEED = 8_300  # of the sample: public and fixed, so that a measurement is repeatable


@dataclass(frozen=True)
class LinkageCounts:
    """The expected number of linked users, and the counts of users and of released logs.

    `sample` is the number of logs that were linked, which is `logs` unless these are very many.
    """

    linked: float
    users: int
    released: int
    logs: int
    sample: int


def link_records_on_spark(
    rows: Table, release: Release, mapping: MappingOptions | None
) -> LinkageCounts:
    """Link the released logs of a log on a cluster."""
    sent = count_user_queries(released_log(release))
    logs = _sample_logs(len(sent.users))
    named = restore_users(pl.DataFrame({"user": sent.users}).with_row_index("log"), release)
    claims = named.filter(pl.col("log").is_in(logs.implode()))
    sampled = sent.rows.filter(pl.col("owner").is_in(logs.implode()))
    owners, contents = group_equal_logs(sampled)
    claims = claims.join(owners, left_on="log", right_on="owner").select("log", "ask", "user")
    texts = pl.DataFrame({"name": sent.queries}).with_row_index("text")
    texts = texts.join(contents.select("text").unique(), on="text", how="semi")
    score_partition = partial(
        _score_partition, contents=contents, texts=texts, claims=claims, mapping=mapping
    )
    scores = map_partitions(rows, score_partition, RandomSource())
    best = (
        aggregate(scores, _select_best, ["ask", "score"]).sort("score").unique("ask", keep="last")
    )
    own_scores = aggregate(scores, _select_own, ["ask", "user"])
    matches = claims.join(own_scores, on=["ask", "user"], how="left").join(
        best.rename({"score": "best"}), on="ask"
    )
    is_best = (pl.col("score") == pl.col("best")) & (pl.col("best") > 0)
    probability = pl.when(is_best).then(1 / pl.col("ties")).otherwise(0.0)
    # A user with several logs counts once: each log has an equal part of their weight.
    log_counts = named.group_by("user").agg(logs=pl.len())
    linked = matches.with_columns(linked=probability).join(log_counts, on="user")
    scale = len(sent.users) / max(len(logs), 1)
    users = aggregate(scores, _sum_users, ["all"])["users"].sum()
    return LinkageCounts(
        linked=float((linked["linked"] / linked["logs"]).sum()) * scale,
        users=int(users),
        released=log_counts.height,
        logs=len(sent.users),
        sample=len(logs),
    )


def _sample_logs(logs: int) -> pl.Series:
    if logs <= MAX_LOGS:
        return pl.Series(np.arange(logs), dtype=pl.UInt32)
    return pl.Series(RandomSource(_SEED).permutation(logs)[:MAX_LOGS]).sort()


def _score_partition(
    frame: pl.LazyFrame,
    _: RandomSource,
    *,
    contents: pl.DataFrame,
    texts: pl.DataFrame,
    claims: pl.DataFrame,
    mapping: MappingOptions | None,
) -> pl.DataFrame:
    """Return the best score of the partition's users for each log, and the scores of true pairs.

    A row with a user is the score of that user's own log. A row without a user is the best score
    and the number of ties. The row with `ask` -1 has the number of users of the partition.
    """
    counts = frame.group_by("user", "query").agg(count=pl.len()).collect()
    counts = counts.with_columns(pl.col("user", "query").cast(pl.String))
    users = counts.select(pl.col("user").unique().sort()).with_row_index("owner")
    sent = _count_phrases(counts, mapping) if mapping else counts
    known = sent.join(texts.rename({"name": "query"}), on="query").join(users, on="user")
    held = known.group_by("owner", "text").agg(pl.col("count").sum())
    own_claims = claims.join(users, on="user").select("ask", "owner", "user").unique()
    any_user = contents.select("ask").unique().with_columns(owner=pl.lit(0, pl.UInt32))
    if not users.height:
        return _NO_SCORES
    pairs = pl.concat([any_user, own_claims.select("ask", "owner")]).unique()
    matches = best_matches(contents, held, users.height, pairs)
    best = matches.unique("ask").select("ask", pl.lit(None, pl.String).alias("user"),
                                      score="best", ties="ties")  # fmt: skip
    own_scores = matches.join(own_claims, on=["ask", "owner"]).select(
        "ask", "user", "score", ties=pl.lit(0)
    )
    size = pl.DataFrame({"ask": [-1], "user": [None], "score": [0], "ties": [users.height]})
    best = best.filter(pl.col("score") > 0)
    return pl.concat([part.cast(_SCORE_SCHEMA) for part in (best, own_scores, size)])  # type: ignore[arg-type]


_SCORE_SCHEMA = {"ask": pl.Int64, "user": pl.String, "score": pl.Int64, "ties": pl.Int64}
_NO_SCORES = pl.DataFrame(schema=_SCORE_SCHEMA)


def _count_phrases(counts: pl.DataFrame, options: MappingOptions) -> pl.DataFrame:
    """Replace queries by their phrases."""
    mapping = options.mapper().map(unique_queries(counts.lazy()))
    texts = mapping.phrase_texts().select("query", "phrase")
    joined = counts.join(texts, on="query").select("user", "count", query="phrase")
    return joined.group_by("user", "query").agg(pl.col("count").sum())


def _select_best(frame: pl.LazyFrame, _: RandomSource) -> pl.DataFrame:
    rows = frame.filter(pl.col("user").is_null() & (pl.col("ask") >= 0))
    return rows.select("ask", "score", "ties").collect()


def _select_own(frame: pl.LazyFrame, _: RandomSource) -> pl.DataFrame:
    return frame.filter(pl.col("user").is_not_null()).select("ask", "user", "score").collect()


def _sum_users(frame: pl.LazyFrame, _: RandomSource) -> pl.DataFrame:
    size = frame.filter(pl.col("ask") < 0).select(users=pl.col("ties").sum())
    return size.collect().with_columns(all=pl.lit(0))


@dataclass(frozen=True)
class RecordLinkage(QueryTextMeasure):
    """The percentage of users who are linked to their released log; 100: all users."""

    name: ClassVar[str] = "record-linkage"
    title: ClassVar[str] = "users linked to their released logs"
    description: ClassVar[str] = (
        "the percentage of users re-identified by an attacker who has the whole original log and "
        "assigns each released log to the user with the largest overlap of queries"
    )
    paper: ClassVar[str] = "Batet, Erola, Sánchez, Castellà-Roca 2013, record linkage (RL)"
    unit: ClassVar[str] = "percent of the log's users"
    better: ClassVar[Literal["lower", "higher"]] = "lower"
    kind: ClassVar[Literal["risk", "utility"]] = "risk"

    def prepare(self, context: MeasureContext) -> None:
        """Assign numbers to the users and the queries of a local log."""
        if not isinstance(context.log.table, RemoteTable):
            super().prepare(context)

    def compute(self, context: MeasureContext, release: Release) -> MeasureResult:
        """Return the percentage of linked users, that of guessing, and the vanished users."""
        if isinstance(context.log.table, RemoteTable):
            mapping = self.phrase_mapping(release)
            counts = link_records_on_spark(context.log.table, release, mapping)
            return self._build_result(release, counts)
        sent = self.original_counts(context, release)
        logs = released_counts(sent, release)
        pairs = true_pairs(sent.users, logs.users, release)
        linked = float(linkage_probabilities(sent, logs, pairs)["linked"].sum())
        released, size = pairs["user"].n_unique(), len(logs.users)
        counts = LinkageCounts(linked, len(sent.users), released, size, size)
        return self._build_result(release, counts)

    def _build_result(self, release: Release, counts: LinkageCounts) -> MeasureResult:
        value = 100 * counts.linked / max(counts.users, 1)
        guess = 100 / max(counts.users, 1)
        return self.result(
            round(value, 6),
            baselines={"chance": round(guess, 6)},
            counts={
                "users": counts.users,
                "vanished": counts.users - counts.released,
                "logs": counts.logs,
                **({} if counts.sample == counts.logs else {"sample": counts.sample}),
            },
            summary=(
                f"an attacker who has the whole original log re-identifies {value:.1f} of 100 "
                f"users in the release; guessing re-identifies {guess:.2g}"
            ),
            basis=self.basis(release),
        )


def linkage_probabilities(
    sent: UserQueryCounts, logs: UserQueryCounts, pairs: pl.DataFrame
) -> pl.DataFrame:
    """Return the probability that each released user is linked, P_rl: user, linked.

    A log without overlap with any user is linked to no user. If several users have the largest
    overlap with a log, each is guessed with the same probability. The probabilities of several
    logs of one user are averaged.
    """
    owners, contents = group_equal_logs(logs.rows)
    claims = pairs.join(owners, left_on="log", right_on="owner", how="left")
    wanted = claims.drop_nulls("ask").select("ask", owner="user").unique()
    matches = best_matches(contents, sent.rows, len(sent.users), wanted)
    # Only logs with at least one original text are linked, so the best score is never 0.
    is_best = pl.col("score") == pl.col("best")
    probability = matches.select(
        "ask", user="owner", linked=pl.when(is_best).then(1 / pl.col("ties"))
    )
    all_pairs = claims.join(probability, on=["ask", "user"], how="left")
    return all_pairs.group_by("user").agg(pl.col("linked").fill_null(0.0).mean()).sort("user")
