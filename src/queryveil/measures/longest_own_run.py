"""How long the pieces of a person's own history are that a release shows in a row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import polars as pl

from ..errors import UsageError
from ..release.release import Release
from ._shared.queries import QueryTextMeasure, UserQueryCounts, released_log, true_pairs
from .context import MeasureContext


@dataclass(frozen=True)
class LongestOwnRun(QueryTextMeasure):
    """The longest run of a user's own queries in her released log, on average."""

    name: ClassVar[str] = "own-run"
    title: ClassVar[str] = "a user's own queries in a row"
    description: ClassVar[str] = (
        "how many rows one after the other, in the order of the published times, have a query "
        "that the user herself had sent: the longest such run of each user, on average"
    )
    paper: ClassVar[str] = "none"
    unit: ClassVar[str] = "rows"
    better: ClassVar[Literal["lower", "higher"]] = "lower"
    kind: ClassVar[Literal["risk", "use"]] = "risk"

    def compute(self, before: MeasureContext, after: Release) -> dict[str, Any]:
        """Give the mean and the longest of users' longest runs."""
        sent, log = self.original_counts(before, after), _ordered(after)
        logs = log["user"].cast(pl.String).unique().sort()
        pairs = true_pairs(sent.users, logs, after)
        rows = _marked(log.filter(pl.col("time").is_not_null()), logs, pairs, sent)
        runs, users = longest_runs(rows), len(sent.users)
        value = runs["run"].sum() / max(users, 1)
        longest = int(runs["run"].max() or 0)  # type: ignore[arg-type]
        return {
            "value": round(value, 6),
            "longest": longest,
            "users": users,
            "vanished": users - pairs["user"].n_unique(),
            "rows_of_a_user": round(log.height / max(len(logs), 1), 6),
            "same_time": _share(rows, pl.struct("log", "time").is_duplicated()),
            "without_time": log["time"].null_count(),
            "words": (
                f"the release shows {value:.1f} of a user's own {self.unit_of(after)} in a row on "
                f"average, and {longest:,} at most"
            ),
            "ruler": f"{self.basis(after)}; rows of the same time as they stand in the file",
        }


def longest_runs(rows: pl.DataFrame) -> pl.DataFrame:
    """Give each user's longest run of own rows: user, run.

    `rows` has the columns user, log, and own; those of a log stand in their order.

    >>> own = [True, True, False, True]
    >>> longest_runs(pl.DataFrame({"user": [3] * 4, "log": [0] * 4, "own": own})).rows()
    [(3, 2)]
    """
    ordered = rows.sort("user", "log", maintain_order=True)
    runs = ordered.with_columns(run=pl.struct("user", "log", "own").rle_id()).filter("own")
    lengths = runs.group_by("user", "run").agg(length=pl.len())
    return lengths.group_by("user").agg(run=pl.col("length").max()).sort("user")


def _ordered(release: Release) -> pl.DataFrame:
    """Give the released rows in the order of their times; refuse a release that has none."""
    rows = released_log(release).select("user", "query", "time").collect(engine="streaming")
    if rows.height and rows["time"].null_count() == rows.height:
        raise UsageError(
            f"the rows of this release ({release.method}) have no times, so no order: a run of "
            "queries cannot be told",
            hint="measure a release with times, for example --time day",
        )
    return rows.with_columns(_moment(rows["time"])).sort("time", maintain_order=True)


def _moment(times: pl.Series) -> pl.Series:
    """Read numbers of rows that were written as texts; other texts stand in order as they are."""
    if times.dtype != pl.String or not times.str.contains(r"^\d+$").all():
        return times
    return times.cast(pl.Int64)


def _marked(
    log: pl.DataFrame, logs: pl.Series, pairs: pl.DataFrame, sent: UserQueryCounts
) -> pl.DataFrame:
    """Tell which rows have a text that the user had sent: user, log, time, own."""
    names = pl.DataFrame({"name": logs}).with_row_index("log").join(pairs, on="log")
    texts = pl.DataFrame({"query": sent.queries}).with_row_index("text")
    known = log.with_columns(pl.col("user", "query").cast(pl.String)).rename({"user": "name"})
    known = known.join(names, on="name", maintain_order="left")
    known = known.join(texts, on="query", how="left", maintain_order="left")
    mine = sent.rows.select(user="owner", text="text", own=pl.lit(True))
    marked = known.join(mine, on=["user", "text"], how="left", maintain_order="left")
    return marked.select("user", "log", "time", pl.col("own").fill_null(False))


def _share(rows: pl.DataFrame, which: pl.Expr) -> float:
    return round(float(rows.select(which.mean()).item() or 0.0), 6)
