"""Parquet files. The number of a row stands for the number of a line."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from ...errors import ColumnError, FormatError
from .columns import match_columns
from .raw import Head, RawRows, Reader, ReaderOptions, complete
from .source import BLOCK, TextFile

__all__ = ["PARQUET"]

_ROWS = 500_000


def _sniff(head: Head) -> bool:
    return head.data.startswith(b"PAR1")


def _hash(file: TextFile) -> str:
    digest = hashlib.sha256()
    with file.path.open("rb") as stream:
        while chunk := stream.read(BLOCK):
            digest.update(chunk)
            file.advance(len(chunk))
    return digest.hexdigest()


def _as_text(column: str, kind: pl.DataType, where: Path) -> pl.Expr:
    value = pl.col(column)
    if isinstance(kind, (pl.Datetime, pl.Date)):
        return value.cast(pl.Datetime("us")).dt.strftime("%Y-%m-%d %H:%M:%S%.6f")
    if kind.is_float():
        # Whole numbers with gaps come as 142.0 and NaN from some tables.
        return value.fill_nan(None).cast(pl.String).str.strip_suffix(".0")
    if kind.is_nested() or isinstance(kind, (pl.Duration, pl.Object)):
        raise ColumnError(f'the column "{column}" holds {kind}, not texts', where=where)
    return value.map_batches(_decoded, pl.String) if kind == pl.Binary else value.cast(pl.String)


def _decoded(column: pl.Series) -> pl.Series:
    return pl.Series([_text(data) for data in column], dtype=pl.String)


def _text(data: bytes | None) -> str | None:
    try:
        return None if data is None else data.decode()
    except UnicodeDecodeError:
        return "\0"


# NUL is in no text file either; bytes that are no text are read as NUL.
_NUL = pl.any_horizontal(pl.all().str.contains("\0", literal=True))
_FAULT = pl.when(_NUL).then(pl.lit("NUL or not UTF-8"))


def _read_file(file: TextFile, options: ReaderOptions) -> Iterator[RawRows]:
    with _damage_told(file.path):
        scan = pl.scan_parquet(file.path, glob=False)
        schema = scan.collect_schema()
        rows = int(scan.select(pl.len()).collect().item())
    mapping = match_columns(schema.names(), options.columns, file.path)
    texts = [_as_text(theirs, schema[theirs], file.path).alias(n) for n, theirs in mapping.items()]
    is_time = "time" in mapping and schema[mapping["time"]] in (pl.Datetime, pl.Date)
    how = "%Y-%m-%d %H:%M:%S%.f" if is_time else None
    for start in range(0, rows, _ROWS):
        with _damage_told(file.path):
            cells = scan.slice(start, _ROWS).select(texts).collect()
        numbers = pl.int_range(start + 1, start + 1 + cells.height, eager=True)
        table = complete(cells.with_columns(numbers.alias("line"), fault=_FAULT))
        yield RawRows(str(file.path), table, how, "time" in mapping, columns=mapping)
    file.sha256 = _hash(file)


@contextmanager
def _damage_told(path: Path) -> Iterator[None]:
    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise FormatError(
            "this is no Parquet file, or a damaged one",
            where=path,
            hint="copy or download it again; nothing of it was used",
        ) from error


def _read(files: Sequence[TextFile], options: ReaderOptions) -> Iterator[RawRows]:
    for file in files:
        yield from _read_file(file, options)


PARQUET = Reader("parquet", "Parquet", _sniff, _read, takes_columns=True)
