"""The users whose shared released log is mostly about one sensitive topic.

Where k users share a log, nobody can tell them apart; but if that log is mostly about one illness,
everybody in the group is known to be interested in it. This is the homogeneity that l-diversity
was made against.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import polars as pl

from ..core.parameters import parameter
from ..engine.operations import values_of
from ..lexicons.sensitive import topic_bits
from ..lexicons.sensitive_terms import TOPICS
from ..release.cards import SensitiveGroups
from ..release.release import Release
from ._shared.queries import released_log
from .base import Measure
from .context import MeasureContext
from .result import MeasureResult
from .uniqueness import collect_logs

DEFAULT_THRESHOLD = 0.5


@dataclass(frozen=True)
class SensitiveHomogeneity(Measure):
    """The fraction of released users in a group whose log is mostly about one sensitive topic."""

    name: ClassVar[str] = "sensitive-homogeneity"
    title: ClassVar[str] = "users whose shared log is mostly of one sensitive topic"
    description: ClassVar[str] = (
        "the fraction of released users whose log, with all users who share it, has more than the "
        "stated share of its rows in one sensitive topic: health, sexuality, religion, politics, "
        "crime or self-harm"
    )
    paper: ClassVar[str] = "homogeneity, as in Machanavajjhala et al. 2007 (l-diversity)"
    unit: ClassVar[str] = "fraction of released users, 0 to 1"
    better: ClassVar[Literal["lower", "higher"]] = "lower"
    kind: ClassVar[Literal["risk", "utility"]] = "risk"

    threshold: float = parameter(
        DEFAULT_THRESHOLD,
        "fraction of the rows of a log that one topic must exceed",
        min=0.0,
        max=0.99,
    )

    def compute(self, context: MeasureContext, release: Release) -> MeasureResult:
        """Return the fraction of users in such groups, in the release and in the log."""
        groups = count_sensitive_groups(released_log(release), self.threshold)
        before = self._count_original(context)
        return self.result(
            round(groups.fraction, 6),
            counts={
                "users": groups.users,
                "users_in_such_groups": groups.users_in_such_groups,
                "groups": groups.groups,
                "groups_of_one_topic": groups.groups_of_one_topic,
            },
            details={"before": round(before.fraction, 6)},
            summary=f"{groups.summary}; in the original log {before.users_in_such_groups:,} of "
            f"{before.users:,} users have such a log",
            basis="topics by lists of words, which miss about four of ten such queries",
        )

    def prepare(self, context: MeasureContext) -> None:
        """Count the users of the log."""
        self._count_original(context)

    def _count_original(self, context: MeasureContext) -> SensitiveGroups:
        key = ("sensitive groups", self.threshold)
        return context.cached(
            key, lambda: count_sensitive_groups(context.log.local_frame, self.threshold)
        )


def count_sensitive_groups(
    log: pl.LazyFrame, threshold: float = DEFAULT_THRESHOLD
) -> SensitiveGroups:
    """Count the groups of users with equal logs, and those mostly about one sensitive topic.

    >>> rows = {"user": ["a", "b", "c"], "query": ["breast cancer", "breast cancer", "weather"]}
    >>> count_sensitive_groups(pl.LazyFrame(rows)).users_in_such_groups
    2
    """
    topics = _find_main_topics(log, threshold)
    logs = collect_logs(log).join(topics.lazy(), on="user", how="left")
    # Users of one group have equal rows, and so the same topic.
    groups = logs.group_by("row").agg(users=pl.len(), topic=pl.col("topic").first())
    table = groups.select("users", "topic").collect(engine="streaming")
    such = table.drop_nulls("topic")
    numbers = dict(such.group_by("topic").len().rows())
    by_topic = {name: numbers.get(topic, 0) for topic, name in enumerate(TOPICS)}
    return SensitiveGroups(
        users=int(table["users"].sum()),
        users_in_such_groups=int(such["users"].sum()),
        groups=table.height,
        groups_of_one_topic=such.height,
        threshold=threshold,
        by_topic=dict(sorted(by_topic.items(), key=lambda item: -item[1])),
    )


def _find_main_topics(log: pl.LazyFrame, threshold: float) -> pl.DataFrame:
    """Return the users with more than this share of rows in one topic, and the topic's number."""
    texts = values_of(log, "query")
    bits = topic_bits(texts["query"].cast(pl.String)).cast(pl.Int64)
    rows_with_bits = log.select("user", "query").join(
        texts.with_columns(bits=bits).filter(pl.col("bits") > 0).lazy(), on="query", how="left"
    )
    counts = rows_with_bits.group_by(pl.col("user").to_physical()).agg(
        pl.len().alias("rows"),
        *((pl.col("bits").fill_null(0) & (1 << n) > 0).sum().alias(str(n)) for n in range(_N)),
    )
    rows = counts.unpivot(
        [str(n) for n in range(_N)], index=["user", "rows"], variable_name="topic"
    )
    main = rows.filter(pl.col("value") > threshold * pl.col("rows")).with_columns(
        pl.col("topic").cast(pl.Int64)
    )
    order = main.sort("value", "topic", descending=[True, False])
    chosen = order.unique("user", keep="first", maintain_order=True)
    return chosen.select("user", "topic").collect(engine="streaming")


_N = len(TOPICS)
