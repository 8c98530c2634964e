"""When was it? The ways in which logs write a time.

Each row is read alone, by one fixed and public list of forms: what stands in other rows never
changes how a row is read. No text fits two forms, so their order has no meaning. Dates with
slashes are in none: 01/02/2006 does not say which is the month, so the owner must.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

import polars as pl

from ..errors import UsageError

__all__ = ["FORMS", "Form", "check_time_format", "is_valid_time", "parse_time", "read_times"]

SECONDS, MILLISECONDS = "epoch seconds", "epoch milliseconds"
# Nobody searched the web before 1990: digits alone that say so are a count of something else.
_FIRST, _LAST = datetime(1990, 1, 1), datetime(2200, 1, 1)


@dataclass(frozen=True)
class Form:
    """One way of writing a time: what a text of this form looks like, and how it is parsed."""

    how: str
    pattern: str
    digits: bool = False  # nothing but digits: a moment outside of plausible years is none

    @property
    def whole(self) -> str:
        """The pattern for a whole text."""
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
_EXPONENT = r"[0-9]\.[0-9]{1,16}[eE]\+?0?"  # as Java writes fractions from ten million on

# The usual ones have no fraction and no offset to compute: Polars reads them many times faster.
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
    Form("%Y-%m-%dT%H:%M", f"{_DAY}T{_MINUTE}"),
    Form("%Y-%m-%d %H:%M", f"{_DAY} {_MINUTE}"),
    Form("%Y-%m-%d", _DAY),
    Form("%d.%m.%Y %H:%M:%S", f"{_DOTTED} {_WHOLE}"),
    Form("%d.%m.%Y %H:%M:%S%.f", f"{_DOTTED} {_PART}"),
    Form("%d.%m.%Y %H:%M", f"{_DOTTED} {_MINUTE}"),
    Form("%d.%m.%Y", _DOTTED),
    Form("%d/%b/%Y:%H:%M:%S %z", _REQUEST),
    Form("%Y%m%d%H%M%S", "[0-9]{14}", digits=True),
    Form("%y%m%d%H%M%S", "[0-9]{12}", digits=True),
    Form(SECONDS, f"[0-9]{{9,10}}{_FRACTION}|{_EXPONENT}[89]", digits=True),
    Form(MILLISECONDS, f"[0-9]{{13}}{_FRACTION}|{_EXPONENT}12", digits=True),
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


def is_valid_time(moment: pl.Expr) -> pl.Expr:
    """Tell what lies in the years 1 to 9999: no calendar that a log meets later has more."""
    return moment.is_between(datetime.min, datetime.max).fill_null(False)


def check_time_format(how: str) -> None:
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


def read_times(texts: pl.Series) -> pl.Series:
    """Return the moment that each text names by the fixed list of forms, or null.

    >>> read_times(pl.Series(["970916105432", "1.3.2006", "01/03/2006"])).dt.year().to_list()
    [1997, 2006, None]
    """
    rows = texts.to_frame("text").with_row_index()
    read = []
    for form in _likely_first(texts):
        fits = rows["text"].str.contains(form.whole).fill_null(False)
        if fits.any():
            here = rows if fits.all() else rows.filter(fits)
            read.append(here.select("index", moment=_moment(form)))
            rows = rows.filter(~fits)
        if not rows.height:
            break
    unread = rows.select("index", moment=pl.lit(None, pl.Datetime("us")))
    return pl.concat([*read, unread]).sort("index")["moment"].rename(texts.name)


def _likely_first(texts: pl.Series) -> list[Form]:
    """Return the forms with that of the first text in front, which saves looking for the others.

    No text fits two forms, so that their order changes nothing that is read.
    """
    example = texts.slice(texts.is_not_null().arg_max() or 0, 1)
    return sorted(FORMS, key=lambda form: not example.str.contains(form.whole).any())


def _moment(form: Form) -> pl.Expr:
    moment = parse_time(pl.col("text"), form.how)
    return pl.when(moment.is_between(_FIRST, _LAST)).then(moment) if form.digits else moment
