"""Return frames of Polars as frames of pandas, without PyArrow."""

from __future__ import annotations

from typing import Any

import polars as pl

from .extras import import_extra


def to_pandas(frame: pl.DataFrame) -> Any:  # pandas has no types, and need not be installed
    """Return a frame as a `pandas.DataFrame`.

    Whole numbers stay whole where values are missing (the nullable types of pandas), and texts and
    lists are Python objects, or texts of pandas 3.

    Raises:
        UsageError: pandas is not installed; the hint has the command that installs it.
    """
    pandas = import_extra("pandas", "a table of pandas", of="pandas")
    return pandas.DataFrame({column.name: _to_column(pandas, column) for column in frame})


def _to_column(pandas: Any, column: pl.Series) -> Any:
    if column.dtype == pl.Boolean or column.dtype.is_integer():
        if not column.null_count():
            return column.to_numpy()
        nullable = "boolean" if column.dtype == pl.Boolean else str(column.dtype)
        return pandas.array(column.to_list(), dtype=nullable)
    if column.dtype.is_float():
        return column.to_numpy()
    if isinstance(column.dtype, pl.Datetime | pl.Date):
        return pandas.Series(column.cast(pl.Datetime("us")).to_numpy())
    plain = column.cast(pl.String) if isinstance(column.dtype, pl.Categorical | pl.Enum) else column
    return pandas.Series(plain.to_list(), dtype="object" if column.dtype.is_nested() else None)
