"""How far users' profiles of interests are from what they were: the loss of Sánchez et al. 2018.

Equations (9) to (11): the Jensen-Shannon divergence, with logarithms of base 2, of each user's
profile over some topics before and after; the mean over users.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import polars as pl

from ..concepts.similarity.topics import (
    OFF_TOPIC,
    Topics,
    default_topics,
    select_topics,
    topic_preset,
)
from ..concepts.taxonomy.graph import Taxonomy
from ..core.parameters import parameter
from ..errors import InputError
from ..release.release import Release
from .base import Measure
from .context import MeasureContext, released_concepts

_PRESETS = ("sanchez4", "sanchez19", "lexicographer", "branches")


@dataclass(frozen=True)
class ProfileDivergence(Measure):
    """The mean divergence of users' profiles; 0: all kept theirs, 1: nobody did."""

    name: ClassVar[str] = "profile-divergence"
    title: ClassVar[str] = "loss of users' interests"
    description: ClassVar[str] = (
        "how far users' profiles over topics are from what they were: 0 where every user's is "
        "the same, 1 where nothing of it is left"
    )
    paper: ClassVar[str] = (
        "Sánchez, Batet, Viejo, Rodríguez-García, Castellà-Roca 2018, eq. (9)-(11)"
    )
    unit: ClassVar[str] = "Jensen-Shannon divergence, 0 to 1"
    better: ClassVar[Literal["lower", "higher"]] = "lower"
    kind: ClassVar[Literal["risk", "use"]] = "use"

    taxonomy: str = parameter("wordnet", "ruler: wordnet, a .qvt file or a path list")
    topics: str = parameter(
        "auto", f"auto, one of {', '.join(_PRESETS)}, or concepts with + between them"
    )
    other: str = parameter(
        "drop",
        "concepts outside the topics are left out, or a class of their own",
        choices=("drop", "bin"),
    )

    def compute(self, before: MeasureContext, after: Release) -> dict[str, Any]:
        """Give the loss, how many users were measured, and with which ruler."""
        was = self._before(before)
        pairs, read = released_concepts(before, after, self.taxonomy)
        losses = profile_divergences(was, self._shares(before, pairs))["loss"]
        everybody = before.cached("users", lambda: before.log.count_distinct("user"))
        return {
            "value": round(float(losses.mean()), 6),  # type: ignore[arg-type]
            "users": len(losses),
            "left_out": everybody - len(losses),
            "ruler": f"{self._ruler(before)}; {read}",
        }

    def prepare(self, before: MeasureContext) -> None:
        """Make the profiles of the log, and refuse topics that nobody is interested in."""
        self._before(before)

    def _before(self, before: MeasureContext) -> pl.DataFrame:
        # Every phrase counts that has a concept inside the topics, however many a query has.
        shares = before.cached(
            (self, "before"), lambda: self._shares(before, before.concepts(self.taxonomy))
        )
        if not shares.height:
            raise InputError(
                f'nobody in this log has a concept inside the topics "{self.topics}"',
                hint="take other topics, or other=bin",
            )
        return shares

    def _topics(self, before: MeasureContext) -> Topics:
        taxonomy = before.taxonomy(self.taxonomy)
        return before.cached((self, "topics"), lambda: _topics_called(self.topics, taxonomy))

    def _shares(self, before: MeasureContext, pairs: pl.DataFrame) -> pl.DataFrame:
        """Give the profiles, Pi: user, topic, and the share of the topic in what counts."""
        topic = pl.lit(pl.Series(self._topics(before).topic_of)).gather("concept")
        rows = pairs.filter(pl.col("concept") >= 0).select("user", "count", topic=topic)
        if self.other == "drop":
            rows = rows.filter(pl.col("topic") != OFF_TOPIC)
        counts = rows.group_by("user", "topic").agg(pl.col("count").sum()).sort("user", "topic")
        whole = pl.col("count").sum().over("user")
        return counts.select("user", "topic", share=pl.col("count") / whole)

    def _ruler(self, before: MeasureContext) -> str:
        number = len(self._topics(before))
        rest = {"drop": "other concepts left out", "bin": "other concepts as one class"}
        return (
            f"{before.taxonomy(self.taxonomy).title}, {number} topics ({self.topics}), "
            + (rest[self.other])
        )


def profile_divergences(before: pl.DataFrame, after: pl.DataFrame) -> pl.DataFrame:
    """Give each user's loss, eq. (9), from the shares of topics before and after.

    Both have the columns user, topic and share. Who has no share before is left out; who has
    none after has lost all.

    >>> was = pl.DataFrame({"user": ["a", "b"], "topic": [0, 0], "share": [1.0, 1.0]})
    >>> now = pl.DataFrame({"user": ["a", "a"], "topic": [0, 1], "share": [0.5, 0.5]})
    >>> profile_divergences(was, now)["loss"].round(4).to_list()
    [0.3113, 1.0]
    """
    theirs = after.join(before, on="user", how="semi").rename({"share": "now"})
    both = before.join(theirs, on=["user", "topic"], how="full", coalesce=True)
    both = both.with_columns(pl.col("share", "now").fill_null(0.0)).sort("user", "topic")
    middle = (pl.col("share") + pl.col("now")) / 2
    terms = [_information(pl.col(side), middle) for side in ("share", "now")]
    loss = (terms[0] + terms[1]).sum() / 2
    gone = pl.col("now").sum() == 0
    return both.group_by("user", maintain_order=True).agg(
        loss=pl.when(gone).then(1.0).otherwise(loss.clip(0.0, 1.0))
    )


def _information(share: pl.Expr, middle: pl.Expr) -> pl.Expr:
    """Give a term of the Kullback-Leibler divergence, eq. (10); 0 log 0 is 0."""
    return pl.when(share > 0).then(share * (share / middle).log(2)).otherwise(0.0)


def _topics_called(text: str, taxonomy: Taxonomy) -> Topics:
    if text == "auto":
        return default_topics(taxonomy)
    if text in _PRESETS:
        return topic_preset(taxonomy, text)
    return select_topics(taxonomy, [part.strip() for part in text.split("+")])
