"""All readers; one is selected by the name of a file or by an option, never by its rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ...core.registry import Registry, discover_values, value_fault
from ...errors import FormatError, UsageError
from .base import FileHead, FileHeader, Reader
from .columns import is_header, names_all
from .legacy import AOL, has_header
from .source import TextFile

_COMPRESSED_SUFFIX = re.compile(r"\.(gz|zst|zstd)$", re.IGNORECASE)


def _fault_of(name: str, item: Any) -> str | None:
    return value_fault(name, item) if isinstance(item, Reader) else "it is not a Reader"


READERS: Registry[Reader] = Registry(
    "format",
    "queryveil.readers",
    lambda: discover_values(Reader, __package__),
    _fault_of,
)


def local_readers() -> list[Reader]:
    """Return the readers that need no Spark."""
    return [reader for reader in READERS.values() if reader.read is not None]


def spark_readers() -> list[Reader]:
    """Return the readers of formats that Spark reads."""
    return [reader for reader in READERS.values() if reader.spark is not None]


def detect_reader(file: TextFile, columns: bool = False) -> Reader:
    """Return the reader that fits the name and the header of a file.

    With a mapping of columns, only formats that accept one are considered.

    Raises:
        FormatError: No reader fits, or several do.
    """
    header = FileHeader(base_name(file.path.name), lambda: FileHead(file.head()).first)
    reader = select_reader(header, local_readers(), columns)
    if reader is None:
        _check_spreadsheet(file.path)
        names = ", ".join(reader.name for reader in local_readers())
        hint = f"name it with `format` ({names}); {_HINT}"
        raise FormatError(
            "the name of this file does not tell its format", where=file.path, hint=hint
        )
    return reader


def _check_spreadsheet(path: Path) -> None:
    """Raise an error for spreadsheets of formats that are not read."""
    if base_name(path.name).endswith((".xls", ".xlsb", ".ods", ".numbers")):
        raise FormatError(
            "spreadsheets of this format are not read",
            where=path,
            hint="save it as .xlsx, or as CSV UTF-8",
        )


def detect_stream_reader(file: TextFile, columns: Mapping[str, str], numbered: bool) -> Reader:
    """Return the reader of standard input, which has no name: only a header can tell its format.

    Raises:
        FormatError: There is no header with known names, or columns are named by number.
    """
    first = "" if numbered else FileHead(file.head()).first
    if has_header(first) and not columns:
        return READERS[AOL.name]
    for delimiter, name in (("\t", "tsv"), *((delimiter, "csv") for delimiter in ",;|")):
        cells = [cell.strip().strip('"') for cell in first.split(delimiter)]
        if len(cells) > 1 and (is_header(cells) or names_all(columns, cells)):
            return READERS[name]
    names = ", ".join(reader.name for reader in local_readers())
    raise FormatError(
        "standard input has no name that tells its format, and no header that does",
        where=file.path,
        hint=f"name it with `format`: {names}",
    )


def is_archive_name(path: Path) -> bool:
    """Return whether a file has the name of a format whose files begin as packed files do."""
    header = FileHeader(base_name(path.name))
    return any(reader.is_archive and reader.sniff(header) for reader in local_readers())


def base_name(name: str) -> str:
    """Return a file name in lower case, without the ending of a compressed file.

    >>> base_name("Log.TSV.gz")
    'log.tsv'
    """
    return strip_compressed_suffix(name.lower())


def strip_compressed_suffix(name: str) -> str:
    """Return a file name without the ending of a compressed file.

    >>> strip_compressed_suffix("Log.tsv.GZ")
    'Log.tsv'
    """
    return _COMPRESSED_SUFFIX.sub("", name)


def select_reader(
    header: FileHeader, readers: Iterable[Reader], columns: bool = False
) -> Reader | None:
    """Return the reader that fits a file, or None; formats with fixed columns are tried first.

    Raises:
        FormatError: Several readers fit.
    """
    readers = [reader for reader in readers if reader.accepts_columns or not columns]
    for is_general in (False, True):
        fitting = [
            reader
            for reader in readers
            if reader.accepts_columns is is_general and reader.sniff(header)
        ]
        if len(fitting) > 1:
            names = ", ".join(reader.name for reader in fitting)
            raise FormatError(
                f"several formats fit this file: {names}",
                where=header.name,
                hint="name it with `format`",
            )
        if fitting:
            return fitting[0]
    return None


def get_local_reader(name: str) -> Reader:
    """Return the reader of a name; raise UsageError if there is none, or only Spark reads it."""
    reader = READERS.find(name)
    if reader.read is None:
        raise UsageError(f'only Spark reads the format "{name}"', hint='use `engine="spark"`')
    return reader


_HINT = (
    "names that end in .csv, .tsv, .jsonl, .parquet or .log tell it themselves, also with .gz or "
    ".zst"
)
