"""The checks that prove a promise on the written files.

A check is data on the public card: its name, and what it is given. Each function here takes
the published log and what it is given, and says what it found.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from ..engine.operations import count_rows
from ..log.query_log import is_click
from ..log.screening import flagged
from .guarantee import Check


_BATCH = 1 << 20  # rows at a time


@dataclass(frozen=True)
class CheckResult:
    """What a check found; `holds` is None where this version of queryveil cannot tell."""

    check: str
    holds: bool | None
    message: str


def run_check(
    check: Check, log: pl.LazyFrame | None, tables: dict[str, pl.DataFrame] | None = None
) -> CheckResult:
    """Run one check on the published log or tables; an unknown one does not hold."""
    if check.name == "no-identifiers":
        return _no_identifiers(log, tables or {})
    if check.name in _TABLE_CHECKS:
        return _TABLE_CHECKS[check.name](tables or {}, check.arguments)
    known = _CHECKS.get(check.name)
    if known is None:
        return CheckResult(check.name, False, "this version of queryveil does not know this check")
    if log is None:
        return CheckResult(check.name, False, "there is no log to check")
    return known(log, check.arguments)


def _no_identifiers(log: pl.LazyFrame | None, tables: dict[str, pl.DataFrame]) -> CheckResult:
    """No text and no URL, in the log or a table, looks like an identifier."""
    frames = [table.lazy() for table in tables.values()] + ([] if log is None else [log])
    texts = [
        (frame, name)
        for frame in frames
        for name in frame.collect_schema().names()
        if name in ("query", "next", "url")
    ]
    bad = sum(flagged(frame, name).height for frame, name in texts)
    says = "no query and no URL looks like an identifier to our patterns, which miss names and more"
    return CheckResult(
        "no-identifiers", not bad, says if not bad else f"{bad:,} do, not so: {says}"
    )


def _min_ids(log: pl.LazyFrame, given: dict[str, Any]) -> CheckResult:
    """Each value (query, or query and url) stands beside enough different user names."""
    columns, least, unit = given["columns"], given["at_least"], given["ids"]
    if type(least) is not int or least < 1:
        return CheckResult("min-ids", False, f"the card's threshold of {least!r} {unit} is none")
    rows = log.select("user", *columns).drop_nulls(columns)
    users = rows.unique().group_by(columns).agg(users=pl.len())
    found = users.select(keys=pl.len(), short=(pl.col("users") < least).sum())
    keys, too_few = found.collect(engine="streaming").row(0)
    name = " and ".join(columns)
    holds = too_few == 0
    short = "" if holds else f"; {too_few:,} have fewer"
    says = f"each of {keys:,} distinct values of {name} has {least:,} or more {unit}{short}"
    return CheckResult("min-ids", holds, says)


def _equal_logs(log: pl.LazyFrame, given: dict[str, Any]) -> CheckResult:
    """Each user name's whole log, rows counted as often as they stand, is that of k or more."""
    k = given["k"]
    if type(k) is not int or k < 2:
        return CheckResult("equal-logs", False, f"the card's k of {k!r} hides nobody")
    shared = _whole_logs(log).group_by("rows").agg(users=pl.len())
    found = shared.select(
        logs=pl.len(), users=pl.col("users").sum(), short=(pl.col("users") < k).sum()
    )
    logs, users, too_few = found.collect(engine="streaming").row(0)
    if not users:
        return CheckResult("equal-logs", False, "there are no users who could share a log")
    says = f"each of {logs:,} distinct logs is shared by {k:,} or more users ({users:,} users)"
    short = f"; {too_few:,} are shared by fewer" if too_few else ""
    return CheckResult("equal-logs", too_few == 0, says + short)


def _whole_logs(log: pl.LazyFrame) -> pl.LazyFrame:
    """Give for each user name the sorted list of its rows, each distinct row a number.

    The lists are compared as they are: a digest in their place could make two logs equal.
    """
    log = log.select(pl.all().to_physical())
    row = [name for name in log.collect_schema().names() if name != "user"]
    numbers = log.select(row).unique().with_row_index("rows").collect(engine="streaming")
    numbered = log.join(numbers.lazy(), on=row, nulls_equal=True).select("user", "rows")
    return numbered.group_by("user").agg(pl.col("rows").sort())


# The written forms that a coarse time may have.
_STEPS = {
    "hour": r"^[+-]?\d{4,}-\d\d-\d\d[ T]\d\d:00:00(\.0+)?$",
    "day": r"^[+-]?\d{4,}-\d\d-\d\d$",
    "month": r"^[+-]?\d{4,}-\d\d-01$",
}


def _time_step(log: pl.LazyFrame, given: dict[str, Any]) -> CheckResult:
    """No time is finer than the step that was promised."""
    step = given["step"]
    times = log.select(pl.col("time").unique().cast(pl.String))
    time = pl.col("time")
    finer = time.is_not_null() if step == "none" else ~time.str.contains(_STEPS[step])
    rows = count_rows(times.filter(finer))
    what = "no times are given" if step == "none" else f"times are given to the {step} only"
    says = what if not rows else f"{rows:,} distinct times break the promise that {what}"
    return CheckResult("time-step", rows == 0, says)


def _no_clicks(log: pl.LazyFrame, given: dict[str, Any]) -> CheckResult:  # noqa: ARG001
    """No rank and no URL is given."""
    rows = count_rows(log.filter(is_click()))
    says = "no clicks are given" if not rows else f"{rows:,} rows have a click"
    return CheckResult("no-clicks", rows == 0, says)


def _slots(log: pl.LazyFrame, given: dict[str, Any]) -> CheckResult:
    """Each user name has as many rows as promised, each with a number of its own for a time."""
    most, full = given["rows"], given["all"]
    if type(most) is not int or most < 1 or type(full) is not bool:
        return CheckResult("slots", False, f"the card's number of rows, {most!r}, is none")
    numbered = log.select("user", slot=_slot())
    users = numbered.group_by("user").agg(
        rows=pl.len(),
        numbers=pl.col("slot").count(),
        first=pl.col("slot").min(),
        last=pl.col("slot").max(),
    )
    allowed = (pl.col("rows") == most) if full else (pl.col("rows") <= most)
    # Numbers one after the other: no date, and none that says how much was left out.
    within = pl.col("last") - pl.col("first") + 1 == pl.col("rows")
    good = allowed & within & (pl.col("numbers") == pl.col("rows"))
    found = users.with_columns(good=good.fill_null(False)).collect(engine="streaming")
    bad = found.height - int(found["good"].sum())
    bad += _with_a_number_twice(numbered, found.filter("good"))
    exactly = "exactly" if full else "at most"
    says = f"each user name has {exactly} {most:,} rows, numbered instead of dated"
    return CheckResult("slots", not bad, says if not bad else f"not so for {bad:,}: {says}")


def _slot() -> pl.Expr:
    """Return the number that stands for the time of a row, if any."""
    text = pl.col("time").cast(pl.String)
    return pl.when(text.str.contains(r"^[1-9]\d{0,8}$")).then(text).cast(pl.Int32)


def _with_a_number_twice(numbered: pl.LazyFrame, users: pl.DataFrame) -> int:
    """Count the users who have not each number between their first and last one.

    They have as many rows as there are such numbers, so one stands twice where one is missing.
    Each number has one place; rows are read in batches, as there may be a hundred million.
    """
    ends = np.cumsum(users["rows"].to_numpy(), dtype=np.int64)
    begins = pl.Series(ends).cast(pl.Int64) - users["rows"] - users["first"]
    places = numbered.join(
        users.lazy().select("user", begin=begins), on="user", nulls_equal=True
    ).select(place=pl.col("begin") + pl.col("slot"))
    there = np.zeros(int(ends[-1]) if len(ends) else 0, np.bool_)
    for batch in places.collect_batches(chunk_size=_BATCH, maintain_order=False):
        there[batch["place"].to_numpy()] = True
    if there.all():
        return 0
    missing = np.flatnonzero(~there)
    return len(np.unique(np.searchsorted(ends, missing, side="right")))


def _disjoint_clicks(log: pl.LazyFrame, given: dict[str, Any]) -> CheckResult:  # noqa: ARG001
    """No URL stands beside two different queries."""
    pairs = log.select("query", "url").drop_nulls("url").unique()
    shared = count_rows(pairs.group_by("url").len().filter(pl.col("len") > 1))
    says = "no URL was clicked for two queries"
    return CheckResult(
        "disjoint-clicks", not shared, says if not shared else f"{shared:,} do: {says}"
    )


_CHECKS: dict[str, Callable[[pl.LazyFrame, dict[str, Any]], CheckResult]] = {
    "min-ids": _min_ids,
    "equal-logs": _equal_logs,
    "time-step": _time_step,
    "no-clicks": _no_clicks,
    "slots": _slots,
    "disjoint-clicks": _disjoint_clicks,
}


def _min_count(tables: dict[str, pl.DataFrame], given: dict[str, Any]) -> CheckResult:
    """No count of a table is below its threshold."""
    name, least = given["table"], given["at_least"]
    if name not in tables or type(least) is not int:
        return CheckResult("min-count", False, f"there is no table {name} to check")
    low = int((tables[name]["count"] < least).sum())
    says = f"each count of {name}.tsv is {least:,} or more"
    return CheckResult(
        "min-count", not low, says if not low else f"{low:,} are less, not so: {says}"
    )


def _keys_released(tables: dict[str, pl.DataFrame], given: dict[str, Any]) -> CheckResult:
    """Every query of one table stands in another one."""
    name, other = given["table"], given["of"]
    if name not in tables or other not in tables:
        return CheckResult(
            "keys-released", False, f"there are no tables {name} and {other} to check"
        )
    strange = tables[name].select("query").unique().join(tables[other], on="query", how="anti")
    says = f"each query of {name}.tsv stands in {other}.tsv"
    holds = not strange.height
    return CheckResult(
        "keys-released", holds, says if holds else f"{strange.height:,} do not, not so: {says}"
    )


_TABLE_CHECKS: dict[str, Callable[[dict[str, pl.DataFrame], dict[str, Any]], CheckResult]] = {
    "min-count": _min_count,
    "keys-released": _keys_released,
}
