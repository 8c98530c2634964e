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
        raise FormatError("the file is empty", where=file.path, hint="is this the right file?")
    if what := _not_text(file.start()):
        raise FormatError(what, where=file.path, hint=_HINTS.get(what, _HINT))
    general = [reader for reader in READERS if reader.takes_columns]
    for reader in general if columns else READERS:
        if reader.sniff(head):
            return reader
    raise FormatError("no known format fits the first lines", where=file.path, hint=_HINT)


_HINT = f"name it with --format ({', '.join(reader.name for reader in READERS)})"


_BINARY = "this is a binary file or UTF-16 without a byte-order mark, not a log"
_PACKED = "this is a packed file"
_HINTS = {
    _BINARY: "if it is UTF-16, say so: --encoding utf-16-le",
    _PACKED: "gzip and zstd are read where the name ends in .gz or .zst; unpack anything else",
}
_PACKED_STARTS = (
    b"\x1f\x8b",
    b"\x28\xb5\x2f\xfd",
    b"PK\x03\x04",
    b"BZh",
    b"\xfd7zXZ",
    b"7z\xbc\xaf",
)


# What no text has, but for a stray one, which costs its line.
_CONTROL = bytes({*range(32), 127} - set(b"\t\n\v\f\r\x1b"))


def _not_text(start: bytes) -> str | None:
    if start.startswith(_PACKED_STARTS):
        return _PACKED
    some = start[:4096]
    control = len(some) - len(some.translate(None, _CONTROL))
    is_text = control < 4 or control * 20 < len(some) or some.startswith(b"PAR1")
    return None if is_text else _BINARY
