"""Parquet files. The number of a row serves as the number of a line.

A child process decodes them (see `parquet_child`): if a damaged file kills it, an error is raised
here.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, cast

import polars as pl

from ...errors import ColumnError, FormatError, InputError
from . import parquet_child as decoding
from .base import (
    RawRows,
    Reader,
    ReaderOptions,
    align_columns,
    is_named,
    spark_opener,
)
from .columns import CLOCK, match_columns
from .source import BLOCK, FREE_EXPANSION, MOST_RATIO, TextFile

_ROWS = 500_000
_FREE_MEMORY, _MEMORY_RATIO = (
    4 << 30,
    200,
)  # limits of the child: in bytes, and as a multiple of the file size
_MAGIC = b"PAR1"
_TRAILER_BYTES = 8  # the length of the footer, and the magic bytes again

# NUL is rejected as in text files; the child decodes bytes that are not UTF-8 as NUL.
_NUL = pl.any_horizontal(pl.all().str.contains("\0", literal=True))
_FAULT = pl.when(_NUL).then(pl.lit("NUL or not UTF-8"))


def hash_file(file: TextFile) -> str:
    """Return the digest of the bytes of a file."""
    digest = hashlib.sha256()
    with file.path.open("rb") as stream:
        while chunk := stream.read(BLOCK):
            digest.update(chunk)
            file.advance(len(chunk))
    return digest.hexdigest()


def _damaged_error(path: Path) -> FormatError:
    return FormatError(
        "this is not a Parquet file, or it is damaged, or its rows expand to too much memory",
        where=path,
        hint="copy or download it again, or write it with shorter cells; nothing of it was used",
    )


def _check_ends(path: Path) -> None:
    """Check the magic bytes at both ends, and that the footer fits between them."""
    size = path.stat().st_size
    with path.open("rb") as file:
        start = file.read(len(_MAGIC))
        file.seek(max(0, size - _TRAILER_BYTES))
        end = file.read(_TRAILER_BYTES)
    footer = int.from_bytes(end[:4], "little")
    fits = 0 < footer <= size - len(_MAGIC) - _TRAILER_BYTES
    if start != _MAGIC or end[4:] != _MAGIC or not fits:
        raise _damaged_error(path)


@contextlib.contextmanager
def _child(path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Start the process that decodes a file, and kill it on leaving."""
    max_memory = max(_FREE_MEMORY, _MEMORY_RATIO * path.stat().st_size)
    script = [sys.executable, "-P", str(Path(decoding.__file__))]
    child = subprocess.Popen(  # noqa: S603  (our own script)
        [*script, str(path.absolute()), str(_ROWS), str(max_memory)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    with child:
        try:
            yield child
        finally:
            child.kill()


def _iter_slices(child: subprocess.Popen[bytes], rows: int, path: Path) -> Iterator[pl.DataFrame]:
    out = cast("IO[bytes]", child.stdout)
    while rows > 0:
        size = int.from_bytes(out.read(8), "little")
        data = out.read(size)
        if not size or len(data) < size:
            raise _damaged_error(path)
        cells = pl.read_ipc(data)
        if cells.height != min(rows, _ROWS):
            raise _damaged_error(path)
        rows -= cells.height
        yield cells


def _read_description(child: subprocess.Popen[bytes], path: Path) -> tuple[int, dict[str, str]]:
    """Return the number of rows, and the kinds of columns."""
    try:
        description = json.loads(cast("IO[bytes]", child.stdout).readline())
        return int(description["rows"]), dict(description["kinds"])
    except (ValueError, KeyError, TypeError) as error:
        raise _damaged_error(path) from error


def _check_kinds(mapping: dict[str, str], kinds: dict[str, str], where: Path) -> None:
    for column in mapping.values():
        if kinds[column].startswith("no text: "):
            kind = kinds[column].removeprefix("no text: ")
            raise ColumnError(f'the column "{column}" holds {kind}, not texts', where=where)


def _request_columns(child: subprocess.Popen[bytes], mapping: dict[str, str], path: Path) -> None:
    try:
        cast("IO[bytes]", child.stdin).write(json.dumps(mapping).encode() + b"\n")
        cast("IO[bytes]", child.stdin).close()
    except OSError as error:
        raise _damaged_error(path) from error


def _read_file(file: TextFile, options: ReaderOptions) -> Iterator[RawRows]:
    path = file.path
    try:
        _check_ends(path)
        file.sha256 = hash_file(file)
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", where=path) from error
    with _child(path) as child:
        rows, kinds = _read_description(child, path)
        file.check_expansion(rows)  # a row takes at least one byte
        mapping = match_columns(list(kinds), options.columns, path, shown=True)
        _check_kinds(mapping, kinds, path)
        _request_columns(child, mapping, path)
        has_time = "time" in mapping
        is_time = has_time and CLOCK not in mapping and kinds[mapping["time"]] == "time"
        time_format, start = "%Y-%m-%d %H:%M:%S%.f" if is_time else None, 1
        for cells in _iter_slices(child, rows, path):
            numbers = pl.int_range(start, start + cells.height, eager=True)
            table = align_columns(cells.with_columns(numbers.alias("line"), fault=_FAULT))
            start += cells.height
            yield RawRows(str(path), table, time_format, has_time, columns=mapping)


def check_parquet(path: Path) -> None:
    """Raise an error unless a child process can decode the whole file within bounds of size.

    The caller reads the file with the same library afterwards, which a damaged file could crash.
    """
    remaining = max(FREE_EXPANSION, MOST_RATIO * path.stat().st_size)
    _check_ends(path)
    with _child(path) as child:
        rows, kinds = _read_description(child, path)
        columns = {name: name for name, kind in kinds.items() if not kind.startswith("no text: ")}
        if len(columns) < len(kinds):
            raise FormatError("a column of this Parquet file does not contain texts", where=path)
        _request_columns(child, columns, path)
        for cells in _iter_slices(child, rows, path):
            remaining -= int(cells.estimated_size())
            if remaining < 0:
                raise FormatError("this Parquet file expands to far more than its size", where=path)


def _read(files: Sequence[TextFile], options: ReaderOptions) -> Iterator[RawRows]:
    for file in files:
        yield from _read_file(file, options)


PARQUET = Reader(
    "parquet",
    "Parquet",
    is_named(r".*\.(parquet|pq)"),
    _read,
    spark_opener("open_parquet"),
    accepts_columns=True,
    names=".parquet, .pq",
)
