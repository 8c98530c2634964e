"""The check `slots`: so many rows of each user name, numbered instead of dated."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from queryveil.release.check_results import CheckResult
from queryveil.release.checks import run_check
from queryveil.release.guarantee import Check


def check(rows: list[tuple[str, Any]], most: Any = 3, full: Any = True) -> CheckResult:
    names = {"user": pl.String, "time": pl.String}
    table = pl.DataFrame(rows, schema=names, orient="row")
    return run_check(Check("slots", {"rows": most, "all": full}), table.lazy())


GOOD = [(user, str(slot)) for user in "ab" for slot in (1, 2, 3)]


def test_good_ones() -> None:
    found = check(GOOD)
    assert found.holds
    assert found.message == "each user name has exactly 3 rows, numbered instead of dated"
    assert check(GOOD[::-1]).holds
    assert check(GOOD, full=False).holds
    assert check(GOOD[:4], full=False).holds
    assert check([]).holds
    numbered = pl.DataFrame({"user": ["a", "a"], "time": [4, 5]}).lazy()  # those of an extension
    assert run_check(Check("slots", {"rows": 2, "all": True}), numbered).holds


@pytest.mark.parametrize(
    "rows",
    [
        [*GOOD, ("a", "4")],
        [*GOOD, ("c", "1"), ("c", "2"), ("c", "3"), ("c", "4")],
        [("a", "1"), ("a", "2"), ("a", "2")],
        [("a", "1"), ("a", "2"), ("a", None)],
        [("a", None), ("a", None), ("a", None)],
        [("a", "1"), ("a", "2"), ("a", "2006-03-01")],
        [("a", "1"), ("a", "2"), ("a", "2006-03-01 10:00:00")],
        [("a", "1"), ("a", "2"), ("a", "10:00")],
        [("a", "1141171200"), ("a", "1141174800"), ("a", "1141261200")],  # dates, as seconds
        [("a", "1"), ("a", "2"), ("a", "0")],
        [("a", "1"), ("a", "2"), ("a", "03")],
        [("a", "1"), ("a", "2"), ("a", "-3")],
        [("a", "1"), ("a", "2"), ("a", "3.5")],
        [("a", "1"), ("a", "2"), ("a", "3\n")],
        [("a", "1"), ("a", "2"), ("a", "٣")],
    ],
)
@pytest.mark.parametrize("full", [True, False])
def test_bad_ones(rows: list[tuple[str, Any]], full: bool) -> None:
    found = check(rows, full=full)
    assert not found.holds
    assert found.message.startswith("not so for 1: ")


def test_too_few_rows() -> None:
    assert not check(GOOD[:-1]).holds
    assert check(GOOD[:-1], full=False).holds


@pytest.mark.parametrize("most", [0, -1, None, True, 3.0, "3", [3]])
def test_a_card_with_another_number(most: Any) -> None:
    found = check(GOOD, most=most)
    assert not found.holds
    assert "the card's number of rows" in found.message or "is not of type int" in found.message


@pytest.mark.parametrize("full", [None, 1, "yes"])
def test_a_card_with_another_kind(full: Any) -> None:
    assert not check(GOOD, full=full).holds
