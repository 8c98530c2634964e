"""AOL's log of 2006: AnonID, Query, QueryTime, ItemRank, ClickURL, with tabs, a line a click."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from .delimited import parse_cells, to_raw
from .raw import Head, RawRows, Reader, ReaderOptions, with_faults
from .source import TextFile

__all__ = ["AOL"]

HEADER = ("AnonID", "Query", "QueryTime", "ItemRank", "ClickURL")
NAMES = dict(zip(("user", "query", "time", "rank", "url"), HEADER, strict=True))
_ROW = re.compile(r"[^\t]+\t[^\t]*\t\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\t[^\t]*\t[^\t]*)?$")


def _sniff(head: Head) -> bool:
    lines = head.first_lines
    if not lines:
        return False
    has_header = lines[0].lower().split("\t")[:3] == [name.lower() for name in HEADER[:3]]
    rows = lines[has_header:]
    return has_header or (bool(rows) and sum(map(bool, map(_ROW.match, rows))) * 2 > len(rows))


def _read(files: Sequence[TextFile], options: ReaderOptions) -> Iterator[RawRows]:  # noqa: ARG001
    for file in files:
        for block in file.blocks():
            rows = to_raw(parse_cells(block, HEADER, "\t"), NAMES)
            if block.first_line == 1 and rows.height and rows["user"][0] == HEADER[0]:
                rows = rows.slice(1)
            yield RawRows(str(file.path), with_faults(rows, block), "%Y-%m-%d %H:%M:%S")


AOL = Reader("aol", "AOL 2006, tabs, five columns, one line a click", _sniff, _read)
