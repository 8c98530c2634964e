"""When was it? The ways in which logs write a time."""

from __future__ import annotations

import re
from datetime import datetime

import polars as pl

from ..errors import FormatError, UsageError

__all__ = ["check_format", "choose_format", "is_time", "parse_time"]

SECONDS, MILLISECONDS = "epoch seconds", "epoch milliseconds"
_FIRST = 1990  # nobody searched the web before; a count of anything would be a time in 1970

# Tried in this order; the first that reads most of a sample is taken for the whole file.
FORMATS = (
    "%Y-%m-%d %H:%M:%S%.f",
    "%Y-%m-%dT%H:%M:%S%.f",
    "%Y-%m-%dT%H:%M:%S%.f%#z",
    "%Y-%m-%d %H:%M:%S%.f%#z",
    "%Y-%m-%dT%H:%M",
    "%Y-%m-%d %H:%M",
    "%Y-%m-%d",
    "%d/%b/%Y:%H:%M:%S %z",
    "%Y/%m/%d %H:%M:%S",
    "%Y%m%d%H%M%S",
    "%y%m%d%H%M%S",
    "%m/%d/%Y %H:%M:%S",
    "%m/%d/%Y %H:%M",
    "%m/%d/%Y",
    "%d/%m/%Y %H:%M:%S",
    "%d/%m/%Y %H:%M",
    "%d/%m/%Y",
    SECONDS,  # milliseconds taken for seconds would lie beyond all years
    MILLISECONDS,
)


_ZONE = re.compile(r"%(#|:*)z|%\+")


def parse_time(text: pl.Expr, how: str) -> pl.Expr:
    """Read a time, as UTC where the text names a zone; null or no `is_time` where it is none."""
    if how in (SECONDS, MILLISECONDS):
        unit = 1_000_000 if how == SECONDS else 1_000
        number = text.cast(pl.Float64, strict=False) * unit
        return number.cast(pl.Int64, strict=False).cast(pl.Datetime("us"))
    if _ZONE.search(how):
        aware = text.str.to_datetime(how, time_unit="us", time_zone="UTC", strict=False)
        return aware.dt.replace_time_zone(None)
    return text.str.to_datetime(how, time_unit="us", strict=False, cache=False)


def is_time(moment: pl.Expr) -> pl.Expr:
    """Tell what lies in the years 1 to 9999: no calendar that a log meets later has more."""
    return moment.is_between(datetime.min, datetime.max).fill_null(False)


def check_format(how: str) -> None:
    """Refuse a way of writing times that cannot be read back.

    >>> check_format("%d.%m.%Y %H:%M")
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
        f'"{how}" names no day and time', hint='for example "%d.%m.%Y %H:%M" (strftime)'
    )


def choose_format(sample: pl.Series, where: str) -> str:
    """Find the way of writing that reads most of the sample.

    >>> choose_format(pl.Series(["970916105432", "970916001949"]), "log.tsv")
    '%y%m%d%H%M%S'
    """
    texts = sample.drop_nulls()
    for how in FORMATS:
        read = _read_as(texts, how)
        if 2 * len(read) > len(texts) and _FIRST <= read.dt.year().median() <= 2200:  # type: ignore[operator]
            return _day_or_month_first(texts, how, where)
    example = texts[0] if len(texts) else ""
    raise FormatError(
        f'no known way of writing a time reads "{example[:60]}"',
        where=where,
        hint='name it, for example --time-format "%d.%m.%Y %H:%M" (strftime) or "epoch seconds"',
    )


def _read_as(texts: pl.Series, how: str) -> pl.Series:
    times = texts.to_frame("t").select(parse_time(pl.col("t"), how))
    return times.filter(is_time(pl.col("t")))["t"]


def _day_or_month_first(texts: pl.Series, how: str, where: str) -> str:
    """Take the order that reads more; 01/02/2006 alone does not tell which it is."""
    other = how.replace("%m/%d/", "%d/%m/")
    here, there = _read_as(texts, how), _read_as(texts, other)
    if other == how or len(here) > len(there) or here.equals(there):
        return how
    if len(there) > len(here):
        return other
    raise FormatError(
        f'"{texts[0][:60]}" can be read with the day or with the month first',
        where=where,
        hint=f'say which: --time-format "{other}" or "{how}"',
    )
