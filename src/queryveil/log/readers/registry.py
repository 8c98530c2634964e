"""All readers; one is selected by the name of a file or by an option, never by its rows."""

from __future__ import annotations

import re

from ...errors import FormatError, UsageError, did_you_mean
from .access_log import ACCESS
from .base import Reader
from .csv import CSV, TSV
from .jsonl import JSONL
from .legacy import AOL, EXCITE, has_header
from .parquet import PARQUET
from .source import TextFile
from .ubi import UBI

# Specific formats before general ones: the first one that fits a file name is used.
READERS = (PARQUET, UBI, JSONL, AOL, EXCITE, ACCESS, TSV, CSV)
_COMPRESSED_SUFFIX = re.compile(r"\.(gz|zst|zstd)$")


def get_reader(name: str) -> Reader:
    """Return the reader of that name."""
    by_name = {reader.name: reader for reader in READERS}
    if name not in by_name:
        raise UsageError(f'unknown format "{name}"', hint=did_you_mean(name, by_name))
    return by_name[name]


def detect_reader(file: TextFile, columns: bool = False) -> Reader:
    """Return the reader that fits the name of a file.

    With a mapping of columns, only formats that accept one are considered.
    """
    name = _COMPRESSED_SUFFIX.sub("", file.path.name.lower())
    for reader in READERS:
        if (reader.accepts_columns or not columns) and re.fullmatch(reader.named, name):
            # A header is not the row of a user, so it may decide: AOL has its own time format.
            return AOL if reader is TSV and not columns and has_header(file) else reader
    raise FormatError("the name of this file does not tell its format", where=file.path, hint=_HINT)


_HINT = (
    f"name it with --format ({', '.join(reader.name for reader in READERS)}); names that end in "
    ".csv, .tsv, .jsonl, .parquet or .log tell it themselves, also with .gz or .zst"
)
