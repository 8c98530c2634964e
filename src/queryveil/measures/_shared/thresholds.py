"""Thresholds of users: which texts a release can have at all, and so what it can reach at best."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from ...concepts.mapping.options import MappingOptions
from ...release.release import Release
from ..context import MeasureContext
from .queries import count_original_phrases, count_original_queries

# The name of the baseline: the best value that the stated threshold allows.
BEST_WITH_THRESHOLD = "best_with_threshold"


@dataclass(frozen=True)
class Threshold:
    """The number of users that each released text has at least.

    Attributes:
        phrases: How phrases are detected, if the texts are phrases; None if they are queries.
    """

    min_users: int
    phrases: MappingOptions | None = None

    @classmethod
    def of(cls, release: Release) -> Threshold | None:
        """Return the threshold that a method states as `min_users`, or None."""
        stated = release.parameters.get("min_users")
        if not isinstance(stated, int) or isinstance(stated, bool) or stated < 1:
            return None
        is_phrase = release.parameters.get("output_unit") == "phrase"
        return cls(stated, MappingOptions.of(release.parameters) if is_phrase else None)

    def allowed_texts(self, context: MeasureContext) -> pl.Series:
        """Return the texts of the log that have enough users."""
        return context.cached((self, "allowed texts"), lambda: self._select_texts(context))

    def _select_texts(self, context: MeasureContext) -> pl.Series:
        if self.phrases is None:
            counts = count_original_queries(context)
        else:
            counts = count_original_phrases(context, self.phrases)
        users = counts.rows.group_by("text").agg(users=pl.len().cast(pl.Int64))
        allowed = users.filter(pl.col("users") >= self.min_users)["text"]
        return counts.queries.gather(allowed).sort()
