"""From texts to rows: what is read, normalised, dropped and rejected, each counted.

Normalisation is a visible step: lower case, and every run of white space becomes one blank
(SPEC 1). It changes the text of a query and never the number of rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

import polars as pl

from .readers.raw import RawRows
from .tally import Tally
from .times import choose_format, parse_time

__all__ = ["Cleaner"]

_MOST_CELL = 64 << 10
_ODD_BLANKS = r"\s\s|[\t\n\r\f\v\u{a0}\u{2000}-\u{200a}\u{2028}\u{2029}\u{3000}]|^\s|\s$"

_DROPS = {
    1: "blank line",
    2: "empty query",
    3: "query is -",
    4: "outside the dates asked for",
    5: "user asked to be left out",
}


@dataclass
class Cleaner:
    """Turns blocks of texts into typed rows and keeps the tally."""

    since: datetime | None = None
    until: datetime | None = None
    exclude: frozenset[str] = frozenset()
    time_format: str | None = None
    tally: Tally = field(default_factory=Tally)
    found_excluded: set[str] = field(default_factory=set)
    _formats: dict[str, str] = field(default_factory=dict)

    def clean(self, raw: RawRows) -> pl.DataFrame:
        """Check, normalise and filter one block: user, query, time, rank, url."""
        self.tally.rows += raw.table.height
        checked = self._checked(raw)
        bad = checked.filter(pl.col("fault").is_not_null())
        if bad.height:
            file = pl.lit(raw.file).alias("file")
            self.tally.reject(bad.select(file, "line", pl.col("fault").alias("reason")))
        drops = checked.filter(pl.col("fault").is_null())["drop"].value_counts()
        self.tally.drop({_DROPS[code]: n for code, n in drops.rows() if code})
        kept = checked.filter(pl.col("fault").is_null() & (pl.col("drop") == 0))
        return self._normalised(kept.select("user", "query", "time", "rank", "url"))

    def _checked(self, raw: RawRows) -> pl.DataFrame:
        how = self._time_format(raw)
        time = parse_time(pl.col("time"), how) if how else pl.lit(None, dtype=pl.Datetime("us"))
        typed = raw.table.with_columns(
            user=pl.col("user").str.strip_chars(),
            query=pl.col("query").str.strip_chars(),
            url=_blank_is_null(pl.col("url").str.strip_chars()),
            moment=time,
            number=pl.col("rank").str.strip_chars().cast(pl.Int32, strict=False),
        )
        blank = pl.all_horizontal(pl.col("user", "query", "time", "rank", "url").is_null())
        marked = typed.with_columns(
            fault=pl.coalesce("fault", pl.when(~blank).then(_fault(raw.has_time))),
            drop=self._drop(blank),
        )
        return marked.with_columns(time=pl.col("moment"), rank=pl.col("number"))

    def _time_format(self, raw: RawRows) -> str | None:
        if not raw.has_time:
            return None
        known = self.time_format or raw.time_format or self._formats.get(raw.file)
        if known is None and raw.table["time"].drop_nulls().len():
            sample = raw.table.filter(pl.col("fault").is_null())["time"].drop_nulls().head(1000)
            known = self._formats[raw.file] = choose_format(sample, raw.file)
        return known or "%Y-%m-%d %H:%M:%S"

    def _drop(self, blank: pl.Expr) -> pl.Expr:
        query, outside = pl.col("query"), pl.lit(False)
        if self.since is not None:
            outside = outside | (pl.col("moment") < self.since)
        if self.until is not None:
            outside = outside | (pl.col("moment") >= self.until)
        if (self.since or self.until) is not None:
            outside = outside | pl.col("moment").is_null()
        out = pl.lit(False)
        if self.exclude:
            out = pl.col("user").is_in(sorted(self.exclude))
        codes = (
            pl.when(blank).then(1)
            .when(out).then(5)
            .when(query.is_null() | (query == "")).then(2)
            .when(query == "-").then(3)
            .when(outside).then(4)
            .otherwise(0)
        )  # fmt: skip
        return codes.cast(pl.UInt8)

    def _normalised(self, rows: pl.DataFrame) -> pl.DataFrame:
        query = rows["query"]
        lower = query.str.to_lowercase()
        odd = lower.str.contains(_ODD_BLANKS)
        self.tally.change(
            {"lower-cased": int((lower != query).sum()), "blanks collapsed": int(odd.sum())}
        )
        if odd.any():
            rows_odd = odd.arg_true()
            mended = lower.gather(rows_odd).str.replace_all(r"\s+", " ").str.strip_chars()
            lower = lower.scatter(rows_odd, mended)
        return rows.with_columns(lower.alias("query"))


def _blank_is_null(text: pl.Expr) -> pl.Expr:
    return pl.when(text != "").then(text)


def _fault(has_time: bool) -> pl.Expr:
    """Say what is wrong with a row, the first thing only; null where nothing is."""
    user, time, rank = pl.col("user"), pl.col("time"), pl.col("rank")
    timed = pl.lit(has_time)
    tests = {
        "no user": user.is_null() | (user == ""),
        "no time": timed & time.is_null(),
        "not a date": timed & pl.col("moment").is_null(),
        "rank is not a number": rank.is_not_null() & pl.col("number").is_null(),
        "rank below 1": pl.col("number") < 1,
        f"cell longer than {_MOST_CELL >> 10} KB": pl.any_horizontal(
            pl.col(name).str.len_bytes() > _MOST_CELL for name in ("user", "query", "url")
        ),
    }
    return pl.coalesce(pl.when(test).then(pl.lit(reason)) for reason, test in tests.items())
