"""Rows of cells: the part that AOL's, Excite's, CSV and TSV files share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from .raw import align_columns
from .source import LineBlock

__all__ = ["TOO_MANY_CELLS", "name_cells", "parse_cells", "skip_header"]

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
