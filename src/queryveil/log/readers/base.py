"""The interface of readers, and the mapping of a file's columns.

Columns are mapped by `columns="user=uid,query=q"`, or by their usual names.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from ...errors import ColumnError, UsageError, did_you_mean
from .source import LineBlock, TextFile

_USUAL_NAMES = {
    "user": ("user", "anonid", "user_id", "userid", "uid", "client_id", "visitor_id", "cookie"),
    "query": ("query", "q", "user_query", "search_term", "searchterm", "keywords", "search"),
    "time": ("time", "querytime", "query_time", "timestamp", "datetime", "date", "@timestamp"),
    "rank": ("rank", "itemrank", "item_rank", "position", "click_rank"),
    "url": ("url", "clickurl", "click_url", "clicked_url", "link"),
}
_WORDS = {word for words in _USUAL_NAMES.values() for word in words}
_AOL_NAMES = {
    "anonid": "AnonID",
    "query": "Query",
    "querytime": "QueryTime",
    "itemrank": "ItemRank",
    "clickurl": "ClickURL",
}
_REQUIRED = ("user", "query")


def parse_columns(text: str, known: Iterable[str] = _USUAL_NAMES) -> dict[str, str]:
    """Parse a mapping of our columns to those of a file.

    >>> parse_columns("user=uid, query=q")
    {'user': 'uid', 'query': 'q'}
    """
    mapping: dict[str, str] = {}
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        name, equals, column = (piece.strip() for piece in part.partition("="))
        if not equals or not column:
            raise UsageError(
                f'"{part}" in `columns` is not name=column', hint="write it as user=uid,query=q"
            )
        mapping[name] = column
    return check_columns(mapping, known)


def check_columns(
    mapping: Mapping[str, str | int], known: Iterable[str] = _USUAL_NAMES
) -> dict[str, str]:
    """Return a mapping of our columns to those of a source, with numbers as texts.

    Raises:
        UsageError: One of ours is unknown; the hint has a similar name.
    """
    for name in mapping:
        if name not in known:
            raise UsageError(
                f'"{name}" in `columns` is not a known column', hint=did_you_mean(name, known)
            )
    return {name: str(column) for name, column in mapping.items()}


def is_header(cells: Iterable[str]) -> bool:
    """Return whether cells are a header: at least two of them are usual names."""
    return sum(cell.strip().lower() in _WORDS for cell in cells) > 1


def match_columns(
    columns: Iterable[str], wanted: dict[str, str], where: Path | str, *, shown: bool = False
) -> dict[str, str]:
    """Return the file's column for each of ours: from `wanted` first, then by usual names.

    Error messages contain the names only if `shown`, as for the names of a schema: the first line
    of a text file may be the row of a user and not a header.
    """
    names = list(columns)
    for name, column in wanted.items():
        if column not in names:
            suggestion = f"{did_you_mean(column, names)} " if shown else ""
            raise ColumnError(
                f'there is no column "{column}" for {name}',
                where=where,
                hint=f"{suggestion}({_describe_columns(names, shown)})",
            )
    by_lower = {column.strip().lower(): column for column in reversed(names)}
    used = set(wanted.values())
    usual = {
        name: by_lower[word]
        for name, words in _USUAL_NAMES.items()
        for word in reversed(words)
        if word in by_lower and by_lower[word] not in used
    }
    mapping = usual | wanted
    for name in _REQUIRED:
        if name not in mapping:
            raise ColumnError(
                f"no column is known as the {name}",
                where=where,
                hint='name the columns: `columns="user=...,query=...,time=..."` '
                f"({_describe_columns(names, shown)}); without a header, by number: "
                '`columns="user=1,query=2,time=3"`',
            )
    return mapping


def _describe_columns(names: list[str], shown: bool) -> str:
    """Return a description of the columns of a file; only usual names unless `shown`."""
    if shown:
        return f"columns here: {', '.join(names)}"
    known = [cell.strip().lower() for cell in names if cell.strip().lower() in _WORDS]
    usual = f", of the usual names {', '.join(known)}" if len(known) > 1 else ""
    return f"the first line has {len(names):,} columns{usual}"


def match_keys(wanted: dict[str, str]) -> dict[str, tuple[str, ...]]:
    """Return the keys of an object that may have each of our columns, in order of priority.

    JSON lines have no header, and the content of a row must not decide how others are read. So
    the mapping of the data owner counts, and for other columns a fixed list for every object.

    >>> match_keys({"user": "visitor.id", "query": "q"})["user"]
    ('visitor.id',)
    """
    used = {path.split(".")[0] for path in wanted.values()}
    keys = {
        name: tuple(key for word in words for key in _spellings(word) if key not in used)
        for name, words in _USUAL_NAMES.items()
    }
    return keys | {name: (path,) for name, path in wanted.items()}


def _spellings(word: str) -> list[str]:
    """Return a usual name unchanged, in camel case, and as AOL writes it.

    >>> _spellings("user_id"), _spellings("querytime")
    (['user_id', 'userId'], ['querytime', 'QueryTime'])
    """
    camel = re.sub("_([a-z])", lambda match: match[1].upper(), word)
    return list(dict.fromkeys((word, camel, _AOL_NAMES.get(word, word))))


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

    @property
    def numbered(self) -> bool:
        """Whether columns are named by number, because the file has no header."""
        return bool(self.columns) and all(name.isdecimal() for name in self.columns.values())


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
    """

    name: str
    title: str
    sniff: Callable[[FileHeader], bool]
    read: Callable[[Sequence[TextFile], ReaderOptions], Iterator[RawRows]] | None
    spark: Callable[[Any], Any] | None = None
    warning: str | None = None
    accepts_columns: bool = False


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
    """Return the columns in their fixed order; missing ones are null."""
    null = pl.lit(None, dtype=pl.String)
    columns = (pl.col(c) if c in table.columns else null.alias(c) for c in RAW_COLUMNS)
    return table.select(*columns, "line", "fault")


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
