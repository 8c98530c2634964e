"""Records with quoted cells, which may hold separators, line ends and doubled quotation marks.

A block in which every line is a whole record goes to Polars. One with a record of several
lines, or with a quotation mark where none belongs, is read record by record: such a mark
costs its own line and never the lines after it.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from .delimited import TOO_MANY, parse_cells, pick
from .raw import with_faults
from .source import MAX_LINE, Block, TextFile

__all__ = ["Form", "quoted_rows"]

_PIECE = 2 << 20
_MISPLACED = "quotation mark out of place"
_NOTHING = Block(b"", 1, {})


@dataclass(frozen=True)
class Form:
    """How the records of a file are written, and which cells are wanted."""

    header: Sequence[str]
    names: dict[str, str]
    separator: str
    quote: str


def quoted_rows(file: TextFile, form: Form) -> Iterator[pl.DataFrame]:
    """Read the rows of a file; a record that a block ends in goes on in the next one."""
    rest = _NOTHING
    for block in file.blocks():
        rows, rest = _rows(_joined(rest, block), form, last=False)
        yield rows
    if rest.data:
        yield _rows(rest, form, last=True)[0]


def _joined(rest: Block, block: Block) -> Block:
    if not rest.data:
        return block
    return Block(rest.data + block.data, rest.first_line, rest.faults | block.faults)


def _rows(block: Block, form: Form, last: bool) -> tuple[pl.DataFrame, Block]:
    if all(_lines_are_records(piece, form) for piece in _pieces(block.data)):
        rows = parse_cells(block, form.header, form.names, form.separator, form.quote)
        return with_faults(rows, block), _NOTHING
    lines = block.data.decode().removesuffix("\n").split("\n")
    records, done = _records(lines, block.first_line, form, last)
    rest_data = "".join(line + "\n" for line in lines[done:]).encode()
    return with_faults(records, block), Block(rest_data, block.first_line + done, block.faults)


def _pieces(data: bytes) -> Iterator[bytes]:
    """Cut at line ends, so that the places of all quotation marks are a small table."""
    start = 0
    while start < len(data):
        end = data.find(b"\n", start + _PIECE) + 1 or len(data)
        yield data[start:end]
        start = end


def _lines_are_records(data: bytes, form: Form) -> bool:
    """Tell whether each line's quotation marks open and close cells, or are doubled in one."""
    if form.quote.encode() not in data:
        return True
    signs = np.frombuffer(b"\n" + data + b"\n", dtype=np.uint8)
    marks = np.flatnonzero(signs == ord(form.quote))
    line = np.searchsorted(np.flatnonzero(signs == ord("\n")), marks)
    opens = (np.arange(marks.size) - np.searchsorted(line, line)) % 2 == 0
    ends_line = np.append(line[1:] != line[:-1], True)
    around = np.zeros(256, dtype=bool)
    around[[ord(form.separator), ord(form.quote), ord("\n"), ord("\r")]] = True
    beside = np.where(opens, signs[marks - 1], signs[marks + 1])
    return bool(around[beside].all()) and not bool(opens[ends_line].any())


def _records(lines: list[str], first_line: int, form: Form, last: bool) -> tuple[pl.DataFrame, int]:
    """Read records one by one; say how many lines were used up."""
    width, at = len(form.header), 0
    table: list[list[str | None]] = []
    numbers: list[int] = []
    faults: list[str | None] = []
    while at < len(lines):
        cells, used = _record(lines, at, form)
        if not used and not last:
            break
        numbers.append(first_line + at)
        faults.append(_fault(cells, width))
        table.append([*(cell or None for cell in cells or ()), *[None] * width][:width])
        at += used or 1
    places = {str(place): pl.String for place in range(width)}
    rows = pl.DataFrame(table, schema=places, orient="row").with_columns(
        pl.Series("line", numbers, pl.Int64), pl.Series("fault", faults, pl.String)
    )
    return pick(rows, form.header, form.names), at


def _fault(cells: list[str] | None, width: int) -> str | None:
    if cells is None:
        return _MISPLACED
    return TOO_MANY if len(cells) > width and any(cells[width:]) else None


def _record(lines: list[str], at: int, form: Form) -> tuple[list[str] | None, int]:
    """Read one record: its cells and how many lines it takes.

    There are no cells where the marks do not fit, and no lines where the lines ran out.
    """
    if form.quote not in lines[at]:
        return lines[at].removesuffix("\r").split(form.separator), 1
    ran_out = False

    def reach() -> Iterator[str]:
        nonlocal ran_out
        size = 0
        for place in range(at, len(lines)):
            size += len(lines[place]) + 1
            if size > MAX_LINE:
                return
            yield lines[place] + "\n"
        ran_out = True

    reader = csv.reader(reach(), delimiter=form.separator, quotechar=form.quote, strict=True)
    try:
        return next(reader), reader.line_num
    except csv.Error:
        return None, 0 if ran_out else 1
