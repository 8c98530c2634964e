"""The checks that test a guarantee on the written files.

A check is data on the public card: its name and its arguments. Each function here takes the
published log or tables and the arguments, and returns a check result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

import numpy as np
import polars as pl

from ..core.records import Record
from ..engine.operations import count_rows
from ..errors import VerificationError
from ..log.query_log import is_click
from .check_results import CheckResult
from .formats import KIND, PART, QUERY, has_kinds
from .guarantee import Check
from .text_checks import (
    NO_IDENTIFIERS,
    DetectorUses,
    Files,
    SensitiveTopics,
    Tables,
    check_detectors,
    check_no_identifiers,
    check_no_topics,
    describe_detectors,
    describe_no_topics,
)

_BATCH = 1 << 20  # rows at a time


@dataclass(frozen=True, repr=False)
class MinIds(Record):
    """Arguments of `min-ids`: the columns of a value, and how many pseudonyms it must have."""

    columns: tuple[str, ...]
    at_least: int
    ids: str


@dataclass(frozen=True, repr=False)
class EqualLogs(Record):
    """Arguments of `equal-logs`."""

    k: int


@dataclass(frozen=True, repr=False)
class TimeStep(Record):
    """Arguments of `time-step`."""

    step: Literal["none", "hour", "day", "month"]


@dataclass(frozen=True, repr=False)
class Slots(Record):
    """Arguments of `slots`: the rows of each pseudonym, exactly or at most so many."""

    rows: int
    all: bool


@dataclass(frozen=True, repr=False)
class MinCount(Record):
    """Arguments of `min-count`."""

    table: str
    at_least: int


@dataclass(frozen=True, repr=False)
class KeysReleased(Record):
    """Arguments of `keys-released`: each query of a table is one `of` another table."""

    table: str
    of: str


@dataclass(frozen=True, repr=False)
class NoArguments(Record):
    """Arguments of a check that has none."""


Data = TypeVar("Data")
Arguments = TypeVar("Arguments", bound=Record)


@dataclass(frozen=True)
class _ExecutableCheck(Generic[Data, Arguments]):
    """A function that checks a log or tables, and the type of its arguments."""

    arguments: type[Arguments]
    function: Callable[[Data, Arguments], CheckResult]
    describe: Callable[[Arguments], str]

    def run(self, check: Check, data: Data) -> CheckResult:
        try:
            arguments = self.arguments.from_dict(check.arguments)
        except VerificationError as error:
            return CheckResult(check.check, False, f"the check on the card is damaged: {error}")
        return self.function(data, arguments)


def run_check(check: Check, log: pl.LazyFrame | None, tables: Tables | None = None) -> CheckResult:
    """Run one check on the published log or tables; an unknown check does not hold."""
    name = check.check
    if name == "no-identifiers":
        return check_no_identifiers(log, tables or {})
    if name in _FILE_CHECKS:
        return _FILE_CHECKS[name].run(check, (log, tables or {}))
    if name in _TABLE_CHECKS:
        return _TABLE_CHECKS[name].run(check, tables or {})
    if name not in _LOG_CHECKS:
        return CheckResult(name, False, "this version of queryveil does not know this check")
    if log is None:
        return CheckResult(name, False, "there is no log to check")
    return _LOG_CHECKS[name].run(check, log)


def describe_check(check: Check) -> str:
    """Return what a check tests, in words; of one that this version cannot run, its name.

    >>> describe_check(Check("min-count", {"table": "queries", "at_least": 5}))
    'each count of queries.tsv is 5 or more'
    """
    name = check.check
    if name == "no-identifiers":
        return NO_IDENTIFIERS
    known = _LOG_CHECKS.get(name) or _TABLE_CHECKS.get(name) or _FILE_CHECKS.get(name)
    if known is None:
        return f"{name}: this version of queryveil does not know this check"
    try:
        return str(known.describe(known.arguments.from_dict(check.arguments)))
    except VerificationError:
        return f"{name}: this check is damaged on the card"


_FILE_CHECKS: Mapping[str, _ExecutableCheck[Files, Any]] = {
    "no-sensitive-topics": _ExecutableCheck(SensitiveTopics, check_no_topics, describe_no_topics),
    "no-detected-texts": _ExecutableCheck(DetectorUses, check_detectors, describe_detectors),
}


def _check_min_ids(log: pl.LazyFrame, arguments: MinIds) -> CheckResult:
    """Check that each value (query, or query and url) occurs with enough distinct pseudonyms."""
    columns, min_users, unit = list(arguments.columns), arguments.at_least, arguments.ids
    if min_users < 1:
        message = f"the card's threshold must be an integer of at least 1, got {min_users!r} {unit}"
        return CheckResult("min-ids", False, message)
    rows = log.select("user", *columns).drop_nulls(columns)
    users = rows.unique().group_by(columns).agg(users=pl.len())
    counts = users.select(keys=pl.len(), short=(pl.col("users") < min_users).sum())
    keys, too_few = counts.collect(engine="streaming").row(0)
    name = " and ".join(columns)
    holds = too_few == 0
    short = "" if holds else f"; {too_few:,} have fewer"
    message = f"each of {keys:,} distinct values of {name} has {min_users:,} or more {unit}{short}"
    return CheckResult("min-ids", holds, message)


def _check_equal_logs(log: pl.LazyFrame, arguments: EqualLogs) -> CheckResult:
    """Check that each pseudonym's whole log, as a multiset of rows, is that of k or more."""
    k = arguments.k
    if k < 2:
        return CheckResult("equal-logs", False, f"the card's k of {k!r} hides nobody")
    shared = _collect_logs(log).group_by("rows").agg(users=pl.len())
    counts = shared.select(
        logs=pl.len(), users=pl.col("users").sum(), short=(pl.col("users") < k).sum()
    )
    logs, users, too_few = counts.collect(engine="streaming").row(0)
    if not users:
        return CheckResult("equal-logs", False, "there are no users who could share a log")
    message = f"each of {logs:,} distinct logs is shared by {k:,} or more users ({users:,} users)"
    short = f"; {too_few:,} are shared by fewer" if too_few else ""
    return CheckResult("equal-logs", too_few == 0, message + short)


def _collect_logs(log: pl.LazyFrame) -> pl.LazyFrame:
    """Return for each pseudonym the sorted list of its rows, each distinct row as a number.

    The lists themselves are compared: with digests, two different logs could collide.
    """
    log = log.select(pl.all().to_physical())
    row = [name for name in log.collect_schema().names() if name != "user"]
    numbers = log.select(row).unique().with_row_index("rows").collect(engine="streaming")
    numbered = log.join(numbers.lazy(), on=row, nulls_equal=True).select("user", "rows")
    return numbered.group_by("user").agg(pl.col("rows").sort())


# The formats of times at each step.
_STEPS = {
    "hour": r"^[+-]?\d{4,}-\d\d-\d\d[ T]\d\d:00:00(\.0+)?$",
    "day": r"^[+-]?\d{4,}-\d\d-\d\d$",
    "month": r"^[+-]?\d{4,}-\d\d-01$",
}


def _check_time_step(log: pl.LazyFrame, arguments: TimeStep) -> CheckResult:
    """Check that no time is finer than the step of the guarantee."""
    step = arguments.step
    times = log.select(pl.col("time").unique().cast(pl.String))
    time = pl.col("time")
    finer = time.is_not_null() if step == "none" else ~time.str.contains(_STEPS[step])
    rows = count_rows(times.filter(finer))
    statement = _describe_step(arguments)
    broken = f"{rows:,} distinct times break the promise that {statement}"
    message = broken if rows else statement
    return CheckResult("time-step", rows == 0, message)


def _describe_step(arguments: TimeStep) -> str:
    if arguments.step == "none":
        return "no times are given"
    return f"times are given to the {arguments.step} only"


def _check_no_clicks(log: pl.LazyFrame, _: NoArguments) -> CheckResult:
    """Check that no row has a rank or a URL."""
    rows = count_rows(log.filter(is_click()))
    message = "no clicks are given" if not rows else f"{rows:,} rows have a click"
    return CheckResult("no-clicks", rows == 0, message)


def _check_slots(log: pl.LazyFrame, arguments: Slots) -> CheckResult:
    """Check that each pseudonym has the guaranteed number of rows, numbered instead of dated."""
    max_rows, full = arguments.rows, arguments.all
    if max_rows < 1:
        message = f"the card's number of rows must be an integer of at least 1, got {max_rows!r}"
        return CheckResult("slots", False, message)
    numbered = log.select("user", slot=_slot())
    users = numbered.group_by("user").agg(
        rows=pl.len(),
        numbers=pl.col("slot").count(),
        first=pl.col("slot").min(),
        last=pl.col("slot").max(),
    )
    allowed = (pl.col("rows") == max_rows) if full else (pl.col("rows") <= max_rows)
    # Numbers must be consecutive: a gap could encode a date, or reveal how much was left out.
    within = pl.col("last") - pl.col("first") + 1 == pl.col("rows")
    good = allowed & within & (pl.col("numbers") == pl.col("rows"))
    checked = users.with_columns(good=good.fill_null(False)).collect(engine="streaming")
    bad = checked.height - int(checked["good"].sum())
    bad += _count_repeated_numbers(numbered, checked.filter("good"))
    statement = _describe_slots(arguments)
    message = statement if not bad else f"not so for {bad:,}: {statement}"
    return CheckResult("slots", not bad, message)


def _describe_slots(arguments: Slots) -> str:
    exactly = "exactly" if arguments.all else "at most"
    return f"each user name has {exactly} {arguments.rows:,} rows, numbered instead of dated"


def _slot() -> pl.Expr:
    """Return the number in the time column of a row; null if it is not a number."""
    text = pl.col("time").cast(pl.String)
    return pl.when(text.str.contains(r"^[1-9]\d{0,8}$")).then(text).cast(pl.Int32)


def _count_repeated_numbers(numbered: pl.LazyFrame, users: pl.DataFrame) -> int:
    """Count the users who lack a number between their first and last one.

    They have as many rows as there are such numbers, so a number is repeated where one is missing.
    Each number is one element of an array; rows are read in batches, as there may be 10^8 of them.
    """
    ends = np.cumsum(users["rows"].to_numpy(), dtype=np.int64)
    begins = pl.Series(ends).cast(pl.Int64) - users["rows"] - users["first"]
    places = numbered.join(
        users.lazy().select("user", begin=begins), on="user", nulls_equal=True
    ).select(place=pl.col("begin") + pl.col("slot"))
    present = np.zeros(int(ends[-1]) if len(ends) else 0, np.bool_)
    for batch in places.collect_batches(chunk_size=_BATCH, maintain_order=False):
        present[batch["place"].to_numpy()] = True
    if present.all():
        return 0
    missing = np.flatnonzero(~present)
    return len(np.unique(np.searchsorted(ends, missing, side="right")))


def _check_disjoint_clicks(log: pl.LazyFrame, _: NoArguments) -> CheckResult:
    """Check that no URL occurs with two different queries."""
    pairs = log.select("query", "url").drop_nulls("url").unique()
    shared = count_rows(pairs.group_by("url").len().filter(pl.col("len") > 1))
    message = f"{shared:,} were, not so: {_DISJOINT}" if shared else _DISJOINT
    return CheckResult("disjoint-clicks", not shared, message)


_DISJOINT = "no URL was clicked for two queries"


ROW_KINDS = "row-kinds"
_KINDS = f"each row is a {QUERY} or a {PART} of one, and no {PART} has a rank or a URL"


def requires_kinds(checks: Iterable[Check]) -> bool:
    """Return whether a card promises a log whose rows say whether they are queries or parts."""
    return any(check.check == ROW_KINDS for check in checks)


def _check_row_kinds(log: pl.LazyFrame, _: NoArguments) -> CheckResult:
    """Check that each row states what it is: a query that users sent, or a part of such queries."""
    if not has_kinds(log):
        return CheckResult(ROW_KINDS, False, f"the log has no column {KIND}, not so: {_KINDS}")
    kind = pl.col(KIND).cast(pl.String)
    known = kind.is_in([QUERY, PART]).fill_null(False)
    rows = count_rows(log.filter(~known | ((kind == PART) & is_click())))
    return CheckResult(
        ROW_KINDS, not rows, f"not so in {rows:,} rows: {_KINDS}" if rows else _KINDS
    )


def _describe_min_ids(arguments: MinIds) -> str:
    name = " and ".join(arguments.columns)
    return f"each value of {name} has {arguments.at_least:,} or more {arguments.ids}"


_LOG_CHECKS: Mapping[str, _ExecutableCheck[pl.LazyFrame, Any]] = {
    "min-ids": _ExecutableCheck(MinIds, _check_min_ids, _describe_min_ids),
    "equal-logs": _ExecutableCheck(
        EqualLogs,
        _check_equal_logs,
        lambda of: f"each log is shared by {of.k:,} or more pseudonyms, row by row",
    ),
    "time-step": _ExecutableCheck(TimeStep, _check_time_step, _describe_step),
    "no-clicks": _ExecutableCheck(NoArguments, _check_no_clicks, lambda _: "no clicks are given"),
    "slots": _ExecutableCheck(Slots, _check_slots, _describe_slots),
    "disjoint-clicks": _ExecutableCheck(NoArguments, _check_disjoint_clicks, lambda _: _DISJOINT),
    ROW_KINDS: _ExecutableCheck(NoArguments, _check_row_kinds, lambda _: _KINDS),
}


def _check_min_count(tables: Tables, arguments: MinCount) -> CheckResult:
    """Check that no count of a table is below its threshold."""
    name, min_count = arguments.table, arguments.at_least
    if name not in tables:
        return CheckResult("min-count", False, f"there is no table {name} to check")
    low = int((tables[name]["count"] < min_count).sum())
    statement = _describe_min_count(arguments)
    return CheckResult(
        "min-count", not low, statement if not low else f"{low:,} are less, not so: {statement}"
    )


def _describe_min_count(arguments: MinCount) -> str:
    return f"each count of {arguments.table}.tsv is {arguments.at_least:,} or more"


def _check_keys_released(tables: Tables, arguments: KeysReleased) -> CheckResult:
    """Check that every query of one table is in another one."""
    name, other = arguments.table, arguments.of
    if name not in tables or other not in tables:
        return CheckResult(
            "keys-released", False, f"there are no tables {name} and {other} to check"
        )
    unknown = tables[name].select("query").unique().join(tables[other], on="query", how="anti")
    statement = _describe_keys(arguments)
    holds = not unknown.height
    message = statement if holds else f"{unknown.height:,} do not, not so: {statement}"
    return CheckResult("keys-released", holds, message)


def _describe_keys(arguments: KeysReleased) -> str:
    return f"each query of {arguments.table}.tsv is in {arguments.of}.tsv"


_TABLE_CHECKS: Mapping[str, _ExecutableCheck[Tables, Any]] = {
    "min-count": _ExecutableCheck(MinCount, _check_min_count, _describe_min_count),
    "keys-released": _ExecutableCheck(KeysReleased, _check_keys_released, _describe_keys),
}
