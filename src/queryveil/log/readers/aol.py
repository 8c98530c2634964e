"""AOL's log of 2006: AnonID, Query, QueryTime, ItemRank, ClickURL, with tabs, a line a click."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from .columns import names_columns
from .delimited import after_header, parse_cells
from .raw import Head, RawRows, Reader, ReaderOptions, with_faults
from .source import TextFile

__all__ = ["AOL"]

HEADER = ("AnonID", "Query", "QueryTime", "ItemRank", "ClickURL")
NAMES = dict(zip(("user", "query", "time", "rank", "url"), HEADER, strict=True))
_ROW = re.compile(r"[^\t]+\t[^\t]*\t\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\t[^\t]*\t[^\t]*)?$")


def _has_header(head: Head) -> bool:
    first = head.first_lines[0] if head.first_lines else ""
    return first.lower().split("\t")[:3] == [name.lower() for name in HEADER[:3]]


def _sniff(head: Head) -> bool:
    rows = head.first_lines
    if not rows or names_columns(rows[0].split("\t")):
        return _has_header(head)
    return sum(map(bool, map(_ROW.match, rows))) * 2 > len(rows)


def _read(files: Sequence[TextFile], options: ReaderOptions) -> Iterator[RawRows]:  # noqa: ARG001
    for file in files:
        head = Head(file.path.name, file.head())
        header_end = head.start if _has_header(head) else 0
        for block in file.blocks():
            rows = with_faults(parse_cells(block, HEADER, NAMES, "\t"), block)
            yield RawRows(str(file.path), after_header(rows, header_end), "%Y-%m-%d %H:%M:%S")


AOL = Reader("aol", "AOL 2006, tabs, five columns, one line a click", _sniff, _read)
