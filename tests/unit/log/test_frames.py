"""Frames of other libraries become logs by the same cleaning as files."""

from __future__ import annotations

import subprocess
import sys
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars as pl
import pyarrow
import pytest

import queryveil as qv
from queryveil.errors import ArgumentError, ColumnError, TooManyRejectedError, UsageError
from queryveil.log.keywords import READING_OPTIONS, ReadingKeywords

ROWS = {
    "customer": [7, 7, 8, 9, None],
    "search": ["Red  Shoes", "-", " red shoes", None, "boots"],
    "ts": [datetime(2024, 5, 1, 10, minute) for minute in (0, 1, 2, 3, 4)],
    "position": [1.0, None, 3.0, None, None],
}
COLUMNS = {"user": "customer", "query": "search", "time": "ts"}
LIBRARIES = (
    "pandas",
    "pandas objects",
    "pandas nullable",
    "pandas arrow",
    "polars",
    "lazy",
    "pyarrow",
)


def frame_of(library: str) -> Any:
    if library.startswith("pandas"):
        frame = pandas.DataFrame(ROWS)
        if library == "pandas objects":
            return frame.astype(object)
        if library == "pandas nullable":
            return frame.convert_dtypes().astype({"search": "category"})
        return frame.convert_dtypes(dtype_backend="pyarrow") if library == "pandas arrow" else frame
    if library == "pyarrow":
        return pyarrow.table(ROWS)
    frame = pl.DataFrame(ROWS)
    return frame.lazy() if library == "lazy" else frame


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("columns", [COLUMNS, "user=customer, query=search, time=ts"])
def test_a_frame_is_cleaned_as_a_file_is(library: str, columns: Any, tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    pl.DataFrame(ROWS).write_csv(path)
    log = qv.read_log(frame_of(library), columns=columns, max_rejected=0.5)
    expected = qv.read_log(path, columns=columns, max_rejected=0.5)
    rows = log.to_polars()
    assert rows.equals(expected.to_polars())
    assert log.accounting.counts() == expected.accounting.counts()
    assert log.accounting.dropped == {"query is -": 1, "empty query": 1}
    assert log.accounting.rejected == {"no user": 1}
    assert rows["user"].to_list() == ["7", "8"]  # not 7.0, although a user is missing
    assert rows["rank"].to_list() == [1, 3]
    assert log.sources == ()


def column_of(values: Any) -> list[str | None]:
    """Return a column of pandas as the users that a log has."""
    frame = pandas.DataFrame({"user": values, "query": "x"})
    return qv.read_log(frame, max_rejected=1.0).to_polars()["user"].to_list()


@pytest.mark.parametrize(
    ("values", "users"),
    [
        (["a", None, np.nan, pandas.NA, "b"], ["a", "b"]),
        (["a", 1, 2.0, 2.5, Decimal("3.1"), b"c"], ["a", "1", "2", "2.5", "3.1", "c"]),
        ([b"\xff", "ok", "\ud800"], ["ok"]),
        (pandas.array([1, None, 2**60 + 1], dtype="Int64"), ["1", str(2**60 + 1)]),
        (np.array([1, 2], dtype="uint64") + np.uint64(2**63), [str(2**63 + 1), str(2**63 + 2)]),
        (pandas.array([True, None], dtype="boolean"), ["true"]),
        (pandas.array([1.5, None], dtype="Float64"), ["1.5"]),
        (pandas.Categorical([3, None, 3, 1]), ["3", "3", "1"]),
        (pandas.array(["a", None], dtype="string[python]"), ["a"]),
        ([date(2024, 5, 1)], ["2024-05-01"]),
    ],
)  # fmt: skip
def test_types_of_pandas(values: Any, users: list[str]) -> None:
    assert column_of(values) == users


def test_times_of_pandas_are_in_utc() -> None:
    """Times with a zone are converted, as those of a file are; NaT is a missing time."""
    zone = timezone(timedelta(hours=2))
    moments = [datetime(2024, 5, 1, 12, tzinfo=zone), datetime(2024, 5, 1, 13, tzinfo=zone)]
    times = [
        pandas.Series(pandas.to_datetime(moments)),
        pandas.Series(moments, dtype=object),
        pl.Series(moments),
    ]
    for column in times:
        make: Any = pl.DataFrame if isinstance(column, pl.Series) else pandas.DataFrame
        log = qv.read_log(make({"user": ["a", "b"], "query": ["x", "y"], "time": column}))
        assert log.to_polars()["time"].to_list() == [
            datetime(2024, 5, 1, 10),
            datetime(2024, 5, 1, 11),
        ]
    missing = pandas.DataFrame({"user": ["a"], "query": ["x"], "time": [pandas.NaT]})
    assert qv.read_log(missing, max_rejected=1.0).accounting.rejected == {"no time": 1}


def test_named_levels_of_an_index_and_numbered_columns() -> None:
    frame = pandas.DataFrame(
        {"user": ["a"], "query": ["x"]}, index=pandas.Index([datetime(2024, 5, 1)], name="time")
    )
    assert qv.read_log(frame).to_polars()["time"].to_list() == [datetime(2024, 5, 1)]
    numbered = pandas.DataFrame([["a", "x"]])
    log = qv.read_log(numbered, columns={"user": 0, "query": 1})
    assert log.to_polars().rows() == [("a", "x", None, None, None)]


def test_only_the_columns_of_a_log_are_read() -> None:
    """What another column holds does not matter, and a lazy frame does not compute it."""
    frame = pandas.DataFrame({"user": ["a"], "query": ["x"], "other": [object()]})
    assert qv.read_log(frame).count() == 1
    lazy = pl.LazyFrame({"user": ["a"], "query": ["x"], "bad": ["y"]})
    assert qv.read_log(lazy.with_columns(pl.col("bad").cast(pl.Int64))).count() == 1


def test_pandas_is_read_without_pyarrow() -> None:
    code = """
import sys
sys.modules["pyarrow"] = None
import pandas, queryveil as qv
frame = pandas.DataFrame({"user": [7, 7, None], "query": ["Cats", None, "dogs"],
                          "time": pandas.to_datetime(["2024-05-01"] * 3), "url": ["a", "b", None]})
log = qv.read_log(frame, max_rejected=1.0)
print(log.to_polars().rows(), log.to_pandas().shape, log.accounting.dropped)
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "('7', 'cats', datetime.datetime(2024, 5, 1, 0, 0), None, 'a')" in ran.stdout
    assert "(1, 5) {'empty query': 1}" in ran.stdout


def test_usual_names_and_options() -> None:
    frame = pl.DataFrame({"uid": ["a", "b"], "q": ["cats", "dogs"], "date": ["2024-05-01"] * 2})
    log = qv.QueryLog.from_frame(frame, exclude_users={"b"})
    assert log.to_polars()["query"].to_list() == ["cats"]
    assert log.accounting.dropped == {"user asked to be left out": 1}


def test_rejected_rows_are_counted_and_too_many_are_an_error() -> None:
    frame = pl.DataFrame({"user": ["a", "", "b\0"], "query": ["x", "y", "z"]})
    with pytest.raises(TooManyRejectedError):
        qv.read_log(frame)
    log = qv.read_log(frame, max_rejected=1.0)
    assert log.accounting.rejected == {"no user": 1, "NUL": 1}
    assert log.accounting.rejected_rows()["line"].to_list() == [2, 3]


def test_what_is_refused() -> None:
    with pytest.raises(ColumnError, match='no column "uid"'):
        qv.read_log(pl.DataFrame(ROWS), columns={"user": "uid"})
    with pytest.raises(ColumnError, match="no column is known as the user"):
        qv.read_log(pl.DataFrame({"query": ["x"]}))
    with pytest.raises(ColumnError, match="holds List"):
        qv.read_log(pl.DataFrame({"user": ["a"], "query": [["x"]]}))
    with pytest.raises(ColumnError, match='several columns are called "query"'):
        qv.read_log(pandas.DataFrame([["a", "x", "y"]], columns=["user", "query", "query"]))
    with pytest.raises(UsageError, match=r'"usr" in `columns` is not a known column.*"user"'):
        qv.read_log(pl.DataFrame(ROWS), columns={"usr": "customer"})
    with pytest.raises(UsageError, match="a list is not a frame"):
        qv.QueryLog.from_frame([("a", "x")])  # type: ignore[arg-type]
    for wrong in (7, [7], [pl.DataFrame(ROWS)], pl.Series(["a"])):
        with pytest.raises(UsageError, match="cannot be read from a value of type"):
            qv.read_log(wrong)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match=r'read_log\(\) has no argument "colums".*`columns`'):
        qv.read_log(pl.DataFrame(ROWS), colums=COLUMNS)  # type: ignore[call-arg]
    with pytest.raises(UsageError, match="a frame in memory"):
        qv.read_log(pl.DataFrame(ROWS), columns=COLUMNS, engine="spark")


def test_a_column_of_other_objects_is_refused_without_its_cells() -> None:
    for value in ({"text": "secret"}, ["secret"], pandas.Period("2024-05"), timedelta(days=1)):
        frame = pandas.DataFrame({"user": ["a", "b"], "query": pandas.Series([value, value])})
        with pytest.raises(ColumnError, match='"query" holds ') as caught:
            qv.read_log(frame)
        assert "secret" not in str(caught.value)


def test_every_reading_option_is_a_keyword_that_editors_know() -> None:
    assert tuple(ReadingKeywords.__annotations__) == READING_OPTIONS
