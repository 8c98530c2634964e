"""Parquet files. The number of a row stands for the number of a line."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence

import polars as pl

from ...errors import FormatError
from .columns import match_columns
from .delimited import to_raw
from .raw import Head, RawRows, Reader, ReaderOptions
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


def _as_text(column: str, kind: pl.DataType) -> pl.Expr:
    if isinstance(kind, (pl.Datetime, pl.Date)):
        time = pl.col(column).cast(pl.Datetime("us"))
        return time.dt.strftime("%Y-%m-%d %H:%M:%S%.6f")
    return pl.col(column).cast(pl.String)


def _read_file(file: TextFile, options: ReaderOptions) -> Iterator[RawRows]:
    try:
        scan = pl.scan_parquet(file.path)
        schema = scan.collect_schema()
        rows = int(scan.select(pl.len()).collect().item())
    except (pl.exceptions.PolarsError, OSError) as error:
        raise FormatError("this is no Parquet file, or a damaged one", where=file.path) from error
    mapping = match_columns(schema.names(), options.columns, file.path)
    texts = [_as_text(column, schema[column]) for column in dict.fromkeys(mapping.values())]
    for start in range(0, rows, _ROWS):
        cells = scan.slice(start, _ROWS).select(texts).collect()
        numbers = pl.int_range(start + 1, start + 1 + cells.height, eager=True).alias("line")
        found = cells.with_columns(numbers, fault=pl.lit(None, dtype=pl.String))
        is_time = "time" in mapping and schema[mapping["time"]].is_temporal()
        how = "%Y-%m-%d %H:%M:%S%.f" if is_time else None
        yield RawRows(str(file.path), to_raw(found, mapping), how, "time" in mapping)
    file.sha256 = _hash(file)


def _read(files: Sequence[TextFile], options: ReaderOptions) -> Iterator[RawRows]:
    for file in files:
        yield from _read_file(file, options)


PARQUET = Reader("parquet", "Parquet", _sniff, _read)
