"""One reader a format, known by the name of a file or by the owner's word, never by its rows."""

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

# The particular before the general: the first whose names fit is taken.
READERS = (PARQUET, UBI, JSONL, AOL, EXCITE, ACCESS, TSV, CSV)
_PACKED_ENDS = re.compile(r"\.(gz|zst|zstd)$")


def get_reader(name: str) -> Reader:
    """Give the reader of that name."""
    by_name = {reader.name: reader for reader in READERS}
    if name not in by_name:
        raise UsageError(f'unknown format "{name}"', hint=did_you_mean(name, by_name))
    return by_name[name]


def detect_reader(file: TextFile, columns: bool = False) -> Reader:
    """Return the reader that the name of a file tells.

    With the owner's own mapping of columns, only the formats that have columns are tried.
    """
    name = _PACKED_ENDS.sub("", file.path.name.lower())
    for reader in READERS:
        if (reader.accepts_columns or not columns) and re.fullmatch(reader.named, name):
            # A header is no row of a person: AOL's names its own form of times.
            return AOL if reader is TSV and not columns and has_header(file) else reader
    raise FormatError("the name of this file does not tell its format", where=file.path, hint=_HINT)


_HINT = (
    f"name it with --format ({', '.join(reader.name for reader in READERS)}); names that end in "
    ".csv, .tsv, .jsonl, .parquet or .log tell it themselves, also with .gz or .zst"
)
