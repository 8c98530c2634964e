"""Files that are broken, hostile or something else: never a traceback, never a row lost.

Whatever is read, one of two things comes out: a log whose rows add up, or an error that says
what is wrong, where, and what to try.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import warnings
from datetime import datetime
from pathlib import Path

import polars as pl
import pytest
import zstandard
from hypothesis import example, given, settings
from hypothesis import strategies as st

from conftest import python_calls
from queryveil.errors import (
    ColumnError,
    FormatError,
    InputError,
    QueryveilError,
    TooManyRejectedError,
)
from queryveil.log.query_log import QueryLog
from queryveil.log.readers import source
from queryveil.log.readers.registry import local_readers
from queryveil.log.reading import read_log

MB = 1 << 20
HEADER = "AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n"
ROW = "7\tred shoes\t2006-03-01 10:00:05\t1\thttp://a.example\n"


def write(path: Path, data: str | bytes) -> Path:
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def check(log: QueryLog) -> QueryLog:
    """Rows in = rows kept + dropped + rejected, and every rejected row has its place."""
    tally, table = log.accounting, log.local_frame.collect()
    gone = sum(tally.dropped.values()) + sum(tally.rejected.values())
    assert table.height == tally.kept == tally.rows - gone
    rejected = tally.rejected_rows()
    assert rejected.height == sum(tally.rejected.values())
    assert rejected.null_count().sum_horizontal().item() == 0
    assert rejected.filter(pl.col("line") < 1).height == 0
    for user, query, moment, rank, url in table.rows():  # fails on times beyond the calendar
        assert user == user.strip(" \t\r\n") != ""
        assert query == query.strip(" \t\r\n") not in ("", "-")
        assert moment is None or 1 <= moment.year <= 9999
        assert rank is None or rank >= 1
        assert url != ""
    assert log.count("event") <= table.height
    return log


def rejected_of(log: QueryLog) -> list[tuple[int, str]]:
    return log.accounting.rejected_rows().select("line", "reason").rows()


# --- files that hold nothing, or something else --------------------------------------------------


@pytest.mark.parametrize("data", [b"", b"\n", b"\r\n\r\n", b"   \n\t\n", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("name", ["log.tsv", "log.tsv.gz", "log.tsv.zst"])
def test_an_empty_file(tmp_path, data, name):
    pack = {".gz": gzip.compress, ".zst": zstandard.compress}.get(Path(name).suffix, bytes)
    with pytest.raises(FormatError, match="the file is empty"):
        read_log(write(tmp_path / name, pack(data)))


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_a_packed_file_of_no_bytes(tmp_path, suffix):
    with pytest.raises(InputError):
        read_log(write(tmp_path / f"log{suffix}", b""))


@pytest.mark.parametrize("text", [HEADER, HEADER.rstrip(), "user,query\n", "user\tquery\r\n"])
def test_a_header_and_nothing_else(tmp_path, text):
    path = write(tmp_path / ("log.csv" if "," in text else "log.tsv"), text)
    with pytest.raises(InputError, match="there is no row"):
        read_log(path)
    assert check(read_log(path, may_stop=False)).count() == 0


def test_no_row_in_a_table(tmp_path):
    pl.DataFrame(schema={"user": pl.String, "query": pl.String}).write_parquet(tmp_path / "log.pq")
    with pytest.raises(InputError, match="no row"):
        read_log(tmp_path / "log.pq")


@pytest.mark.parametrize("form", [reader.name for reader in local_readers()])
def test_an_empty_file_whatever_it_is_said_to_be(tmp_path, form):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(InputError) as caught:
            read_log(write(tmp_path / "log", b""), format=form)
    assert caught.value.hint


@pytest.mark.parametrize(
    "data",
    [
        b"\x7fELF" + bytes(range(256)) * 40,
        bytes(5000),
        (HEADER + ROW * 50).encode("utf-16-le"),
        (HEADER + ROW * 50).encode("utf-16-be"),
        (HEADER + ROW * 50).encode("utf-32-le"),
        ("user,query\n" + "7,cats\n" * 50).encode("utf-16-le"),
    ],
)
def test_a_binary_file_and_utf_16_without_its_mark(tmp_path, data):
    with pytest.raises(FormatError, match="binary file or UTF-16") as caught:
        read_log(write(tmp_path / "log.tsv", data))
    assert '`encoding="utf-16-le"`' in caught.value.hint


def test_control_characters_of_one_user_do_not_make_a_log_binary(tmp_path):
    text = HEADER + "8\t" + "\x01\x02" * 2000 + "\t2006-03-01 10:00:05\t\t\n" + ROW
    assert check(read_log(write(tmp_path / "log.tsv", text))).count() == 2


def test_utf_16_without_its_mark_can_be_named(tmp_path):
    path = write(tmp_path / "log.tsv", (HEADER + ROW).encode("utf-16-be"))
    assert check(read_log(path, encoding="utf-16-be")).count() == 1
    with pytest.raises(TooManyRejectedError) as caught:
        read_log(path, format="aol")
    assert '`encoding="utf-16-le"`' in caught.value.hint


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_byte_order_mark(tmp_path, encoding):
    for form, text in (
        ("aol", HEADER + ROW),
        ("aol", ROW),
        ("csv", "user,query\n7,red shoes\n"),
        ("jsonl", '{"user":7,"query":"red shoes"}\n'),
    ):
        log = check(read_log(write(tmp_path / "log", text.encode(encoding)), format=form))
        assert log.local_frame.collect().rows()[0][:2] == ("7", "red shoes")
        assert not log.accounting.rejected


@pytest.mark.parametrize(
    "data",
    [
        gzip.compress(ROW.encode()),
        zstandard.compress(ROW.encode()),
        b"PK\x03\x04" + bytes(60),
        b"BZh91AY&SY",
        b"\xfd7zXZ\0\0",
    ],
    ids=["gzip", "zstd", "zip", "bzip2", "xz"],
)
def test_a_packed_file_under_another_name(tmp_path, data):
    with pytest.raises(FormatError, match="packed file") as caught:
        read_log(write(tmp_path / "log.tsv", data))
    assert ".gz" in caught.value.hint


@pytest.mark.parametrize("text", ["just words\n", "<html>\n<p>x</p>\n", "x" * 100_000])
def test_no_known_format(tmp_path, text):
    with pytest.raises(FormatError, match="does not tell its format") as caught:
        read_log(write(tmp_path / "log", text))
    assert "`format`" in caught.value.hint


def test_json_that_is_not_one_object_a_line(tmp_path):
    objects = [{"user": "7", "query": "cats"}] * 3
    with pytest.raises(TooManyRejectedError, match="not a JSON object"):
        read_log(write(tmp_path / "log.json", json.dumps(objects[0], indent=2)))
    with pytest.raises(QueryveilError):
        read_log(write(tmp_path / "log.json", json.dumps(objects)))


# --- the wrong shape -----------------------------------------------------------------------------


def test_the_wrong_delimiter(tmp_path):
    path = write(tmp_path / "log.csv", "user:query\n7:cats\n")
    for form in ("csv", "tsv"):
        with pytest.raises(ColumnError) as caught:
            read_log(path, format=form)
        assert "the first line has 1 column)" in caught.value.hint
    with pytest.raises(TooManyRejectedError) as caught:
        read_log(write(tmp_path / "log", ROW.replace("\t", ";") * 9), format="aol")
    assert "delimiter" in caught.value.hint


def test_the_wrong_format(tmp_path):
    path = write(tmp_path / "log.tsv", HEADER + ROW * 9)
    for form in ("excite", "jsonl", "parquet", "ubi", "csv"):
        with pytest.raises(InputError) as caught:
            read_log(path, format=form)
        assert caught.value.hint


def test_a_missing_column_and_a_misspelt_one(tmp_path):
    path = write(tmp_path / "log.csv", "visitor,qery,when\n7,cats,x\n")
    with pytest.raises(ColumnError) as caught:
        read_log(path)
    assert "the first line has 3 columns" in caught.value.hint
    with pytest.raises(ColumnError) as caught:
        read_log(path, columns={"user": "visitor", "query": "query"})
    assert "the first line has 3 columns" in caught.value.hint


@pytest.mark.parametrize("columns", [{}, {"user": "u2", "query": "query"}, {"user": "2"}])
@pytest.mark.parametrize("name", ["log.csv", "log.tsv"])
def test_a_first_line_that_is_a_row_of_somebody_is_not_shown(tmp_path, name, columns):
    sign = "\t" if name == "log.tsv" else ","
    row = sign.join(["u1942", "anna smith divorce", "2006-03-01", "anna smith divorce"])
    for text in (row + "\n" + row, row.replace("2006-03-01", "user") + "\n"):
        with pytest.raises(QueryveilError) as caught:
            read_log(write(tmp_path / name, text), columns=columns)
        assert not [cell for cell in ("u1942", "anna", "2006") if cell in str(caught.value)]


def test_no_user_anywhere(tmp_path):
    with pytest.raises(TooManyRejectedError, match="no user: 3"):
        read_log(write(tmp_path / "log.csv", "user,query\n,cats\n,dogs\n,birds\n"))


def test_a_header_that_is_too_long_to_be_one(tmp_path):
    with pytest.raises(FormatError, match="header cannot be read"):
        read_log(write(tmp_path / "log.csv", "user,query," + "x" * 200_000 + "\n7,cats,1\n"))
    with pytest.raises(FormatError, match="100,002 columns"):
        read_log(write(tmp_path / "log.csv", "user,query" + ",x" * 100_000 + "\n7,cats\n"))


# --- bad rows among good ones --------------------------------------------------------------------

BAD_ROWS = {
    b"7\tcaf\xe9\t2006-03-01 10:00:05\t\t": "not UTF-8",
    b"7\tnu\0l\t2006-03-01 10:00:05\t\t": "NUL byte",
    b"\tcats\t2006-03-01 10:00:05\t\t": "no user",
    b"7\tcats\t\t\t": "no time",
    b"7\tcats": "no time",
    b"7": "no time",
    b"7\tcats\tyesterday\t\t": "not a date",
    b"7\tcats\t2006-02-30 10:00:05\t\t": "not a date",
    b"7\tcats\t0000-00-00 00:00:00\t\t": "not a date",
    b"7\tcats\t0000-01-01 00:00:00\t\t": "not a date",
    b"7\tcats\t99999-01-01 00:00:00\t\t": "not a date",
    b"7\tcats\tnan\t\t": "not a date",
    b"7\tcats\t2006-03-01 10:00:05\t-1\tu": "rank below 1",
    b"7\tcats\t2006-03-01 10:00:05\tfirst\tu": "rank is not a number",
    b"7\tcats\t2006-03-01 10:00:05\t1e99\tu": "rank is not a number",
    b"7\tcats\t2006-03-01 10:00:05\t1\tu\tmore": "too many columns",
    b"7\ttab\tin query\t2006-03-01 10:00:05\t1\tu\t\t\tmore": "too many columns",
    b"x" * 100_000 + b"\tcats\t2006-03-01 10:00:05\t\t": "cell longer than 64 KB",
    b"7\t" + b"x" * 100_000 + b"\t2006-03-01 10:00:05\t\t": "cell longer than 64 KB",
    b"x" * (2 * MB): "line longer than 1 MB",
}
DROPPED_ROWS = {
    b"": "blank line",
    b"\t\t\t\t": "blank line",
    b"   ": "blank line",
    b"7\t\t2006-03-01 10:00:05\t\t": "empty query",
    b"7\t  \t2006-03-01 10:00:05\t\t": "empty query",
    b"7\t-\t2006-03-01 10:00:05\t\t": "query is -",
}


@pytest.mark.parametrize("end", [b"\n", b"\r\n"], ids=["lf", "crlf"])
@pytest.mark.parametrize("block", [32 * MB, 1000])
def test_each_bad_row_is_told_with_its_line_and_costs_no_other(tmp_path, monkeypatch, block, end):
    monkeypatch.setattr(source, "BLOCK", block)
    good = ROW.strip().encode()
    lines, wanted, dropped = [HEADER.strip().encode()], [], 0
    for bad in (*BAD_ROWS, *DROPPED_ROWS):
        lines += [good, bad]
        if bad in BAD_ROWS:
            wanted.append((len(lines), BAD_ROWS[bad]))
        dropped += bad in DROPPED_ROWS
    lines.append(good)
    log = check(read_log(write(tmp_path / "log.tsv", end.join(lines)), max_rejected=1))
    assert rejected_of(log) == wanted
    assert log.count() == len(BAD_ROWS) + len(DROPPED_ROWS) + 1
    assert log.accounting.dropped == {"blank line": 3, "empty query": 2, "query is -": 1}
    assert log.local_frame.collect().n_unique() == 1
    assert sum(log.accounting.dropped.values()) == dropped


@pytest.mark.parametrize("bad", BAD_ROWS, ids=range(len(BAD_ROWS)))
@pytest.mark.parametrize("end", [b"\n", b""], ids=["ended", "open"])
def test_a_bad_row_alone_first_and_last(tmp_path, bad, end):
    good = ROW.encode()
    for lines, number in (([bad + end], 1), ([bad + b"\n", good], 1), ([good, bad + end], 2)):
        path = write(tmp_path / "log.tsv", b"".join(lines))
        log = check(read_log(path, format="aol", max_rejected=1))
        assert rejected_of(log) == [(number, BAD_ROWS[bad])]
        assert log.count() == len(lines) - 1


def test_a_line_of_100_mb(tmp_path):
    with (path := tmp_path / "log.tsv").open("wb") as file:
        file.write((HEADER + ROW * 10 + "7\t").encode())
        for _ in range(100):
            file.write(b"x" * MB)
        file.write(("\t2006-03-01 10:00:05\t\t\n" + ROW * 10 + ROW.replace("7", "", 1)).encode())
    log = check(read_log(path, max_rejected=0.5))
    assert rejected_of(log) == [(12, "line longer than 1 MB"), (23, "no user")]
    assert log.count() == 20


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_a_line_of_5_mb_in_other_formats(tmp_path, monkeypatch, form):
    monkeypatch.setattr(source, "BLOCK", MB)
    good = {"csv": b'7,"red shoes"\n', "jsonl": b'{"user": "7", "query": "red shoes"}\n'}[form]
    head = b"user,query\n" if form == "csv" else b""
    data = head + good * 5 + b"x" * (5 * MB) + b"\n" + good * 5 + b"y" * (2 * MB)
    log = check(read_log(write(tmp_path / f"log.{form}", data), max_rejected=1))
    first = 7 if form == "csv" else 6
    assert rejected_of(log) == [(n, "line longer than 1 MB") for n in (first, first + 6)]
    assert log.count() == 10


def test_latin_1_is_found_out_and_can_be_read(tmp_path):
    text = HEADER + ROW.replace("red", "caf\u00e9") * 50
    path = write(tmp_path / "log.tsv", text.encode("latin-1"))
    with pytest.raises(TooManyRejectedError, match="not UTF-8: 50") as caught:
        read_log(path)
    assert '`encoding="cp1252"`' in caught.value.hint
    log = check(read_log(path, encoding="latin-1"))
    assert set(log.local_frame.collect()["query"]) == {"caf\u00e9 shoes"}


@pytest.mark.parametrize("form", ["csv", "jsonl"])
@pytest.mark.parametrize(
    "time", ["nan", "NaN", "inf", "-inf", "1e300", "-1e300", "9e18", "253402300800", "1e15", "soon"]
)
def test_epochs_that_are_no_time(tmp_path, form, time):
    if form == "csv":
        text = "user,query,time\n" + "7,cats,1141207205\n" * 5 + f"8,dogs,{time}\n"
    else:
        good = '{"user": 7, "query": "cats", "time": 1141207205}\n'
        text = good * 5 + f'{{"user": 8, "query": "dogs", "time": "{time}"}}\n'
    log = check(read_log(write(tmp_path / f"log.{form}", text), max_rejected=1))
    assert log.count() == 5
    assert rejected_of(log) == [(7 if form == "csv" else 6, "not a date")]


@pytest.mark.parametrize("depth", [50, 5000, 400_000])
@pytest.mark.parametrize("kind", ["[]", "{}"])
def test_deeply_nested_json(tmp_path, depth, kind):
    deep = {
        "[]": "[" * depth + "]" * depth,
        "{}": '{"a":' * (depth // 3) + "1" + "}" * (depth // 3),
    }
    good = '{"user": 7, "query": "cats"}\n'
    text = good + f'{{"user": 8, "query": "dogs", "x": {deep[kind]}}}\n' + good
    log = check(read_log(write(tmp_path / "log.jsonl", text), max_rejected=1))
    assert log.count() + len(rejected_of(log)) == 3
    assert [line for line, _ in rejected_of(log)] in ([], [2])


def test_json_lines_of_every_odd_kind(tmp_path):
    good = '{"user": 142, "query": "cats"}'
    odd = {
        "[]": "not a JSON object",
        "null": "not a JSON object",
        "142": "not a JSON object",
        '"text"': "not a JSON object",
        '{"user": 1, "query": "x"': "not a JSON object",
        '{"user": 1} {"user": 2}': "not a JSON object",
        '{"user": 1, "query": "\t"}': "not a JSON object",
        '{"user": ' + "9" * 5000 + "}": "not a JSON object",
        '{"user": "", "query": "x"}': "no user",
        '{"user": null, "query": "x"}': "no user",
        '{"query": "x"}': "no user",
        '{"user": "\\ud800", "query": "x"}': "NUL or half a character",
    }
    lines = [good]
    for line in odd:
        lines += [line, good]
    log = check(read_log(write(tmp_path / "log.jsonl", "\n".join(lines)), max_rejected=1))
    assert rejected_of(log) == [(2 + 2 * n, why) for n, why in enumerate(odd.values())]
    assert set(log.local_frame.collect()["user"]) == {"142"}


def test_very_long_json_cells(tmp_path):
    lines = [{"user": "7", "query": "x" * size} for size in (65_536, 65_537, 2_000_000)]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    log = check(read_log(write(tmp_path / "log.jsonl", text), max_rejected=1))
    assert rejected_of(log) == [(2, "cell longer than 64 KB"), (3, "line longer than 1 MB")]


def test_a_million_quotation_marks_cost_their_lines(tmp_path):
    """Each mark that opens a cell in vain costs its line, and not a look at all that follow."""
    shapes = ['7,"a', '7,"""', '"', '7,"a""', '"a"b"c', "7," + '"' * 99]
    for shape in shapes:
        path = write(tmp_path / "log.csv", "user,query\n" + (shape + "\n") * 20_000 + "8,cats\n")
        with python_calls() as made:
            log = check(read_log(path, max_rejected=1))
        assert log.count() >= 1
        assert len(made) < 100 * 20_000, shape  # about 22 a line


@pytest.mark.parametrize("cell", ['"a"\rb', '"a"\r"b"', 'a\r"b"', '"a\rb"x', '\r"a'])
def test_a_carriage_return_after_a_quotation_mark_costs_its_line(tmp_path, cell):
    text = f'user,query\n6,"dogs"\n7,{cell}\n8,cats\n'
    log = check(read_log(write(tmp_path / "log.csv", text), max_rejected=1))
    users = [row[0] for row in log.local_frame.collect().rows()]
    assert [user for user in users if user != "7"] == ["6", "8"]
    assert log.accounting.rows == 3


def test_lines_that_each_open_a_cell_again(tmp_path):
    """Each of them could begin a record of many lines: none is looked for without end."""
    text = "user,query\n" + 'x","y\n' * 20_000 + "8,cats\n"
    log = check(read_log(write(tmp_path / "log.csv", text), max_rejected=1))
    assert ("8", "cats") in [row[:2] for row in log.local_frame.collect().rows()]


def test_a_record_that_goes_on_and_on(tmp_path):
    endless = '7,"' + 'x\n","' * 200_000 + "\n"
    path = write(tmp_path / "log.csv", "user,query\n6,dogs\n" + endless + "8,cats\n")
    log = check(read_log(path, max_rejected=1))
    assert rejected_of(log)[0] == (3, "quotation mark out of place")
    assert [row[:2] for row in log.local_frame.collect().rows()][:1] == [("6", "dogs")]
    assert ("8", "cats") in [row[:2] for row in log.local_frame.collect().rows()]


# --- packed files --------------------------------------------------------------------------------


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
@pytest.mark.parametrize("what", ["cut", "bent", "more"])
def test_damaged_packed_files(tmp_path, pack, what):
    packed = bytearray(pack((HEADER + ROW * 20_000).encode()))
    if what == "cut":
        del packed[-20:]
    elif what == "bent":
        packed[len(packed) // 2 :] = os.urandom(len(packed) // 2)
    else:
        packed += b"and some more"
    path = write(
        tmp_path / ("log.tsv.gz" if pack is gzip.compress else "log.tsv.zst"), bytes(packed)
    )
    with pytest.raises(InputError, match="damaged or cut off") as caught:
        read_log(path)
    assert "again" in caught.value.hint


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_bombs(tmp_path, monkeypatch, pack):
    monkeypatch.setattr(source, "FREE_EXPANSION", MB)
    bomb = pack((HEADER + ROW).encode() + b"x" * (100 * MB))
    path = write(tmp_path / ("log.tsv.gz" if pack is gzip.compress else "log.tsv.zst"), bomb)
    with pytest.raises(InputError, match="expands to more than") as caught:
        read_log(path, max_rejected=1)
    assert "`max_decompressed_size`" in caught.value.hint
    with pytest.raises(InputError, match="expands to more than 1,000 bytes"):
        read_log(path, max_decompressed_size=1000)
    assert check(read_log(path, max_decompressed_size=200 * MB, max_rejected=1)).count() == 1


# --- anything at all -----------------------------------------------------------------------------


def parquet() -> bytes:
    out = io.BytesIO()
    times = [datetime(2006, 3, 1)] * 40
    pl.DataFrame(
        {"user": ["7", "8"] * 20, "query": ["cats", "x"] * 20, "time": times}
    ).write_parquet(out)
    return out.getvalue()


SAMPLES = [
    (HEADER + ROW * 6).encode(),
    (HEADER + ROW * 6).replace("\n", "\r\n").encode(),
    (HEADER + ROW * 6).encode("utf-16"),
    b"A7\t970916105432\tfoster care\n" * 6,
    b'user,query,time\n7,"a, ""b""\nc",2006-03-01\n8,d,2006-03-02\n' * 3,
    b"uid;q;rank\n7;cats;1\n8;dogs;\n" * 3,
    b'{"user": 142, "query": "caf\\u00e9", "time": "2006-03-01T10:00:05Z", "x": {"y": [1]}}\n' * 6,
    b'{"query_id": "1", "client_id": "7", "user_query": "cats", "timestamp": 1141207205000}\n' * 6,
    b'192.0.2.7 - - [01/Mar/2006:10:00:05 +0000] "GET /s?q=red+caf%C3%A9 HTTP/1.1" 200 5\n' * 6,
    parquet(),
]  # fmt: skip
PIECES = [
    b'"', b"\n", b"\r", b"\t", b",", b";", b"\0", b"\xff", b"\xef\xbb\xbf", b"{", b"}", b"[", b"-",
    b"\\u0000", b"\\ud800", b"nan", b"1e999", b"9" * 20, b"\xc2\xa0", b'""', b"%00", b"%ff", b"\\x",
    b"\xe2\x80\xa8", b"x" * 300, b" ", b"\x1f\x8b", b"null", b"\x0c", b"\x85", b":", b"=",
]  # fmt: skip


@st.composite
def broken(draw: st.DrawFn) -> bytes:
    """A good file with pieces put in, taken out and written over."""
    data = bytearray(draw(st.sampled_from(SAMPLES)))
    for _ in range(draw(st.integers(0, 8))):
        at = draw(st.integers(0, len(data)))
        piece = draw(st.sampled_from(PIECES) | st.binary(max_size=4))
        data[at : at + draw(st.sampled_from([0, 0, 1, len(piece), 40]))] = piece
    return bytes(data)


@settings(max_examples=250, deadline=None)
@given(
    data=broken() | st.binary(max_size=400),
    suffix=st.sampled_from([".tsv", ".csv", ".jsonl", ".parquet", ".log", ".tsv.gz", ".csv.zst"]),
    packed=st.booleans(),
    form=st.none() | st.sampled_from([reader.name for reader in local_readers()]),
    block=st.sampled_from([16, 100, MB]),
    encoding=st.sampled_from(["utf-8", "utf-8", "latin-1", "utf-16-le"]),
    quote=st.sampled_from([None, None, "none", "'"]),
    columns=st.sampled_from([{}, {}, {"user": "1", "query": "2"}, {"user": "x.y", "query": "q"}]),
    most=st.sampled_from([0.01, 1.0]),
)
@example(b"A\tB\n\xff", ".tsv", False, "tsv", MB, "utf-8", None, {"user": "1", "query": "2"}, 1.0)
def test_any_bytes_give_a_log_that_adds_up_or_an_error_that_explains(
    tmp_path_factory, data, suffix, packed, form, block, encoding, quote, columns, most
):
    pack = {".tsv.gz": gzip.compress, ".csv.zst": zstandard.compress}.get(suffix, bytes)
    path = write(tmp_path_factory.getbasetemp() / f"any{suffix}", pack(data) if packed else data)
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that an address is no person
        patch.setattr(source, "BLOCK", block)
        try:
            log = read_log(
                path,
                format=form,
                encoding=encoding,
                quote=quote,
                columns=columns,
                max_rejected=most,
            )
        except QueryveilError as error:
            assert str(error)
            return
        check(log)


@settings(deadline=None)
@given(st.lists(st.sampled_from([*BAD_ROWS][:-3] + [*DROPPED_ROWS] + [ROW.strip().encode()] * 5)))
def test_any_mix_of_rows_adds_up(tmp_path_factory, lines):
    path = write(tmp_path_factory.getbasetemp() / "mix.tsv", HEADER.encode() + b"\n".join(lines))
    kept = sum(line not in BAD_ROWS and line not in DROPPED_ROWS for line in lines)
    if not lines or lines == [b""]:
        with pytest.raises(InputError, match="no row"):
            read_log(path, max_rejected=1)
        return
    log = check(read_log(path, may_stop=False))  # all rows may be empty
    assert log.count() == kept
    assert rejected_of(log) == [
        (number, BAD_ROWS[line]) for number, line in enumerate(lines, 2) if line in BAD_ROWS
    ]


# --- the command ---------------------------------------------------------------------------------


CASES: dict[str, tuple[bytes | None, list[str], int, str]] = {
    "missing": (None, [], 1, "no such file"),
    "empty.tsv": (b"", [], 1, "the file is empty"),
    "latin-1.tsv": ((HEADER + ROW.replace("red", "\u00e9")).encode("latin-1"), [], 1, "not UTF-8"),
    "binary.csv": (bytes(range(256)) * 50, [], 1, "binary file"),
    "cut.tsv.gz": (gzip.compress((HEADER + ROW * 999).encode())[:-9], [], 1, "damaged or cut off"),
    "no-user.csv": (b"who,query\n7,cats\n", [], 1, "no column is known as the user"),
    "no-ending": ((HEADER + ROW).encode(), [], 1, "does not tell its format"),
    "format": ((HEADER + ROW).encode(), ["--format", "aloo"], 2, 'unknown format "aloo"'),
}


@pytest.mark.parametrize("name", CASES)
def test_the_command_says_what_is_wrong_and_stops(cli, tmp_path, name):
    data, more, code, says = CASES[name]
    path = tmp_path / name
    if data is not None:
        write(path, data)
    ran = cli("profile", path, *more)
    assert ran.code == code, ran
    assert ran.out == ""
    assert "Traceback" not in ran.err
    assert ran.err.startswith("Error: ")
    assert says in ran.err
    assert "Hint: " in ran.err
    assert sorted(entry.name for entry in tmp_path.iterdir()) == (
        [name] if data is not None else []
    )


def test_the_command_counts_what_was_dropped_and_rejected(command, tmp_path):
    text = HEADER + ROW * 99 + ROW.replace("7", "", 1) + ROW.replace("red shoes", "-")
    ran = command("profile", write(tmp_path / "log.tsv", text), "--json")
    assert ran.code == 0, ran
    found = json.loads(ran.out)
    assert found["rows"] == 101
    assert found["rejected"] == {"no user": 1}
    assert found["dropped"] == {"query is -": 1}
    assert found["kept_rows"] == 99
