"""Times as logs write them, and what is none."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from queryveil.errors import FormatError, UsageError
from queryveil.log.times import FORMATS, check_format, choose_format, is_time, parse_time

AT = datetime(2006, 3, 1, 22, 30, 5)


def read(texts: list[str | None], how: str) -> list[datetime | None]:
    table = pl.DataFrame({"t": texts}, schema={"t": pl.String})
    parsed = table.select(parse_time(pl.col("t"), how))
    return parsed.select(pl.when(is_time(pl.col("t"))).then(pl.col("t")))["t"].to_list()


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
        ("2006/03/01 22:30:05", AT),
        ("20060301223005", AT),
        ("060301223005", AT),
        ("03/25/2006 22:30:05", AT.replace(day=25)),
        ("25/03/2006 22:30", AT.replace(day=25, second=0)),
        ("25/03/2006", datetime(2006, 3, 25)),
        ("1141252205", AT),
        ("1141252205.5", AT + timedelta(milliseconds=500)),
        ("1141252205000", AT),
    ],
)
def test_ways_of_writing_are_found_by_themselves(text, moment):
    how = choose_format(pl.Series([text]), "log")
    assert how in FORMATS
    assert read([text], how) == [moment]


# Outside of these years a single count of milliseconds can be read as a date in digits, too.
moments = st.datetimes(datetime(2002, 1, 1), datetime(2033, 1, 1))


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
        assert read([text], choose_format(pl.Series([text]), "log")) == [moment], text


def test_day_or_month_first_is_never_guessed():
    with pytest.raises(FormatError, match="day or with the month first") as caught:
        choose_format(pl.Series(["01/02/2006", "03/04/2006"]), "log.tsv")
    assert '"%d/%m/%Y" or "%m/%d/%Y"' in caught.value.hint
    assert choose_format(pl.Series(["01/02/2006"] * 9 + ["13/02/2006"]), "log") == "%d/%m/%Y"
    assert choose_format(pl.Series(["01/02/2006"] * 9 + ["02/13/2006"]), "log") == "%m/%d/%Y"
    assert choose_format(pl.Series(["05/05/2006"] * 9), "log") == "%m/%d/%Y"  # it is one day


def test_most_of_the_sample_decides():
    texts = ["2006-03-01 22:30:05"] * 3 + ["never", ""]
    how = choose_format(pl.Series(texts), "log")
    assert read(texts, how) == [AT] * 3 + [None] * 2


@pytest.mark.parametrize("text", ["yesterday", "25/25/2006", "12", "-", "2006", "1e300", "nan"])
def test_what_is_no_time_is_told_with_a_way_out(text):
    with pytest.raises(FormatError, match="no known way") as caught:
        choose_format(pl.Series([text] * 3), "log.tsv")
    assert caught.value.where == "log.tsv"
    assert "--time-format" in caught.value.hint


def test_a_long_text_is_not_shown_whole():
    with pytest.raises(FormatError) as caught:
        choose_format(pl.Series(["x" * 10_000]), "log")
    assert len(str(caught.value)) < 400


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
    check_format(how)
    assert read([text], how) == [moment]


@pytest.mark.parametrize("how", [*FORMATS, "%Y%j", "%d %B %Y"])
def test_ways_that_are_ways(how):
    check_format(how)


@pytest.mark.parametrize("how", ["%Q", "%", "abc", "%Y-%m-%d %H", "%H:%M", "%d.%m.", "%Y"])
def test_ways_that_are_none(how):
    with pytest.raises(UsageError) as caught:
        check_format(how)
    assert "%d.%m.%Y" in caught.value.hint
