"""The semantic remain percentage (SRP) of Erola et al. 2011, eq. (4), for each taxonomy level."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import ClassVar, Literal

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
from .base import ConceptMeasure
from .context import MeasureContext, released_concepts
from .result import MeasureResult


@dataclass(frozen=True)
class SemanticRemain(ConceptMeasure):
    """The mean fraction of users' categories that their released logs keep; 1: all, 0: none."""

    name: ClassVar[str] = "semantic-remain"
    title: ClassVar[str] = "users' categories that remain"
    description: ClassVar[str] = (
        "the fraction of users' concepts, counted by the categories of a level of the taxonomy, "
        "that their released logs keep: 1 if all are kept, 0 if none is"
    )
    paper: ClassVar[str] = "Erola, Castellà-Roca, Navarro-Arribas, Torra 2011, eq. (4) and (5)"
    unit: ClassVar[str] = "fraction, 0 to 1"
    better: ClassVar[Literal["lower", "higher"]] = "higher"
    kind: ClassVar[Literal["risk", "utility"]] = "utility"

    level: int | Literal["auto"] = parameter(
        "auto",
        "level of the result; auto: the deepest of `min_levels` that half of the concepts reach",
        min=1,
        max=30,
    )
    min_levels: int = parameter(5, "minimum number of levels to report", min=1, max=30)

    def compute(self, context: MeasureContext, release: Release) -> MeasureResult:
        """Return the fraction of the level, those of all levels, and the paper's worst case."""
        was = self._count_original(context)
        reached = self._fractions_reached(context, was)
        level = self._choose_level(reached)
        pairs, note = released_concepts(context, release, self.mapping_options)
        now = level_matrices(context.taxonomy(self.mapping_options), pairs, len(was))
        fractions = [remaining_shares(*both)["share"] for both in zip(was, now, strict=True)]
        means = [float(part.mean()) if len(part) else None for part in fractions]  # type: ignore[arg-type]
        k = release.guarantee.k
        all_users = context.cached("users", lambda: context.log.count_distinct("user"))
        users = len(fractions[level - 1])
        baseline, description = self._baseline(context, was, release, level)
        return self.result(
            round(means[level - 1] or 0.0, 6),
            baselines={
                "worst_case": None if k is None else round(1 / k, 6),
                "random_groups": baseline,
            },
            counts={"users": users, "left_out": all_users - users},
            details={
                "levels": {
                    str(n): None if mean is None else round(mean, 6)
                    for n, mean in enumerate(means, 1)
                },
                "reached": {str(n): part for n, part in reached.items()},
                "random_groups_note": description,
            },
            basis=f"{context.taxonomy(self.mapping_options).title}, level {level}; {note}",
        )

    def _choose_level(self, reached: Mapping[int, float]) -> int:
        if self.level != "auto":
            return self.level
        return max((n for n, part in reached.items() if part >= 0.5), default=1)

    def _baseline(
        self, context: MeasureContext, was: list[pl.DataFrame], release: Release, level: int
    ) -> tuple[float | None, str]:
        """Return what remains on the level in random groups, and a description of the groups."""
        profiles = context.cached(
            ("profiles", self.mapping_options),
            lambda: build_profiles(context.concepts(self.mapping_options)),
        )
        grouping = infer_grouping(release, len(profiles))
        if isinstance(grouping, str):
            return None, grouping
        taxonomy = context.taxonomy(self.mapping_options)

        def measure_turn(number: int) -> float:
            pairs = sample_random_concepts(taxonomy, profiles, grouping, number)
            now = level_matrices(taxonomy, pairs, level)[level - 1]
            return float(remaining_shares(was[level - 1], now)["share"].mean() or 0.0)  # type: ignore[arg-type]

        key = ("random groups", self.mapping_options, level, grouping)
        mean = context.cached(key, lambda: fmean(map(measure_turn, range(REPEATS))))
        return round(mean, 6), describe_baseline(grouping)

    def _fractions_reached(
        self, context: MeasureContext, was: list[pl.DataFrame]
    ) -> dict[int, float]:
        """Return the fraction of the log's concepts that lie on each level or below it."""
        total = max(int(context.concepts(self.mapping_options)["count"].sum()), 1)
        fractions = [int(matrix["count"].sum()) / total for matrix in was]
        return {level: round(fraction, 6) for level, fraction in enumerate(fractions, 1)}

    def prepare(self, context: MeasureContext) -> None:
        """Count the categories of the log, and raise if no user reaches the level."""
        self._count_original(context)

    def _count_original(self, context: MeasureContext) -> list[pl.DataFrame]:
        """Return the categories of the original log, one frame per level."""
        taxonomy, level = context.taxonomy(self.mapping_options), self._choose_level({})
        levels = max(level, self.min_levels)
        matrices = context.cached(
            ("levels", self.mapping_options, levels),
            lambda: level_matrices(taxonomy, context.concepts(self.mapping_options), levels),
        )
        if not matrices[level - 1].height:
            raise InputError(
                f"no user of this log has a concept on level {level} of {taxonomy.title}",
                hint="use a smaller level, or another taxonomy",
            )
        return matrices


def remaining_shares(before: pl.DataFrame, after: pl.DataFrame) -> pl.DataFrame:
    """Return the fraction of each user's categories that remains on one level.

    Both frames have the columns user, category and count. Users without a category before are
    omitted.

    >>> was = pl.DataFrame({"user": ["a", "a"], "category": [1, 2], "count": [3, 1]})
    >>> now = pl.DataFrame({"user": ["a", "a"], "category": [1, 7], "count": [2, 9]})
    >>> remaining_shares(was, now)["share"].to_list()
    [0.5]
    """
    both = before.join(after.rename({"count": "now"}), on=["user", "category"], how="left")
    kept = pl.min_horizontal("count", pl.col("now").fill_null(0)).sum()
    shares = both.group_by("user").agg(share=kept / pl.col("count").sum())
    return shares.sort("user")
