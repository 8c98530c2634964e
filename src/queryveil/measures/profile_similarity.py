"""How well a search engine could still know a user: her profile of concepts, before and after."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import polars as pl

from ..core.parameters import parameter
from ..errors import InputError
from ..release.release import Release
from .base import Measure
from .context import MeasureContext, released_concepts


@dataclass(frozen=True)
class ProfileSimilarity(Measure):
    """The mean cosine of users' counts of concepts before and after; 1: same shares, 0: none."""

    name: ClassVar[str] = "personalisation"
    title: ClassVar[str] = "users' profiles that an engine could build"
    description: ClassVar[str] = (
        "how near the profile of concepts that an engine would build from a user's released log is "
        "to that of her own log: 1 where the shares are the same, 0 where they have no concept in "
        "common; compare it with everybody getting the profile of the whole log, beside it"
    )
    paper: ClassVar[str] = "none; cosine of concept vectors, as in content-based personalisation"
    unit: ClassVar[str] = "mean cosine, 0 to 1"
    better: ClassVar[Literal["lower", "higher"]] = "higher"
    kind: ClassVar[Literal["risk", "use"]] = "use"

    taxonomy: str = parameter("wordnet", "ruler: wordnet, a .qvt file or a path list")

    def compute(self, before: MeasureContext, after: Release) -> dict[str, Any]:
        """Give the mean cosine, what the profile of the whole log would give, and the ruler."""
        was = self._before(before)
        pairs, read = released_concepts(before, after, self.taxonomy)
        found = profile_cosines(was, _known(pairs))["cosine"]
        everybody = before.cached("users", lambda: before.log.count_distinct("user"))
        return {
            "value": _mean(found),
            "users": len(found),
            "left_out": everybody - len(found),
            "without": int((found == 0).sum()),
            "same_for_all": before.cached((self, "same"), lambda: self._same_for_all(was)),
            "ruler": f"{before.taxonomy(self.taxonomy).title}; {read}",
        }

    def prepare(self, before: MeasureContext) -> None:
        """Make the profiles of the log, and refuse one in which nobody has a concept."""
        self._before(before)

    def _before(self, before: MeasureContext) -> pl.DataFrame:
        found = before.cached(
            ("known concepts", self.taxonomy), lambda: _known(before.concepts(self.taxonomy))
        )
        if not found.height:
            raise InputError(
                f"nobody in this log has a concept of {before.taxonomy(self.taxonomy).title}",
                hint="take another taxonomy",
            )
        return found

    def _same_for_all(self, was: pl.DataFrame) -> float:
        """Give the mean cosine if every user had the profile of the whole log."""
        whole = was.group_by("concept").agg(pl.col("count").sum())
        length = float(whole.select((pl.col("count").cast(pl.Float64) ** 2).sum().sqrt()).item())
        rows = was.join(whole.rename({"count": "now"}), on="concept")
        return _mean(
            rows.group_by("user").agg(cosine=_dot() / (_length("count") * length))["cosine"]
        )


def profile_cosines(before: pl.DataFrame, after: pl.DataFrame) -> pl.DataFrame:
    """Give each user's cosine, from the counts of her concepts before and after.

    Both have the columns user, concept and count. Who has none before is left out; who has none
    after has 0.

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


def _known(pairs: pl.DataFrame) -> pl.DataFrame:
    """Give the counts of real concepts: user, concept, count."""
    rows = pairs.filter(pl.col("concept") >= 0)
    return rows.group_by("user", pl.col("concept").cast(pl.Int32)).agg(pl.col("count").sum())


def _dot() -> pl.Expr:
    return (pl.col("count").cast(pl.Float64) * pl.col("now")).sum()


def _length(column: str) -> pl.Expr:
    return (pl.col(column).cast(pl.Float64) ** 2).sum().sqrt()


def _mean(found: pl.Series) -> float:
    return round(float(found.mean()), 6)  # type: ignore[arg-type]
