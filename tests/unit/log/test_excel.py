"""Excel files as a librarian has them, and hostile ones. They are written here, as plain XML."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from queryveil.errors import FormatError, InputError, UsageError
from queryveil.log.readers.excel import EXCEL
from queryveil.log.reading import read_log
from queryveil.testing import ReaderSample, check_reader
from queryveil.testing.logs import rows_of
from workbooks import CLOCK, DATE, MOMENT, TIME, Cell, book

HEADER: list[Cell] = ["Leser", "Suchbegriff", "Zeitpunkt"]
COLUMNS = {"user": "Leser"}


def write(folder: Path, data: bytes, name: str = "log.xlsx") -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def test_real_dates_numbers_and_formulas(tmp_path):
    rows: list[list[Cell]] = [
        [],
        HEADER,
        [12345.0, "Katzen", (TIME, MOMENT)],
        [None, None, None],
        ["ann", "=A1&amp;A2", "18.11.2026 07:01"],
        [7.0, 1984.0, (DATE, 46344)],
        ["eve", "Hunde", "soon"],
    ]
    log = read_log(write(tmp_path, book({"Export": rows})), columns=COLUMNS, max_rejected=1)
    assert list(rows_of(log)) == [
        ("12345", "katzen", "2026-11-18 07:01:22", None, None),
        ("ann", "the value", "2026-11-18 07:01:00", None, None),
        ("7", "1984", "2026-11-18 00:00:00", None, None),
    ]
    assert log.accounting.rejected_rows()["line"].to_list() == [7]
    assert log.accounting.dropped == {"blank line": 1}
    assert len(log.sources[0].sha256) == 64


def test_date_and_time_of_day_as_cells(tmp_path):
    rows: list[list[Cell]] = [
        ["Kunde", "Suchbegriff", "Datum", "Uhrzeit"],
        ["7", "katzen", (DATE, 46344), (CLOCK, 0.5)],
    ]
    log = read_log(write(tmp_path, book({"Export": rows})))
    assert list(rows_of(log)) == [("7", "katzen", "2026-11-18 12:00:00", None, None)]


def test_sheets(tmp_path, cli):
    sheets: dict[str, list[list[Cell]]] = {
        "one": [["user", "query"], ["7", "cats"]],
        "two": [["user", "query"], ["8", "dogs"]],
    }
    path = write(tmp_path, book(sheets))
    assert rows_of(read_log(path))[0][:2] == ("7", "cats")
    assert rows_of(read_log(path, sheet="two"))[0][:2] == ("8", "dogs")
    assert cli("profile", path, "--sheet", "two", "--taxonomy", "none").code == 0
    with pytest.raises(UsageError, match='no sheet "too"') as caught:
        read_log(path, sheet="too")
    assert '"two"' in caught.value.hint


def test_columns_by_number_and_a_merged_header(tmp_path):
    rows: list[list[Cell]] = [["7", "cats"], ["8", "dogs"]]
    log = read_log(write(tmp_path, book({"s": rows})), columns={"user": "1", "query": "2"})
    assert [row[:2] for row in rows_of(log)] == [("7", "cats"), ("8", "dogs")]
    merged: list[list[Cell]] = [["user", None, "query"], ["7", "x", "cats"]]
    extra = '<mergeCells count="1"><mergeCell ref="A1:B1"/></mergeCells>'
    log = read_log(write(tmp_path, book({"s": merged}, extra)))
    assert [row[:2] for row in rows_of(log)] == [("7", "cats")]


@pytest.mark.parametrize("name", ["log.xls", "log.ods", "log.xlsb"])
def test_other_spreadsheets_are_explained(tmp_path, name):
    with pytest.raises(FormatError, match="not read") as caught:
        read_log(write(tmp_path, b"x", name))
    assert ".xlsx" in caught.value.hint


def test_a_missing_package_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "fastexcel", None)
    with pytest.raises(UsageError, match=r"pip install 'queryveil\[excel\]'"):
        read_log(write(tmp_path, book({"s": [["user", "query"]]})))


def test_a_bomb_is_refused(tmp_path):
    rows: list[list[Cell]] = [["user", "query"], *[["7", "x" * 1000]] * 2000]
    path = write(tmp_path, book({"s": rows}))
    with pytest.raises(InputError, match="expands to more than"):
        read_log(path, max_decompressed_size=100_000)
    assert read_log(path).count() == 2000


@pytest.mark.parametrize("data", [b"", b"PK\3\4", b"no archive", book({"s": []}), book({})])
def test_damaged_and_empty_files(tmp_path, data):
    with pytest.raises(FormatError):
        read_log(write(tmp_path, data))


def test_an_excel_file_under_another_name(tmp_path):
    data = book({"s": [["user", "query"], ["7", "cats"]]})
    with pytest.raises(FormatError, match="packed") as caught:
        read_log(write(tmp_path, data, "log.csv"))
    assert ".xlsx" in caught.value.hint
    assert read_log(write(tmp_path, data, "log.csv"), format="excel").count() == 1


def test_kit():
    rows: list[list[Cell]] = [["user", "query"], ["ann", "red shoes"], [None, "nobody"]]
    expected = [("ann", "red shoes", None, None, None)]
    check_reader(EXCEL, [ReaderSample("log.xlsx", book({"s": rows}), expected, (3,))])
