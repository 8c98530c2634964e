"""What a reader hands on: rows as texts, not yet checked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import polars as pl

from .source import LineBlock, TextFile

__all__ = ["FileHead", "RawRows", "Reader", "ReaderOptions", "align_columns", "attach_faults"]

RAW_COLUMNS = ("user", "query", "time", "rank", "url")


@dataclass(frozen=True, repr=False)
class RawRows:
    """A block of rows as they stand in the file.

    `table` has the text columns user, query, time, rank and url (null where empty), `line`
    (the number of the line) and `fault` (why the row cannot be read, else null). `has_time`
    is false where the format or the owner's mapping has no time at all, and `needs_time` where a
    row may do without. `dropped` counts rows
    of the file that the format itself leaves out, by reason. `columns` says which column of
    the file was taken for which of ours, where that was not given by the format.
    """

    file: str
    table: pl.DataFrame
    time_format: str | None = None
    has_time: bool = True
    dropped: dict[str, int] = field(default_factory=dict)
    columns: dict[str, str] = field(default_factory=dict)
    needs_time: bool = True


@dataclass(frozen=True, repr=False)
class FileHead:
    """The beginning of a file, for its header."""

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
    """What an owner may say about the form of her file."""

    columns: dict[str, str] = field(default_factory=dict)
    quote: str | None = None
    query_parameter: str = "q"
    delimiter: str | None = None

    @property
    def numbered(self) -> bool:
        """Whether columns are named by their places: such a file has no header."""
        return bool(self.columns) and all(name.isdecimal() for name in self.columns.values())


@dataclass(frozen=True)
class Reader:
    """One format: which file names tell it (a pattern), and how to read files of it."""

    name: str
    title: str
    named: str
    read: Callable[[Sequence[TextFile], ReaderOptions], Iterator[RawRows]]
    warning: str | None = None
    accepts_columns: bool = False


def align_columns(table: pl.DataFrame) -> pl.DataFrame:
    """Bring the columns into order; what the file has not is null."""
    nothing = pl.lit(None, dtype=pl.String)
    columns = (pl.col(c) if c in table.columns else nothing.alias(c) for c in RAW_COLUMNS)
    return table.select(*columns, "line", "fault")


def attach_faults(table: pl.DataFrame, block: LineBlock) -> pl.DataFrame:
    """Add the reasons that the block reader found, by line, to those in `fault`.

    A row begins at its `line` and may take several: a bad line is of the row begun last.
    """
    if not block.faults or not table.height:
        return table
    begun = table["line"].to_numpy()
    rows = np.searchsorted(begun, list(block.faults), side="right") - 1
    reasons = {
        int(begun[row]): why
        for row, why in zip(rows, block.faults.values(), strict=True)
        if row >= 0
    }
    found = pl.col("line").replace_strict(reasons, default=None, return_dtype=pl.String)
    return table.with_columns(fault=pl.coalesce(found, "fault"))
