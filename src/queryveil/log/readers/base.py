"""Which column of the owner's file is which: `--columns user=uid,query=q`, or by usual names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
import polars as pl

from ...errors import ColumnError, UsageError, did_you_mean
from .source import LineBlock, TextFile

_USUAL = {
    "user": ("user", "anonid", "user_id", "userid", "uid", "client_id", "visitor_id", "cookie"),
    "query": ("query", "q", "user_query", "search_term", "searchterm", "keywords", "search"),
    "time": ("time", "querytime", "query_time", "timestamp", "datetime", "date", "@timestamp"),
    "rank": ("rank", "itemrank", "item_rank", "position", "click_rank"),
    "url": ("url", "clickurl", "click_url", "clicked_url", "link"),
}
_WORDS = {word for words in _USUAL.values() for word in words}
_AS_AOL = {
    "anonid": "AnonID",
    "query": "Query",
    "querytime": "QueryTime",
    "itemrank": "ItemRank",
    "clickurl": "ClickURL",
}
_NEEDED = ("user", "query")


def parse_columns(text: str, known: Iterable[str] = _USUAL) -> dict[str, str]:
    """Read the owner's mapping of known columns to those of a file.

    >>> parse_columns("user=uid, query=q")
    {'user': 'uid', 'query': 'q'}
    """
    mapping: dict[str, str] = {}
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        name, equals, column = (piece.strip() for piece in part.partition("="))
        if not equals or not column:
            raise UsageError(f'"{part}" in --columns', hint="write it as user=uid,query=q")
        if name not in known:
            raise UsageError(f'"{name}" in --columns', hint=did_you_mean(name, known))
        mapping[name] = column
    return mapping


def is_header(cells: Iterable[str]) -> bool:
    """Tell a header from a row: it has at least two of the usual names."""
    return sum(cell.strip().lower() in _WORDS for cell in cells) > 1


def match_columns(
    found: Iterable[str], wanted: dict[str, str], where: Path, *, shown: bool = False
) -> dict[str, str]:
    """Find the file's column for each of ours: the owner's word first, then the usual names.

    Names stand in an error only if they are `shown`, as those of a schema are: the first line of a
    text file may be no header, but a row of somebody.
    """
    there = list(found)
    for name, column in wanted.items():
        if column not in there:
            near = f"{did_you_mean(column, there)} " if shown else ""
            raise ColumnError(
                f'there is no column "{column}" for {name}',
                where=where,
                hint=f"{near}({_listed(there, shown)})",
            )
    by_lower = {column.strip().lower(): column for column in reversed(there)}
    taken = set(wanted.values())
    usual = {
        name: by_lower[word]
        for name, words in _USUAL.items()
        for word in reversed(words)
        if word in by_lower and by_lower[word] not in taken
    }
    mapping = usual | wanted
    for name in _NEEDED:
        if name not in mapping:
            raise ColumnError(
                f"no column is known as the {name}",
                where=where,
                hint="say which is which: --columns user=...,query=...,time=... "
                f"({_listed(there, shown)}); without a header, by number: "
                "--columns user=1,query=2,time=3",
            )
    return mapping


def _listed(there: list[str], shown: bool) -> str:
    """Return what may be said of the columns of a file: of a first line only the usual names."""
    if shown:
        return f"columns here: {', '.join(there)}"
    known = [cell.strip().lower() for cell in there if cell.strip().lower() in _WORDS]
    usual = f", of the usual names {', '.join(known)}" if len(known) > 1 else ""
    return f"the first line has {len(there):,} columns{usual}"


def match_keys(wanted: dict[str, str]) -> dict[str, tuple[str, ...]]:
    """Return the keys of an object that may hold each of our columns, the first one first.

    Lines of JSON have no header, and what a row holds must not decide how others are read: so
    the owner's word counts, and for what was not named the same fixed list in every object.

    >>> match_keys({"user": "visitor.id", "query": "q"})["user"]
    ('visitor.id',)
    """
    used = {path.split(".")[0] for path in wanted.values()}
    keys = {
        name: tuple(key for word in words for key in _spellings(word) if key not in used)
        for name, words in _USUAL.items()
    }
    return keys | {name: (path,) for name, path in wanted.items()}


def _spellings(word: str) -> list[str]:
    """Return a usual name as it is, as AOL writes it, and in camel case.

    >>> _spellings("user_id"), _spellings("querytime")
    (['user_id', 'userId'], ['querytime', 'QueryTime'])
    """
    camel = re.sub("_([a-z])", lambda found: found[1].upper(), word)
    return list(dict.fromkeys((word, camel, _AS_AOL.get(word, word))))


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
