"""From texts to rows: what is read, normalised, dropped and rejected, each counted.

Normalisation is a visible step: lower case, and every run of white space becomes one blank
(SPEC 1). It changes the text of a query and never the number of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

import polars as pl

from .accounting import RowAccounting
from .readers.raw import RAW_COLUMNS, RawRows
from .times import is_valid_time, parse_time, read_times

_MOST_CELL = 64 << 10
_ODD_BLANKS = r"\s\s|[^\S ]"  # any white space but a single blank

# A row's fate is one small number while it is decided: texts for 36 million rows are slow.
_KEPT, _READERS_WORD = 0, 255
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
    f"cell longer than {_MOST_CELL >> 10} KB",
)
_REASONS = dict(enumerate((*_DROPS, *_FAULTS), 1))
_CODES = {reason: code for code, reason in _REASONS.items()}
_FIRST_FAULT = _CODES[_FAULTS[0]]


@dataclass(repr=False)
class Cleaner:
    """Turns blocks of texts into typed rows and keeps the tally."""

    since: datetime | None = None
    until: datetime | None = None
    exclude: frozenset[str] = frozenset()
    time_format: str | None = None
    extra_columns: tuple[str, ...] = ()  # further columns of the raw rows that stay beside ours
    accounting: RowAccounting = field(default_factory=RowAccounting)
    excluded_seen: set[str] = field(default_factory=set)
    columns: dict[str, dict[str, str]] = field(default_factory=dict)
    has_times: bool = False

    def clean(self, raw: RawRows) -> pl.DataFrame:
        """Check, normalise and filter one block: user, query, time, rank, url."""
        self.columns[raw.file] = raw.columns
        self.has_times = self.has_times or raw.has_time
        typed = self._typed(raw)
        fates = typed.select(self._fate(raw)).to_series()
        self._count(raw, fates)
        if self.exclude:
            out = typed.filter(fates == _CODES["user asked to be left out"])
            self.excluded_seen.update(out["user"].unique())
        time, rank = pl.col("moment").alias("time"), pl.col("number").alias("rank")
        kept = typed.select("user", "query", time, rank, "url", "trimmed", *self.extra_columns)
        kept = kept.filter(fates == _KEPT)
        return self._normalised(kept).drop("trimmed")

    def _typed(self, raw: RawRows) -> pl.DataFrame:
        number = pl.col("rank").cast(pl.Int32, strict=False)
        rows = _bare(raw.table.with_columns(length=pl.col("query").str.len_bytes()), _TEXTS)
        typed = rows.with_columns(self._moments(raw, rows), number=number)
        if _unread(typed, "time", "moment") or _unread(typed, "rank", "number"):
            # A table that holds ranks as fractions, for the sake of its gaps, writes 3 as 3.0.
            bare = _bare(rows, _NUMBERS).with_columns(pl.col("rank").str.strip_suffix(".0"))
            typed = bare.with_columns(self._moments(raw, bare), number=number)
        return typed.with_columns(trimmed=pl.col("query").str.len_bytes() != pl.col("length"))

    def _moments(self, raw: RawRows, rows: pl.DataFrame) -> pl.Series:
        """Return the times of rows: by the owner's form, the format's own, or the fixed list."""
        if not raw.has_time:
            return rows.with_columns(moment=pl.lit(None, pl.Datetime("us")))["moment"]
        how = self.time_format or raw.time_format
        if how is None:
            return read_times(rows["time"]).alias("moment")
        return rows.select(moment=parse_time(pl.col("time"), how))["moment"]

    def _fate(self, raw: RawRows) -> pl.Expr:
        """Decide what becomes of each row; of several reasons the first counts."""
        nothing = pl.all_horizontal(pl.col(RAW_COLUMNS).is_null())
        tests = {
            "blank line": nothing,
            **_fault_tests(raw),
            "user asked to be left out": pl.col("user").is_in(sorted(self.exclude)),
            "empty query": pl.col("query").is_null(),
            "query is -": pl.col("query") == "-",
            "outside the dates asked for": self._outside(),
        }
        fate = pl.when(pl.col("fault").is_not_null()).then(pl.lit(_READERS_WORD, pl.UInt8))
        for reason, test in tests.items():
            fate = fate.when(test).then(pl.lit(_CODES[reason], pl.UInt8))  # type: ignore[assignment]
        return fate.otherwise(pl.lit(_KEPT, pl.UInt8))

    def _outside(self) -> pl.Expr:
        if self.since is None and self.until is None:
            return pl.lit(False)
        moment = pl.col("moment")
        inside = moment.is_between(
            self.since or datetime.min, self.until or datetime.max, closed="left"
        )
        return ~inside.fill_null(False)

    def _count(self, raw: RawRows, fates: pl.Series) -> None:
        self.accounting.rows += len(fates) + sum(raw.dropped.values())
        self.accounting.drop(raw.dropped)
        numbers = dict(fates.value_counts().rows())
        self.accounting.drop({reason: numbers.get(_CODES[reason], 0) for reason in _DROPS})
        if max(numbers, default=_KEPT) >= _FIRST_FAULT:
            reason = fates.replace_strict(_REASONS, default=None, return_dtype=pl.String)
            rows = raw.table.select(
                pl.lit(raw.file).alias("file"), "line", reason=pl.coalesce("fault", reason)
            )
            self.accounting.reject(rows.filter(fates >= _FIRST_FAULT))

    def _normalised(self, rows: pl.DataFrame) -> pl.DataFrame:
        query = rows["query"]
        lower = query.str.to_lowercase()
        odd = lower.str.contains(_ODD_BLANKS)
        cased, blanks = lower != query, odd | rows["trimmed"]
        self.accounting.change(
            {"lower-cased": int(cased.sum()), "blanks collapsed": int(blanks.sum())}
        )
        if odd.any():
            places = odd.arg_true()
            lower = lower.scatter(places, lower.gather(places).str.replace_all(r"\s+", " "))
        return rows.with_columns(lower.alias("query"))


_TEXTS, _NUMBERS = ("user", "query", "url"), ("time", "rank")


def _unread(rows: pl.DataFrame, text: str, value: str) -> bool:
    return rows[value].null_count() > rows[text].null_count()


def _bare(rows: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """Take the blanks off both ends of texts; null where nothing is left."""
    bare = rows.with_columns(pl.col(columns).str.strip_chars())
    # Empty cells are null already: a cell of blanks alone is rare, so look before you replace.
    emptied = [name for name in columns if (bare[name] == "").any()]
    return bare.with_columns(pl.when(pl.col(n) != "").then(pl.col(n)).alias(n) for n in emptied)


def _fault_tests(raw: RawRows) -> dict[str, pl.Expr]:
    user, time, rank = pl.col("user"), pl.col("time"), pl.col("rank")
    moment, number, timed = pl.col("moment"), pl.col("number"), pl.lit(raw.has_time)
    long = pl.any_horizontal(
        pl.col(name).str.len_bytes() > _MOST_CELL for name in ("user", "query", "url")
    )
    tests = (
        user.is_null(),
        pl.lit(raw.has_time and raw.needs_time) & time.is_null(),
        timed & time.is_not_null() & ~is_valid_time(moment),
        rank.is_not_null() & number.is_null(),
        number < 1,
        long,
    )
    return dict(zip(_FAULTS, tests, strict=True))
