"""One user's cells in frames, Excel sheets and dumps stop no run and change no other row."""

from __future__ import annotations

import json
import traceback
from datetime import datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars as pl
import pyarrow
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import queryveil as qv
from queryveil.release.guarantee import DATA_ACCESS_NOTE
from workbooks import Cell, book

pytestmark = pytest.mark.usefixtures("small_sketch")
SECRET = "secret of the new user"
ODD = [
    [SECRET], {SECRET: 1}, (SECRET,), {SECRET}, timedelta(1), time(1), b"\xff", "a\0", "\ud800",
    complex(1, 2), pandas.Period("2020"), pandas.Interval(1, 2), np.datetime64("2020"),
    np.array([1, 2]), pandas.Timestamp("2020-01-01", tz="Europe/Berlin"), float("inf"), np.inf,
    Decimal(9), np.float32(9), None, pandas.NA, pandas.NaT, float("nan"), True, 10**30, object(),
    "new",
]  # fmt: skip
NAMES = ("user", "query", "time", "rank", "url")


def others(source: Any, **options: Any) -> list[tuple]:
    log = qv.read_log(source, may_stop=False, **options).to_polars()
    return log.filter(pl.col("user").is_in(["7", "8"])).rows()


def objects(cells: list[Any]) -> pandas.Series:
    column = np.empty(len(cells), dtype=object)
    for place, cell in enumerate(cells):
        column[place] = cell
    return pandas.Series(column)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(cells=st.lists(st.sampled_from(ODD), min_size=5, max_size=5), first=st.booleans())
def test_odd_cells_of_a_new_user_in_a_frame_of_pandas(cells, first):
    """Whatever type each of their cells has, it costs no other row."""
    rows = [["7", "cats", "2006-03-01 10:00", 1, "u"], ["8", "dogs", "1.3.2006", 2, None]]
    frames = []
    for table in (rows, [cells, *rows] if first else [*rows, cells]):
        frames.append(
            pandas.DataFrame({n: objects([r[at] for r in table]) for at, n in enumerate(NAMES)})
        )
    assert others(frames[1]) == others(frames[0])
    assert len(others(frames[0])) == 2


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("ticks", [2**62, -(2**62), 10**13, -(10**17)])
def test_a_time_out_of_all_bounds_stops_no_frame_and_no_file(tmp_path, unit, ticks):
    """Polars ends the process at years that it cannot write."""
    times = pyarrow.array([1_141_207_205, ticks], pyarrow.timestamp(unit))
    table = pyarrow.table({"user": ["7", "new"], "query": ["cats", "x"], "time": times})
    frame = pl.DataFrame(table)
    path = tmp_path / "log.parquet"
    frame.write_parquet(path)
    alone = frame.head(1)
    assert others(table) == others(frame) == others(path) == others(alone)
    assert len(others(alone)) == 1


def test_a_date_out_of_all_bounds_stops_no_frame():
    days = pl.Series([13_208, 2**31 - 1]).cast(pl.Int32).cast(pl.Date)
    frame = pl.DataFrame({"user": ["7", "new"], "query": ["cats", "x"], "time": days})
    assert others(frame) == [("7", "cats", datetime(2006, 3, 1), None, None)]


def test_no_error_about_a_cell_shows_it():
    for cell in ODD[:4]:
        frame = pandas.DataFrame({"user": ["7", "n"], "query": objects(["cats", cell])})
        with pytest.raises(qv.errors.ColumnError) as caught:
            qv.read_log(frame)
        assert SECRET not in str(caught.value)
        release = qv.anonymize(frame, "dp-statistics:epsilon=1:delta=1e-6", ledger="people")
        assert not any("a limit on rows" in note for note in release.notes)


# --- Excel ---------------------------------------------------------------------------------------


def sheet(path: Path, rows: list[list[Cell]]) -> Path:
    path.write_bytes(book({"Log": rows}))
    return path


ROWS: list[list[Cell]] = [[None, 7, "cats", 1], [None, "8", "dogs", None]]
NEW: list[list[Cell]] = [
    ["x", "new", "q", 1], [None, "new", "#DIV/0!", True], [1.5, "new", 7, "no rank", "more", 9],
    ["  ", "#DIV/0!", "q", 10**17],
]  # fmt: skip


@pytest.mark.parametrize("new", NEW)
@pytest.mark.parametrize("place", [0, 2])
def test_cells_of_a_new_user_in_a_sheet(tmp_path, new, place):
    """A cell in a column that others leave blank does not move their columns."""
    table = [*ROWS[:place], new, *ROWS[place:]]
    numbered = {"columns": "user=2,query=3,rank=4"}
    alone = others(sheet(tmp_path / "a.xlsx", ROWS), **numbered)
    assert others(sheet(tmp_path / "b.xlsx", table), **numbered) == alone
    assert len(alone) == 2
    header: list[Cell] = [None, "user", "query", "rank", None, None]
    named = others(sheet(tmp_path / "c.xlsx", [header, *table]))
    assert named == others(sheet(tmp_path / "d.xlsx", [header, *ROWS])) == alone


def test_a_long_row_does_not_name_a_column(tmp_path):
    rows: list[list[Cell]] = [["user", "query", "rank", "(column 5)"], [7, "cats"], [8, "dogs"]]
    rows.append(["new", "x", None, "y", "z"])
    assert len(others(sheet(tmp_path / "a.xlsx", rows))) == 2


# --- OpenSearch ----------------------------------------------------------------------------------

HITS = [
    {"took": 3, "user": "new", "query": "x", "hits": [1]},
    {"took": 3, "user": "new", "query": "x", "hits": {"total": 1, "hits": [{}]}},
    {"user": "new", "query": "x", "took": 1, "_source": {"hits": []}},
    {"index": {"user": "new", "query": "x"}},
]


@pytest.mark.parametrize("new", HITS)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_row_with_hits_does_not_make_a_dump_a_response(tmp_path, new, place):
    rows: list[dict[str, Any]] = [{"took": 1, "user": u, "query": "cats"} for u in ("7", "8")]
    path = tmp_path / "opensearch.json"
    read = []
    for table in (rows, [*rows[:place], new, *rows[place:]]):
        path.write_text("".join(json.dumps(row) + "\n" for row in table))
        read.append(others(path))
    assert read[0] == read[1]
    assert len(read[0]) == 2


def test_an_action_line_does_not_remove_other_lines(tmp_path):
    """With blanks or without: each line is an action line, or not, by itself."""
    path = tmp_path / "log.jsonl"
    read = []
    for new in ("", '{"index":{"user":"new","query":"x"}}\n'):
        path.write_text('{ "index": {"user": "7", "query": "cats"}}\n' + new)
        read.append(others(path, columns="user=index.user,query=index.query"))
    assert read[0] == read[1]


@pytest.mark.parametrize("name", ["log.jsonl", "opensearch.json", "log.parquet"])
def test_days_can_be_chosen_of_a_source_without_rows(tmp_path, name):
    """Else one user's rows would decide whether there is a release."""
    path = tmp_path / name
    empty = {"took": 1, "hits": {"hits": []}} if name.startswith("open") else None
    path.write_text(json.dumps(empty) if empty else "")
    if name.endswith("parquet"):
        schema = {"user": pl.String, "query": pl.String, "time": pl.String}
        pl.DataFrame(schema=schema).write_parquet(path)
    assert others(path, since="2006-03-01") == []


def test_no_traceback_of_a_frame_shows_a_cell():
    """Notebooks print the causes of an error too."""
    lazy = pl.LazyFrame({"user": ["7"], "query": [SECRET]}).with_columns(pl.col("query").cast(int))
    with pytest.raises(qv.errors.InputError) as caught:
        qv.read_log(lazy)
    shown = "".join(traceback.format_exception(caught.value))
    assert "cannot be collected" in shown
    assert f'"{SECRET}"' not in shown


def test_each_private_release_of_a_frame_is_charged(tmp_path):
    """Reserved before noise is drawn, and drawn anew: the same frame gives no free copy."""
    frame = pandas.DataFrame({"user": ["7", "8"] * 50, "query": ["cats"] * 100})
    for _ in range(2):
        qv.anonymize(frame, "dp-statistics:epsilon=1:delta=1e-6", ledger=str(tmp_path))
    entries = qv.show_ledger(ledger=str(tmp_path)).entries or ()
    assert [(entry.kind, entry.state) for entry in entries] == [("dp", "reserved")] * 2
    assert len({entry.log_digest for entry in entries}) == 1
    qv.advise(frame, users=2, look=True, ledger=str(tmp_path))
    release = qv.anonymize(frame, "dp-statistics:epsilon=1:delta=1e-6", ledger=str(tmp_path))
    assert DATA_ACCESS_NOTE in release.notes
