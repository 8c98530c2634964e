"""All readers; one is selected by the name of a file or by an option, never by its rows."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from ...core.registry import Registry, discover_values, value_fault
from ...errors import FormatError, UsageError
from .base import FileHead, FileHeader, Reader
from .source import TextFile

_COMPRESSED_SUFFIX = re.compile(r"\.(gz|zst|zstd)$")


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
        names = ", ".join(reader.name for reader in local_readers())
        hint = f"name it with `format` ({names}); {_HINT}"
        raise FormatError(
            "the name of this file does not tell its format", where=file.path, hint=hint
        )
    return reader


def base_name(name: str) -> str:
    """Return a file name in lower case, without the ending of a compressed file.

    >>> base_name("Log.TSV.gz")
    'log.tsv'
    """
    return _COMPRESSED_SUFFIX.sub("", name.lower())


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
