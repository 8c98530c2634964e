"""The similarity of users' concept profiles before and after, as an engine would build them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import polars as pl

from ..errors import InputError
from ..release.release import Release
from .base import ConceptMeasure
from .context import MeasureContext, released_concepts
from .result import MeasureResult


@dataclass(frozen=True)
class ProfileSimilarity(ConceptMeasure):
    """The mean cosine of users' concept counts before and after; 1: proportional, 0: disjoint."""

    name: ClassVar[str] = "profile-similarity"
    title: ClassVar[str] = "users' profiles that an engine could build"
    description: ClassVar[str] = (
        "how similar the concept profile that an engine would build from a user's released log is "
        "to that of the original log: 1 if the counts are proportional, 0 if no concept is in "
        "common; the baseline gives every user the profile of the whole log"
    )
    paper: ClassVar[str] = "none; cosine of concept vectors, as in content-based personalization"
    unit: ClassVar[str] = "mean cosine, 0 to 1"
    better: ClassVar[Literal["lower", "higher"]] = "higher"
    kind: ClassVar[Literal["risk", "utility"]] = "utility"

    def compute(self, context: MeasureContext, release: Release) -> MeasureResult:
        """Return the mean cosine, that of the whole log's profile as a baseline, and the basis."""
        was = self._original_counts(context)
        pairs, note = released_concepts(context, release, self.mapping_options)
        cosines = profile_cosines(was, _count_mapped(pairs))["cosine"]
        all_users = context.cached("users", lambda: context.log.count_distinct("user"))
        same_for_all = context.cached((self, "same"), lambda: self._same_for_all(was))
        return self.result(
            _mean(cosines),
            baselines={"same_for_all": same_for_all},
            counts={
                "users": len(cosines),
                "left_out": all_users - len(cosines),
                "without": int((cosines == 0).sum()),
            },
            basis=f"{context.taxonomy(self.mapping_options).title}; {note}",
        )

    def prepare(self, context: MeasureContext) -> None:
        """Build the profiles of the log, and raise if no user has a concept."""
        self._original_counts(context)

    def _original_counts(self, context: MeasureContext) -> pl.DataFrame:
        """Return the concept counts of the original log: user, concept, count."""
        counts = context.cached(
            ("known concepts", self.mapping_options),
            lambda: _count_mapped(context.concepts(self.mapping_options)),
        )
        if not counts.height:
            title = context.taxonomy(self.mapping_options).title
            raise InputError(
                f"no user of this log has a concept of {title}",
                hint="use another taxonomy",
            )
        return counts

    def _same_for_all(self, was: pl.DataFrame) -> float:
        """Return the mean cosine if every user had the profile of the whole log."""
        whole = was.group_by("concept").agg(pl.col("count").sum())
        length = float(whole.select((pl.col("count").cast(pl.Float64) ** 2).sum().sqrt()).item())
        rows = was.join(whole.rename({"count": "now"}), on="concept")
        return _mean(
            rows.group_by("user").agg(cosine=_dot() / (_length("count") * length))["cosine"]
        )


def profile_cosines(before: pl.DataFrame, after: pl.DataFrame) -> pl.DataFrame:
    """Return each user's cosine of the concept counts before and after.

    Both frames have the columns user, concept and count. Users without a concept before are
    omitted; users without one after have 0.

    >>> was = pl.DataFrame({"user": ["a", "a"], "concept": [1, 2], "count": [3, 4]})
    >>> now = pl.DataFrame({"user": ["a"], "concept": [1], "count": [9]})
    >>> profile_cosines(was, now)["cosine"].to_list()
    [0.6]
    """
    lengths = after.group_by("user").agg(length=_length("count"))
    both = before.join(after.rename({"count": "now"}), on=["user", "concept"], how="left")
    both = both.with_columns(pl.col("now").fill_null(0)).join(lengths, on="user", how="left")
    cosine = _dot() / (_length("count") * pl.col("length").first())
    return both.group_by("user").agg(cosine=cosine.fill_null(0.0).clip(0.0, 1.0)).sort("user")


def _count_mapped(pairs: pl.DataFrame) -> pl.DataFrame:
    """Count the mapped concepts: user, concept, count."""
    rows = pairs.filter(pl.col("concept") >= 0)
    return rows.group_by("user", pl.col("concept").cast(pl.Int32)).agg(pl.col("count").sum())


def _dot() -> pl.Expr:
    return (pl.col("count").cast(pl.Float64) * pl.col("now")).sum()


def _length(column: str) -> pl.Expr:
    return (pl.col(column).cast(pl.Float64) ** 2).sum().sqrt()


def _mean(values: pl.Series) -> float:
    return round(float(values.mean()), 6)  # type: ignore[arg-type]
