"""The interface of readers, and what they share."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from .columns import CLOCK, column_numbers
from .source import LineBlock, TextFile

RAW_COLUMNS = ("user", "query", "time", "rank", "url")


@dataclass(frozen=True, repr=False)
class RawRows:
    """A block of rows of a file, as texts.

    Attributes:
        table: The text columns user, query, time, rank and url (null if empty), `line` (the
            number of the line) and `fault` (why the row cannot be read, otherwise null).
        has_time: False if the format or the mapping of columns has no time at all.
        needs_time: False if a row may lack a time.
        dropped: Counts of rows that the reader itself dropped, by reason.
        columns: The file's column for each of ours, unless the format fixes it.
        zero_rank: Whether the rank 0 means that there is no click, as in AOL's log.
        files: The files of a block with rows of several; its table has a column `file` then.
    """

    file: str
    table: pl.DataFrame
    time_format: str | None = None
    has_time: bool = True
    dropped: dict[str, int] = field(default_factory=dict)
    columns: dict[str, str] = field(default_factory=dict)
    needs_time: bool = True
    zero_rank: bool = False
    files: tuple[str, ...] = ()


@dataclass(frozen=True, repr=False)
class FileHead:
    """The beginning of a file, which may have a header."""

    data: bytes

    @cached_property
    def _numbered(self) -> list[tuple[int, str]]:
        lines = enumerate(self.data.decode("utf-8", "replace").split("\n"), 1)
        return [(number, line.removesuffix("\r")) for number, line in lines if line.strip()]

    @property
    def lines(self) -> list[str]:
        """The lines that are not blank."""
        return [line for _, line in self._numbered]

    @property
    def first(self) -> str:
        """The first line that is not blank."""
        return self.lines[0] if self._numbered else ""

    @property
    def first_line_number(self) -> int:
        """The number of the first line that is not blank."""
        return self._numbered[0][0] if self._numbered else 1


@dataclass(frozen=True)
class ReaderOptions:
    """The options about the format of a file."""

    columns: dict[str, str] = field(default_factory=dict)
    quote: str | None = None
    query_parameter: str = "q"
    delimiter: str | None = None
    sheet: str | None = None

    @property
    def numbered(self) -> bool:
        """Whether columns are named by number, because the file has no header."""
        return bool(column_numbers(self.columns))


@dataclass(frozen=True)
class FileHeader:
    """What may decide the format of a file: its name, and its first line where that is a header.

    Attributes:
        name: The file name in lower case, without an ending such as `.gz`.
        read_first_line: Returns the first line. It is called only if a reader asks for it.
    """

    name: str
    read_first_line: Callable[[], str] = field(default=lambda: "", repr=False)

    @cached_property
    def first_line(self) -> str:
        """The first line that is not blank; empty if it cannot be known."""
        return self.read_first_line()


@dataclass(frozen=True)
class Reader:
    """A file format.

    Attributes:
        sniff: Returns whether a file has this format, by its name and header. The row of a user
            must never decide it, because it would decide how the rows of others are read.
        read: Reads files as texts; None if only Spark reads this format.
        spark: Opens files with Spark (a `SparkFiles`, returns a `SparkSource`); None if Spark
            does not read this format.
        warning: What the user is warned of when this format is read.
        accepts_columns: Whether `columns` names the columns. A format that has fixed columns is
            more specific, so it is tried first.
        names: The names of files that have this format, for the list of formats.
        is_archive: Whether its files begin as packed files do.
    """

    name: str
    title: str
    sniff: Callable[[FileHeader], bool]
    read: Callable[[Sequence[TextFile], ReaderOptions], Iterator[RawRows]] | None
    spark: Callable[[Any], Any] | None = None
    warning: str | None = None
    accepts_columns: bool = False
    names: str = ""
    is_archive: bool = False


def is_named(pattern: str) -> Callable[[FileHeader], bool]:
    """Return a function for `Reader.sniff` that compares the file name with a pattern.

    >>> is_named(r".*[.]csv")(FileHeader("log.csv"))
    True
    """
    return lambda header: re.fullmatch(pattern, header.name) is not None


def spark_opener(function: str) -> Callable[[Any], Any]:
    """Return a function for `Reader.spark`: one of `spark_sources`, imported on first use.

    PySpark is an optional package, and its import takes a second.
    """

    def open_files(files: Any) -> Any:
        module = importlib.import_module("queryveil.log.spark_sources")
        return getattr(module, function)(files)

    return open_files


def align_columns(table: pl.DataFrame) -> pl.DataFrame:
    """Return the columns in their fixed order; missing ones are null.

    A date and a time of day, `clock`, become one time.
    """
    if CLOCK in table.columns:
        table = table.with_columns(time=_join_clock())
    null = pl.lit(None, dtype=pl.String)
    columns = (pl.col(c) if c in table.columns else null.alias(c) for c in RAW_COLUMNS)
    return table.select(*columns, "line", "fault")


def _join_clock() -> pl.Expr:
    """Return a date and a time of day as one text; the date alone if there is no time of day."""
    # Columns of dates in Parquet files and frames are written with midnight.
    date = pl.col("time").str.strip_chars().str.replace(r" 00:00:00(\.0+)?$", "")
    clock = pl.col(CLOCK).str.strip_chars()
    has_clock = clock.is_not_null() & (clock != "")
    return pl.when(has_clock).then(pl.concat_str(date, clock, separator=" ")).otherwise(date)


def attach_faults(table: pl.DataFrame, block: LineBlock) -> pl.DataFrame:
    """Add the faults of the block, by line, to those in `fault`.

    A row begins at its `line` and may span several: a bad line belongs to the last row that
    begins at or before it.
    """
    if not block.faults or not table.height:
        return table
    starts = table["line"].to_numpy()
    rows = np.searchsorted(starts, list(block.faults), side="right") - 1
    reasons = {
        int(starts[row]): reason
        for row, reason in zip(rows, block.faults.values(), strict=True)
        if row >= 0
    }
    fault = pl.col("line").replace_strict(reasons, default=None, return_dtype=pl.String)
    return table.with_columns(fault=pl.coalesce(fault, "fault"))
