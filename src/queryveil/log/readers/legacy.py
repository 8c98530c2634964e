"""The logs of AOL (2006) and Excite, separated by tabs.

AOL has the columns AnonID, Query, QueryTime, ItemRank and ClickURL, and one line per click.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .base import FileHead, RawRows, Reader, ReaderOptions, attach_faults
from .delimited import parse_cells, skip_header
from .source import TextFile

HEADER = ("AnonID", "Query", "QueryTime", "ItemRank", "ClickURL")
AOL_COLUMNS = dict(zip(("user", "query", "time", "rank", "url"), HEADER, strict=True))


def has_header(file: TextFile) -> bool:
    """Return whether the first line has the names of AOL's columns."""
    first = FileHead(file.head()).first
    return first.lower().split("\t")[:3] == [name.lower() for name in HEADER[:3]]


def _read_aol(files: Sequence[TextFile], options: ReaderOptions) -> Iterator[RawRows]:  # noqa: ARG001
    for file in files:
        file.lone_cr = has_header(file)
        header_end = FileHead(file.head()).first_line_number if file.lone_cr else 0
        for block in file.blocks():
            rows = attach_faults(parse_cells(block, HEADER, AOL_COLUMNS, "\t"), block)
            yield RawRows(str(file.path), skip_header(rows, header_end), "%Y-%m-%d %H:%M:%S")


AOL = Reader(
    "aol",
    "AOL 2006, tabs, five columns, one line a click",
    r"user-ct-test-collection-[0-9]+\.txt",
    _read_aol,
)


EXCITE_COLUMNS = {name: name for name in ("user", "time", "query")}


def _read_excite(files: Sequence[TextFile], options: ReaderOptions) -> Iterator[RawRows]:  # noqa: ARG001
    for file in files:
        for block in file.blocks():
            rows = parse_cells(block, list(EXCITE_COLUMNS), EXCITE_COLUMNS, "\t")
            yield RawRows(str(file.path), attach_faults(rows, block), "%y%m%d%H%M%S")


EXCITE = Reader("excite", "Excite, tabs: user, yymmddhhmmss, query", r".*\.excite", _read_excite)
