"""The divergence of users' interest profiles: the information loss of Sánchez et al. 2018.

Equations (9) to (11): the Jensen-Shannon divergence, with logarithms of base 2, of each user's
topic profile before and after; the mean over users.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import polars as pl

from ..concepts.similarity.topics import OFF_TOPIC, Topics
from ..core.parameters import parameter
from ..errors import InputError
from ..release.release import Release
from ._shared.topic_sets import TOPICS_HELP, parse_topics
from .base import ConceptMeasure
from .context import MeasureContext, released_concepts
from .result import MeasureResult


@dataclass(frozen=True)
class ProfileDivergence(ConceptMeasure):
    """The mean divergence of users' profiles; 0: all are unchanged, 1: none overlaps."""

    name: ClassVar[str] = "profile-divergence"
    title: ClassVar[str] = "loss of users' interests"
    description: ClassVar[str] = (
        "the divergence of users' topic profiles before and after: 0 if every profile is "
        "unchanged, 1 if no profile overlaps with the original one"
    )
    paper: ClassVar[str] = (
        "Sánchez, Batet, Viejo, Rodríguez-García, Castellà-Roca 2018, eq. (9)-(11)"
    )
    unit: ClassVar[str] = "Jensen-Shannon divergence, 0 to 1"
    better: ClassVar[Literal["lower", "higher"]] = "lower"
    kind: ClassVar[Literal["risk", "utility"]] = "utility"

    topics: str = parameter("auto", TOPICS_HELP)
    off_topic: str = parameter(
        "drop",
        "concepts outside the topics: left out (drop), or a class of their own (bin)",
        choices=("drop", "bin"),
    )

    def compute(self, context: MeasureContext, release: Release) -> MeasureResult:
        """Return the mean divergence, the number of measured users, and the basis."""
        was = self._original_profiles(context)
        pairs, note = released_concepts(context, release, self.mapping_options)
        losses = profile_divergences(was, self._build_profiles(context, pairs))["loss"]
        all_users = context.cached("users", lambda: context.log.count_distinct("user"))
        return self.result(
            round(float(losses.mean()), 6),  # type: ignore[arg-type]
            counts={"users": len(losses), "left_out": all_users - len(losses)},
            basis=f"{self._basis(context)}; {note}",
        )

    def prepare(self, context: MeasureContext) -> None:
        """Build the profiles of the log, and raise if no user has a concept in the topics."""
        self._original_profiles(context)

    def _original_profiles(self, context: MeasureContext) -> pl.DataFrame:
        # All phrases with a concept inside the topics count, also several of one query.
        profiles = context.cached(
            (self, "before"),
            lambda: self._build_profiles(context, context.concepts(self.mapping_options)),
        )
        if not profiles.height:
            raise InputError(
                f'no user of this log has a concept inside the topics "{self.topics}"',
                hint="use other topics, or other=bin",
            )
        return profiles

    def _topics(self, context: MeasureContext) -> Topics:
        taxonomy = context.taxonomy(self.mapping_options)
        return context.cached((self, "topics"), lambda: parse_topics(self.topics, taxonomy))

    def _build_profiles(self, context: MeasureContext, pairs: pl.DataFrame) -> pl.DataFrame:
        """Return the profiles, Pi: user, topic, and the fraction of the topic."""
        topic = pl.lit(pl.Series(self._topics(context).topic_of)).gather("concept")
        rows = pairs.filter(pl.col("concept") >= 0).select("user", "count", topic=topic)
        if self.off_topic == "drop":
            rows = rows.filter(pl.col("topic") != OFF_TOPIC)
        counts = rows.group_by("user", "topic").agg(pl.col("count").sum()).sort("user", "topic")
        whole = pl.col("count").sum().over("user")
        return counts.select("user", "topic", share=pl.col("count") / whole)

    def _basis(self, context: MeasureContext) -> str:
        number = len(self._topics(context))
        others = {"drop": "other concepts left out", "bin": "other concepts as one class"}
        return (
            f"{context.taxonomy(self.mapping_options).title}, {number} topics ({self.topics}), "
            + others[self.off_topic]
        )


def profile_divergences(before: pl.DataFrame, after: pl.DataFrame) -> pl.DataFrame:
    """Return each user's divergence, eq. (9), from the topic fractions before and after.

    Both frames have the columns user, topic and share. Users without a topic before are omitted;
    users without one after have the greatest loss, 1.

    >>> was = pl.DataFrame({"user": ["a", "b"], "topic": [0, 0], "share": [1.0, 1.0]})
    >>> now = pl.DataFrame({"user": ["a", "a"], "topic": [0, 1], "share": [0.5, 0.5]})
    >>> profile_divergences(was, now)["loss"].round(4).to_list()
    [0.3113, 1.0]
    """
    released = after.join(before, on="user", how="semi").rename({"share": "now"})
    both = before.join(released, on=["user", "topic"], how="full", coalesce=True)
    both = both.with_columns(pl.col("share", "now").fill_null(0.0)).sort("user", "topic")
    middle = (pl.col("share") + pl.col("now")) / 2
    terms = [_information(pl.col(side), middle) for side in ("share", "now")]
    loss = (terms[0] + terms[1]).sum() / 2
    vanished = pl.col("now").sum() == 0
    return both.group_by("user", maintain_order=True).agg(
        loss=pl.when(vanished).then(1.0).otherwise(loss.clip(0.0, 1.0))
    )


def _information(fraction: pl.Expr, middle: pl.Expr) -> pl.Expr:
    """Return a term of the Kullback-Leibler divergence, eq. (10); 0 log 0 is 0."""
    return pl.when(fraction > 0).then(fraction * (fraction / middle).log(2)).otherwise(0.0)
