"""One reader a format, found by the first bytes of a file or by name."""

from __future__ import annotations

from ...errors import FormatError, UsageError, did_you_mean
from .access import ACCESS
from .aol import AOL
from .columns import parse_columns
from .csv import CSV, TSV
from .excite import EXCITE
from .jsonl import JSONL
from .parquet import PARQUET
from .raw import Head, RawRows, Reader, ReaderOptions
from .source import TextFile
from .ubi import UBI

__all__ = [
    "READERS",
    "Head",
    "RawRows",
    "Reader",
    "ReaderOptions",
    "TextFile",
    "find_reader",
    "parse_columns",
    "reader_named",
]

# The order of sniffing: the particular before the general.
READERS = (PARQUET, UBI, JSONL, AOL, EXCITE, ACCESS, TSV, CSV)


def reader_named(name: str) -> Reader:
    """Give the reader of that name."""
    by_name = {reader.name: reader for reader in READERS}
    if name not in by_name:
        raise UsageError(f'unknown format "{name}"', hint=did_you_mean(name, by_name))
    return by_name[name]


def find_reader(file: TextFile, columns: bool = False) -> Reader:
    """Tell the format of a file from its first bytes.

    With the owner's own mapping of columns, only the formats that have columns are tried.
    """
    head = Head(file.path.name, file.head())
    if not head.data.strip():
        raise FormatError("the file is empty", where=file.path)
    general = (PARQUET, JSONL, TSV, CSV)
    for reader in general if columns else READERS:
        if reader.sniff(head):
            return reader
    raise FormatError(_unknown(head), where=file.path, hint=_HINT)


_HINT = f"name it with --format ({', '.join(reader.name for reader in READERS)})"


def _unknown(head: Head) -> str:
    if b"\0" in head.data[:4096]:
        return "this is a binary file or UTF-16 without a byte-order mark, not a log"
    return "no known format fits the first lines"
