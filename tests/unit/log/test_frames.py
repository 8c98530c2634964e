"""Frames of other libraries become logs by the same cleaning as files."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pandas
import polars as pl
import pyarrow
import pytest

import queryveil as qv
from queryveil.errors import ColumnError, InputError, TooManyRejectedError, UsageError

ROWS = {
    "customer": [7, 7, 8, 9],
    "search": ["Red  Shoes", "-", " red shoes", None],
    "ts": [datetime(2024, 5, 1, 10, minute) for minute in (0, 1, 2, 3)],
    "position": [1.0, None, 3.0, None],
}
COLUMNS = {"user": "customer", "query": "search", "time": "ts"}


def frame_of(library: str) -> object:
    if library == "pandas":
        return pandas.DataFrame(ROWS)
    if library == "pyarrow":
        return pyarrow.table(ROWS)
    frame = pl.DataFrame(ROWS)
    return frame.lazy() if library == "lazy" else frame


@pytest.mark.parametrize("library", ["pandas", "polars", "lazy", "pyarrow"])
def test_a_frame_is_cleaned_as_a_file_is(library: str, tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    pl.DataFrame(ROWS).write_csv(path)
    log = qv.QueryLog.from_frame(frame_of(library), columns=COLUMNS)
    expected = qv.read_log(path, columns=COLUMNS)
    texts = pl.col("user", "query", "url").cast(pl.String)
    rows, same = (one.local_frame.with_columns(texts).collect() for one in (log, expected))
    assert rows.equals(same)
    assert log.accounting.counts() == expected.accounting.counts()
    assert log.accounting.dropped == {"query is -": 1, "empty query": 1}
    assert rows["rank"].to_list() == [1, 3]
    assert log.sources == ()


def test_usual_names_and_options() -> None:
    frame = pl.DataFrame({"uid": ["a", "b"], "q": ["cats", "dogs"], "date": ["2024-05-01"] * 2})
    log = qv.QueryLog.from_frame(frame, exclude_users={"b"})
    assert log.local_frame.collect()["query"].to_list() == ["cats"]
    assert log.accounting.dropped == {"user asked to be left out": 1}


def test_rejected_rows_are_counted_and_too_many_are_an_error() -> None:
    frame = pl.DataFrame({"user": ["a", "", "b\0"], "query": ["x", "y", "z"]})
    with pytest.raises(TooManyRejectedError):
        qv.QueryLog.from_frame(frame)
    log = qv.QueryLog.from_frame(frame, max_rejected=1.0)
    assert log.accounting.rejected == {"no user": 1, "NUL": 1}
    assert log.accounting.rejected_rows()["line"].to_list() == [2, 3]


def test_what_is_refused() -> None:
    with pytest.raises(ColumnError, match='no column "uid"'):
        qv.QueryLog.from_frame(pl.DataFrame(ROWS), columns={"user": "uid"})
    with pytest.raises(ColumnError, match="no column is known as the user"):
        qv.QueryLog.from_frame(pl.DataFrame({"query": ["x"]}))
    with pytest.raises(ColumnError, match="holds List"):
        qv.QueryLog.from_frame(pl.DataFrame({"user": ["a"], "query": [["x"]]}))
    with pytest.raises(UsageError, match="a list is not a frame"):
        qv.QueryLog.from_frame([("a", "x")])  # type: ignore[arg-type]
    with pytest.raises(UsageError, match='from_frame has no argument "since_day"'):
        qv.QueryLog.from_frame(pl.DataFrame(ROWS), columns=COLUMNS, since_day="2024-05-01")


def test_a_column_of_mixed_types_is_refused_without_its_cells() -> None:
    frame = pandas.DataFrame({"user": ["a", 1], "query": ["secret text", b"\xff"]})
    with pytest.raises(InputError, match="cannot be converted") as caught:
        qv.QueryLog.from_frame(frame)
    assert "secret" not in str(caught.value)
