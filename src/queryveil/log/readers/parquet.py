"""Parquet files. The number of a row stands for the number of a line.

A child process decodes them (see `decoding`): what a damaged file does to it is an error here.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any, cast

import polars as pl

from ...errors import ColumnError, FormatError, InputError
from . import parquet_child as decoding
from .base import RawRows, Reader, ReaderOptions, align_columns, match_columns
from .source import BLOCK, FREE_EXPANSION, MOST_RATIO, TextFile


_ROWS = 500_000
_FREE_MEMORY, _MEMORY_RATIO = 4 << 30, 200  # of the child, and as a multiple of the file's size
_MARK = b"PAR1"
_END = 8  # the length of the footer, and the mark again

# NUL is in no text file either; bytes that are no text are read as NUL.
_NUL = pl.any_horizontal(pl.all().str.contains("\0", literal=True))
_FAULT = pl.when(_NUL).then(pl.lit("NUL or not UTF-8"))


def _hash(file: TextFile) -> str:
    digest = hashlib.sha256()
    with file.path.open("rb") as stream:
        while chunk := stream.read(BLOCK):
            digest.update(chunk)
            file.advance(len(chunk))
    return digest.hexdigest()


def _damaged(path: Path) -> FormatError:
    return FormatError(
        "this is no Parquet file, or a damaged one, or its rows expand beyond all bounds",
        where=path,
        hint="copy or download it again, or write it with shorter cells; nothing of it was used",
    )


def _check_ends(path: Path) -> None:
    """Look for the marks at both ends, and for a footer that fits between them."""
    size = path.stat().st_size
    with path.open("rb") as file:
        start = file.read(len(_MARK))
        file.seek(max(0, size - _END))
        end = file.read(_END)
    footer = int.from_bytes(end[:4], "little")
    fits = 0 < footer <= size - len(_MARK) - _END
    if start != _MARK or end[4:] != _MARK or not fits:
        raise _damaged(path)


@contextlib.contextmanager
def _child(path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Start the process that decodes a file, and end it whatever happens here."""
    most = max(_FREE_MEMORY, _MEMORY_RATIO * path.stat().st_size)
    script = [sys.executable, "-P", str(Path(decoding.__file__))]
    child = subprocess.Popen(  # noqa: S603  (our own script)
        [*script, str(path.absolute()), str(_ROWS), str(most)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    with child:
        try:
            yield child
        finally:
            child.kill()


def _slices(child: subprocess.Popen[bytes], rows: int, path: Path) -> Iterator[pl.DataFrame]:
    out = cast("IO[bytes]", child.stdout)
    while rows > 0:
        size = int.from_bytes(out.read(8), "little")
        data = out.read(size)
        if not size or len(data) < size:
            raise _damaged(path)
        cells = pl.read_ipc(data)
        if cells.height != min(rows, _ROWS):
            raise _damaged(path)
        rows -= cells.height
        yield cells


def _told(child: subprocess.Popen[bytes], path: Path) -> tuple[int, dict[str, str]]:
    """Return the number of rows, and the kinds of columns."""
    try:
        told: dict[str, Any] = json.loads(cast("IO[bytes]", child.stdout).readline())
        return int(told["rows"]), dict(told["kinds"])
    except (ValueError, KeyError, TypeError) as error:
        raise _damaged(path) from error


def _check_kinds(mapping: dict[str, str], kinds: dict[str, str], where: Path) -> None:
    for column in mapping.values():
        if kinds[column].startswith("no text: "):
            kind = kinds[column].removeprefix("no text: ")
            raise ColumnError(f'the column "{column}" holds {kind}, not texts', where=where)


def _ask(child: subprocess.Popen[bytes], mapping: dict[str, str], path: Path) -> None:
    try:
        cast("IO[bytes]", child.stdin).write(json.dumps(mapping).encode() + b"\n")
        cast("IO[bytes]", child.stdin).close()
    except OSError as error:
        raise _damaged(path) from error


def _read_file(file: TextFile, options: ReaderOptions) -> Iterator[RawRows]:
    path = file.path
    try:
        _check_ends(path)
        file.sha256 = _hash(file)
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", where=path) from error
    with _child(path) as child:
        rows, kinds = _told(child, path)
        file.check_expansion(rows)  # a row takes a byte or more
        mapping = match_columns(list(kinds), options.columns, path, shown=True)
        _check_kinds(mapping, kinds, path)
        _ask(child, mapping, path)
        has_time = "time" in mapping
        is_time = has_time and kinds[mapping["time"]] == "time"
        how, start = "%Y-%m-%d %H:%M:%S%.f" if is_time else None, 1
        for cells in _slices(child, rows, path):
            numbers = pl.int_range(start, start + cells.height, eager=True)
            table = align_columns(cells.with_columns(numbers.alias("line"), fault=_FAULT))
            start += cells.height
            yield RawRows(str(path), table, how, has_time, columns=mapping)


def check_parquet(path: Path) -> None:
    """Raise an error unless a child process can decode all of a file, within bounds of size.

    Rows are read from it afterwards by the same library, which would end this process if not.
    """
    most = max(FREE_EXPANSION, MOST_RATIO * path.stat().st_size)
    _check_ends(path)
    with _child(path) as child:
        rows, kinds = _told(child, path)
        columns = {name: name for name, kind in kinds.items() if not kind.startswith("no text: ")}
        if len(columns) < len(kinds):
            raise FormatError("a column of this Parquet file holds no texts", where=path)
        _ask(child, columns, path)
        for cells in _slices(child, rows, path):
            most -= int(cells.estimated_size())
            if most < 0:
                raise FormatError("this Parquet file expands to far more than it is", where=path)


def _read(files: Sequence[TextFile], options: ReaderOptions) -> Iterator[RawRows]:
    for file in files:
        yield from _read_file(file, options)


PARQUET = Reader("parquet", "Parquet", r".*\.(parquet|pq)", _read, accepts_columns=True)
