"""Excite's logs of the nineties: user, yymmddhhmmss, query, with tabs and no header."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from .columns import names_columns
from .delimited import parse_cells
from .raw import Head, RawRows, Reader, ReaderOptions, with_faults
from .source import TextFile

__all__ = ["EXCITE"]

NAMES = {name: name for name in ("user", "time", "query")}
_ROW = re.compile(r"[^\t]+\t\d{12}(\t[^\t]*)?$")


def _sniff(head: Head) -> bool:
    lines = head.first_lines
    if not lines or names_columns(lines[0].split("\t")):
        return False
    return sum(map(bool, map(_ROW.match, lines))) * 2 > len(lines)


def _read(files: Sequence[TextFile], options: ReaderOptions) -> Iterator[RawRows]:  # noqa: ARG001
    for file in files:
        for block in file.blocks():
            rows = parse_cells(block, list(NAMES), NAMES, "\t")
            yield RawRows(str(file.path), with_faults(rows, block), "%y%m%d%H%M%S")


EXCITE = Reader("excite", "Excite, tabs: user, yymmddhhmmss, query", _sniff, _read)
