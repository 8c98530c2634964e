"""How many released users have a log that nobody else has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import polars as pl

from ..log.query_log import COLUMNS
from ..release.release import Release
from ._shared.queries import released_log
from .base import Measure
from .context import MeasureContext


@dataclass(frozen=True)
class Uniqueness(Measure):
    """The share of released users who are singled out by their rows; 0: nobody is."""

    name: ClassVar[str] = "uniqueness"
    title: ClassVar[str] = "users singled out by their released logs"
    description: ClassVar[str] = (
        "the share of released users whose log, with times, ranks and URLs as published, nobody "
        "else in the release has"
    )
    paper: ClassVar[str] = "the sample uniques of disclosure control"
    unit: ClassVar[str] = "share of released users, 0 to 1"
    better: ClassVar[Literal["lower", "higher"]] = "lower"
    kind: ClassVar[Literal["risk", "use"]] = "risk"

    def compute(self, before: MeasureContext, after: Release) -> dict[str, Any]:
        """Give the share of users singled out in the release, and before it."""
        alone, users = count_unique(released_log(after))
        was, were = self._before(before)
        return {
            "value": round(alone / max(users, 1), 6),
            "before": round(was / max(were, 1), 6),
            "singled_out": alone,
            "users": users,
            "words": (
                f"{alone:,} of {users:,} released users have a log that nobody else has; in the "
                f"original log {was:,} of {were:,} have"
            ),
        }

    def prepare(self, before: MeasureContext) -> None:
        """Count the users of the log who are singled out."""
        self._before(before)

    def _before(self, before: MeasureContext) -> tuple[int, int]:
        return before.cached("singled out", lambda: count_unique(before.log.local_frame))


def count_unique(log: pl.LazyFrame) -> tuple[int, int]:
    """Count the users whose rows, each as often as it stands, nobody else has; and all users.

    >>> count_unique(pl.LazyFrame({"user": ["a", "b", "c"], "query": ["x", "x", "y"]}))
    (1, 3)
    """
    given = [name for name in log.collect_schema().names() if name in COLUMNS]
    rows = log.select(pl.col(given).to_physical())
    what = [name for name in given if name != "user"]
    numbers = rows.select(what).unique().with_row_index("row").collect(engine="streaming")
    numbered = rows.join(numbers.lazy(), on=what, nulls_equal=True).select("user", "row")
    logs = numbered.group_by("user").agg(pl.col("row").sort())
    shared = logs.group_by("row").len().select("len").collect(engine="streaming")["len"]
    return int((shared == 1).sum()), int(shared.sum())
