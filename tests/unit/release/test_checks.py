"""Each check holds where it should, and fails by as little as one row."""

from __future__ import annotations

import polars as pl
import pytest

from queryveil.release import Check, Finding
from queryveil.release.checks import run_check


def log(*rows: tuple[str, str, str | None, int | None, str | None]) -> pl.LazyFrame:
    names = {"user": pl.String, "query": pl.String, "time": pl.String, "rank": pl.Int32,
             "url": pl.String}  # fmt: skip
    return pl.DataFrame(rows, schema=names, orient="row").lazy()


def check(name: str, table: pl.LazyFrame, **given: object) -> Finding:
    return run_check(Check.from_dict({"check": name, **given}), table)


def test_min_ids() -> None:
    table = log(("a", "x", None, None, None), ("b", "x", None, 1, "u"), ("b", "x", None, 1, "u"))
    query = {"columns": ["query"], "ids": "users"}
    assert check("min-ids", table, at_least=2, **query).holds
    found = check("min-ids", table, at_least=3, **query)
    assert not found.holds
    assert found.says == "each of 1 distinct values of query has 3 or more users; 1 have fewer"
    pair = {"columns": ["query", "url"], "ids": "users"}
    assert check("min-ids", table, at_least=1, **pair).holds
    assert not check("min-ids", table, at_least=2, **pair).holds  # b's two lines are one user


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
    assert "does not know this check" in found.says
