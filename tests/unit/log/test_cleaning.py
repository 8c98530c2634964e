"""From texts to rows: normalisation, what is dropped, what is rejected, and that it adds up."""

from __future__ import annotations

from datetime import datetime

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from queryveil.log.cleaning import Cleaner
from queryveil.log.readers.base import RawRows

AT = "2006-03-01 10:00:05"
NAMES = ("user", "query", "time", "rank", "url")
KINDS = dict.fromkeys(NAMES, pl.String) | {"line": pl.Int64, "fault": pl.String}


def raw(rows: list[tuple], faults: dict[int, str] | None = None, **more: object) -> RawRows:
    """Make a block of rows as a reader would, the first on line 1."""
    table = [
        (*row, *[None] * (5 - len(row)), number, (faults or {}).get(number))
        for number, row in enumerate(rows, 1)
    ]
    return RawRows("log.tsv", pl.DataFrame(table, schema=KINDS, orient="row"), **more)


def queries(texts: list[str], cleaner: Cleaner | None = None) -> list[str]:
    rows = raw([("7", text, AT) for text in texts])
    return (cleaner or Cleaner()).clean(rows)["query"].to_list()


def reasons(rows: list[tuple], **more: object) -> dict[str, int]:
    cleaner = Cleaner()
    cleaner.clean(raw(rows, **more))
    return cleaner.accounting.rejected


# --- normalisation -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Red Shoes", "red shoes"),
        ("  red   shoes ", "red shoes"),
        ("red\tshoes", "red shoes"),
        ("\u00c4PFEL \u00c9T\u00c9", "\u00e4pfel \u00e9t\u00e9"),
        ("\u041c\u043e\u0441\u043a\u0432\u0410", "\u043c\u043e\u0441\u043a\u0432\u0430"),
        ("\u039f\u0394\u039f\u03a3", "\u03bf\u03b4\u03bf\u03c2"),
        ("STRASSE stra\u00dfe", "strasse stra\u00dfe"),
        ("\u0130stanbul", "i\u0307stanbul"),
        ("\u6771\u4eac\u3000\u30e9\u30fc\u30e1\u30f3", "\u6771\u4eac \u30e9\u30fc\u30e1\u30f3"),
        ("\U0001f35c Ramen", "\U0001f35c ramen"),
        ("-x-", "-x-"),
    ],
)
def test_normalisation(text, wanted):
    assert queries([text]) == [wanted]


BLANKS = "\t\n\v\f\r \x85\xa0\u1680\u2000\u2003\u2009\u200a\u2028\u2029\u202f\u205f\u3000"


@pytest.mark.parametrize("blank", BLANKS, ids=lambda sign: f"U+{ord(sign):04X}")
def test_every_kind_of_blank_is_one_blank(blank):
    texts = [f"red{blank}shoes", f"red{blank}{blank}shoes", f"{blank}red shoes{blank}"]
    assert queries(texts) == ["red shoes"] * 3


def test_what_was_changed_is_counted():
    cleaner = Cleaner()
    texts = ["cats", "Cats", "red  shoes", " dogs", "Big\u00a0Dogs ", "a b", "\u00c4"]
    queries(texts, cleaner)
    assert cleaner.accounting.normalized == {"lower-cased": 3, "blanks collapsed": 3}
    queries(["Cats"], cleaner)
    assert cleaner.accounting.normalized == {"lower-cased": 4, "blanks collapsed": 3}


def test_nothing_changed_nothing_counted():
    cleaner = Cleaner()
    queries(["cats", "red shoes"], cleaner)
    assert cleaner.accounting.normalized == {}


def test_users_and_addresses_lose_their_outer_blanks_and_nothing_else():
    rows = [(" Jane  Doe\u00a0", "cats", f" {AT} ", " 3 ", "  http://A.example/X y ")]
    kept = Cleaner().clean(raw(rows)).rows()
    assert kept == [
        ("Jane  Doe", "cats", datetime(2006, 3, 1, 10, 0, 5), 3, "http://A.example/X y")
    ]


texts = st.text(
    st.sampled_from("aB\u00c4\u00df\u0130\u03a3\u03c3\u0416\u6771-" + BLANKS), max_size=8
)


@settings(max_examples=50, deadline=None)
@given(st.lists(texts, min_size=1, max_size=10))
def test_normalisation_is_what_python_says(some):
    cleaner = Cleaner()
    kept = queries(some, cleaner)
    wanted = [" ".join(text.lower().split()) for text in some if text.strip() not in ("", "-")]
    assert kept == wanted
    assert queries(kept) == kept  # once is enough
    whole = [text for text in some if text.strip() not in ("", "-")]
    assert cleaner.accounting.normalized.get("lower-cased", 0) == sum(t.lower() != t for t in whole)
    blanks = sum(" ".join(text.split()) != text for text in whole)
    assert cleaner.accounting.normalized.get("blanks collapsed", 0) == blanks


# --- dropped -------------------------------------------------------------------------------------


@pytest.mark.parametrize("query", [None, "", " ", "\u3000", "-", " - ", "\t-"])
def test_empty_queries_and_dashes_are_dropped(query):
    cleaner = Cleaner()
    assert cleaner.clean(raw([("7", query, AT), ("7", "--", AT)])).height == 1
    reason = "empty query" if not (query or "").strip() else "query is -"
    assert cleaner.accounting.dropped == {reason: 1}
    assert cleaner.accounting.rejected == {}


@pytest.mark.parametrize("row", [(None,) * 5, ("", " ", "\t", None, "")])
def test_blank_lines_are_dropped(row):
    cleaner = Cleaner()
    assert cleaner.clean(raw([row])).height == 0
    assert cleaner.accounting.dropped == {"blank line": 1}


def test_days_are_inclusive():
    times = [
        "2006-02-28 23:59:59",
        "2006-03-01 00:00:00",
        "2006-03-02 12:00:00",
        "2006-03-03 23:59:59",
        "2006-03-04 00:00:00",
    ]
    cleaner = Cleaner(datetime(2006, 3, 1), datetime(2006, 3, 4))
    kept = cleaner.clean(raw([("7", time, time) for time in times]))
    assert kept["query"].to_list() == times[1:4]
    assert cleaner.accounting.dropped == {"outside the dates asked for": 2}


def test_users_who_objected_are_left_out():
    cleaner = Cleaner(exclude=frozenset({"7", "jane doe"}))
    kept = cleaner.clean(raw([("7", "a", AT), (" 7 ", "b", AT), ("77", "c", AT), ("8", "d", AT)]))
    assert kept["query"].to_list() == ["c", "d"]
    assert cleaner.accounting.dropped == {"user asked to be left out": 2}


def test_a_bad_row_is_rejected_whatever_else_would_drop_it():
    cleaner = Cleaner(exclude=frozenset({"7"}))
    cleaner.clean(raw([("7", "-", "no date"), (None, "", AT), ("8", "", AT, "0")]))
    assert cleaner.accounting.dropped == {}
    assert sum(cleaner.accounting.rejected.values()) == 3


# --- rejected ------------------------------------------------------------------------------------


@pytest.mark.parametrize("user", [None, "", "  ", "\u00a0"])
def test_no_user(user):
    assert reasons([(user, "cats", AT)]) == {"no user": 1}


@pytest.mark.parametrize("time", [None, "", " "])
def test_no_time(time):
    assert reasons([("7", "cats", time), ("7", "cats", AT)]) == {"no time": 1}


@pytest.mark.parametrize("time", ["soon", "2006-02-30 10:00:00", "0000-00-00 00:00:00", "12"])
def test_not_a_date(time):
    rows = [("7", "cats", AT)] * 2 + [("7", "cats", time)]
    assert reasons(rows) == {"not a date": 1}


@pytest.mark.parametrize("rank", ["x", "1.5", "99999999999", "1e3", "nan", "0x1", "\u0663"])
def test_rank_is_not_a_number(rank):
    assert reasons([("7", "cats", AT, rank)]) == {"rank is not a number": 1}


@pytest.mark.parametrize("rank", ["0", "-1", "-2147483648", "0.0"])
def test_rank_below_one(rank):
    assert reasons([("7", "cats", AT, rank)]) == {"rank below 1": 1}


@pytest.mark.parametrize(
    ("rank", "number"), [("1", 1), ("3.0", 3), ("", None), ("2147483647", 2**31 - 1)]
)
def test_ranks(rank, number):
    assert Cleaner().clean(raw([("7", "cats", AT, rank)]))["rank"].to_list() == [number]


@pytest.mark.parametrize("place", [0, 1, 4])
@pytest.mark.parametrize(("size", "bad"), [(65_536, False), (65_537, True)])
def test_cells_that_are_too_long(place, size, bad):
    row: list = ["7", "cats", AT, None, "u"]
    row[place] = "x" * size
    assert reasons([tuple(row)]) == ({"cell longer than 64 KB": 1} if bad else {})


def test_what_a_reader_found_goes_before_everything():
    rows = [("7", "cats", AT), (None, None, None), ("8", "dogs", "no date")]
    faults = {1: "too many columns", 2: "not UTF-8", 3: "NUL byte"}
    cleaner = Cleaner()
    assert cleaner.clean(raw(rows, faults)).height == 0
    assert cleaner.accounting.rejected_rows().rows() == [
        ("log.tsv", number, why) for number, why in faults.items()
    ]


def test_the_list_of_rejected_rows_names_places_and_no_contents():
    cleaner = Cleaner()
    cleaner.clean(raw([("7", "cats", AT), (None, "a secret", AT)]))
    cleaner.clean(raw([("secret", "cats", AT, "x")]))
    listed = cleaner.accounting.rejected_rows()
    assert listed.rows() == [("log.tsv", 2, "no user"), ("log.tsv", 1, "rank is not a number")]
    assert "secret" not in str(listed)


# --- times ---------------------------------------------------------------------------------------


def test_each_time_is_read_alone():
    cleaner = Cleaner()
    texts = ["03/25/2006 10:00:05", "01.03.2006 10:00:05", AT, "1141207205", "soon"]
    kept = cleaner.clean(raw([("7", "cats", text) for text in texts]))
    assert kept["time"].to_list() == [datetime(2006, 3, 1, 10, 0, 5)] * 3
    assert cleaner.accounting.rejected == {"not a date": 2}


def test_a_block_without_a_good_time_decides_nothing():
    """Its rows are bad for other reasons; the times of the next block are to be looked at."""
    cleaner = Cleaner()
    cleaner.clean(raw([("7", "cats", "soon")], {1: "too many columns"}))
    cleaner.clean(raw([("7", None, None)]))
    assert cleaner.clean(raw([("7", "cats", "1141207205")])).height == 1
    assert cleaner.accounting.rejected == {"too many columns": 1, "no time": 1}


def test_the_owner_and_the_format_know_better():
    named = Cleaner(time_format="%d.%m.%Y %H:%M")
    assert named.clean(raw([("7", "cats", "01.03.2006 10:00")])).height == 1
    known = Cleaner().clean(raw([("7", "cats", "970916105432")], time_format="%y%m%d%H%M%S"))
    assert known["time"].to_list() == [datetime(1997, 9, 16, 10, 54, 32)]


def test_a_log_without_times():
    cleaner = Cleaner()
    assert cleaner.clean(raw([("7", "cats")], has_time=False))["time"].to_list() == [None]
    dated = Cleaner(since=datetime(2006, 3, 1))
    assert dated.clean(raw([("7", "cats")], has_time=False)).height == 0
    assert dated.accounting.dropped == {"outside the dates asked for": 1}


def test_times_that_nobody_can_read():
    cleaner = Cleaner()
    assert not cleaner.clean(raw([("7", "cats", "soon")] * 3)).height
    assert cleaner.accounting.rejected == {"not a date": 3}


# --- the whole, against plain Python -------------------------------------------------------------

SINCE, UNTIL, OUT = datetime(2006, 3, 1), datetime(2006, 3, 2), frozenset({"9"})


def slow_fate(row: tuple, fault: str | None) -> str | None:
    """Say why a row is not kept, or None."""
    user, query, time, rank, url = ((cell or "").strip() for cell in row)
    try:
        moment = datetime.strptime(time, "%Y-%m-%d %H:%M:%S")
    except ValueError:
        moment = None
    number = int(rank) if rank.lstrip("-").isdigit() else None
    if fault:
        return fault
    tests = {
        "blank line": not (user or query or time or rank or url),
        "no user": not user,
        "no time": not time,
        "not a date": moment is None,
        "rank is not a number": bool(rank) and number is None,
        "rank below 1": number is not None and number < 1,
        "user asked to be left out": user in OUT,
        "empty query": not query,
        "query is -": query == "-",
        "outside the dates asked for": moment is None or not SINCE <= moment < UNTIL,
    }
    return next((reason for reason, true in tests.items() if true), None)


blank = st.sampled_from([None, "", "  "])
rows = st.tuples(
    st.sampled_from(["7", "8", " 9", "\u00c4"]) | blank,
    st.sampled_from(["cats", "Red  Dogs", "-", " - ", "a\u00a0b"]) | blank,
    st.sampled_from([AT, AT, "2006-03-02 00:00:00", "2006-02-28 23:59:59", "soon"]) | blank,
    st.sampled_from(["1", "12", "0", "-3", "x"]) | blank,
    st.sampled_from(["http://a.example"]) | blank,
)
faults = st.sampled_from([None, None, None, "too many columns", "not UTF-8"])


@settings(max_examples=50, deadline=None)
@given(st.lists(st.lists(st.tuples(rows, faults), max_size=8), max_size=4))
def test_every_row_is_kept_dropped_or_rejected_for_the_right_reason(blocks):
    cleaner = Cleaner(SINCE, UNTIL, OUT, "%Y-%m-%d %H:%M:%S")
    kept: list[tuple] = []
    for block in blocks:
        bad = {number: fault for number, (_, fault) in enumerate(block, 1) if fault}
        kept += cleaner.clean(raw([row for row, _ in block], bad)).rows()
    tally, fates = cleaner.accounting, [slow_fate(row, f) for block in blocks for row, f in block]
    counted = {reason: fates.count(reason) for reason in set(fates) if reason}
    assert tally.dropped | tally.rejected == counted
    assert not tally.dropped.keys() & tally.rejected.keys()
    assert tally.rows == len(fates)
    assert tally.kept == len(kept) == fates.count(None)
    listed = tally.rejected_rows().select("line", "reason").rows()
    assert listed == [
        (number, fate)
        for block in blocks
        for number, fate in enumerate((slow_fate(row, fault) for row, fault in block), 1)
        if fate in tally.rejected
    ]
