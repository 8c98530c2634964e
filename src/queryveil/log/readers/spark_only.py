"""Formats that only Spark reads."""

from __future__ import annotations

from .base import FileHeader, Reader, is_named, spark_opener


def _is_never_detected(header: FileHeader) -> bool:  # noqa: ARG001
    return False  # the name of a table looks like that of a file


ORC = Reader(
    "orc",
    "ORC",
    is_named(r".*\.orc"),
    None,
    spark_opener("open_orc"),
    accepts_columns=True,
    names=".orc",
)
TABLE = Reader(
    "table",
    "table of Spark's catalog",
    _is_never_detected,
    None,
    spark_opener("open_table"),
    accepts_columns=True,
)
