"""How much of users' categories remains, level by level: the SRP of Erola et al. 2011, eq. (4)."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import Any, ClassVar, Literal

import polars as pl

from ..concepts.similarity.profiles import build_profiles
from ..concepts.similarity.topics import level_matrices
from ..core.parameters import parameter
from ..errors import InputError
from ..release.release import Release
from ._shared.random_groups import (
    REPEATS,
    describe_baseline,
    infer_grouping,
    sample_random_concepts,
)
from .base import Measure
from .context import MeasureContext, released_concepts


@dataclass(frozen=True)
class SemanticRemain(Measure):
    """The mean share of users' categories that are still theirs; 1: all, 0: nothing."""

    name: ClassVar[str] = "semantic-remain"
    title: ClassVar[str] = "what remains of users' categories"
    description: ClassVar[str] = (
        "the share of what users meant, counted by the categories of a level of the taxonomy, "
        "that is in their released logs too: 1 where all of it is, 0 where nothing is"
    )
    paper: ClassVar[str] = "Erola, Castellà-Roca, Navarro-Arribas, Torra 2011, eq. (4) and (5)"
    unit: ClassVar[str] = "share, 0 to 1"
    better: ClassVar[Literal["lower", "higher"]] = "higher"
    kind: ClassVar[Literal["risk", "use"]] = "use"

    taxonomy: str = parameter("wordnet", "ruler: wordnet, a .qvt file or a path list")
    level: int = parameter(
        0,
        "level that the value is of; 0: the deepest of `levels` that half of the concepts reach",
        min=0,
        max=30,
    )
    levels: int = parameter(5, "levels that are told at least", min=1, max=30)

    def compute(self, before: MeasureContext, after: Release) -> dict[str, Any]:
        """Give the share of the level, those of all levels, and the paper's worst case."""
        was = self._before(before)
        reached = self._reached(before, was)
        level = self.level or max((n for n, share in reached.items() if share >= 0.5), default=1)
        pairs, read = released_concepts(before, after, self.taxonomy)
        now = level_matrices(before.taxonomy(self.taxonomy), pairs, len(was))
        shares = [remaining_shares(*both)["share"] for both in zip(was, now, strict=True)]
        means = [float(found.mean()) if len(found) else None for found in shares]  # type: ignore[arg-type]
        k = after.guarantee.k
        everybody = before.cached("users", lambda: before.log.count_distinct("user"))
        users = len(shares[level - 1])
        return {
            "value": round(means[level - 1] or 0.0, 6),
            "users": users,
            "left_out": everybody - users,
            "levels": {
                str(n): None if mean is None else round(mean, 6) for n, mean in enumerate(means, 1)
            },
            "reached": {str(n): share for n, share in reached.items()},
            "worst_case": None if k is None else round(1 / k, 6),
            **self._floor(before, was, after, level),
            "ruler": f"{before.taxonomy(self.taxonomy).title}, level {level}; {read}",
        }

    def _floor(
        self, before: MeasureContext, was: list[pl.DataFrame], after: Release, level: int
    ) -> dict[str, float | str | None]:
        """Give what remains on the level in random groups with the same kind of prototype."""
        profiles = before.cached(
            ("profiles", self.taxonomy), lambda: build_profiles(before.concepts(self.taxonomy))
        )
        grouping = infer_grouping(after, len(profiles))
        if isinstance(grouping, str):
            return {"random_groups": None, "random_groups_are": grouping}
        taxonomy = before.taxonomy(self.taxonomy)

        def turn(number: int) -> float:
            pairs = sample_random_concepts(taxonomy, profiles, grouping, number)
            now = level_matrices(taxonomy, pairs, level)[level - 1]
            return float(remaining_shares(was[level - 1], now)["share"].mean() or 0.0)  # type: ignore[arg-type]

        key = ("random groups", self.taxonomy, level, grouping)
        found = before.cached(key, lambda: fmean(map(turn, range(REPEATS))))
        return {"random_groups": round(found, 6), "random_groups_are": describe_baseline(grouping)}

    def _reached(self, before: MeasureContext, was: list[pl.DataFrame]) -> dict[int, float]:
        """Tell which share of the log's concepts lies on each level or below it."""
        whole = max(int(before.concepts(self.taxonomy)["count"].sum()), 1)
        shares = [int(matrix["count"].sum()) / whole for matrix in was]
        return {level: round(share, 6) for level, share in enumerate(shares, 1)}

    def prepare(self, before: MeasureContext) -> None:
        """Count the categories of the log, and refuse a level that nobody reaches."""
        self._before(before)

    def _before(self, before: MeasureContext) -> list[pl.DataFrame]:
        taxonomy, levels = before.taxonomy(self.taxonomy), max(self.level, self.levels)
        found = before.cached(
            ("levels", self.taxonomy, levels),
            lambda: level_matrices(taxonomy, before.concepts(self.taxonomy), levels),
        )
        level = max(self.level, 1)
        if not found[level - 1].height:
            raise InputError(
                f"nobody in this log has a concept on level {level} of {taxonomy.title}",
                hint="take a smaller level, or another taxonomy",
            )
        return found


def remaining_shares(before: pl.DataFrame, after: pl.DataFrame) -> pl.DataFrame:
    """Give each user's share of what remains on one level, from what she had before and after.

    Both have the columns user, category and count. Who has nothing before is left out.

    >>> was = pl.DataFrame({"user": ["a", "a"], "category": [1, 2], "count": [3, 1]})
    >>> now = pl.DataFrame({"user": ["a", "a"], "category": [1, 7], "count": [2, 9]})
    >>> remaining_shares(was, now)["share"].to_list()
    [0.5]
    """
    both = before.join(after.rename({"count": "now"}), on=["user", "category"], how="left")
    kept = pl.min_horizontal("count", pl.col("now").fill_null(0)).sum()
    shares = both.group_by("user").agg(share=kept / pl.col("count").sum())
    return shares.sort("user")
