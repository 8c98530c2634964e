"""Excite's logs of the nineties: user, yymmddhhmmss, query, with tabs and no header."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .delimited import parse_cells
from .raw import RawRows, Reader, ReaderOptions, attach_faults
from .source import TextFile

__all__ = ["EXCITE"]

EXCITE_COLUMNS = {name: name for name in ("user", "time", "query")}


def _read_excite(files: Sequence[TextFile], options: ReaderOptions) -> Iterator[RawRows]:  # noqa: ARG001
    for file in files:
        for block in file.blocks():
            rows = parse_cells(block, list(EXCITE_COLUMNS), EXCITE_COLUMNS, "\t")
            yield RawRows(str(file.path), attach_faults(rows, block), "%y%m%d%H%M%S")


EXCITE = Reader("excite", "Excite, tabs: user, yymmddhhmmss, query", r".*\.excite", _read_excite)
