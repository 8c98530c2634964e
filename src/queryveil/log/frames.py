"""Read frames of other libraries through Arrow: pandas, Polars, PyArrow and others."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import polars as pl

from ..errors import ColumnError, InputError, UsageError
from .readers.base import RawRows, align_columns, match_columns
from .readers.parquet_child import as_text, kind_of

FRAME = "frame"  # the name of the source in messages and in the list of rejected rows
_FAULT = pl.when(pl.any_horizontal(pl.all().str.contains("\0", literal=True))).then(pl.lit("NUL"))


@runtime_checkable
class ArrowFrame(Protocol):
    """A table with the Arrow interface, which DataFrames of most libraries have."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the table as an Arrow stream."""


def to_polars(frame: ArrowFrame | pl.DataFrame | pl.LazyFrame) -> pl.DataFrame:
    """Return a frame of any library as a frame of Polars."""
    if isinstance(frame, pl.LazyFrame):
        return frame.collect()
    if isinstance(frame, pl.DataFrame):
        return frame
    if not isinstance(frame, ArrowFrame):
        raise UsageError(
            f"a {type(frame).__name__} is not a frame",
            hint="a DataFrame of pandas, Polars or PyArrow; read_log reads files",
        )
    try:
        return pl.DataFrame(frame)
    except (ImportError, ValueError, TypeError, pl.exceptions.PolarsError) as error:
        # PyArrow's errors are ValueErrors or TypeErrors; their text may hold cells of the frame.
        raise InputError(
            "this frame cannot be converted through Arrow",
            hint="pandas needs PyArrow for it; a column must have one type",
        ) from error


def raw_rows(frame: pl.DataFrame, columns: dict[str, str]) -> RawRows:
    """Return the rows of a frame as texts, as a reader returns those of a file."""
    kinds = {name: kind_of(kind) for name, kind in frame.schema.items()}
    mapping = match_columns(frame.columns, columns, FRAME, shown=True)
    for column in mapping.values():
        if kinds[column].startswith("no text: "):
            kind = kinds[column].removeprefix("no text: ")
            raise ColumnError(f'the column "{column}" holds {kind}, not texts', where=FRAME)
    texts = [as_text(theirs, kinds[theirs]).alias(ours) for ours, theirs in mapping.items()]
    cells = frame.select(texts)
    numbers = pl.int_range(1, cells.height + 1, eager=True).alias("line")
    table = align_columns(cells.with_columns(numbers, fault=_FAULT))
    has_time = "time" in mapping
    is_time = has_time and kinds[mapping["time"]] == "time"
    time_format = "%Y-%m-%d %H:%M:%S%.f" if is_time else None
    return RawRows(FRAME, table, time_format, has_time, columns=mapping)
