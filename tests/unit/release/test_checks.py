"""Each check holds where it should, and fails by as little as one row."""

from __future__ import annotations

from collections import Counter

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from queryveil.release.check_results import CheckResult
from queryveil.release.checks import run_check
from queryveil.release.guarantee import Check

Row = tuple[str | None, str | None, str | None, int | None, str | None]


def log(*rows: Row) -> pl.LazyFrame:
    names = {"user": pl.String, "query": pl.String, "time": pl.String, "rank": pl.Int32,
             "url": pl.String}  # fmt: skip
    return pl.DataFrame(rows, schema=names, orient="row").lazy()


def check(name: str, table: pl.LazyFrame, **given: object) -> CheckResult:
    return run_check(Check.from_dict({"check": name, **given}), table)


def test_min_ids() -> None:
    table = log(("a", "x", None, None, None), ("b", "x", None, 1, "u"), ("b", "x", None, 1, "u"))
    query = {"columns": ["query"], "ids": "users"}
    assert check("min-ids", table, at_least=2, **query).holds
    found = check("min-ids", table, at_least=3, **query)
    assert not found.holds
    assert found.message == "each of 1 distinct values of query has 3 or more users; 1 have fewer"
    pair = {"columns": ["query", "url"], "ids": "users"}
    assert check("min-ids", table, at_least=1, **pair).holds
    assert not check("min-ids", table, at_least=2, **pair).holds  # b's two lines are one user


# --- equal logs ----------------------------------------------------------------------------------

PROTOTYPE = [
    ("x", "2006-03-01", None, None),
    ("x", "2006-03-01", None, None),
    ("x", "2006-03-01", 1, "u"),
    ("y", None, None, "u"),
    ("y", None, None, None),
]


def group(users: str, prototype: list[tuple] = PROTOTYPE) -> list[Row]:
    return [(user, *row) for user in users for row in prototype]


def test_equal_logs() -> None:
    rows = group("abcde") + group("fghijk", PROTOTYPE[:2])
    found = check("equal-logs", log(*rows), k=5)
    assert found.holds
    assert found.check == "equal-logs"
    assert found.message == "each of 2 distinct logs is shared by 5 or more users (11 users)"
    found = check("equal-logs", log(*rows), k=6)
    assert not found.holds
    assert found.message == (
        "each of 2 distinct logs is shared by 6 or more users (11 users); 1 are shared by fewer"
    )
    assert not check("equal-logs", log(*rows), k=7).holds


def test_equal_logs_of_one_user_short() -> None:
    assert check("equal-logs", log(*group("abc")), k=3).holds
    assert not check("equal-logs", log(*group("ab")), k=3).holds
    assert not check("equal-logs", log(*group("abc"), *group("d", PROTOTYPE[1:])), k=3).holds


def test_order_does_not_matter() -> None:
    rows = [*group("a"), *group("b", PROTOTYPE[::-1]), *group("c", PROTOTYPE[2:] + PROTOTYPE[:2])]
    assert check("equal-logs", log(*rows), k=3).holds
    mixed = rows[::2] + rows[1::2]
    assert check("equal-logs", log(*mixed), k=3).holds


def test_how_often_a_row_stands_matters() -> None:
    once, twice, thrice = ([PROTOTYPE[0]] * times for times in (1, 2, 3))
    assert check("equal-logs", log(*group("abc", twice)), k=3).holds
    for other in (once, thrice):
        assert not check("equal-logs", log(*group("ab", twice), *group("c", other)), k=3).holds
    # As many rows, and the same set of rows.
    one, two = ([*once, *twice, PROTOTYPE[3]], [*once, PROTOTYPE[3], PROTOTYPE[3]])
    assert not check("equal-logs", log(*group("ab", one), *group("c", two)), k=2).holds


OTHER = {1: ["z", None, ""], 2: ["2006-03-02", None], 3: [2, 0, None], 4: ["v", "", None]}


@pytest.mark.parametrize("encoded", [False, True])
@pytest.mark.parametrize("place", OTHER)
def test_one_other_cell_of_one_user_breaks_it(place: int, encoded: bool) -> None:
    rows = group("abcd")
    for number, row in enumerate(rows):
        for cell in OTHER[place]:
            spoilt = (*row[:place], cell, *row[place + 1 :])
            table = log(*rows[:number], spoilt, *rows[number + 1 :])
            if encoded:  # as `verify` gives it
                table = table.with_columns(pl.col(pl.String).cast(pl.Categorical))
            assert check("equal-logs", table, k=4).holds == (spoilt == row), (row, cell)


def test_cells_that_are_not_there_are_equal_to_each_other_alone() -> None:
    nothing = [(None, None, None, None)]
    assert check("equal-logs", log(*group("ab", nothing)), k=2).holds
    empty = [("", "", None, "")]
    assert not check("equal-logs", log(*group("ab", nothing), *group("c", empty)), k=2).holds
    assert not check("equal-logs", log(*group("a", nothing), *group("b", empty)), k=2).holds


@pytest.mark.parametrize("k", [1, 0, -3, True, 2.0, "2", None, [2]])
def test_a_k_that_hides_nobody_does_not_hold(k: object) -> None:
    found = check("equal-logs", log(*group("abc")), k=k)
    assert not found.holds
    assert "hides nobody" in found.message or "is not of type int" in found.message


def test_no_users_share_nothing() -> None:
    found = check("equal-logs", log(), k=2)
    assert not found.holds
    assert found.message == "there are no users who could share a log"


ROWS = st.tuples(
    st.sampled_from("abcdef"),
    st.sampled_from(["x", "y", None]),
    st.sampled_from(["2006-03-01", None]),
    st.sampled_from([1, None]),
    st.sampled_from(["u", None]),
)
FEW = st.tuples(
    st.sampled_from("abcd"), st.sampled_from("xy"), st.none(), st.none(), st.none()
)  # so few that equal logs are met


@given(st.lists(ROWS, max_size=25) | st.lists(FEW, max_size=12), st.booleans())
@example(group("ab"), False)
def test_equal_logs_against_a_plain_count(rows: list[Row], encoded: bool) -> None:
    logs: dict[str | None, Counter[tuple]] = {}
    for user, *row in rows:
        logs.setdefault(user, Counter())[tuple(row)] += 1
    shared = Counter(frozenset(one.items()) for one in logs.values())
    table = log(*rows)
    if encoded:
        table = table.with_columns(pl.col(pl.String).cast(pl.Categorical))
    for k in (2, 3):
        found = check("equal-logs", table, k=k)
        assert found.holds == (bool(rows) and min(shared.values()) >= k)
        if rows:
            assert f"each of {len(shared)} distinct logs" in found.message
            assert f"({len(logs)} users)" in found.message


@given(st.lists(ROWS.map(lambda row: row[1:]), min_size=1, max_size=8), st.data())
def test_a_group_holds_in_any_order_and_breaks_with_a_row_taken_away(
    prototype: list[tuple], data: st.DataObject
) -> None:
    rows = data.draw(st.permutations(group("abc", prototype)))
    assert check("equal-logs", log(*rows), k=3).holds
    assert not check("equal-logs", log(*rows[1:]), k=3).holds
    assert not check("equal-logs", log(*rows, rows[0]), k=3).holds


# --- clicks and times ----------------------------------------------------------------------------


def test_no_clicks() -> None:
    assert check("no-clicks", log(("a", "x", None, None, None))).holds
    assert not check("no-clicks", log(("a", "x", None, 1, None))).holds
    assert not check("no-clicks", log(("a", "x", None, None, "u"))).holds


FITS = {
    "none": [None],
    "month": [None, "2006-03-01"],
    "day": [None, "2006-03-01", "2006-03-31"],
    "hour": [None, "2006-03-01 10:00:00", "2006-03-01T10:00:00", "2006-03-01 10:00:00.000000"],
}
BREAKS = {
    "none": ["2006-03-01", ""],
    "month": ["2006-03-02", "2006-03-01 00:00:00", "x"],
    "day": ["2006-03-01 00:00:00", "2006-03-01 ", "2006-03-01\n", "1141207872", ""],
    "hour": ["2006-03-01 10:01:00", "2006-03-01 10:00:01", "2006-03-01 10:00:00.000001"],
}


@pytest.mark.parametrize("step", FITS)
def test_time_step(step: str) -> None:
    for time in FITS[step]:
        assert check("time-step", log(("a", "x", time, None, None)), step=step).holds, time
    for time in BREAKS[step]:
        table = log(("a", "x", None, None, None), ("a", "x", time, None, None))
        assert not check("time-step", table, step=step).holds, time


def test_an_unknown_check_does_not_hold() -> None:
    found = check("from-the-future", log(("a", "x", None, None, None)))
    assert not found.holds
    assert "does not know this check" in found.message
