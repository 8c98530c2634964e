"""How a log is read does not depend on one person, and her rows stop no private release."""

from __future__ import annotations

import csv
import io
import json
import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import queryveil as qv
from queryveil.log.readers import excel, parquet, source
from queryveil.log.readers import parquet_child as decoding
from queryveil.methods.base import FAILURES, METHODS, READ_ALONE, parse_method
from specs import built_in_methods, small_spec

# --- two logs that differ in one person ----------------------------------------------------------

TIMES = [
    "2006-03-01 10:00:05", "2006-03-01T10:00:05Z", "1.3.2006 10:00", "01/02/2006", "13/02/2006",
    "02/13/2006", "1141207205", "1141207205000", "060301100005", "20060301100005", "2006-03-01",
    "18.11.2026 07:01:22", "18.11.2026, 07:01", "11.18.2026", "2006-03-01T10:00Z",
    "soon", "", "9" * 40, "1.141207205E9", "2006/03/01 10:00:05",
]  # fmt: skip
QUERIES = [
    "cats", "Red  Shoes", '"red shoes', '5" disk', 'say "hi"', "a,b;c|d", "a\tb", "a\nb", "a\r\nb",
    "a\rb", "", "-", "caf\u00e9", "\u6771\u4eac", "x" * 70_000, "query", "user", "{", "}{", "nan",
    "\x01\x02\x03", "\ufeff", "'", '""', "\\", "\\u0000", "NaN", "a\x00b",
]  # fmt: skip
RANKS = ["", "1", "3.0", "first", "-1", " 2 ", "0"]
cells = st.tuples(st.sampled_from(QUERIES), st.sampled_from(TIMES), st.sampled_from(RANKS))
FIELDS = ("user", "query", "time", "rank")
Row = tuple[str, ...]


def csv_of(rows: list[Row], sign: str = ",", header: bool = True) -> bytes:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=sign, lineterminator="\n")
    writer.writerows([FIELDS, *rows] if header else rows)
    return out.getvalue().encode()


def tabs_of(rows: list[Row]) -> str:
    """As programs write TSV that quote nothing: what would end a row is a blank there."""
    clean = [[cell.translate(str.maketrans("\t\n\r", "   ")) for cell in row] for row in rows]
    return "".join("\t".join(row) + "\n" for row in clean)


def json_of(rows: list[Row]) -> bytes:
    lines = [{k: v for k, v in zip(FIELDS, row, strict=True) if v} for row in rows]
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def odd_json_of(rows: list[Row]) -> bytes:
    """Lines of which some are broken, or hold other things than texts."""
    lines = json_of(rows).decode().splitlines()
    for place, (_, query, *_) in enumerate(rows):
        if query in ("{", "nan", "-"):
            lines[place] = lines[place].replace('"query": ', '"query": [1, {"a": 1.0}], "x": ')
        elif query in ("}{", "NaN"):
            lines[place] = lines[place][:-1] + ', "y": NaN}' + (query == "}{") * "}"
    return "".join(line + "\n" for line in lines).encode()


def parquet_of(rows: list[Row]) -> bytes:
    out = io.BytesIO()
    table = {name: [row[at] for row in rows] for at, name in enumerate(FIELDS)}
    pl.DataFrame(table, schema=dict.fromkeys(FIELDS, pl.String)).write_parquet(out)
    return out.getvalue()


def aol_of(rows: list[Row]) -> bytes:
    return ("AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n" + tabs_of(rows)).encode()


def excite_of(rows: list[Row]) -> bytes:
    return tabs_of([(user, time, query) for user, query, time, _ in rows]).encode()


def access_of(rows: list[Row]) -> bytes:
    lines = [
        f'{user} - - [{time}] "GET /s?q={"+".join(query.split())} HTTP/1.1" 200 1'
        for user, query, time, _ in rows
    ]
    return "".join(" ".join(line.splitlines()) + "\n" for line in lines).encode()


def ubi_of(rows: list[Row]) -> bytes:
    lines: list[dict[str, Any]] = []
    for user, query, time, rank in rows:
        shared = {"query_id": f"id {query[:1]}", "client_id": user, "timestamp": time}
        lines.append(shared | {"user_query": query})
        position = {"position": {"ordinal": rank}} if rank != "first" else {"position": 1}
        if rank:
            owner = None if rank == "3.0" else user
            event = {"action_name": "click", "event_attributes": position}
            lines.append(shared | event | {"client_id": owner})
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def german_of(rows: list[Row]) -> bytes:
    """As Excel writes it: a mark, semicolons, date and time of day in two columns."""
    split = [(user, query, *_split(time), rank) for user, query, time, rank in rows]
    out = io.StringIO()
    writer = csv.writer(out, delimiter=";", lineterminator="\r\n")
    writer.writerows([("Kunde", "Suchbegriff", "Datum", "Uhrzeit", "Rang"), *split])
    return ("sep=;\r\n" + out.getvalue()).encode("utf-8-sig")


def _split(time: str) -> tuple[str, str]:
    date, _, clock = time.partition(" ")
    return date, clock


def dump_of(rows: list[Row]) -> bytes:
    """Dump lines, bulk lines and documents in one file: each is read on its own."""
    lines: list[dict[str, Any]] = []
    for place, row in enumerate(rows):
        source: dict[str, Any] = {k: v for k, v in zip(FIELDS, row, strict=True) if v}
        lines += [{"_id": "1", "_source": source}] if place % 2 else [{"index": {}}, source]
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def response_of(rows: list[Row]) -> bytes:
    hits = [{"_source": dict(zip(FIELDS, row, strict=True))} for row in rows]
    return json.dumps({"took": 1, "hits": {"hits": hits}}, indent=1).encode()


def excel_of(rows: list[Row]) -> bytes:
    out = io.BytesIO()
    pl.DataFrame([FIELDS, *rows], schema=list("0123"), orient="row").write_ipc(out)
    return out.getvalue()


NUMBERED = {"user": "1", "query": "2", "time": "3", "rank": "4"}
FORMATS: dict[str, tuple[str, Callable[[list[Row]], bytes], dict[str, Any]]] = {
    "csv": ("log.csv", csv_of, {}),
    "csv, semicolon": ("log.csv", lambda rows: csv_of(rows, ";"), {}),
    "csv, German": ("export.csv", german_of, {}),
    "csv without header": (
        "log.csv",
        lambda rows: csv_of(rows, header=False),
        {"columns": NUMBERED},
    ),
    "tsv": ("log.tsv", lambda rows: ("\t".join(FIELDS) + "\n" + tabs_of(rows)).encode(), {}),
    "tsv without header": (
        "log.tsv",
        lambda rows: tabs_of(rows).encode(),
        {"columns": NUMBERED},
    ),
    "jsonl": ("log.jsonl", json_of, {}),
    "jsonl, odd": ("log.jsonl", odd_json_of, {}),
    "dump": ("dump.json", dump_of, {}),
    "response": ("opensearch.json", response_of, {}),
    "excel": ("log.xlsx", excel_of, {}),
    "parquet": ("log.parquet", parquet_of, {}),
    "aol": ("log.tsv", aol_of, {}),
    "excite": ("log.excite", excite_of, {}),
    "access": ("access.log", access_of, {}),
    "ubi": ("ubi_queries.jsonl", ubi_of, {}),
}


def kept(path: Path, data: bytes, **more: Any) -> list[tuple]:
    path.write_bytes(data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        log = qv.read_log(path, may_stop=False, **more)
    others = log.local_frame.with_columns(pl.col("user").cast(pl.String)).filter(
        pl.col("user") != "new"
    )
    return others.collect().rows()


@contextmanager
def decoded_here(path: Path) -> Iterator[SimpleNamespace]:
    """Stand in for the child that decodes a Parquet file: to start 80 of them takes most time."""
    (asked, ask), (read, answer) = os.pipe(), os.pipe()

    def work() -> None:
        with os.fdopen(asked, "rb") as wanted, suppress(OSError), os.fdopen(answer, "wb") as out:
            decoding.decode(str(path), parquet._ROWS, wanted, out)

    thread = Thread(target=work)
    thread.start()
    try:
        with os.fdopen(ask, "wb") as stdin, os.fdopen(read, "rb") as stdout:
            yield SimpleNamespace(stdin=stdin, stdout=stdout)
    finally:
        thread.join()


@pytest.mark.parametrize("form", FORMATS)
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    rows=st.lists(st.tuples(st.sampled_from(["7", "8", "9"]), cells), min_size=1, max_size=8),
    new=st.lists(st.tuples(st.integers(0, 8), cells), min_size=1, max_size=4),
    block=st.sampled_from([60, 1 << 24]),
)
def test_rows_of_a_new_user_change_no_other_row(tmp_path_factory, form, rows, new, block):
    """Read with and without her, wherever her rows stand: all others are the same."""
    name, write, more = FORMATS[form]
    log = [(user, *cell) for user, cell in rows]
    with_her = list(log)
    for place, cell in new:
        with_her.insert(place, ("new", *cell))
    path = tmp_path_factory.getbasetemp() / name
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(source, "BLOCK", block)
        patch.setattr(parquet, "_child", decoded_here)
        # The cells as the child of the reader hands them over, all of them texts.
        patch.setattr(excel, "_check_archive", lambda file: None)
        patch.setattr(excel, "_decode", lambda path, sheet: pl.read_ipc(path.read_bytes()))
        assert kept(path, write(with_her), **more) == kept(path, write(log), **more)


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    rows=st.lists(st.tuples(st.sampled_from(["7", "8", "9"]), cells), min_size=1, max_size=8),
    file=st.one_of(
        st.lists(cells, max_size=4).map(lambda own: csv_of([("new", *cell) for cell in own])),
        st.sampled_from([b"", b"PAR1", b"\x1f\x8b", b"\xff\xfe", b"who\n", b'{"query": 1}', b"\0"]),
        st.binary(max_size=40),
    ),
    ending=st.sampled_from(["csv", "tsv", "jsonl", "txt", "csv.gz", "parquet", "excite", "xlsx"]),
)
def test_the_file_of_a_new_user_changes_no_other_row(tmp_path_factory, rows, file, ending):
    """One file per user: whatever theirs holds and is called, it stops nothing."""
    folder = tmp_path_factory.mktemp("users")
    for user in {user for user, _ in rows}:
        own = [(owner, *cell) for owner, cell in rows if owner == user]
        (folder / f"{user}.csv").write_bytes(csv_of(own))
    options: dict[str, Any] = {"columns": {"user": "@file-name"}, "may_stop": False}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        read = []
        for content in (None, file):
            if content is not None:
                (folder / f"new.{ending}").write_bytes(content)
            log = qv.read_log(folder, **options, since="1990-01-01").local_frame
            log = log.with_columns(pl.col("user").cast(pl.String))
            read.append(
                log.filter(pl.col("user") != "new")
                .sort("user", maintain_order=True)
                .collect()
                .rows()
            )
    assert read[0] == read[1]


def test_two_rows_of_one_user_do_not_turn_months_and_days(tmp_path):
    rows = [("7", "cats", "01/02/2006", ""), ("8", "dogs", "03/02/2006", "")]
    her = [("new", "x", "13/02/2006", ""), ("new", "y", "14/02/2006", "")]
    path = tmp_path / "log.csv"
    how = {"time_format": "%m/%d/%Y"}
    assert kept(path, csv_of(rows + her), **how) == kept(path, csv_of(rows), **how)
    assert kept(path, csv_of(rows + her)) == kept(path, csv_of(rows)) == []


# --- no refusal ----------------------------------------------------------------------------------

PRIVATE = [
    "dp-statistics:epsilon=1:delta=1e-6:selection=gaussian",
    "dp-statistics:epsilon=1:delta=1e-6:selection=laplace:synthetic-users=20",
    "dp-statistics:epsilon=1:mode=pure",
    "click-graph:epsilon=1:delta=1e-6",
    "semantic-replacement:epsilon=1:domain=entertainment",
    "profile-first:epsilon=1:domain=entertainment,sport",
    "concept-histogram:epsilon=1:domain=entertainment",
]
PRIVATE += [  # a new method need not be in the list
    small_spec(name)
    for name in built_in_methods()
    if parse_method(small_spec(name)).guarantee().model.endswith("-dp")
    and name not in {spec.partition(":")[0] for spec in PRIVATE}
]
LOGS = {
    "none that is read": "8,dogs,01/02/2006\n" * 9,
    "one person's unreadable rows": "7,cats,2006-03-01\n" + "8,dogs,01/02/2006\n" * 9,
}


@pytest.mark.parametrize("method", PRIVATE)
def test_no_row_stops_a_private_release(cli, tmp_path, method):
    for name, rows in LOGS.items():
        log = tmp_path / "log.csv"
        log.write_text("user,query,time\n" + rows)
        ran = cli(
            "anonymize", log, "--method", method, "--out", tmp_path / name, "--yes", "--quiet"
        )
        assert (ran.code, ran.out) == (0, ""), ran
        card = json.loads((tmp_path / name / "public" / "release.json").read_text())
        assert not [note for note in card["notes"] if "a limit on rows" in note]
        assert qv.verify(tmp_path / name).holds


@pytest.mark.parametrize(
    "start", [b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf", b"PK\3\4", b"\x1f\x8b"]
)
def test_the_first_query_does_not_tell_how_a_file_without_header_is_read(tmp_path, start):
    """Such a file begins with a row: marks of encodings and of packed files are a query there."""
    path = tmp_path / "log.tsv"
    rows = b"".join(b"caf\xc3\xa9 %d\t7\t2006-03-01\n" % n for n in range(3))
    columns = {"query": "1", "user": "2", "time": "3"}
    for encoding in ("utf-8", "latin-1"):
        told = []
        for data in (rows, start + b"cats\t8\t2006-03-01\n" + rows):
            path.write_bytes(data)
            log = qv.read_log(path, columns=columns, may_stop=False, encoding=encoding)
            told.append(log.local_frame.filter(pl.col("user") == "7").collect()["query"].to_list())
        assert told[0] == told[1]
        assert len(told[0]) == 3


def test_a_log_that_was_read_with_a_limit_says_so_on_the_card(tmp_path):
    log = tmp_path / "log.csv"
    log.write_text("user,query,time\n7,cats,2006-03-01\n")
    for stops in (True, False):
        release = qv.anonymize(qv.read_log(log, may_stop=stops), PRIVATE[0])
        assert any("a limit on rows" in note for note in release.notes) == stops


def test_other_methods_still_stop(cli, tmp_path):
    log = tmp_path / "log.csv"
    log.write_text("user,query,time\n" + LOGS["one person's unreadable rows"])
    ran = cli(
        "anonymize", log, "--method", "frequent-queries:min-users=2", "--out", tmp_path / "out"
    )
    assert ran.code == 1
    assert "9 of 10 rows cannot be read" in ran.err


def test_every_private_method_assumes_the_same_of_reading():
    names = {text.partition(":")[0] for text in PRIVATE}
    for name in METHODS:
        if METHODS[name].__module__.startswith("queryveil"):
            private = parse_method(name).guarantee().model.endswith("-dp")
            assert private == (name in names), name
    for text in PRIVATE:
        promise = parse_method(text).guarantee()
        assert READ_ALONE in promise.assumptions
        assert FAILURES in promise.not_covered
