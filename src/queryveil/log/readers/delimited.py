"""Rows of cells: the part that AOL's, Excite's, CSV and TSV files share."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from .base import align_columns, attach_faults
from .source import MAX_LINE, LineBlock, TextFile

TOO_MANY_CELLS = "too many columns"


def parse_cells(
    block: LineBlock,
    header: Sequence[str],
    names: dict[str, str],
    separator: str,
    quote: str | None = None,
    more: bool = False,
) -> pl.DataFrame:
    """Cut lines into cells and give those that `names` asks for, with `line` and `fault`.

    With a quotation mark, every line must be a whole record: see `quoted`. A row with `more` cells
    than the header is at fault, but not where there is no header.
    """
    cells = _fast(block, len(header), separator, quote)
    if cells is None:
        cells = _careful(block, len(header), separator, quote)
    if more:
        cells = cells.with_columns(fault=pl.lit(None, dtype=pl.String))
    numbers = pl.int_range(block.first_line, block.first_line + cells.height, eager=True)
    return name_cells(cells.with_columns(numbers.alias("line")), header, names)


def _fast(block: LineBlock, width: int, separator: str, quote: str | None) -> pl.DataFrame | None:
    """Cut lines none of which has too many cells; None where one has."""
    try:
        cells = pl.read_csv(
            block.data,
            has_header=False,
            separator=separator,
            quote_char=quote,
            schema={str(place): pl.String for place in range(width)},
        )
    except pl.exceptions.PolarsError:
        return None
    return cells.with_columns(fault=pl.lit(None, dtype=pl.String))


def _careful(block: LineBlock, width: int, separator: str, quote: str | None) -> pl.DataFrame:
    """Cut lines some of which may have too many cells, or the first too few."""
    # Polars takes the number of columns from the first line, which may be a bad one: it gets a
    # line before it, with one cell more than the header has, for what is one cell too many.
    cells = pl.read_csv(
        separator.encode() * width + b"\n" + block.data,
        has_header=False,
        separator=separator,
        quote_char=quote,
        schema={str(place): pl.String for place in range(width + 1)},
        truncate_ragged_lines=True,
        missing_columns="insert",
    ).slice(1)
    too_many = pl.col(str(width)).is_not_null()
    if block.data.count(separator.encode()) != (width - 1) * cells.height:
        too_many = too_many | _goes_on(block.data, width, separator, quote)
    return cells.with_columns(fault=pl.when(too_many).then(pl.lit(TOO_MANY_CELLS)))


def _goes_on(data: bytes, width: int, separator: str, quote: str | None) -> pl.Series:
    """Find the lines that have something beyond the spare cell, where Polars does not look."""
    signs = np.frombuffer(data, dtype=np.uint8)
    ends = np.flatnonzero(signs == ord("\n"))
    many = _in_line(signs == ord(separator), ends) >= width
    if quote:
        many &= _in_line(signs == ord(quote), ends) == 0
    for row in np.flatnonzero(many):
        line = data[ends[row - 1] + 1 if row else 0 : ends[row]].rstrip(b"\r")
        many[row] = any(line.split(separator.encode())[width:])
    return pl.Series(many)


def _in_line(there: NDArray[np.bool_], ends: NDArray[np.intp]) -> NDArray[np.intp]:
    return np.diff(np.searchsorted(np.flatnonzero(there), ends), prepend=0)


def name_cells(cells: pl.DataFrame, header: Sequence[str], names: dict[str, str]) -> pl.DataFrame:
    """Give cells that are named by their place their names in the contract."""
    places = {ours: str(header.index(theirs)) for ours, theirs in names.items()}
    wanted = [pl.col(place).alias(ours) for ours, place in places.items()]
    return align_columns(cells.select(*wanted, "line", "fault"))


def skip_header(rows: pl.DataFrame, header_end: int) -> pl.DataFrame:
    """Leave out the header and what stands above it."""
    if rows.height and rows["line"][0] <= header_end:
        return rows.filter(pl.col("line") > header_end)
    return rows


_PIECE = 2 << 20
_MOST_LINES = 100  # of a record: nobody sends more, and to look farther for each mark takes hours
_MISPLACED = "quotation mark out of place"
_NOTHING = LineBlock(b"", 1, {})


@dataclass(frozen=True)
class DelimitedFormat:
    """How the records of a file are written, and which cells are wanted.

    `header_end` is the last line of the header; where there is none, rows may have `more` cells.
    """

    header: Sequence[str]
    names: dict[str, str]
    separator: str
    quote: str | None
    header_end: int = 0
    more: bool = False

    @property
    def mark(self) -> str:
        """The quotation mark, of a form that has one."""
        return self.quote or '"'


def read_quoted(file: TextFile, form: DelimitedFormat) -> Iterator[pl.DataFrame]:
    """Read the rows of a file; a record that a block ends in goes on in the next one."""
    rest = _NOTHING
    for block in file.blocks():
        rows, rest = _rows(_joined(rest, block), form, last=False)
        yield rows
    if rest.data:
        yield _rows(rest, form, last=True)[0]


def _joined(rest: LineBlock, block: LineBlock) -> LineBlock:
    if not rest.data:
        return block
    return LineBlock(rest.data + block.data, rest.first_line, rest.faults | block.faults)


def _rows(block: LineBlock, form: DelimitedFormat, last: bool) -> tuple[pl.DataFrame, LineBlock]:
    whole = np.concatenate([_whole_records(piece, form) for piece in _pieces(block.data)])
    if whole.all():
        return attach_faults(_cells(block, form), block), _NOTHING
    lines = block.data.decode().removesuffix("\n").split("\n")
    records, whole, done = _records(lines, whole, form, last)
    places = np.flatnonzero(whole[:done])
    data = "".join(lines[place] + "\n" for place in places).encode()
    numbers = pl.Series("line", places + block.first_line, pl.Int64)
    fast = [_cells(LineBlock(data, 1, {}), form).with_columns(numbers)] if len(places) else []
    slow = records.with_columns(pl.col("line") + block.first_line)
    rest_data = "".join(line + "\n" for line in lines[done:]).encode()
    rest = LineBlock(rest_data, block.first_line + done, block.faults)
    return attach_faults(pl.concat([slow, *fast]).sort("line"), block), rest


def _cells(block: LineBlock, form: DelimitedFormat) -> pl.DataFrame:
    return parse_cells(block, form.header, form.names, form.separator, form.quote, form.more)


def _pieces(data: bytes) -> Iterator[bytes]:
    """Cut at line ends, so that the places of all quotation marks are a small table."""
    start = 0
    while start < len(data):
        end = data.find(b"\n", start + _PIECE) + 1 or len(data)
        yield data[start:end]
        start = end


def _whole_records(data: bytes, form: DelimitedFormat) -> NDArray[np.bool_]:
    """Tell of each line whether its quotation marks open and close cells, or are doubled in one."""
    signs = np.frombuffer(b"\n" + data + b"\n\n", dtype=np.uint8)
    ends = np.flatnonzero(signs == ord("\n"))
    whole = np.ones(data.count(b"\n") + (not data.endswith(b"\n")), dtype=np.bool_)
    marks = np.flatnonzero(signs == ord(form.mark))
    if not marks.size:
        return whole
    line = np.searchsorted(ends, marks) - 1
    opens = (np.arange(marks.size) - np.searchsorted(line, line)) % 2 == 0
    ends_line = np.append(line[1:] != line[:-1], True)
    beside = np.zeros(256, dtype=bool)
    beside[[ord(form.separator), ord(form.mark), ord("\n")]] = True
    after = signs[marks + 1]
    at_end = (after == ord("\r")) & (signs[marks + 2] == ord("\n"))
    fits = np.where(opens, beside[signs[marks - 1]] & ~ends_line, beside[after] | at_end)
    whole[line[~fits]] = False
    return whole


def _records(
    lines: list[str], whole: NDArray[np.bool_], form: DelimitedFormat, last: bool
) -> tuple[pl.DataFrame, NDArray[np.bool_], int]:
    """Read what is no whole line, one by one.

    Gives the records by the places of their first lines, the lines that are whole and in none
    of them, and how many lines were used up.
    """
    width, done, end = len(form.header), 0, len(lines)
    table: list[list[str | None]] = []
    numbers: list[int] = []
    faults: list[str | None] = []
    left = whole.copy()
    for at in np.flatnonzero(~whole).tolist():
        if at < done:
            continue
        cells, used = _record(lines, at, form)
        if not used and not last:
            end = at
            break
        done = at + (used or 1)
        left[at:done] = False
        numbers.append(at)
        faults.append(None if form.more and cells else _fault(cells, width))
        table.append([*(cell or None for cell in cells or ()), *[None] * width][:width])
    places = {str(place): pl.String for place in range(width)}
    rows = pl.DataFrame(table, schema=places, orient="row").with_columns(
        pl.Series("line", numbers, pl.Int64), pl.Series("fault", faults, pl.String)
    )
    return name_cells(rows, form.header, form.names), left, end


def _fault(cells: list[str] | None, width: int) -> str | None:
    if cells is None:
        return _MISPLACED
    return TOO_MANY_CELLS if len(cells) > width and any(cells[width:]) else None


def _record(lines: list[str], at: int, form: DelimitedFormat) -> tuple[list[str] | None, int]:
    """Read one record: its cells and how many lines it takes.

    There are no cells where the marks do not fit, and no lines where the lines ran out.
    """
    ran_out = False

    def reach() -> Iterator[str]:
        nonlocal ran_out
        size = 0
        for place in range(at, min(len(lines), at + _MOST_LINES)):
            size += len(lines[place]) + 1
            if size > MAX_LINE:
                return
            yield lines[place] + "\n"
        ran_out = at + _MOST_LINES > len(lines)

    reader = csv.reader(reach(), delimiter=form.separator, quotechar=form.quote, strict=True)
    try:
        return next(reader), reader.line_num
    except (csv.Error, StopIteration):
        return None, 0 if ran_out else 1
