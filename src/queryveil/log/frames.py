"""Read frames of other libraries: pandas through NumPy, and others through Arrow."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol, TypeAlias, TypeGuard, runtime_checkable

import polars as pl

from ..errors import ColumnError, InputError
from .pandas_frames import is_pandas_frame, pandas_names, select_pandas
from .readers.base import RawRows, align_columns
from .readers.columns import CLOCK, match_columns
from .readers.parquet_child import as_text, kind_of

FRAME = "frame"  # the name of the source in messages and in the list of rejected rows
_FAULT = pl.when(pl.any_horizontal(pl.all().str.contains("\0", literal=True))).then(pl.lit("NUL"))


@runtime_checkable
class ArrowFrame(Protocol):
    """A table with the Arrow interface, which DataFrames of most libraries have."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the table as an Arrow stream."""


# A frame of Polars, pandas, PyArrow, DuckDB and others.
LogFrame: TypeAlias = pl.DataFrame | pl.LazyFrame | ArrowFrame


def is_frame(value: object) -> TypeGuard[LogFrame]:
    """Return whether a value is a frame with columns, of any library."""
    if isinstance(value, pl.Series):  # it has the Arrow interface too
        return False
    return isinstance(value, pl.DataFrame | pl.LazyFrame | ArrowFrame) or is_pandas_frame(value)


def raw_rows(frame: LogFrame, columns: dict[str, str], *, may_stop: bool = True) -> RawRows:
    """Return the rows of a frame as texts, as a reader returns those of a file.

    Unless a cell `may_stop` the run, one that has no text only has its row rejected.
    """
    is_lazy = isinstance(frame, pl.LazyFrame) or is_pandas_frame(frame)
    source = frame if is_lazy else _from_arrow(frame)  # a stream can be read only once
    mapping = match_columns(_names(source), columns, FRAME, shown=True)
    selected = _select(source, mapping.values(), may_stop)
    kinds = {name: kind_of(kind) for name, kind in selected.schema.items()}
    for column in mapping.values():
        if kinds[column].startswith("no text: "):
            kind = kinds[column].removeprefix("no text: ")
            raise ColumnError(f'the column "{column}" holds {kind}, not texts', where=FRAME)
    texts = [as_text(theirs, kinds[theirs]).alias(ours) for ours, theirs in mapping.items()]
    cells = selected.select(texts)
    numbers = pl.int_range(1, cells.height + 1, eager=True).alias("line")
    table = align_columns(cells.with_columns(numbers, fault=_FAULT))
    has_time = "time" in mapping
    is_time = has_time and CLOCK not in mapping and kinds[mapping["time"]] == "time"
    time_format = "%Y-%m-%d %H:%M:%S%.f" if is_time else None
    return RawRows(FRAME, table, time_format, has_time, columns=mapping)


def _names(frame: Any) -> list[str]:
    if is_pandas_frame(frame):
        return pandas_names(frame)
    return list(frame.collect_schema().names())


def _select(frame: Any, names: Iterable[str], may_stop: bool) -> pl.DataFrame:
    """Return only the columns that a log has: others may hold anything."""
    wanted = list(dict.fromkeys(names))
    if is_pandas_frame(frame):
        return select_pandas(frame, wanted, FRAME, may_stop=may_stop)
    try:
        selected: pl.DataFrame = frame.lazy().select(wanted).collect()
    except pl.exceptions.PolarsError:  # its text may hold cells, which a traceback would show
        raise InputError("this lazy frame cannot be collected", where=FRAME) from None
    return selected


def _from_arrow(frame: Any) -> pl.DataFrame:
    if isinstance(frame, pl.DataFrame):
        return frame
    try:
        return pl.DataFrame(frame)
    except (ImportError, ValueError, TypeError, pl.exceptions.PolarsError):
        # Errors of Arrow are ValueErrors or TypeErrors; their text may hold cells of the frame,
        # which a traceback would show.
        raise InputError(
            "this frame cannot be converted through Arrow", hint="a column must have one type"
        ) from None
