"""The longest runs of a user's own queries in their released log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import polars as pl

from ..errors import UsageError
from ..release.release import Release
from ._shared.queries import QueryTextMeasure, UserQueryCounts, released_log, true_pairs
from .context import MeasureContext
from .result import MeasureResult


@dataclass(frozen=True)
class LongestOwnRun(QueryTextMeasure):
    """The mean length of the longest run of a user's own queries in their released log."""

    name: ClassVar[str] = "longest-own-run"
    title: ClassVar[str] = "a user's own queries in a row"
    description: ClassVar[str] = (
        "the longest run of consecutive rows, in the order of the released times, whose queries "
        "the user had sent: the mean over users"
    )
    paper: ClassVar[str] = "none"
    unit: ClassVar[str] = "rows"
    better: ClassVar[Literal["lower", "higher"]] = "lower"
    kind: ClassVar[Literal["risk", "utility"]] = "risk"

    def compute(self, context: MeasureContext, release: Release) -> MeasureResult:
        """Return the mean and the maximum of the users' longest runs."""
        sent, log = self.original_counts(context, release), _sort_by_time(release)
        logs = log["user"].cast(pl.String).unique().sort()
        pairs = true_pairs(sent.users, logs, release)
        rows = _flag_own_rows(log.filter(pl.col("time").is_not_null()), logs, pairs, sent)
        runs, users = longest_runs(rows), len(sent.users)
        value = int(runs["run"].sum()) / max(users, 1)
        longest = int(runs["run"].max() or 0)  # type: ignore[arg-type]
        return self.result(
            round(value, 6),
            counts={
                "longest": longest,
                "users": users,
                "vanished": users - pairs["user"].n_unique(),
                "without_time": log["time"].null_count(),
            },
            details={
                "rows_of_a_user": round(log.height / max(len(logs), 1), 6),
                "same_time": _fraction(rows, pl.struct("log", "time").is_duplicated()),
            },
            summary=(
                f"the longest run of a user's own {self.unit_of(release)} has {value:.1f} rows on "
                f"average, and {longest:,} at most"
            ),
            basis=f"{self.basis(release)}; rows of the same time in the order of the file",
        )


def longest_runs(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the length of each user's longest run of own rows: user, run.

    `rows` has the columns user, log, and own; the rows of a log are in order.

    >>> own = [True, True, False, True]
    >>> longest_runs(pl.DataFrame({"user": [3] * 4, "log": [0] * 4, "own": own})).rows()
    [(3, 2)]
    """
    ordered = rows.sort("user", "log", maintain_order=True)
    runs = ordered.with_columns(run=pl.struct("user", "log", "own").rle_id()).filter("own")
    lengths = runs.group_by("user", "run").agg(length=pl.len())
    return lengths.group_by("user").agg(run=pl.col("length").max()).sort("user")


def _sort_by_time(release: Release) -> pl.DataFrame:
    """Return the released rows in the order of their times; raise if there are no times."""
    rows = released_log(release).select("user", "query", "time").collect(engine="streaming")
    if rows.height and rows["time"].null_count() == rows.height:
        raise UsageError(
            f"the rows of this release ({release.method}) have no times, so their order "
            "and runs of queries are not defined",
            hint='measure a release with times, for example `time_precision="day"`',
        )
    return rows.with_columns(_parse_row_numbers(rows["time"])).sort("time", maintain_order=True)


def _parse_row_numbers(times: pl.Series) -> pl.Series:
    """Parse times that are row numbers written as texts; leave other times as they are."""
    if times.dtype != pl.String or not times.str.contains(r"^\d+$").all():
        return times
    return times.cast(pl.Int64)


def _flag_own_rows(
    log: pl.DataFrame, logs: pl.Series, pairs: pl.DataFrame, sent: UserQueryCounts
) -> pl.DataFrame:
    """Flag the rows whose text the user had sent: user, log, time, own."""
    names = pl.DataFrame({"name": logs}).with_row_index("log").join(pairs, on="log")
    texts = pl.DataFrame({"query": sent.queries}).with_row_index("text")
    known = log.with_columns(pl.col("user", "query").cast(pl.String)).rename({"user": "name"})
    known = known.join(names, on="name", maintain_order="left")
    known = known.join(texts, on="query", how="left", maintain_order="left")
    own_texts = sent.rows.select(user="owner", text="text", own=pl.lit(True))
    flagged = known.join(own_texts, on=["user", "text"], how="left", maintain_order="left")
    return flagged.select("user", "log", "time", pl.col("own").fill_null(False))


def _fraction(rows: pl.DataFrame, condition: pl.Expr) -> float:
    return round(float(rows.select(condition.mean()).item() or 0.0), 6)
