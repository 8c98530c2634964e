"""Parse delimited rows, for the AOL, Excite, CSV and TSV readers."""

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
    """Split lines into cells; return those in `names`, with `line` and `fault`.

    With a quotation mark, every line must be a complete record: see `read_quoted`. A row with more
    cells than the header has a fault, unless `more`, because there is no header.
    """
    cells = _parse_fast(block, len(header), separator, quote)
    if cells is None:
        cells = _parse_ragged(block, len(header), separator, quote)
    if more:
        cells = cells.with_columns(fault=pl.lit(None, dtype=pl.String))
    numbers = pl.int_range(block.first_line, block.first_line + cells.height, eager=True)
    return name_cells(cells.with_columns(numbers.alias("line")), header, names)


def _parse_fast(
    block: LineBlock, width: int, separator: str, quote: str | None
) -> pl.DataFrame | None:
    """Split lines; return None if one has too many cells."""
    try:
        cells = pl.read_csv(
            block.data,
            has_header=False,
            separator=separator,
            quote_char=quote,
            schema={str(index): pl.String for index in range(width)},
        )
    except pl.exceptions.PolarsError:
        return None
    return cells.with_columns(fault=pl.lit(None, dtype=pl.String))


def _parse_ragged(block: LineBlock, width: int, separator: str, quote: str | None) -> pl.DataFrame:
    """Split lines of which some may have too many cells, or the first too few."""
    # Polars takes the number of columns from the first line, which may be a bad one. So a line
    # with one cell more than the header is put before it; this cell receives any surplus.
    cells = pl.read_csv(
        separator.encode() * width + b"\n" + block.data,
        has_header=False,
        separator=separator,
        quote_char=quote,
        schema={str(index): pl.String for index in range(width + 1)},
        truncate_ragged_lines=True,
        missing_columns="insert",
    ).slice(1)
    too_many = pl.col(str(width)).is_not_null()
    if block.data.count(separator.encode()) != (width - 1) * cells.height:
        too_many = too_many | _has_surplus(block.data, width, separator, quote)
    return cells.with_columns(fault=pl.when(too_many).then(pl.lit(TOO_MANY_CELLS)))


def _has_surplus(data: bytes, width: int, separator: str, quote: str | None) -> pl.Series:
    """Return whether each line has text after the surplus cell, which Polars discards."""
    characters = np.frombuffer(data, dtype=np.uint8)
    ends = np.flatnonzero(characters == ord("\n"))
    surplus = _count_per_line(characters == ord(separator), ends) >= width
    if quote:
        surplus &= _count_per_line(characters == ord(quote), ends) == 0
    for row in np.flatnonzero(surplus):
        line = data[ends[row - 1] + 1 if row else 0 : ends[row]].rstrip(b"\r")
        surplus[row] = any(line.split(separator.encode())[width:])
    return pl.Series(surplus)


def _count_per_line(mask: NDArray[np.bool_], ends: NDArray[np.intp]) -> NDArray[np.intp]:
    return np.diff(np.searchsorted(np.flatnonzero(mask), ends), prepend=0)


def name_cells(cells: pl.DataFrame, header: Sequence[str], names: dict[str, str]) -> pl.DataFrame:
    """Rename cells, which are named by their index, to our columns."""
    indices = {ours: str(header.index(theirs)) for ours, theirs in names.items()}
    wanted = [pl.col(index).alias(ours) for ours, index in indices.items()]
    return align_columns(cells.select(*wanted, "line", "fault"))


def skip_header(rows: pl.DataFrame, header_end: int) -> pl.DataFrame:
    """Remove the header and the lines above it."""
    if rows.height and rows["line"][0] <= header_end:
        return rows.filter(pl.col("line") > header_end)
    return rows


_PIECE_BYTES = 2 << 20
_MAX_LINES = 100  # of a record; a longer search for each quotation mark would take hours
_MISPLACED = "quotation mark out of place"
_NO_LINES = LineBlock(b"", 1, {})


@dataclass(frozen=True)
class DelimitedFormat:
    """How the records of a file are written, and which cells are read.

    Attributes:
        names: Our columns and those of the file.
        header_end: The number of the last line of the header; 0 if there is none.
        more: Whether a row may have more cells than `header`, because the file has no header.
    """

    header: Sequence[str]
    names: dict[str, str]
    separator: str
    quote: str | None
    header_end: int = 0
    more: bool = False

    @property
    def mark(self) -> str:
        """The quotation mark of a format that has one."""
        return self.quote or '"'


def read_quoted(file: TextFile, form: DelimitedFormat) -> Iterator[pl.DataFrame]:
    """Read the rows of a file; a record may continue in the next block."""
    rest = _NO_LINES
    for block in file.blocks():
        rows, rest = _parse_block(_join(rest, block), form, last=False)
        yield rows
    if rest.data:
        yield _parse_block(rest, form, last=True)[0]


def _join(rest: LineBlock, block: LineBlock) -> LineBlock:
    if not rest.data:
        return block
    return LineBlock(rest.data + block.data, rest.first_line, rest.faults | block.faults)


def _parse_block(
    block: LineBlock, form: DelimitedFormat, last: bool
) -> tuple[pl.DataFrame, LineBlock]:
    """Return the rows of a block, and the lines of an incomplete record at its end.

    Lines that are complete records are parsed by Polars, the others by Python.
    """
    whole = np.concatenate([_is_whole_record(piece, form) for piece in _iter_pieces(block.data)])
    if whole.all():
        return attach_faults(_parse_whole(block, form), block), _NO_LINES
    lines = block.data.decode().removesuffix("\n").split("\n")
    records, whole, done = _parse_records(lines, whole, form, last)
    indices = np.flatnonzero(whole[:done])
    data = "".join(lines[index] + "\n" for index in indices).encode()
    numbers = pl.Series("line", indices + block.first_line, pl.Int64)
    fast = (
        [_parse_whole(LineBlock(data, 1, {}), form).with_columns(numbers)] if len(indices) else []
    )
    slow = records.with_columns(pl.col("line") + block.first_line)
    rest_data = "".join(line + "\n" for line in lines[done:]).encode()
    rest = LineBlock(rest_data, block.first_line + done, block.faults)
    return attach_faults(pl.concat([slow, *fast]).sort("line"), block), rest


def _parse_whole(block: LineBlock, form: DelimitedFormat) -> pl.DataFrame:
    return parse_cells(block, form.header, form.names, form.separator, form.quote, form.more)


def _iter_pieces(data: bytes) -> Iterator[bytes]:
    """Split at line ends, so that the array of quotation marks stays small."""
    start = 0
    while start < len(data):
        end = data.find(b"\n", start + _PIECE_BYTES) + 1 or len(data)
        yield data[start:end]
        start = end


def _is_whole_record(data: bytes, form: DelimitedFormat) -> NDArray[np.bool_]:
    """Return whether each line is a complete record.

    Its quotation marks must open and close cells, or be doubled within one.
    """
    characters = np.frombuffer(b"\n" + data + b"\n\n", dtype=np.uint8)
    ends = np.flatnonzero(characters == ord("\n"))
    whole = np.ones(data.count(b"\n") + (not data.endswith(b"\n")), dtype=np.bool_)
    marks = np.flatnonzero(characters == ord(form.mark))
    if not marks.size:
        return whole
    line = np.searchsorted(ends, marks) - 1
    opens = (np.arange(marks.size) - np.searchsorted(line, line)) % 2 == 0
    ends_line = np.append(line[1:] != line[:-1], True)
    is_boundary = np.zeros(256, dtype=bool)
    is_boundary[[ord(form.separator), ord(form.mark), ord("\n")]] = True
    before, after = characters[marks - 1], characters[marks + 1]
    at_end = (after == ord("\r")) & (characters[marks + 2] == ord("\n"))
    is_valid = np.where(opens, is_boundary[before] & ~ends_line, is_boundary[after] | at_end)
    whole[line[~is_valid]] = False
    return whole


def _parse_records(
    lines: list[str], whole: NDArray[np.bool_], form: DelimitedFormat, last: bool
) -> tuple[pl.DataFrame, NDArray[np.bool_], int]:
    """Parse, one by one, the records that are not a single line.

    Returns:
        The records by the indices of their first lines, which lines are complete records outside
        of them, and the number of lines that were used.
    """
    width, done, end = len(form.header), 0, len(lines)
    table: list[list[str | None]] = []
    numbers: list[int] = []
    faults: list[str | None] = []
    is_single = whole.copy()
    for at in np.flatnonzero(~whole).tolist():
        if at < done:
            continue
        cells, used = _parse_record(lines, at, form)
        if not used and not last:
            end = at
            break
        done = at + (used or 1)
        is_single[at:done] = False
        numbers.append(at)
        faults.append(None if form.more and cells else _get_fault(cells, width))
        table.append([*(cell or None for cell in cells or ()), *[None] * width][:width])
    schema = {str(index): pl.String for index in range(width)}
    rows = pl.DataFrame(table, schema=schema, orient="row").with_columns(
        pl.Series("line", numbers, pl.Int64), pl.Series("fault", faults, pl.String)
    )
    return name_cells(rows, form.header, form.names), is_single, end


def _get_fault(cells: list[str] | None, width: int) -> str | None:
    if cells is None:
        return _MISPLACED
    return TOO_MANY_CELLS if len(cells) > width and any(cells[width:]) else None


def _parse_record(lines: list[str], at: int, form: DelimitedFormat) -> tuple[list[str] | None, int]:
    """Return the cells of one record, and the number of its lines.

    The cells are None if the quotation marks are misplaced; the number is 0 if the lines end
    before the record does.
    """
    ran_out = False

    def iter_lines() -> Iterator[str]:
        nonlocal ran_out
        size = 0
        for index in range(at, min(len(lines), at + _MAX_LINES)):
            size += len(lines[index]) + 1
            if size > MAX_LINE:
                return
            yield lines[index] + "\n"
        ran_out = at + _MAX_LINES > len(lines)

    reader = csv.reader(iter_lines(), delimiter=form.separator, quotechar=form.quote, strict=True)
    try:
        return next(reader), reader.line_num
    except (csv.Error, StopIteration):
        return None, 0 if ran_out else 1
