"""When was it? The ways in which logs write a time."""

from __future__ import annotations

import polars as pl

from ..errors import FormatError

__all__ = ["choose_format", "parse_time"]

SECONDS, MILLISECONDS = "epoch seconds", "epoch milliseconds"

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
    MILLISECONDS,
    SECONDS,
)


def parse_time(text: pl.Expr, how: str) -> pl.Expr:
    """Read a time, as UTC where the text names a zone; null where it is none."""
    if how in (SECONDS, MILLISECONDS):
        unit = 1_000_000 if how == SECONDS else 1_000
        number = text.cast(pl.Float64, strict=False) * unit
        return number.cast(pl.Int64, strict=False).cast(pl.Datetime("us"))
    if how.endswith("z"):
        aware = text.str.to_datetime(how, time_unit="us", time_zone="UTC", strict=False)
        return aware.dt.replace_time_zone(None)
    if "%H" not in how:
        return text.str.to_date(how, strict=False).cast(pl.Datetime("us"))
    return text.str.to_datetime(how, time_unit="us", strict=False, cache=False)


def choose_format(sample: pl.Series, where: str) -> str:
    """Find the way of writing that reads most of the sample.

    >>> choose_format(pl.Series(["970916105432", "970916001949"]), "log.tsv")
    '%y%m%d%H%M%S'
    """
    texts = sample.drop_nulls()
    for how in FORMATS:
        read = texts.to_frame("t").select(parse_time(pl.col("t"), how))["t"].drop_nulls()
        if 2 * len(read) > len(texts) and 1970 <= read.dt.year().median() <= 2200:  # type: ignore[operator]
            return how
    example = texts[0] if len(texts) else ""
    raise FormatError(
        f'no known way of writing a time reads "{example[:60]}"',
        where=where,
        hint='name it, for example --time-format "%d.%m.%Y %H:%M" (strftime), or leave the '
        "column out with --columns",
    )
