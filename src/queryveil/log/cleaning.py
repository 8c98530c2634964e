"""Turn raw texts into typed rows; count what is normalized, dropped and rejected.

Queries are converted to lower case, and every run of white space becomes one blank (SPEC 1).
This is counted. It changes the text of a query and never the number of rows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

import polars as pl

from ..errors import UsageError
from .accounting import RowAccounting
from .readers.base import RAW_COLUMNS, RawRows
from .readers.columns import describe_mapping

SECONDS, MILLISECONDS = "epoch seconds", "epoch milliseconds"
# There was no web search before 1990: digits that give an earlier time are not a time.
_FIRST, _LAST = datetime(1990, 1, 1), datetime(2200, 1, 1)


@dataclass(frozen=True)
class Form:
    """A notation of times: the pattern of its texts, and the format to parse them."""

    how: str
    pattern: str
    digits: bool = False  # only digits: a time outside of plausible years is rejected

    @property
    def whole(self) -> str:
        """The pattern that a complete text must match."""
        return rf"\A(?:{self.pattern})\z"


_DAY, _DOTTED = "[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}", r"[0-9]{1,2}\.[0-9]{1,2}\.[0-9]{4}"
_MINUTE = "[0-9]{1,2}:[0-9]{2}"
_WHOLE = rf"{_MINUTE}:[0-9]{{2}}"
_PART = rf"{_WHOLE}\.[0-9]{{1,9}}"
_SECOND = rf"{_WHOLE}(?:\.[0-9]{{1,9}})?"
_HOURS = "[+-][0-9]{2}(?::?[0-9]{2})?"
_MONTH = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_REQUEST = f"[0-9]{{2}}/{_MONTH}/[0-9]{{4}}(?::[0-9]{{2}}){{3}} [+-][0-9]{{4}}"
_FRACTION = r"(?:\.[0-9]{1,9})?"
_EXPONENT = r"[0-9]\.[0-9]{1,16}[eE]\+?0?"  # as Java writes floats of ten million and more

# The common forms have no fraction and no offset: Polars parses them many times faster.
FORMS = (
    Form("%Y-%m-%d %H:%M:%S", f"{_DAY} {_WHOLE}"),
    Form("%Y-%m-%dT%H:%M:%S", f"{_DAY}T{_WHOLE}"),
    Form("%Y-%m-%dT%H:%M:%SZ", f"{_DAY}T{_WHOLE}Z"),
    Form("%Y-%m-%dT%H:%M:%S%.fZ", f"{_DAY}T{_PART}Z"),
    Form("%Y-%m-%d %H:%M:%S%.f", f"{_DAY} {_PART}"),
    Form("%Y-%m-%dT%H:%M:%S%.f", f"{_DAY}T{_PART}"),
    Form("%Y-%m-%dT%H:%M:%S%.f%#z", f"{_DAY}T{_SECOND}(?:z|{_HOURS})"),
    Form("%Y-%m-%d %H:%M:%S%.f%#z", f"{_DAY} {_SECOND} ?(?:[Zz]|{_HOURS})"),
    Form("%Y-%m-%d %H:%M:%S%.f UTC", f"{_DAY} {_SECOND} UTC"),
    Form("%Y-%m-%dT%H:%M%#z", f"{_DAY}T{_MINUTE}(?:[Zz]|{_HOURS})"),
    Form("%Y-%m-%dT%H:%M", f"{_DAY}T{_MINUTE}"),
    Form("%Y-%m-%d %H:%M", f"{_DAY} {_MINUTE}"),
    Form("%Y-%m-%d", _DAY),
    Form("%d.%m.%Y %H:%M:%S", f"{_DOTTED} {_WHOLE}"),
    Form("%d.%m.%Y %H:%M:%S%.f", f"{_DOTTED} {_PART}"),
    Form("%d.%m.%Y %H:%M", f"{_DOTTED} {_MINUTE}"),
    Form("%d.%m.%Y, %H:%M:%S", f"{_DOTTED}, {_WHOLE}"),  # as browsers write local times
    Form("%d.%m.%Y, %H:%M", f"{_DOTTED}, {_MINUTE}"),
    Form("%d.%m.%Y", _DOTTED),
    Form("%d/%b/%Y:%H:%M:%S %z", _REQUEST),
    Form("%Y%m%d%H%M%S", "[0-9]{14}", digits=True),
    Form("%y%m%d%H%M%S", "[0-9]{12}", digits=True),
    Form(SECONDS, f"[0-9]{{9,10}}{_FRACTION}|{_EXPONENT}[89]", digits=True),
    Form(MILLISECONDS, f"[0-9]{{13}}{_FRACTION}|{_EXPONENT}12", digits=True),
)


_ZONE = re.compile(r"%(#|:*)z|%\+")


def parse_time(text: pl.Expr, how: str) -> pl.Expr:
    """Parse a time, in UTC if the text has a zone.

    The result of a text that is not a time is null or fails `is_valid_time`.
    """
    if how in (SECONDS, MILLISECONDS):
        unit = 1_000_000 if how == SECONDS else 1_000
        number = text.cast(pl.Float64, strict=False) * unit
        return number.cast(pl.Int64, strict=False).cast(pl.Datetime("us"))
    if _ZONE.search(how):
        aware = text.str.to_datetime(how, time_unit="us", time_zone="UTC", strict=False)
        return aware.dt.replace_time_zone(None)
    return text.str.to_datetime(how, time_unit="us", strict=False, cache=False)


def is_valid_time(moment: pl.Expr) -> pl.Expr:
    """Return whether times are in the years 1 to 9999, the range of Python's `datetime`."""
    return moment.is_between(datetime.min, datetime.max).fill_null(False)


def check_time_format(how: str) -> None:
    """Raise a `UsageError` if a time that is written in this format cannot be read back.

    >>> check_time_format("%d.%m.%Y %H:%M")
    """
    if how in (SECONDS, MILLISECONDS):
        return
    moment = pl.Series("t", [datetime(2006, 3, 1, 22, 30)]).dt.replace_time_zone("UTC")
    try:
        written = moment.dt.strftime(how.replace("%#z", "%z")).to_frame()
        if written.select(parse_time(pl.col("t"), how).dt.date() == moment.dt.date()).item():
            return
    except pl.exceptions.PolarsError:
        pass
    raise UsageError(
        f'the time format "{how}" has no day and time',
        hint='for example "%d.%m.%Y %H:%M" (strftime)',
    )


def read_times(texts: pl.Series) -> pl.Series:
    """Parse each text by the fixed list of forms; null if none of them matches.

    >>> read_times(pl.Series(["970916105432", "1.3.2006", "01/03/2006"])).dt.year().to_list()
    [1997, 2006, None]
    """
    rows = texts.to_frame("text").with_row_index()
    parsed = []
    for form in _sort_forms(texts):
        matches = rows["text"].str.contains(form.whole).fill_null(False)
        if matches.any():
            matching = rows if matches.all() else rows.filter(matches)
            parsed.append(matching.select("index", moment=_parse_form(form)))
            rows = rows.filter(~matches)
        if not rows.height:
            break
    unread = rows.select("index", moment=pl.lit(None, pl.Datetime("us")))
    return pl.concat([*parsed, unread]).sort("index")["moment"].rename(texts.name)


def _sort_forms(texts: pl.Series) -> list[Form]:
    """Return the forms, with that of the first text in front, which is probably that of all.

    No text matches two forms, so their order does not change the result, only the speed.
    """
    example = texts.slice(texts.is_not_null().arg_max() or 0, 1)
    return sorted(FORMS, key=lambda form: not example.str.contains(form.whole).any())


def _parse_form(form: Form) -> pl.Expr:
    moment = parse_time(pl.col("text"), form.how)
    return pl.when(moment.is_between(_FIRST, _LAST)).then(moment) if form.digits else moment


_MAX_CELL_BYTES = 64 << 10
_ODD_BLANKS = r"\s\s|[^\S ]"  # any white space but a single blank

# The outcome of a row is a code of one byte: strings for 36 million rows would be slow.
_KEPT, _REJECTED_BY_READER = 0, 255
_DROPS = (
    "blank line",
    "user asked to be left out",
    "empty query",
    "query is -",
    "outside the dates asked for",
)
_FAULTS = (
    "no user",
    "no time",
    "not a date",
    "rank is not a number",
    "rank below 1",
    f"cell longer than {_MAX_CELL_BYTES >> 10} KB",
)
_REASONS = dict(enumerate((*_DROPS, *_FAULTS), 1))
_CODES = {reason: code for code, reason in _REASONS.items()}
_FIRST_FAULT = _CODES[_FAULTS[0]]


@dataclass(repr=False)
class Cleaner:
    """Turns blocks of raw texts into typed rows, and accounts for every row."""

    since: datetime | None = None
    until: datetime | None = None
    exclude: frozenset[str] = frozenset()
    time_format: str | None = None
    extra_columns: tuple[str, ...] = ()  # further columns of the raw rows to keep
    accounting: RowAccounting = field(default_factory=RowAccounting)
    excluded_seen: set[str] = field(default_factory=set)
    columns: dict[str, dict[str, str]] = field(default_factory=dict)
    has_times: bool = False

    def clean(self, raw: RawRows) -> pl.DataFrame:
        """Check, normalize and filter one block; return user, query, time, rank and url."""
        columns = describe_mapping(raw.columns)
        self.columns.update(dict.fromkeys(raw.files or (raw.file,), columns))
        self.has_times = self.has_times or raw.has_time
        typed = self._parse_types(raw)
        outcomes = typed.select(self._outcome(raw)).to_series()
        self._count(raw, outcomes)
        if self.exclude:
            excluded = typed.filter(outcomes == _CODES["user asked to be left out"])
            self.excluded_seen.update(excluded["user"].unique())
        time, rank = pl.col("moment").alias("time"), pl.col("number").alias("rank")
        kept = typed.select("user", "query", time, rank, "url", "trimmed", *self.extra_columns)
        kept = kept.filter(outcomes == _KEPT)
        if raw.zero_rank:
            kept = self._remove_zero_ranks(kept)
        return self._normalize(kept).drop("trimmed")

    def _remove_zero_ranks(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Remove clicks with the rank 0, which no result has; the queries stay."""
        is_zero = rows["rank"] == 0
        if not is_zero.any():
            return rows
        self.accounting.change({"click with rank 0 removed": int(is_zero.sum())})
        is_click = pl.col("rank").is_null() | (pl.col("rank") != 0)
        return rows.with_columns(pl.when(is_click).then(pl.col("rank", "url")))

    def _parse_types(self, raw: RawRows) -> pl.DataFrame:
        number = pl.col("rank").cast(pl.Int32, strict=False)
        rows = _strip(raw.table.with_columns(length=pl.col("query").str.len_bytes()), _TEXTS)
        typed = rows.with_columns(self._parse_times(raw, rows), number=number)
        if _has_unparsed(typed, "time", "moment") or _has_unparsed(typed, "rank", "number"):
            # Tables with missing ranks often store them as floats, and write 3 as 3.0.
            stripped = _strip(rows, _NUMBERS).with_columns(pl.col("rank").str.strip_suffix(".0"))
            typed = stripped.with_columns(self._parse_times(raw, stripped), number=number)
        return typed.with_columns(trimmed=pl.col("query").str.len_bytes() != pl.col("length"))

    def _parse_times(self, raw: RawRows, rows: pl.DataFrame) -> pl.Series:
        """Parse times by the data owner's format, the reader's own, or the list of forms."""
        if not raw.has_time:
            return rows.with_columns(moment=pl.lit(None, pl.Datetime("us")))["moment"]
        how = self.time_format or raw.time_format
        if how is None:
            return read_times(rows["time"]).alias("moment")
        return rows.select(moment=parse_time(pl.col("time"), how))["moment"]

    def _outcome(self, raw: RawRows) -> pl.Expr:
        """Return the code of each row: kept, or the first reason to drop or reject it."""
        is_blank = pl.all_horizontal(pl.col(RAW_COLUMNS).is_null())
        tests = {
            "blank line": is_blank,
            **_fault_tests(raw),
            "user asked to be left out": pl.col("user").is_in(sorted(self.exclude)),
            "empty query": pl.col("query").is_null(),
            "query is -": pl.col("query") == "-",
            "outside the dates asked for": self._is_outside_dates(),
        }
        code = pl.when(pl.col("fault").is_not_null()).then(pl.lit(_REJECTED_BY_READER, pl.UInt8))
        for reason, test in tests.items():
            code = code.when(test).then(pl.lit(_CODES[reason], pl.UInt8))  # type: ignore[assignment]
        return code.otherwise(pl.lit(_KEPT, pl.UInt8))

    def _is_outside_dates(self) -> pl.Expr:
        if self.since is None and self.until is None:
            return pl.lit(False)
        moment = pl.col("moment")
        inside = moment.is_between(
            self.since or datetime.min, self.until or datetime.max, closed="left"
        )
        return ~inside.fill_null(False)

    def _count(self, raw: RawRows, outcomes: pl.Series) -> None:
        self.accounting.rows += len(outcomes) + sum(raw.dropped.values())
        self.accounting.drop(raw.dropped)
        numbers = dict(outcomes.value_counts().rows())
        self.accounting.drop({reason: numbers.get(_CODES[reason], 0) for reason in _DROPS})
        if max(numbers, default=_KEPT) >= _FIRST_FAULT:
            reason = outcomes.replace_strict(_REASONS, default=None, return_dtype=pl.String)
            file = pl.col("file") if raw.files else pl.lit(raw.file).alias("file")
            rows = raw.table.select(file, "line", reason=pl.coalesce("fault", reason))
            self.accounting.reject(rows.filter(outcomes >= _FIRST_FAULT))

    def _normalize(self, rows: pl.DataFrame) -> pl.DataFrame:
        query = rows["query"]
        lower = query.str.to_lowercase()
        odd = lower.str.contains(_ODD_BLANKS)
        cased, blanks = lower != query, odd | rows["trimmed"]
        self.accounting.change(
            {"lower-cased": int(cased.sum()), "blanks collapsed": int(blanks.sum())}
        )
        if odd.any():
            indices = odd.arg_true()
            lower = lower.scatter(indices, lower.gather(indices).str.replace_all(r"\s+", " "))
        return rows.with_columns(lower.alias("query"))


_TEXTS, _NUMBERS = ("user", "query", "url"), ("time", "rank")


def _has_unparsed(rows: pl.DataFrame, text: str, value: str) -> bool:
    """Return whether a text was not parsed to a value."""
    return rows[value].null_count() > rows[text].null_count()


def _strip(rows: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """Strip white space from both ends of texts; a text without anything else becomes null."""
    stripped = rows.with_columns(pl.col(columns).str.strip_chars())
    # Empty cells are null already, and cells of blanks are rare: replace only where there are any.
    emptied = [name for name in columns if (stripped[name] == "").any()]
    return stripped.with_columns(
        pl.when(pl.col(name) != "").then(pl.col(name)).alias(name) for name in emptied
    )


def _fault_tests(raw: RawRows) -> dict[str, pl.Expr]:
    user, time, rank = pl.col("user"), pl.col("time"), pl.col("rank")
    moment, number, has_time = pl.col("moment"), pl.col("number"), pl.lit(raw.has_time)
    is_too_long = pl.any_horizontal(
        pl.col(name).str.len_bytes() > _MAX_CELL_BYTES for name in ("user", "query", "url")
    )
    tests = (
        user.is_null(),
        pl.lit(raw.has_time and raw.needs_time) & time.is_null(),
        has_time & time.is_not_null() & ~is_valid_time(moment),
        rank.is_not_null() & number.is_null(),
        number < (0 if raw.zero_rank else 1),
        is_too_long,
    )
    return dict(zip(_FAULTS, tests, strict=True))
