"""Times as logs write them, and what is none."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta, timezone
from itertools import product
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from queryveil.errors import UsageError
from queryveil.log.cleaning import FORMS, check_time_format, is_valid_time, parse_time, read_times

ANY_FORM = "|".join(form.pattern for form in FORMS)
AT = datetime(2006, 3, 1, 22, 30, 5)


def read(texts: list[str | None], how: str) -> list[datetime | None]:
    table = pl.DataFrame({"t": texts}, schema={"t": pl.String})
    parsed = table.select(parse_time(pl.col("t"), how))
    return parsed.select(pl.when(is_valid_time(pl.col("t"))).then(pl.col("t")))["t"].to_list()


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2006-03-01 22:30:05", AT),
        ("2006-03-01 22:30:05.250", AT + timedelta(milliseconds=250)),
        ("2006-03-01T22:30:05", AT),
        ("2006-03-01T22:30:05.000001", AT + timedelta(microseconds=1)),
        ("2006-03-01T22:30:05Z", AT),
        ("2006-03-01T22:30:05.000Z", AT),
        ("2006-03-01T23:30:05+01:00", AT),
        ("2006-03-01T17:00:05-0530", AT),
        ("2006-03-01 23:30:05+01:00", AT),
        ("2006-03-01T22:30", AT.replace(second=0)),
        ("2006-03-01 22:30", AT.replace(second=0)),
        ("2006-03-01", datetime(2006, 3, 1)),
        ("01/Mar/2006:23:30:05 +0100", AT),
        ("2006-03-01 22:30:05 UTC", AT),
        ("2006-3-1 22:30:05", AT),
        ("01.03.2006 22:30:05", AT),
        ("1.3.2006 22:30", AT.replace(second=0)),
        ("1.3.2006", datetime(2006, 3, 1)),
        ("18.11.2026 07:01:22", datetime(2026, 11, 18, 7, 1, 22)),
        ("18.11.2026, 07:01:22", datetime(2026, 11, 18, 7, 1, 22)),
        ("18.11.2026, 7:01", datetime(2026, 11, 18, 7, 1)),
        ("18.11.2026 07:01:22.250", datetime(2026, 11, 18, 7, 1, 22, 250_000)),
        ("2006-03-01T22:30Z", AT.replace(second=0)),
        ("2006-03-01T23:30+01:00", AT.replace(second=0)),
        ("20060301223005", AT),
        ("060301223005", AT),
        ("1141252205", AT),
        ("1141252205.5", AT + timedelta(milliseconds=500)),
        ("1141252205000", AT),
        ("1.141252205E9", AT),
        ("1.141252205E12", AT),
    ],
)
def test_ways_of_writing_are_known(text, moment):
    assert read_times(pl.Series([text])).to_list() == [moment]


def _shapes(pattern: str) -> set[tuple[str, ...]]:
    """List all that a pattern fits, any digit as 0: the patterns have no end of nothing else."""

    def expand(parts: Iterable[Any]) -> set[tuple[str, ...]]:
        found: set[tuple[str, ...]] = {()}
        for name, what in parts:
            found = {(*left, *right) for left in found for right in one(str(name), what)}
        return found

    def one(name: str, what: Any) -> set[tuple[str, ...]]:
        if name == "LITERAL":
            return {(chr(what),)}
        if name == "IN":
            digits = [(re._constants.RANGE, (ord("0"), ord("9")))]
            return {("0",)} if what == digits else {(chr(sign),) for _, sign in what}
        if name == "BRANCH":
            return set().union(*map(expand, what[1]))
        if name == "SUBPATTERN":
            return expand(what[-1])
        assert name == "MAX_REPEAT", name
        least, most, parts = what
        once = expand(parts)
        return {part for times in range(least, most + 1) for part in repeated(once, times)}

    def repeated(once: set[tuple[str, ...]], times: int) -> set[tuple[str, ...]]:
        found: set[tuple[str, ...]] = {()}
        for _ in range(times):
            found = {(*left, *right) for left in found for right in once}
        return found

    return expand(re._parser.parse(pattern))


def test_no_text_fits_two_forms():
    """Proves it: every form fits a finite number of shapes, and no shape fits two."""
    shapes = [_shapes(form.pattern) for form in FORMS]
    assert all(shapes)
    assert len(set().union(*shapes)) == sum(map(len, shapes))


SHORT = [form for form in FORMS if re.search(r":%S(%\.f)?Z$|:%S$", form.how)]


@pytest.mark.parametrize("form", SHORT, ids=lambda form: form.how)
def test_a_short_form_is_read_as_the_general_one(form):
    general = re.sub(r"%S(%\.f)?", "%S%.f", form.how).removesuffix("Z")
    general += "%#z" if form.how.endswith("Z") else ""
    parts = ("0001", "1900", "2000", "2006", "9999"), ("1", "02", "12", "13"), ("0", "29", "31")
    days = ["-".join(day) for day in product(*parts)]
    days += [".".join(day[::-1]) for day in product(*parts)]
    parts = ("0", "9", "09", "23", "24"), ("00", "59", "60"), ("00", "59", "60", "61")
    hours = [":".join(hour) for hour in product(*parts)]
    ends = ("", "Z", ".5", ".5Z", ".123456789Z")
    texts = pl.Series(["".join(text) for text in product(days, (" ", "T", ", "), hours, ends)])
    fits = texts.filter(texts.str.contains(form.whole)).to_frame("text")
    short, whole = (fits.select(parse_time(pl.col("text"), how)) for how in (form.how, general))
    assert fits.height > 1000
    assert short.equals(whole)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.from_regex("|".join(form.pattern for form in FORMS), fullmatch=True) | st.text())
)
def test_each_text_is_read_alone(texts):
    alone = [read_times(pl.Series([text])) for text in texts]
    together = read_times(pl.Series(texts, dtype=pl.String))
    assert together.to_physical().to_list() == [one.to_physical()[0] for one in alone]


moments = st.datetimes(datetime(2002, 1, 1), datetime(2190, 1, 1))


@settings(max_examples=50, deadline=None)
@given(moments.map(lambda moment: moment.replace(microsecond=0)))
def test_every_moment_is_read_alike_whatever_the_way(moment):
    seconds = int(moment.replace(tzinfo=UTC).timestamp())
    east = moment.replace(tzinfo=UTC).astimezone(timezone(timedelta(hours=5, minutes=30)))
    for text in (
        moment.isoformat(),
        moment.isoformat(" "),
        east.isoformat(),
        moment.isoformat() + "Z",
        str(seconds),
        str(seconds * 1000),
        moment.strftime("%d/%b/%Y:%H:%M:%S +0000"),
    ):
        assert read_times(pl.Series([text])).to_list() == [moment], text


@pytest.mark.parametrize(
    "text",
    [
        *("01/02/2006", "25/03/2006 22:30", "03/25/2006 22:30:05", "2006/03/01 22:30:05", "1/2/06"),
        *("yesterday", "12", "-", "2006", "1e300", "nan", "", "123456789", "19700101000000"),
        *("2006-03-01 22:30:05\n", " 2006-03-01", "2006-03-01 22:30:05 and more", "01.03.06"),
    ],
)
def test_what_is_not_in_the_list_is_no_time(text):
    assert read_times(pl.Series([text])).to_list() == [None]


@pytest.mark.parametrize("how", ["epoch seconds", "epoch milliseconds"])
@pytest.mark.parametrize("text", ["nan", "inf", "-inf", "1e300", "9e18", "-9e18", "", "x", None])
def test_numbers_that_are_no_time(how, text):
    assert read([text], how) == [None]


@pytest.mark.parametrize(
    "text",
    [
        "0000-01-01 00:00:00",
        "-0001-01-01 00:00:00",
        "99999-01-01 00:00:00",
        "2006-02-30 10:00:00",
        "2006-13-01 10:00:00",
        "2006-03-01 25:00:00",
        "2006-03-01 10:00:00 and more",
    ],
)
def test_dates_that_no_calendar_has(text):
    assert read([text], "%Y-%m-%d %H:%M:%S") == [None]


def test_the_first_and_the_last_year_are_years():
    texts = ["0001-01-01 00:00:00", "9999-12-31 23:59:59"]
    assert None not in read(texts, "%Y-%m-%d %H:%M:%S")


@pytest.mark.parametrize(
    ("how", "text", "moment"),
    [
        ("%d.%m.%Y %H:%M", "01.03.2006 22:30", AT.replace(second=0)),
        ("%d.%m.%Y", "01.03.2006", datetime(2006, 3, 1)),
        ("%m/%d/%Y %I:%M:%S %p", "03/01/2006 10:30:05 PM", AT),
        ("%Y-%m-%d %T", "2006-03-01 22:30:05", AT),
        ("%s", "1141252205", AT),
        ("%z %Y-%m-%d %H:%M:%S", "+0100 2006-03-01 23:30:05", AT),
        ("%+", "2006-03-01T23:30:05+01:00", AT),
        ("epoch seconds", "1141252205", AT),
    ],
)
def test_ways_that_an_owner_may_name(how, text, moment):
    """A clock of twelve hours, or one that is written as %T, must not lose its hours."""
    check_time_format(how)
    assert read([text], how) == [moment]


@pytest.mark.parametrize("how", [*(form.how for form in FORMS), "%Y%j", "%d %B %Y"])
def test_ways_that_are_ways(how):
    check_time_format(how)


@pytest.mark.parametrize("how", ["%Q", "%", "abc", "%Y-%m-%d %H", "%H:%M", "%d.%m.", "%Y"])
def test_ways_that_are_none(how):
    with pytest.raises(UsageError) as caught:
        check_time_format(how)
    assert "%d.%m.%Y" in caught.value.hint
