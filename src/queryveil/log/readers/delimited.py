"""Rows of cells: the part that AOL's, Excite's, CSV and TSV files share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from ...errors import FormatError
from .raw import RAW_COLUMNS
from .source import MAX_LINE, Block, TextFile

__all__ = ["parse_cells", "quoted_blocks", "to_raw", "without_header"]

_SPARE = "spare"  # one column more than the format has: what lands in it is one cell too many


def parse_cells(
    block: Block, names: Sequence[str], separator: str, quote: str | None = None
) -> pl.DataFrame:
    """Cut lines into named text cells, with `line` and `fault`."""
    cells = pl.read_csv(
        block.data,
        has_header=False,
        separator=separator,
        quote_char=quote,
        schema=dict.fromkeys([*names, _SPARE], pl.String),
        truncate_ragged_lines=True,
        missing_columns="insert",
    )
    numbers = _line_numbers(cells, block, quote is not None)
    too_many = pl.when(pl.col(_SPARE).is_not_null()).then(pl.lit("too many columns"))
    return cells.with_columns(numbers.alias("line"), fault=too_many).drop(_SPARE)


def _line_numbers(cells: pl.DataFrame, block: Block, quoted: bool) -> pl.Series:
    numbers = pl.int_range(block.first_line, block.first_line + cells.height, eager=True)
    if quoted and cells.height != block.lines():
        # Line ends inside quoted cells push the rows after them down.
        inside = cells.select(pl.sum_horizontal(pl.all().str.count_matches("\n").fill_null(0)))
        numbers = numbers + inside.to_series().cum_sum().shift(1, fill_value=0)
    return numbers


def without_header(cells: pl.DataFrame) -> pl.DataFrame:
    """Leave out the first row that is not blank, and the blank ones above it."""
    blank = pl.all_horizontal(pl.exclude("line", "fault").is_null())
    return cells.slice((cells.select(~blank).to_series().arg_max() or 0) + 1)


def to_raw(cells: pl.DataFrame, names: dict[str, str]) -> pl.DataFrame:
    """Give the cells their names in the contract; what the file has not is null."""
    columns = [
        pl.col(names[column]).alias(column)
        if column in names
        else pl.lit(None, dtype=pl.String).alias(column)
        for column in RAW_COLUMNS
    ]
    return cells.select(*columns, "line", "fault")


def quoted_blocks(file: TextFile) -> Iterator[Block]:
    """Give blocks that end where a record ends, though cells may hold line ends."""
    rest, first, faults = b"", 1, dict[int, str]()
    for block in file.blocks():
        data, faults = rest + block.data, faults | block.faults
        cut = len(data)
        if data.count(b'"') % 2:
            # The last quote opens a cell that goes on in the next block.
            cut = data.rfind(b"\n", 0, data.rfind(b'"')) + 1
        ready, rest = Block(data[:cut], first, faults), data[cut:]
        if len(rest) > MAX_LINE:
            raise _unclosed(file, first + ready.lines())
        if cut:
            yield ready
            first, faults = first + ready.lines(), {}
    if rest:
        raise _unclosed(file, first)


def _unclosed(file: TextFile, line: int) -> FormatError:
    return FormatError(
        f"a quotation mark that opens on line {line:,} or soon after is never closed",
        where=file.path,
        hint="if quotation marks are part of the queries, use --quote none",
    )
