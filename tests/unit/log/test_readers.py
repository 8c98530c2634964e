"""Every format: the right rows and types, found by itself or by name, and the numbers of lines."""

from __future__ import annotations

import csv
import gzip
import io
import json
from datetime import date, datetime
from pathlib import Path

import polars as pl
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from queryveil.errors import ColumnError, FormatError, InputError, TooManyRejectedError, UsageError
from queryveil.log.query_log import QueryLog
from queryveil.log.readers import source
from queryveil.log.readers.base import ReaderOptions
from queryveil.log.readers.columns import parse_columns
from queryveil.log.readers.jsonl import _fast, _slow
from queryveil.log.readers.registry import READERS, detect_reader, local_readers
from queryveil.log.readers.source import TextFile
from queryveil.log.reading import read_log


def write(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def rows_of(log: QueryLog) -> list[tuple]:
    return log.local_frame.collect().rows()


def rejected_of(log: QueryLog) -> list[tuple[int, str]]:
    return log.accounting.rejected_rows().select("line", "reason").rows()


def adds_up(log: QueryLog) -> bool:
    tally = log.accounting
    parts = log.count() + sum(tally.dropped.values()) + sum(tally.rejected.values())
    return tally.rows == parts and tally.rejected_rows().height == sum(tally.rejected.values())


# --- the same two lines in every format ----------------------------------------------------------

AT = datetime(2006, 3, 1, 10, 0, 5)
FIRST = ("7", "red shoes", AT, None, None)
SECOND = ("8", "caf\u00e9 \u6771\u4eac", AT, 2, "http://a.example/x")

AOL = (
    "AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n"
    "7\tRed  Shoes\t2006-03-01 10:00:05\t\t\n"
    "8\tcaf\u00e9 \u6771\u4eac\t2006-03-01 10:00:05\t2\thttp://a.example/x\n"
)
TABLE = [
    ["user", "query", "time", "rank", "url"],
    ["7", "Red  Shoes", "2006-03-01 10:00:05", "", ""],
    ["8", "caf\u00e9 \u6771\u4eac", "2006-03-01 10:00:05", "2", "http://a.example/x"],
]


def joined(sign: str) -> str:
    return "".join(sign.join(row) + "\n" for row in TABLE)


def quoted(sign: str) -> str:
    return "".join(sign.join(f'"{cell}"' for cell in row) + "\n" for row in TABLE)


def objects(**more: object) -> str:
    lines = []
    for user, query, time, rank, url in TABLE[1:]:
        click = {"rank": int(rank), "url": url} if rank else {}
        line = {"user": int(user), "query": query, "time": time} | click | more
        lines.append(json.dumps(line) + "\n")
    return "".join(lines)


FILES = {
    "aol": ("aol", AOL),
    "aol without header": ("aol", AOL.partition("\n")[2]),
    "aol, header in small letters": ("aol", AOL.lower()),
    "aol after blank lines": ("aol", "\n  \n\u3000\n" + AOL),
    "csv, comma": ("csv", joined(",")),
    "csv, semicolon": ("csv", joined(";")),
    "csv, bar": ("csv", joined("|")),
    "csv, all quoted": ("csv", quoted(",")),
    "csv, all quoted, semicolon": ("csv", quoted(";")),
    "csv after blank lines": ("csv", "\n  \n" + joined(",")),
    "csv, blanks around": ("csv", joined(",").replace(",", " , ")),
    "tsv": ("tsv", joined("\t")),
    "jsonl": ("jsonl", objects()),
    "jsonl with other things": ("jsonl", objects(line=3, fault="x", deep={"a": [1, {"b": None}]})),
}


NAMES = {"aol": "user-ct-test-collection-01.txt"}


ENDS = {"lf": "\n", "crlf": "\r\n", "cr": "\r"}


def has_header(case: str) -> bool:
    """Return whether the first row is a header: it alone shows that rows end in a bare CR."""
    return FILES[case][0] != "jsonl" and case not in ("aol without header", "aol after blank lines")


@pytest.mark.parametrize("named", [False, True], ids=["by the name", "named"])
@pytest.mark.parametrize(
    ("case", "end"), [(c, e) for c in FILES for e in ENDS if e != "cr" or has_header(c)]
)
def test_the_same_rows_from_every_format(tmp_path, case, end, named):
    form, text = FILES[case]
    name = "log" if named else NAMES.get(form, f"log.{form}")
    path = write(tmp_path / name, text.replace("\n", ENDS[end]))
    log = read_log(path, format=form if named else None)
    assert rows_of(log) == [FIRST, SECOND]
    assert [(s.path, s.format) for s in log.sources] == [(str(path), form)]
    assert adds_up(log)
    assert not log.accounting.rejected
    assert set(log.accounting.dropped) <= {"blank line"}


def test_types(tmp_path):
    schema = read_log(write(tmp_path / "log.tsv", AOL)).local_frame.collect_schema()
    assert schema.names() == ["user", "query", "time", "rank", "url"]
    assert all(isinstance(schema[name], pl.Categorical) for name in ("user", "query", "url"))
    assert (schema["time"], schema["rank"]) == (pl.Datetime("us"), pl.Int32)


def test_readers_have_different_names_and_say_what_they_read():
    assert len(local_readers()) == 10
    assert all(reader.title for reader in READERS.values())
    with pytest.raises(UsageError) as caught:
        READERS.find("josnl")
    assert caught.value.hint == 'did you mean "jsonl"?'


# --- AOL, Excite ---------------------------------------------------------------------------------


def test_aol_with_three_columns(tmp_path):
    text = "7\tred shoes\t2006-03-01 10:00:05\n8\tcats\t2006-03-01 10:00:05\n"
    log = read_log(write(tmp_path / "log", text), format="aol")
    assert log.sources[0].format == "aol"
    assert rows_of(log) == [FIRST, ("8", "cats", AT, None, None)]


def test_aol_a_quotation_mark_is_part_of_the_query(tmp_path):
    text = AOL + '9\t"red shoes\t2006-03-01 10:00:05\t\t\n9\t5" disk\t2006-03-01 10:00:05\t\t\n'
    assert [row[1] for row in rows_of(read_log(write(tmp_path / "log.tsv", text)))[2:]] == [
        '"red shoes',
        '5" disk',
    ]


def test_aol_a_second_header_is_a_bad_row(tmp_path):
    """Files that were put together have one in the middle."""
    log = read_log(write(tmp_path / "log.tsv", AOL + AOL), max_rejected=1)
    assert rows_of(log) == [FIRST, SECOND] * 2
    assert rejected_of(log) == [(4, "not a date")]


def test_excite(tmp_path):
    text = "2A9EABFB35F5B954\t970916105432\tFoster Care\nBED75271605EBD0C\t970916001949\t\n"
    for name, form in (("log.excite", None), ("log", "excite")):
        log = read_log(write(tmp_path / name, text), format=form)
        assert log.sources[0].format == "excite"
        when = datetime(1997, 9, 16, 10, 54, 32)
        assert rows_of(log) == [("2A9EABFB35F5B954", "foster care", when, None, None)]
        assert log.accounting.dropped == {"empty query": 1}


# --- columns -------------------------------------------------------------------------------------


@pytest.mark.parametrize("sign", [",", ";", "|", "\t"])
def test_columns_by_number_where_there_is_no_header(tmp_path, sign):
    text = "".join(sign.join(row) + "\n" for row in (["x", "7", "cats"], ["y", "7", "Dogs"]))
    form = {"\t": "tsv"}.get(sign, "csv")
    columns = {"user": "2", "query": "3"}
    path = write(tmp_path / "log", text)
    log = read_log(path, columns=columns, format=form, delimiter=sign)
    if sign in ",\t":
        assert rows_of(read_log(path, columns=columns, format=form)) == rows_of(log)
    assert rows_of(log) == [("7", "cats", None, None, None), ("7", "dogs", None, None, None)]


def test_columns_by_number_may_have_equal_and_empty_cells(tmp_path):
    text = "7,7,,\n8,cats,,\n"
    log = read_log(write(tmp_path / "log.csv", text), columns={"user": "1", "query": "2"})
    assert [row[:2] for row in rows_of(log)] == [("7", "7"), ("8", "cats")]


def test_aol_columns_by_number(tmp_path):
    columns = parse_columns("user=1,query=2,time=3,rank=4,url=5")
    log = read_log(write(tmp_path / "log.tsv", AOL.partition("\n")[2]), columns=columns)
    assert rows_of(log) == [FIRST, SECOND]
    assert log.sources[0].format == "tsv"


def test_a_number_that_is_no_column(tmp_path):
    path = write(tmp_path / "log.csv", "7,cats\n")
    with pytest.raises(InputError, match="none of 1 rows has a query"):
        read_log(path, columns={"user": "1", "query": "9"})
    log = read_log(path, columns={"user": "1", "query": "9"}, may_stop=False)
    assert log.accounting.dropped == {"empty query": 1}
    with pytest.raises(ColumnError, match='no column "0" for query'):
        read_log(path, columns={"user": "1", "query": "0"})


def test_without_a_header_the_first_row_decides_nothing(tmp_path):
    """How many cells it has, and which signs stand in it, is nobody else's matter."""
    columns = {"user": "1", "query": "2", "time": "3"}
    first = ["7", "8;a;b;c;d,x", "9,a,2006-03-01,x,y,z", "10"]
    for line in first:
        text = line + "\n1,cats,2006-03-01\n2,dogs,2006-03-01,more\n"
        log = read_log(write(tmp_path / "log.csv", text), columns=columns, max_rejected=1)
        assert [row[:2] for row in rows_of(log)][-2:] == [("1", "cats"), ("2", "dogs")]


def test_own_names_usual_names_and_what_is_left(tmp_path):
    text = "id,uid,Search_Term,TIMESTAMP,position,click_url\n1,7,cats,2006-03-01 10:00:05,3,u\n"
    assert rows_of(read_log(write(tmp_path / "log.csv", text))) == [("7", "cats", AT, 3, "u")]
    log = read_log(tmp_path / "log.csv", columns={"user": "id", "query": "click_url"})
    assert rows_of(log) == [("1", "u", AT, 3, None)]


def test_columns_that_are_called_as_ours_are(tmp_path):
    """`line` and `fault` are names of our own while a file is read."""
    text = "line,fault,spare\n7,cats,x\n8,dogs,\n"
    log = read_log(write(tmp_path / "log.csv", text), columns={"user": "line", "query": "fault"})
    assert [row[:2] for row in rows_of(log)] == [("7", "cats"), ("8", "dogs")]
    lines = '{"line": "7", "fault": "cats"}\n{"line": "8", "fault": "dogs"}\n'
    log = read_log(write(tmp_path / "log.jsonl", lines), columns={"user": "line", "query": "fault"})
    assert [row[:2] for row in rows_of(log)] == [("7", "cats"), ("8", "dogs")]
    table = pl.DataFrame({"line": ["7", "8"], "fault": ["cats", "dogs"]})
    table.write_parquet(tmp_path / "log.parquet")
    log = read_log(tmp_path / "log.parquet", columns={"user": "line", "query": "fault"})
    assert [row[:2] for row in rows_of(log)] == [("7", "cats"), ("8", "dogs")]


@pytest.mark.parametrize(
    ("name", "text"), [("log.csv", "a,b\nx,y\n"), ("log.jsonl", '{"a": "x", "b": "y"}\n')]
)
def test_one_column_for_two_of_ours(tmp_path, name, text):
    log = read_log(write(tmp_path / name, text), columns={"user": "a", "query": "a"})
    assert [row[:2] for row in rows_of(log)] == [("x", "x")]


@pytest.mark.parametrize(
    ("text", "columns", "says", "hint"),
    [
        ("uid,text\n7,cats\n", {}, "no column is known as the query", "query=...,time=..."),
        ("who,query\n7,cats\n", {}, "no column is known as the user", "the first line has 2 col"),
        ("Wer;Was;Wann\n7;x;1.3.2024\n", {}, "as the user", "user=...,query=...,time=..."),
        ("uid,qurey\n7,x\n", {"query": "query"}, 'no column "query"', "has 2 columns"),
    ],
)
def test_missing_columns(tmp_path, text, columns, says, hint):
    with pytest.raises(ColumnError, match=says) as caught:
        read_log(write(tmp_path / "log.csv", text), columns=columns)
    assert hint in caught.value.hint


def test_missing_columns_of_a_schema_are_listed(tmp_path):
    path = parquet(tmp_path / "log.parquet", uid=["7"], text=["cats"])
    with pytest.raises(ColumnError) as caught:
        read_log(path)
    assert "columns here: uid, text" in caught.value.hint


def test_keys_of_json_come_from_a_list_and_never_from_rows(tmp_path):
    lines = [
        {"uid": 7, "searchTerm": "cats", "timestamp": "2006-03-01 10:00:05"},
        {"AnonID": 8, "Query": "dogs"},
        {"user": 9, "uid": 10, "q": "birds", "query": None},
        {"who": 11, "q": "fish"},
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    log = read_log(write(tmp_path / "log.jsonl", text), max_rejected=1)
    assert [row[:3] for row in rows_of(log)] == [
        ("7", "cats", AT),
        ("8", "dogs", None),
        ("9", "birds", None),
    ]
    assert rejected_of(log) == [(4, "no user")]
    log = read_log(tmp_path / "log.jsonl", columns={"time": "timestamp"}, max_rejected=1)
    assert [row[0] for row in rows_of(log)] == ["7"]
    assert log.accounting.rejected == {"no time": 2, "no user": 1}


def test_doubled_columns(tmp_path):
    with pytest.raises(FormatError, match="column 3 of the first line has the name of another"):
        read_log(write(tmp_path / "log.csv", "user,query,query\n7,cats,dogs\n"))


def test_columns_without_a_name_are_no_doubles(tmp_path):
    log = read_log(write(tmp_path / "log.csv", ",user,query,,\n0,7,cats,,\n1,8,dogs,,\n"))
    assert [row[:2] for row in rows_of(log)] == [("7", "cats"), ("8", "dogs")]


@pytest.mark.parametrize("text", ["user", "user=", "usr=uid", "=x"])
def test_mappings_that_are_none(text):
    with pytest.raises(UsageError) as caught:
        parse_columns(text)
    assert caught.value.hint


# --- quoted cells --------------------------------------------------------------------------------


def test_quoted_cells(tmp_path):
    text = (
        "user,query,url\n"
        '7,"red, white",u\n'
        '8,"two\nlines",u\n'
        '9,"say ""hi""",u\n'
        '"10","","u"\n'
        '11," ",u\n'
    )
    log = read_log(write(tmp_path / "log.csv", text))
    assert [row[:2] for row in rows_of(log)] == [
        ("7", "red, white"),
        ("8", "two lines"),
        ("9", 'say "hi"'),
    ]
    assert log.accounting.dropped == {"empty query": 2}
    assert adds_up(log)


def test_a_header_in_quotes_over_two_lines(tmp_path):
    text = '"user","query","what\nelse"\n7,cats,x\n8,,x\n,dogs,x\n'
    log = read_log(write(tmp_path / "log.csv", text), max_rejected=1)
    assert [row[:2] for row in rows_of(log)] == [("7", "cats")]
    assert rejected_of(log) == [(5, "no user")]


def test_another_quotation_mark_and_none(tmp_path):
    path = write(tmp_path / "log.csv", "user,query\n7,'a,b\nc'\n8,\"x\"\n")
    assert [row[1] for row in rows_of(read_log(path, quote="'"))] == ["a,b c", '"x"']
    path = write(tmp_path / "log.csv", 'user,query\n7,"cats\n8,5" disk"\n')
    assert [row[1] for row in rows_of(read_log(path, quote="none"))] == ['"cats', '5" disk"']


def test_quotes_in_a_tsv_file_only_if_asked_for(tmp_path):
    path = write(tmp_path / "log.tsv", 'user\tquery\n7\t"red\tshoes"\n')
    assert rejected_of(read_log(path, max_rejected=1)) == [(2, "too many columns")]
    assert [row[1] for row in rows_of(read_log(path, quote='"'))] == ["red shoes"]


@pytest.mark.parametrize("block", [12, 40, 32 << 20])
def test_a_stray_quotation_mark_costs_its_own_line_only(tmp_path, monkeypatch, block):
    monkeypatch.setattr(source, "BLOCK", block)
    text = 'user,query\n1,"a\n2,b\n3,"c\n4,d\n5,5" disk\n6,"e"x\n7,f\n8,"g\n9,h'
    log = read_log(write(tmp_path / "log.csv", text), max_rejected=1)
    assert [row[:2] for row in rows_of(log)] == [
        ("2", "b"), ("4", "d"), ("5", '5" disk'), ("7", "f"), ("9", "h"),
    ]  # fmt: skip
    assert rejected_of(log) == [(n, "quotation mark out of place") for n in (2, 4, 7, 9)]
    with pytest.raises(TooManyRejectedError) as caught:
        read_log(tmp_path / "log.csv")
    assert '`quote="none"`' in caught.value.hint


@pytest.mark.parametrize("block", [25, 32 << 20])
def test_a_bad_line_inside_a_record_costs_the_record(tmp_path, monkeypatch, block):
    monkeypatch.setattr(source, "BLOCK", block)
    text = b'user,query\n1,"a\xff\nb"\n2,"c\nd\0"\n3,"e\nf"\n4,g\n'
    log = read_log(write(tmp_path / "log.csv", text), max_rejected=1)
    assert [row[:2] for row in rows_of(log)] == [("3", "e f"), ("4", "g")]
    assert rejected_of(log) == [(2, "not UTF-8"), (4, "NUL byte")]


cells = st.text(st.sampled_from('ab ,;"\n\u00e9'), max_size=6)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(["7", "8", ""]), cells, cells), min_size=1, max_size=12),
    st.sampled_from([",", ";"]),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]),
    st.sampled_from([9, 30, 32 << 20]),
)
def test_csv_is_read_as_it_was_written(tmp_path_factory, table, sign, end, style, block):
    """Against Python's writer: the cells, and where each record begins."""
    out = io.StringIO()
    writer = csv.writer(out, delimiter=sign, lineterminator=end, quoting=style)
    writer.writerow(["user", "query", "url"])
    begins = []
    for row in table:
        begins.append(out.getvalue().count("\n") + 1)
        writer.writerow(row)
    path = write(tmp_path_factory.getbasetemp() / "written.csv", out.getvalue())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(source, "BLOCK", block)
        log = read_log(path, may_stop=False)  # there may be no query at all
    assert [(row[0], row[1], row[4]) for row in rows_of(log)] == [
        (user, " ".join(query.split()).lower(), url.strip() or None)
        for user, query, url in table
        if user and query.strip()
    ]
    bad = [
        (at, "no user")
        for at, (user, query, url) in zip(begins, table, strict=True)
        if not user and (query.strip() or url.strip())
    ]
    assert rejected_of(log) == bad
    assert log.accounting.rows == len(table)
    assert adds_up(log)


# --- numbers of lines ----------------------------------------------------------------------------

BAD = {
    "aol": "\t".join(["", "cats", "2006-03-01 10:00:05", "", ""]),
    "excite": "\t970916105432\tcats",
    "csv": ",cats,2006-03-01 10:00:05",
    "tsv": "\tcats\t2006-03-01 10:00:05",
    "jsonl": '{"user": "", "query": "cats", "time": "2006-03-01 10:00:05"}',
}
GOOD = {
    "aol": "\t".join(["7", "cats", "2006-03-01 10:00:05", "", ""]),
    "excite": "7\t970916105432\tcats",
    "csv": '7,"cats",2006-03-01 10:00:05',
    "tsv": "7\tcats\t2006-03-01 10:00:05",
    "jsonl": '{"user": "7", "query": "cats", "time": "2006-03-01 10:00:05"}',
}
HEADERS = {"csv": "user,query,time", "tsv": "user\tquery\ttime"}


def long_file(form: str) -> tuple[str, list[int]]:
    """A file of 300 lines with blank and bad ones, and the numbers of the bad ones."""
    lines = [HEADERS[form]] if form in HEADERS else []
    bad = []
    for number in range(len(lines) + 1, 301):
        if number % 29 == 0:
            bad.append(number)
        lines.append(BAD[form] if number % 29 == 0 else "" if number % 13 == 0 else GOOD[form])
    return "".join(line + "\n" for line in lines), bad


@pytest.mark.parametrize("block", [120, 1000, 32 << 20])
@pytest.mark.parametrize("form", BAD)
def test_numbers_of_rejected_lines(tmp_path, monkeypatch, form, block):
    monkeypatch.setattr(source, "BLOCK", block)
    text, bad = long_file(form)
    log = read_log(write(tmp_path / "log", text), format=form, max_rejected=0.1)
    assert rejected_of(log) == [(number, "no user") for number in bad]
    assert adds_up(log)


def test_numbers_start_anew_in_each_file(tmp_path, monkeypatch):
    monkeypatch.setattr(source, "BLOCK", 333)
    wanted = []
    for form in ("csv", "tsv", "jsonl"):
        text, bad = long_file(form)
        for name in (f"a.{form}", f"b.{form}"):
            write(tmp_path / name, text)
            wanted += [(str(tmp_path / name), number, "no user") for number in bad]
    log = read_log([tmp_path / "*.csv", tmp_path / "*.tsv", tmp_path / "*.jsonl"], max_rejected=1)
    assert log.accounting.rejected_rows().rows() == wanted
    assert adds_up(log)


def test_bad_bytes_in_the_header_do_not_cost_the_first_row(tmp_path):
    text = "user,query,gr\u00f6\u00dfe\n7,cats,1\n8,dogs,2\n".encode("latin-1")
    log = read_log(write(tmp_path / "log.csv", text))
    assert [row[:2] for row in rows_of(log)] == [("7", "cats"), ("8", "dogs")]


# --- ragged rows ---------------------------------------------------------------------------------


@pytest.mark.parametrize("sign", [",", "\t"])
@pytest.mark.parametrize("quote", [None, "none"])
def test_too_many_and_too_few_cells(tmp_path, sign, quote):
    lines = [
        "user,query,time",
        "1,cats,2006-03-01 10:00:05,x,y,z",
        "2,cats,2006-03-01 10:00:05,x",
        "3,cats,2006-03-01 10:00:05,",
        "4,cats,2006-03-01 10:00:05,,,late",
        "5,cats,2006-03-01 10:00:05",
        "6,cats",
        "7",
    ]
    text = "".join(line.replace(",", sign) + "\n" for line in lines)
    name = "log.tsv" if sign == "\t" else "log.csv"
    log = read_log(write(tmp_path / name, text), max_rejected=1, quote=quote)
    assert [row[0] for row in rows_of(log)] == ["3", "5"]
    assert rejected_of(log) == [
        (2, "too many columns"),
        (3, "too many columns"),
        (5, "too many columns"),
        (7, "no time"),
        (8, "no time"),
    ]


def test_a_comma_in_a_query_is_never_cut_off_in_silence(tmp_path):
    log = read_log(
        write(tmp_path / "log.csv", "user,query\n7,red,,shoes\n8,cats\n"), max_rejected=1
    )
    assert [row[:2] for row in rows_of(log)] == [("8", "cats")]
    assert rejected_of(log) == [(2, "too many columns")]


# --- JSON lines ----------------------------------------------------------------------------------


def test_nested_names(tmp_path):
    text = (
        '{"who": {"id": 142, "ip": "x"}, "search": {"text": {"raw": "Cats"}}}\n'
        '{"who": {"id": 143}, "search": {"text": {"raw": "dogs"}}, "other": [1]}\n'
        '{"who": null, "search": {"text": {"raw": "birds"}}}\n'
        '{"who": "none", "search": {"text": "x"}}\n'
    )
    columns = parse_columns("user=who.id,query=search.text.raw")
    for part in (text, "\n".join(text.split("\n")[:3]) + "\n"):  # read line by line, and fast
        log = read_log(write(tmp_path / "log.jsonl", part), columns=columns, max_rejected=1)
        assert [row[:2] for row in rows_of(log)] == [("142", "cats"), ("143", "dogs")]
        assert rejected_of(log)[0] == (3, "no user")
        assert adds_up(log)


def test_nested_and_not_of_the_same_name(tmp_path):
    text = '{"a": {"b": "cats"}, "u": "7"}\n'
    columns = {"user": "a", "query": "a.b"}
    log = read_log(write(tmp_path / "log.jsonl", text), columns=columns, max_rejected=1)
    assert log.accounting.rejected == {"no user": 1}  # an object is no name
    log = read_log(tmp_path / "log.jsonl", columns=columns | {"user": "u"})
    assert [row[1] for row in rows_of(log)] == ["cats"]


def test_clicks_that_come_late_are_found(tmp_path):
    """Objects leave out what they have not: the first ones need not have a click."""
    plain = '{"user": "7", "query": "cats"}\n'
    click = '{"user": "7", "query": "cats", "rank": 3, "url": "http://a.example"}\n'
    log = read_log(write(tmp_path / "log.jsonl", plain * 100 + click))
    assert log.count("click") == 1


def test_lines_that_are_no_objects(tmp_path):
    good = '{"user": "7", "query": "cats"}'
    bad = ["[1]", "3", "null", '"text"', "{", good + good, good[:-1], "{'user': '7'}", good + "x"]
    lines = [good]
    for line in bad:
        lines += [line, "", good]
    log = read_log(write(tmp_path / "log.jsonl", "\n".join(lines)), max_rejected=1)
    assert len(rows_of(log)) == len(bad) + 1
    numbers = [2 + 3 * at for at in range(len(bad))]
    assert rejected_of(log) == [(number, "not a JSON object") for number in numbers]


def test_a_line_separator_inside_a_json_text(tmp_path):
    text = '{"user": "7", "query": "a\u2028b\u0085c"}\n'
    assert rows_of(read_log(write(tmp_path / "log.jsonl", text)))[0][1] == "a b c"


@pytest.mark.parametrize("escape", [r"\u0000", r"\ud800", r"\udc00", r"\ud83dx"])
@pytest.mark.parametrize("more", ["", "nonsense\n"], ids=["fast", "line by line"])
def test_escapes_that_hide_what_is_no_text(tmp_path, escape, more):
    text = f'{{"user": "7", "query": "a{escape}"}}\n{{"user": "8", "query": "\\ud83d\\ude00"}}\n'
    log = read_log(write(tmp_path / "log.jsonl", text + more), max_rejected=1)
    assert [row[:2] for row in rows_of(log)] == [("8", "\U0001f600")]
    assert rejected_of(log)[0] == (1, "NUL or half a character")


numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
values = st.none() | st.booleans() | numbers | st.text(max_size=5)


@settings(deadline=None)
@given(st.lists(st.dictionaries(st.sampled_from(["a", "b", "c"]), values), min_size=1))
def test_fast_or_line_by_line_a_value_has_one_name(lines):
    """A user must not become two because another line of the block is broken."""
    data = "".join(json.dumps(line) + "\n" for line in lines).encode()
    names = {"user": "a", "query": "b"}
    fast, slow = _fast(data, names), _slow(list(enumerate(data.splitlines(), 1)), names)
    if fast is not None:
        assert fast.rows() == slow.select(fast.columns).rows()


def test_numbers_as_users_are_read_fast(tmp_path):
    data = b'{"a": 142, "b": 1.0}\n{"a": 12345678901234567890, "b": 1e5}\n'
    names = {"user": "a", "query": "b"}
    wanted = [("142", "1", None), ("12345678901234567890", "100000", None)]
    slow = _slow(list(enumerate(data.splitlines(), 1)), names)
    assert _fast(data, names).rows() == slow.select("user", "query", "fault").rows() == wanted


def test_not_a_number_is_nobody(tmp_path):
    text = '{"user": NaN, "query": "cats", "x": 1}\n{"user": 8, "query": "dogs", "x": NaN}\n'
    log = read_log(write(tmp_path / "log.jsonl", text), max_rejected=1)
    assert [row[:2] for row in rows_of(log)] == [("8", "dogs")]
    assert rejected_of(log) == [(1, "no user")]


# --- Parquet -------------------------------------------------------------------------------------


def parquet(path: Path, **columns: object) -> Path:
    pl.DataFrame(columns).write_parquet(path)
    return path


def test_parquet_with_numbers_and_times(tmp_path):
    path = parquet(
        tmp_path / "log.bin", user=[7, 8], query=["Cats", "dogs"], time=[AT, None], rank=[None, 3]
    )
    for form, name in (("parquet", "log.bin"), (None, "log.parquet"), (None, "log.pq")):
        path = path.rename(tmp_path / name)
        log = read_log(path, format=form, max_rejected=1)
        assert rows_of(log) == [("7", "cats", AT, None, None)]
        assert rejected_of(log) == [(2, "no time")]
        assert log.sources[0].format == "parquet"
        assert len(log.sources[0].sha256) == 64


@pytest.mark.parametrize(
    ("times", "kept"),
    [
        (pl.Series([date(2006, 3, 1)]), datetime(2006, 3, 1)),
        (pl.Series([AT]).cast(pl.Datetime("ms")), AT),
        (pl.Series([AT]).cast(pl.Datetime("ns")), AT),
        (pl.Series([AT]).dt.replace_time_zone("Europe/Madrid"), datetime(2006, 3, 1, 9, 0, 5)),
        (pl.Series(["2006-03-01T10:00:05"]), AT),
        (pl.Series([1141207205]), AT),
        (pl.Series([1141207205000]), AT),
        (pl.Series([1141207205.0]), AT),
    ],
)
def test_parquet_times(tmp_path, times, kept):
    path = parquet(tmp_path / "log.parquet", user=["7"], query=["cats"], time=times)
    assert rows_of(read_log(path))[0][2] == kept


def test_parquet_numbers_with_gaps(tmp_path):
    """Whole numbers with gaps come as fractions; a fraction that is none is nobody."""
    path = parquet(
        tmp_path / "log.parquet",
        user=[142.0, 143.0, float("nan"), None],
        query=["a", "b", "c", "d"],
        rank=[3.0, float("nan"), 1.0, None],
    )
    log = read_log(path, max_rejected=1)
    assert rows_of(log) == [("142", "a", None, 3, None), ("143", "b", None, None, None)]
    assert rejected_of(log) == [(3, "no user"), (4, "no user")]


def test_parquet_in_several_slices(tmp_path, monkeypatch):
    from queryveil.log.readers import parquet as module

    monkeypatch.setattr(module, "_ROWS", 7)
    users = [None if number % 9 == 0 else str(number) for number in range(1, 51)]
    path = parquet(tmp_path / "log.parquet", user=users, query=["cats"] * 50)
    log = read_log(path, max_rejected=1)
    assert rejected_of(log) == [(number, "no user") for number in range(9, 51, 9)]
    assert [row[0] for row in rows_of(log)] == [user for user in users if user]


def test_parquet_bytes_and_nul(tmp_path):
    path = parquet(
        tmp_path / "log.parquet", user=[b"7", b"\xff", b"9"], query=["cats", "dogs", "bi\0rds"]
    )
    log = read_log(path, max_rejected=1)
    assert [row[:2] for row in rows_of(log)] == [("7", "cats")]
    assert rejected_of(log) == [(2, "NUL or not UTF-8"), (3, "NUL or not UTF-8")]


def test_parquet_columns_that_hold_no_texts(tmp_path):
    path = parquet(tmp_path / "log.parquet", user=[["7"]], query=["cats"])
    with pytest.raises(ColumnError, match="List"):
        read_log(path)


def test_parquet_categories_and_own_names(tmp_path):
    query = pl.Series(["cats", "dogs"], dtype=pl.Categorical)
    path = parquet(tmp_path / "log.parquet", who=["7", "8"], q=query, x=[[1], [2]])
    log = read_log(path, columns={"user": "who"})
    assert [row[:2] for row in rows_of(log)] == [("7", "cats"), ("8", "dogs")]


@pytest.mark.parametrize("cut", [8, 200, -1])
def test_parquet_that_is_cut_off(tmp_path, cut):
    path = parquet(tmp_path / "log.parquet", user=["7"] * 99, query=["cats"] * 99)
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(FormatError, match="damaged"):
        read_log(path)


def test_parquet_with_damaged_pages(tmp_path):
    users = [str(number * 7919 % 1000) for number in range(1000)]
    path = parquet(tmp_path / "log.parquet", user=users, query=users)
    data = bytearray(path.read_bytes())
    data[40:400] = bytes(360)
    path.write_bytes(data)
    with pytest.raises(FormatError, match="damaged"):
        read_log(path)


# --- UBI -----------------------------------------------------------------------------------------


def ubi_query(number: int, **more: object) -> str:
    line = {
        "application": "shop",
        "query_id": f"id-{number}",
        "client_id": f"client-{number}",
        "user_query": f"Query {number}",
        "timestamp": "2006-03-01T10:00:05.000Z",
        "query_attributes": {"secret": "a phone number", "nested": [{"deep": True}]},
        "query_response_id": "r",
    }
    return json.dumps(line | more) + "\n"


def ubi_event(number: int, rank: int | None, url: str | None, **more: object) -> str:
    line = {
        "action_name": "click",
        "query_id": f"id-{number}",
        "client_id": f"client-{number}",
        "timestamp": "2006-03-01T10:00:09.000Z",
        "message": "free text",
        "event_attributes": {
            "position": {"ordinal": rank, "x": 3},
            "object": {"object_id": url, "object_id_field": "sku", "internal": "secret"},
            "anything": {"user_query": "secret"},
        },
    }
    return json.dumps(line | more) + "\n"


def ubi(tmp_path: Path, queries: str, events: str) -> list[Path]:
    files = {"ubi_queries.jsonl": queries, "ubi_events.jsonl": events}
    return [write(tmp_path / name, text) for name, text in files.items()]


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("named", [False, True])
def test_ubi_queries_with_their_clicks(tmp_path, turned, named):
    events = (
        ubi_event(1, 3, "sku-3")
        + ubi_event(1, 5, "sku-5")
        + ubi_event(2, 1, "sku-1", action_name="impression")
        + ubi_event(3, 1, "sku-1", action_name="product_click")
    )
    paths = ubi(tmp_path, ubi_query(1) + ubi_query(2) + ubi_query(3), events)
    log = read_log(paths[::-1] if turned else paths, format="ubi" if named else None)
    assert rows_of(log) == [
        ("client-1", "query 1", AT, 3, "sku-3"),
        ("client-1", "query 1", AT, 5, "sku-5"),
        ("client-2", "query 2", AT, None, None),
        ("client-3", "query 3", AT, 1, "sku-1"),
    ]
    assert {(Path(s.path).name, s.format) for s in log.sources} == {
        ("ubi_queries.jsonl", "ubi"),
        ("ubi_events.jsonl", "ubi"),
    }
    assert "secret" not in str(rows_of(log))
    assert adds_up(log)


def test_ubi_queries_alone_and_times_in_milliseconds(tmp_path):
    path = write(tmp_path / "q.jsonl", ubi_query(1, timestamp=1141207205000))
    assert rows_of(read_log(path, format="ubi")) == [("client-1", "query 1", AT, None, None)]


def test_ubi_events_alone(tmp_path):
    with pytest.raises(TooManyRejectedError, match="click without its query: 1") as caught:
        read_log(write(tmp_path / "ubi_events.jsonl", ubi_event(1, 1, "x")))
    assert "name the file of queries too" in caught.value.hint


def test_ubi_each_line_says_what_it_is(tmp_path):
    mixed = ubi_event(1, 3, "sku-3") + ubi_query(1) + ubi_query(2)
    log = read_log(write(tmp_path / "mixed", mixed), format="ubi")
    assert [(row[0], row[3]) for row in rows_of(log)] == [("client-1", 3), ("client-2", None)]


def test_ubi_nothing_is_lost(tmp_path, monkeypatch):
    monkeypatch.setattr(source, "BLOCK", 700)
    events = (
        ubi_event(1, 3, "sku-3")
        + "not json\n"
        + ubi_event(9, 1, "nobody asked for this")
        + ubi_event(1, 4, "sku-4", query_id=None)
        + ubi_event(1, 0, "sku-9")
    )
    queries = ubi_query(1) + "{\n" + ubi_query(2, client_id=None) + ubi_query(3, user_query="")
    log = read_log(ubi(tmp_path, queries, events), max_rejected=1)
    assert rows_of(log) == [("client-1", "query 1", AT, 3, "sku-3")]
    found = {(Path(f).name, n, why) for f, n, why in log.accounting.rejected_rows().rows()}
    assert found == {
        ("ubi_events.jsonl", 2, "not a JSON object"),
        ("ubi_events.jsonl", 3, "click without its query"),
        ("ubi_events.jsonl", 4, "click without its query"),
        ("ubi_queries.jsonl", 1, "rank below 1"),
        ("ubi_queries.jsonl", 2, "not a JSON object"),
        ("ubi_queries.jsonl", 3, "no user"),
    }
    assert log.accounting.dropped == {"empty query": 1}
    assert adds_up(log)


def test_ubi_a_click_is_its_own_users_alone(tmp_path):
    """Six users share a query_id: a click of one of them must not count for the others."""
    queries = "".join(ubi_query(1, client_id=f"c{n}") for n in range(6)) + ubi_query(2)
    events = (
        ubi_event(1, 1, "secret", client_id="c0")
        + ubi_event(1, 2, "whose", client_id=None)
        + ubi_event(1, 3, "stranger", client_id="c9")
        + ubi_event(2, 1, "owner", client_id=None)
    )
    log = read_log(ubi(tmp_path, queries, events), max_rejected=1)
    clicked = {(row[0], row[4]) for row in rows_of(log) if row[4]}
    assert clicked == {("c0", "secret")}
    assert log.accounting.rejected == {"click without a user": 2, "click without its query": 1}
    assert adds_up(log)


def test_ubi_a_second_line_of_a_query_does_not_double_its_clicks(tmp_path):
    log = read_log(ubi(tmp_path, ubi_query(1) * 2, ubi_event(1, 1, "a") + ubi_event(1, 2, "b")))
    assert [row[4] for row in rows_of(log)] == ["a", "b", None]


def test_ubi_other_events_are_counted(tmp_path):
    events = "".join(
        ubi_event(1, 1, "a", action_name=name) for name in ("Click", "CLICK", "impression", "buy")
    ) + ubi_event(1, 1, "a", action_name="page_load", query_id=None)
    log = read_log(ubi(tmp_path, ubi_query(1), events))
    assert log.count("click") == 2
    assert log.accounting.dropped == {"event that is no click": 3}
    assert adds_up(log)


# --- access logs ---------------------------------------------------------------------------------

COMBINED = '{ip} - {name} [01/Mar/2006:11:00:05 +0100] "{request}" 200 512 "{ref}" "{agent}"\n'
UNPLEASANT = pytest.mark.filterwarnings("ignore:the user is an IP address")


def access(request: str, ip: str = "192.0.2.7", **more: str) -> str:
    usual = {"name": "-", "ref": "http://x.example/?q=not+this", "agent": "Browser/1.0"}
    return COMBINED.format(ip=ip, request=request, **usual | more)


def get(query: str) -> str:
    return f"GET /search?{query} HTTP/1.1"


def test_access_logs_warn_that_an_address_is_no_person(tmp_path):
    path = write(tmp_path / "access.log", access(get("q=cats")))
    with pytest.warns(UserWarning, match="the user is an IP address"):
        log = read_log(path)
    assert rows_of(log) == [("192.0.2.7", "cats", AT, None, None)]


@UNPLEASANT
@pytest.mark.parametrize("form", [None, "access"])
def test_access_logs_of_apache_in_the_short_form(tmp_path, form):
    text = '2001:db8::7 - jane [01/Mar/2006:10:00:05 +0000] "GET /?x=1&q=a+b HTTP/1.0" 200 5\n'
    log = read_log(write(tmp_path / "access.log", text), format=form)
    assert rows_of(log) == [("2001:db8::7", "a b", AT, None, None)]


@UNPLEASANT
@pytest.mark.parametrize(
    ("coded", "query"),
    [
        ("q=Red+Shoes", "red shoes"),
        ("q=caf%C3%A9%20noir", "caf\u00e9 noir"),
        ("page=2&q=a%26b%3Dc&lang=en", "a&b=c"),
        ("q=1%2B1", "1+1"),
        ("q=two%0Alines%09tab", "two lines tab"),
        (r"q=\"red+shoes\"&x=1", '"red shoes"'),
        (r"q=\x22caf\xC3\xA9\x22", '"caf\u00e9"'),
        ("q=100%", "100%"),
        ("faq=no&q=yes", "yes"),
        ("q=first&q=second", "first"),
    ],
)
def test_access_logs_decode(tmp_path, coded, query):
    log = read_log(write(tmp_path / "access.log", access(get(coded))))
    assert [row[1] for row in rows_of(log)] == [query]


@UNPLEASANT
def test_access_logs_what_is_no_search_and_what_is_no_text(tmp_path):
    text = (
        access(get("q=cats"))
        + access("GET /logo.png HTTP/1.1")
        + "\n"
        + access(get("q="))
        + access(get("q=caf%E9"))
        + access(get("q=a%00b"))
        + "what is this\n"
        + access("-")
    )
    log = read_log(write(tmp_path / "access.log", text), max_rejected=1)
    assert [row[1] for row in rows_of(log)] == ["cats"]
    assert log.accounting.dropped == {"empty query": 3, "blank line": 1}
    assert rejected_of(log) == [
        (5, "query is not UTF-8"),
        (6, "NUL byte"),
        (7, "not a line of an access log"),
    ]
    assert adds_up(log)


@UNPLEASANT
def test_access_logs_another_parameter(tmp_path):
    path = write(tmp_path / "access.log", access(get("q=no&search.term=yes&searchxterm=no")))
    log = read_log(path, query_parameter="search.term")
    assert [row[1] for row in rows_of(log)] == ["yes"]


@UNPLEASANT
@pytest.mark.parametrize("block", [200, 1000])
def test_access_logs_numbers_of_lines(tmp_path, monkeypatch, block):
    monkeypatch.setattr(source, "BLOCK", block)
    lines = [access(get(f"q=query+{n}")) if n % 7 else "bad\n" for n in range(1, 60)]
    log = read_log(write(tmp_path / "access.log", "".join(lines)), max_rejected=1)
    assert [n for n, _ in rejected_of(log)] == list(range(7, 60, 7))
    assert [row[1] for row in rows_of(log)] == [f"query {n}" for n in range(1, 60) if n % 7]


# --- telling formats apart -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("log.parquet", "parquet"),
        ("log.PQ", "parquet"),
        ("ubi_queries.jsonl", "ubi"),
        ("shop-ubi-events-2026.ndjson.gz", "ubi"),
        ("log.jsonl.zst", "jsonl"),
        ("log.json", "jsonl"),
        ("user-ct-test-collection-01.txt.gz", "aol"),
        ("access.log", "access"),
        ("access.log.2.gz", "access"),
        ("ssl_access_log-20060301", "access"),
        ("log.tsv", "tsv"),
        ("log.csv.gz", "csv"),
    ],
)
@pytest.mark.parametrize("data", [b"", b'{"query_id": 1}\n', b"7\t970916105432\tx\n", b"PAR1"])
def test_the_name_of_a_file_tells_its_format_and_no_row_does(tmp_path, name, form, data):
    pack = {".gz": gzip.compress, ".zst": zstandard.compress}.get(Path(name).suffix, bytes)
    assert detect_reader(TextFile(write(tmp_path / name, pack(data)))).name == form


def test_a_header_is_no_row_and_may_be_that_of_aol(tmp_path):
    assert detect_reader(TextFile(write(tmp_path / "log.tsv", AOL))).name == "aol"


@pytest.mark.parametrize("name", ["log", "log.txt", "log.gz", "log.csv.old", "catalog"])
def test_a_name_that_tells_no_format(tmp_path, name):
    data = gzip.compress(AOL.encode()) if name.endswith(".gz") else AOL.encode()
    with pytest.raises(FormatError, match="does not tell its format") as caught:
        read_log(write(tmp_path / name, data))
    assert "`format`" in caught.value.hint


def test_a_reader_can_be_used_by_itself(tmp_path):
    file = TextFile(write(tmp_path / "log.tsv", AOL))
    (rows,) = READERS["aol"].read([file], ReaderOptions())
    assert rows.table.columns == ["user", "query", "time", "rank", "url", "line", "fault"]
    assert rows.table["line"].to_list() == [2, 3]
    assert rows.table["query"].to_list() == ["Red  Shoes", "caf\u00e9 \u6771\u4eac"]


def test_usual_keys_that_come_late_are_read(tmp_path: Path) -> None:
    """Keys that stand nowhere in a block are not looked for; those with escapes stand there."""
    usual = [{"user": "7", "query": f"cats {n:,}"} for n in range(200)]
    late = ['{"uid": "8", "q": "dogs"}', r'{"\u0063ookie": "9", "query": "birds"}']
    text = "".join(json.dumps(row) + "\n" for row in usual)
    for line, user in zip(late, ("8", "9"), strict=True):
        log = read_log(write(tmp_path / "log.jsonl", f"{text}{line}\n"))
        assert log.local_frame.collect()["user"].cast(pl.String).unique().sort().to_list() == [
            "7",
            user,
        ]
