"""Checks on the files of an untrusted release, before and while they are read.

The other checks see only what a reader returns. Here is what a reader hides: a pipe or a link in
place of a file, a skipped field, metadata inside of a Parquet file.
"""

from __future__ import annotations

import hashlib
import io
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import polars as pl

from ..log.readers.parquet import check_parquet
from .check_results import CheckResult
from .formats import (
    OUTPUT_FORMATS,
    PUBLIC_SCHEMA,
    SCHEMA_WITH_KIND,
    read_public_log,
    read_public_tables,
    sink_log,
    write_table,
)

_ARROW = "ARROW:schema"  # what Polars puts beside the rows of a Parquet file: the columns' types
_MAX_ARROW = 4096  # bytes: six columns take a few hundred


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check_plain(public: Path) -> CheckResult:
    """Check that there are plain files alone: reading a pipe never ends, and a link leads out."""
    wrong = sorted(path.name for path in public.iterdir() if not stat.S_ISREG(path.lstat().st_mode))
    message = "all are plain files, no links and no pipes"
    return CheckResult(
        "plain", not wrong, f"not so ({', '.join(wrong)}): {message}" if wrong else message
    )


def read_data(public: Path, *, ours: bool) -> tuple[pl.LazyFrame | None, dict[str, pl.DataFrame]]:
    """Return the log and the tables; a foreign Parquet file is first decoded in a child process."""
    path = public / "log.parquet"
    if not ours and path.exists():
        check_parquet(path)
    return read_public_log(public), read_public_tables(public)


def check_columns(log: pl.LazyFrame, public: Path, *, with_kinds: bool = False) -> CheckResult:
    """Check names and types of the columns, and that a Parquet file has nothing beside them.

    Args:
        with_kinds: Whether the card promises the column `kind`; a log has it then, and only then.
    """
    kinds, path = log.collect_schema(), public / "log.parquet"
    beside = pl.read_parquet_metadata(path) if path.exists() else {}
    expected = SCHEMA_WITH_KIND if with_kinds else PUBLIC_SCHEMA
    holds = kinds == pl.Schema(expected) and _usual(beside)
    message = f"columns are {', '.join(kinds)}"
    return CheckResult(
        "columns", holds, message if holds else f"{message}: other ones, or not alone"
    )


def _usual(beside: Mapping[str, str]) -> bool:
    return beside.keys() <= {_ARROW} and len(beside.get(_ARROW, "")) <= _MAX_ARROW


def as_written(
    public: Path, log: pl.LazyFrame | None, tables: Mapping[str, pl.DataFrame]
) -> CheckResult:
    """Check that text files are, byte by byte, what is written of the rows that were read.

    A reader skips what it does not know, as a further field of a line of JSON.
    """
    wrong = [name for name, rows in tables.items() if _differs(public / f"{name}.tsv", rows)]
    wrong += [
        "log"
        for form in OUTPUT_FORMATS.values()
        if form.is_text and _log_differs(public / f"log.{form.name}", log)
    ]
    message = "files of text hold the rows that are read from them, and nothing else"
    return CheckResult(
        "bytes", not wrong, f"not so ({', '.join(wrong)}): {message}" if wrong else message
    )


class _Digest(io.RawIOBase):
    """A writable file that keeps nothing but the digest of its content."""

    def __init__(self) -> None:
        super().__init__()
        self.sha256 = hashlib.sha256()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.sha256.update(data)
        return len(data)


def _differs(path: Path, rows: pl.DataFrame) -> bool:
    digest = _Digest()
    write_table(rows, path.stem, cast("Any", digest))
    return digest.sha256.hexdigest() != file_digest(path)


def _log_differs(path: Path, log: pl.LazyFrame | None) -> bool:
    if log is None or not path.exists():
        return False
    digest = _Digest()
    sink_log(log, cast("Any", digest), path.suffix[1:])
    return digest.sha256.hexdigest() != file_digest(path)
