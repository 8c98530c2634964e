"""What a reader hands on: rows as texts, not yet checked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import polars as pl

from .source import Block, TextFile

__all__ = ["Head", "RawRows", "Reader", "ReaderOptions", "with_faults"]

RAW_COLUMNS = ("user", "query", "time", "rank", "url")


@dataclass(frozen=True)
class RawRows:
    """A block of rows as they stand in the file.

    `table` has the text columns user, query, time, rank and url (null where empty), `line`
    (the number of the line) and `fault` (why the row cannot be read, else null). `has_time`
    is false where the format or the owner's mapping has no time at all.
    """

    file: str
    table: pl.DataFrame
    time_format: str | None = None
    has_time: bool = True


@dataclass(frozen=True)
class Head:
    """The beginning of a file, for telling its format."""

    name: str
    data: bytes

    @property
    def first_lines(self) -> list[str]:
        """The first lines that are not blank, at most twenty."""
        text = self.data.decode("utf-8", "replace").splitlines()
        return [line for line in text if line.strip()][:20]


@dataclass(frozen=True)
class ReaderOptions:
    """What an owner may say about the form of her file."""

    columns: dict[str, str] = field(default_factory=dict)
    quote: str | None = None
    query_parameter: str = "q"


@dataclass(frozen=True)
class Reader:
    """One format: how to tell it from the first bytes, and how to read files of it."""

    name: str
    title: str
    sniff: Callable[[Head], bool]
    read: Callable[[Sequence[TextFile], ReaderOptions], Iterator[RawRows]]
    warning: str | None = None


def with_faults(table: pl.DataFrame, block: Block) -> pl.DataFrame:
    """Add the reasons that the block reader found, by line, to those in `fault`."""
    if not block.faults:
        return table
    lines, reasons = list(block.faults), list(block.faults.values())
    found = pl.col("line").replace_strict(lines, reasons, default=None, return_dtype=pl.String)
    return table.with_columns(fault=pl.coalesce(found, "fault"))
