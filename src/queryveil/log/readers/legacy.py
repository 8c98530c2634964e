"""The logs of AOL (2006) and Excite, separated by tabs.

AOL has the columns AnonID, Query, QueryTime, ItemRank and ClickURL, and one line per click.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .base import (
    FileHead,
    FileHeader,
    RawRows,
    Reader,
    ReaderOptions,
    attach_faults,
    is_named,
    spark_opener,
)
from .delimited import parse_cells, skip_header
from .source import TextFile

HEADER = ("AnonID", "Query", "QueryTime", "ItemRank", "ClickURL")
AOL_COLUMNS = dict(zip(("user", "query", "time", "rank", "url"), HEADER, strict=True))


def has_header(first_line: str) -> bool:
    """Return whether the first line has the names of AOL's columns."""
    return first_line.lower().split("\t")[:3] == [name.lower() for name in HEADER[:3]]


def _is_aol(header: FileHeader) -> bool:
    # A header is not the row of a user, so it may decide: AOL has its own time format.
    return _is_aol_name(header) or (_is_tsv_name(header) and has_header(header.first_line))


_is_aol_name = is_named(r"user-ct-test-collection-[0-9]+\.txt")
_is_tsv_name = is_named(r".*\.(tsv|tab)")


def _read_aol(files: Sequence[TextFile], options: ReaderOptions) -> Iterator[RawRows]:  # noqa: ARG001
    for file in files:
        head = FileHead(file.head())
        file.lone_cr = has_header(head.first)
        header_end = FileHead(file.head()).first_line_number if file.lone_cr else 0
        for block in file.blocks():
            rows = attach_faults(parse_cells(block, HEADER, AOL_COLUMNS, "\t"), block)
            kept = skip_header(rows, header_end)
            yield RawRows(str(file.path), kept, "%Y-%m-%d %H:%M:%S", zero_rank=True)


AOL = Reader(
    "aol",
    "AOL 2006, tabs, five columns, one line a click",
    _is_aol,
    _read_aol,
    spark_opener("open_lines"),
    names="a file that begins with AOL's header",
)


EXCITE_COLUMNS = {name: name for name in ("user", "time", "query")}


def _read_excite(files: Sequence[TextFile], options: ReaderOptions) -> Iterator[RawRows]:  # noqa: ARG001
    for file in files:
        for block in file.blocks():
            rows = parse_cells(block, list(EXCITE_COLUMNS), EXCITE_COLUMNS, "\t")
            yield RawRows(str(file.path), attach_faults(rows, block), "%y%m%d%H%M%S")


EXCITE = Reader(
    "excite",
    "Excite, tabs: user, yymmddhhmmss, query",
    is_named(r".*\.excite"),
    _read_excite,
    names=".excite",
)
