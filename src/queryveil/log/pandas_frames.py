"""Read frames of pandas without PyArrow: columns become columns of Polars through NumPy.

Whole numbers stay whole where a column has missing values, and `None`, `NaN`, `NaT` and `pandas.NA`
are missing values alike. Named levels of the index can be read as columns too.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any
from uuid import UUID

import numpy as np
import polars as pl

from ..errors import ColumnError

_UNREADABLE = "\0"  # cells with this character are rejected
_WITHOUT_TEXT = ("period", "interval")


def is_pandas_frame(value: object) -> bool:
    """Return whether a value is a frame of pandas, which is imported if there is one."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(value, getattr(pandas, "DataFrame", ()))


def pandas_names(frame: Any) -> list[str]:
    """Return the names of the columns, and of the levels of the index that have a name."""
    columns = [str(name) for name in frame.columns]
    levels = [str(name) for name in frame.index.names if name is not None]
    return [*columns, *(name for name in levels if name not in columns)]


def select_pandas(
    frame: Any, names: Iterable[str], where: str, *, may_stop: bool = True
) -> pl.DataFrame:
    """Return some columns of a frame of pandas as a frame of Polars.

    A cell that has no text, such as a list, is an error if it `may_stop` the run, otherwise its row
    is rejected later: the cell of one user must not decide whether a private release is made.
    """
    columns = [str(name) for name in frame.columns]
    chosen = []
    for name in dict.fromkeys(names):
        if columns.count(name) > 1:
            raise ColumnError(f'several columns are called "{name}"', where=where)
        if name in columns:
            column = frame.iloc[:, columns.index(name)]
        else:
            levels = [None if level is None else str(level) for level in frame.index.names]
            column = frame.index.get_level_values(levels.index(name)).to_series()
        try:
            chosen.append(_to_polars(column, may_stop).alias(name))
        except _NotTextError as error:
            raise ColumnError(
                f'the column "{name}" holds {error}, not texts', where=where
            ) from None
    return pl.DataFrame(chosen)


class _NotTextError(Exception):
    """A column holds values of a type that has no text; the error names the type alone."""


def _to_polars(column: Any, may_stop: bool) -> pl.Series:
    dtype = column.dtype
    if hasattr(dtype, "categories") and hasattr(dtype, "ordered"):
        return _from_categories(column, may_stop)
    if hasattr(dtype, "pyarrow_dtype") or getattr(dtype, "storage", None) == "pyarrow":
        return pl.Series(values=column.array.__arrow_array__())
    if dtype.kind == "M":
        if getattr(dtype, "tz", None) is not None:
            column = column.dt.tz_convert("UTC").dt.tz_localize(None)
        return pl.Series(values=column.to_numpy(dtype="datetime64[us]"))
    if dtype.kind in "iub":
        return _from_numbers(column, "bool" if dtype.kind == "b" else f"{dtype.kind}8", 0)
    if dtype.kind == "f":
        return _from_numbers(column, "f8", np.nan)
    if dtype.kind != "O" or str(dtype).startswith(_WITHOUT_TEXT):
        raise _NotTextError(str(dtype).partition("[")[0])
    return _from_objects(column, may_stop)


def _from_categories(column: Any, may_stop: bool) -> pl.Series:
    categories = _to_polars(column.cat.categories.to_series(), may_stop)
    codes = pl.Series(values=column.cat.codes.to_numpy().astype(np.int64))
    known = codes.to_frame("code").select(pl.when(pl.col("code") >= 0).then(pl.col("code")))
    return categories.gather(known.to_series())


def _from_numbers(column: Any, dtype: str, missing: float) -> pl.Series:
    absent = column.isna().to_numpy()
    if not absent.any():
        return pl.Series(values=column.to_numpy(dtype=dtype))
    values = pl.Series("value", column.to_numpy(dtype=dtype, na_value=missing))
    table = pl.DataFrame([values, pl.Series("absent", absent.astype(bool))])
    return table.select(pl.when(~pl.col("absent")).then(pl.col("value"))).to_series()


def _from_objects(column: Any, may_stop: bool) -> pl.Series:
    cells = column.to_numpy(dtype=object, copy=True)
    cells[column.isna().to_numpy()] = None
    try:
        return pl.Series(values=cells.tolist(), dtype=pl.String)
    except (TypeError, ValueError):  # cells of several types, as after joining two frames
        texts = [_as_text(cell, may_stop) for cell in cells]
        return pl.Series(values=texts, dtype=pl.String)


def _as_text(cell: object, may_stop: bool) -> str | None:  # noqa: PLR0911  (one case a type)
    if cell is None:
        return None
    if isinstance(cell, str):
        return cell if _is_unicode(cell) else _UNREADABLE
    if isinstance(cell, (bool, np.bool_)):
        return "true" if cell else "false"
    if isinstance(cell, (int, np.integer, Decimal, UUID)):
        return str(cell)
    if isinstance(cell, (float, np.floating)):
        return repr(float(cell)).removesuffix(".0")
    if isinstance(cell, datetime):
        return cell.isoformat(" ")
    if isinstance(cell, date | time):
        return cell.isoformat()
    if isinstance(cell, bytes):
        return cell.decode() if _is_utf8(cell) else _UNREADABLE
    if may_stop:
        raise _NotTextError(f"values of type {type(cell).__name__}")
    return _UNREADABLE


def _is_unicode(text: str) -> bool:
    """Return whether a text has no half of a surrogate pair, which no file could hold."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
