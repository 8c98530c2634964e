"""The fraction of released users whose log is unique."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import polars as pl

from ..log.query_log import COLUMNS
from ..release.release import Release
from ._shared.queries import released_log
from .base import Measure
from .context import MeasureContext
from .result import MeasureResult


@dataclass(frozen=True)
class Uniqueness(Measure):
    """The fraction of released users whose rows are unique; 0: no user."""

    name: ClassVar[str] = "uniqueness"
    title: ClassVar[str] = "users identifiable by their released log alone"
    description: ClassVar[str] = (
        "the fraction of released users whose log, with times, ranks and URLs as released, no "
        "other released user has"
    )
    paper: ClassVar[str] = "the sample uniques of disclosure control"
    unit: ClassVar[str] = "fraction of released users, 0 to 1"
    better: ClassVar[Literal["lower", "higher"]] = "lower"
    kind: ClassVar[Literal["risk", "utility"]] = "risk"

    def compute(self, context: MeasureContext, release: Release) -> MeasureResult:
        """Return the fraction of unique users in the release and in the original log."""
        unique, users = count_unique(released_log(release))
        unique_before, users_before = self._count_original(context)
        return self.result(
            round(unique / max(users, 1), 6),
            counts={"singled_out": unique, "users": users},
            details={"before": round(unique_before / max(users_before, 1), 6)},
            summary=(
                f"{unique:,} of {users:,} released users have a unique log; in the original log "
                f"{unique_before:,} of {users_before:,} users have one"
            ),
        )

    def prepare(self, context: MeasureContext) -> None:
        """Count the unique users of the log."""
        self._count_original(context)

    def _count_original(self, context: MeasureContext) -> tuple[int, int]:
        return context.cached("singled out", lambda: count_unique(context.log.local_frame))


def count_unique(log: pl.LazyFrame) -> tuple[int, int]:
    """Count the users whose multiset of rows no other user has, and all users.

    >>> count_unique(pl.LazyFrame({"user": ["a", "b", "c"], "query": ["x", "x", "y"]}))
    (1, 3)
    """
    shared = collect_logs(log).group_by("row").len().select("len").collect(engine="streaming")
    return int((shared["len"] == 1).sum()), int(shared["len"].sum())


def collect_logs(log: pl.LazyFrame) -> pl.LazyFrame:
    """Return for each user the sorted list of their rows, each distinct row as a number."""
    columns = [name for name in log.collect_schema().names() if name in COLUMNS]
    rows = log.select(pl.col(columns).to_physical())
    content = [name for name in columns if name != "user"]
    numbers = rows.select(content).unique().with_row_index("row").collect(engine="streaming")
    numbered = rows.join(numbers.lazy(), on=content, nulls_equal=True).select("user", "row")
    return numbered.group_by("user").agg(pl.col("row").sort())
