"""Every built-in reader passes the kit for readers."""

from __future__ import annotations

import io
import json

import polars as pl
import pytest

from queryveil.log.readers.access_log import ACCESS
from queryveil.log.readers.csv import CSV, TSV
from queryveil.log.readers.jsonl import JSONL
from queryveil.log.readers.legacy import AOL, EXCITE
from queryveil.log.readers.parquet import PARQUET
from queryveil.log.readers.ubi import UBI
from queryveil.testing import KitCheck, ReaderSample, reader_checks

ROWS = [
    ("ann", "red shoes", "2006-03-01 10:00:05", 2, "http://shoes.example"),
    ("bob", "café", "2006-03-01 10:00:06", None, None),
]
BARE = [(*row[:3], None, None) for row in ROWS]
TABLE = [["user", "query", "time", "rank", "url"]] + [
    ["" if cell is None else str(cell) for cell in row] for row in ROWS
]


def lines(rows: list[list[str]], delimiter: str) -> str:
    return "".join(delimiter.join(row) + "\n" for row in rows)


def parquet() -> bytes:
    file = io.BytesIO()
    pl.DataFrame(ROWS, schema=TABLE[0], orient="row").write_parquet(file)
    return file.getvalue()


def access_line(user: str, query: str, second: int) -> str:
    time = f"01/Mar/2006:10:00:{second:02} +0000"
    return f'{user} - - [{time}] "GET /search?q={query} HTTP/1.1" 200 12\n'


OBJECTS = [
    {name: cell for name, cell in zip(TABLE[0], row, strict=True) if cell is not None}
    for row in ROWS
]
AOL_HEADER = "AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n"
AOL_LINES = lines(TABLE[1:], "\t")
BAD_AOL = "eve\tq\tyesterday\t\t\n"
UBI_LINES = [
    {"query_id": str(number), "client_id": row[0], "user_query": row[1],
     "timestamp": row[2].replace(" ", "T") + "Z"}
    for number, row in enumerate(ROWS)
]  # fmt: skip
JSON_LINES = "".join(json.dumps(entry) + "\n" for entry in OBJECTS)

CHECKS = [
    *reader_checks(CSV, [
        ReaderSample("log.csv", lines(TABLE, ","), ROWS),
        ReaderSample("bad.csv", lines(TABLE, ";") + "eve;q;yesterday;;\n", ROWS, (4,)),
        ReaderSample("own.csv", "uid,q\nann,red shoes\n", [("ann", "red shoes", None, None, None)],
                     columns={"user": "uid", "query": "q"}),
    ]),
    *reader_checks(TSV, [
        ReaderSample("log.tsv", lines(TABLE, "\t") + "eve\tq\tyesterday\t\t\n", ROWS, (4,)),
    ]),
    *reader_checks(JSONL, [ReaderSample("log.jsonl", JSON_LINES + "[1]\n", ROWS, (3,))]),
    *reader_checks(PARQUET, [ReaderSample("log.parquet", parquet(), ROWS)]),
    *reader_checks(AOL, [
        ReaderSample("log.tsv", AOL_HEADER + AOL_LINES + BAD_AOL, ROWS, (4,)),
        ReaderSample("user-ct-test-collection-07.txt", AOL_LINES + BAD_AOL, ROWS, (3,)),
    ]),
    *reader_checks(EXCITE, [
        ReaderSample("log.excite", "ann\t060301100005\tred shoes\nbob\t060301100006\tcafé\n", BARE),
        ReaderSample("bad.excite", "ann\t060301100005\tred shoes\nbob\tnow\tx\n", BARE[:1], (2,)),
    ]),
    *reader_checks(ACCESS, [
        ReaderSample(
            "access.log",
            access_line("ann", "red+shoes", 5) + access_line("bob", "caf%C3%A9", 6) + "no line\n",
            BARE,
            (3,),
        ),
    ]),
    *reader_checks(UBI, [
        ReaderSample(
            "ubi_queries.jsonl",
            "".join(json.dumps(entry) + "\n" for entry in UBI_LINES),
            BARE,
        ),
    ]),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:the user is an IP address")
@pytest.mark.parametrize("check", CHECKS, ids=str)
def test_kit(check: KitCheck) -> None:
    check()
