"""Tables in the form that Spark moves: a partition as one cell, or its rows.

This module runs on the executors too.
"""

from __future__ import annotations

import atexit
import io
import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from pyspark.sql import functions as f

from ...core.randomness import RandomSource
from ...errors import VerificationError
from ..table import PartitionFunction, ProtectedTable, ProtectFunction

# A table in partitions: the number of each, its rows, and all of it as one cell.
PARTITION_SCHEMA = "share long, rows long, block binary"
_PARTITION_ROWS = 250_000
_MAX_PARTITIONS = 100_000  # of one task
_NAME_BYTES = 10  # 80 bits: pseudonyms of different partitions must not collide


def to_cell(table: pl.DataFrame) -> bytes:
    """Serialize a table to one cell."""
    cell = io.BytesIO()
    table.write_ipc(cell, compression="zstd")
    return cell.getvalue()


def from_cell(cell: bytes) -> pl.DataFrame:
    """Read a table from its cell."""
    return pl.read_ipc(io.BytesIO(cell))


def spark_schema(schema: Mapping[str, pl.DataType]) -> str:
    """Return a schema in the syntax of Spark; dates and times are moved as integers."""
    return ", ".join(f"`{name}` {_spark_type(dtype)}" for name, dtype in schema.items())


def is_text_type(dtype: pl.DataType) -> bool:
    """Return whether values of a type are moved as strings."""
    return isinstance(dtype, (pl.String, pl.Categorical, pl.Null))


def _spark_type(dtype: pl.DataType) -> str:
    if is_text_type(dtype):
        return "string"
    if dtype == pl.Boolean:
        return "boolean"
    if dtype == pl.Binary:
        return "binary"
    return "double" if dtype.is_float() else "long"


def plain_schema(table: pl.DataFrame) -> dict[str, pl.DataType]:
    """Return the schema of a table, with strings in place of categories."""
    return {
        name: pl.String() if is_text_type(dtype) else dtype for name, dtype in table.schema.items()
    }


def restore_types(table: pl.DataFrame, schema: Mapping[str, pl.DataType]) -> pl.DataFrame:
    """Cast a table that came from Spark to a schema; strings stay strings."""
    return table.select(
        pl.col(name) if is_text_type(dtype) else _restore_type(name, dtype)
        for name, dtype in schema.items()
    )


def _restore_type(name: str, dtype: pl.DataType) -> pl.Expr:
    column = pl.col(name)
    if dtype.is_temporal():  # the integers that Polars stores for dates have 32 bits
        column = column.cast(pl.Int32 if dtype == pl.Date else pl.Int64)
    return column.cast(dtype)


def to_arrow(table: pl.DataFrame) -> Iterator[Any]:
    """Yield a table as Arrow batches of the types that Spark accepts."""
    import pyarrow as pa  # noqa: PLC0415  (installed only with Spark)

    arrow_types = {"string": pa.string(), "boolean": pa.bool_(), "binary": pa.binary(),
                   "double": pa.float64(), "long": pa.int64()}  # fmt: skip
    plain = table.select(_to_plain(name, dtype) for name, dtype in table.schema.items())
    fields = [
        pa.field(name, arrow_types[_spark_type(dtype)]) for name, dtype in table.schema.items()
    ]
    arrow = plain.to_arrow(compat_level=pl.CompatLevel.oldest()).cast(pa.schema(fields))
    yield from arrow.to_batches(max_chunksize=50_000)


def _to_plain(name: str, dtype: pl.DataType) -> pl.Expr:
    column = pl.col(name)
    if _spark_type(dtype) == "string":
        return column.cast(pl.String)
    return column.to_physical().cast(pl.Int64) if _spark_type(dtype) == "long" else column


def iter_partitions(batches: Iterable[Any]) -> Iterator[tuple[int, pl.DataFrame]]:
    """Yield the number and the table of each partition of a task."""
    for batch in batches:
        for number, cell in zip(batch.column("share"), batch.column("block"), strict=True):
            yield number.as_py(), from_cell(cell.as_py())


def emit_partition(number: int, table: pl.DataFrame) -> Iterator[Any]:
    """Yield a table as one partition."""
    cell = {"share": [number], "rows": [table.height], "block": [to_cell(table)]}
    yield from to_arrow(pl.DataFrame(cell))


def partition_random_source(seed: int | None, number: int) -> RandomSource:
    """Return the random source of a partition; reproducible only if there is a seed."""
    partition_seed = None if seed is None else (seed + 1) * 1_000_003 + number
    return RandomSource(partition_seed, name_bytes=_NAME_BYTES)


def partition_task(
    work: PartitionFunction, seed: int | None, emit: Callable[[int, pl.DataFrame], Iterator[Any]]
) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """Build the function of a task, which applies `work` to each of its partitions."""

    def run(batches: Iterable[Any]) -> Iterator[Any]:
        for number, table in iter_partitions(batches):
            yield from emit(number, work(table.lazy(), partition_random_source(seed, number)))

    return run


@dataclass(frozen=True)
class PartitionPacker:
    """Packs the rows of a task into partitions.

    Attributes:
        schema: The columns of a partition; other columns are dropped.
        encode: Casts the strings of a partition to categories.
        whole: Rows with the same value in this column stay in one partition.
        each: Each value of this column becomes a partition of its own.
        order: Columns to sort the rows by.
    """

    schema: Mapping[str, pl.DataType]
    encode: Callable[[pl.DataFrame], pl.DataFrame]
    whole: str | None = None
    each: str | None = None
    order: tuple[str, ...] = ()

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Pack all rows of a task."""
        parts = [pl.DataFrame(pl.from_arrow(batch)) for batch in batches]
        if not parts:
            return
        rows = pl.concat(parts)
        if self.order:
            rows = rows.sort(self.order)
        first = _task_number() * _MAX_PARTITIONS
        for index, part in enumerate(self._split(rows)):
            yield from emit_partition(first + index, self.encode(restore_types(part, self.schema)))

    def _split(self, rows: pl.DataFrame) -> list[pl.DataFrame]:
        """Split the rows of a task into partitions of about equal size."""
        if self.each is not None:
            return rows.partition_by(self.each, maintain_order=True)
        if rows.height <= _PARTITION_ROWS:
            return [rows]
        if self.whole is None:
            return list(rows.iter_slices(_PARTITION_ROWS))
        sizes = rows.group_by(self.whole).len().sort(self.whole)
        number = (sizes["len"].cum_sum() - sizes["len"]) // _PARTITION_ROWS
        numbers = sizes.select(self.whole, number.alias("number"))
        numbered = rows.join(numbers, on=self.whole, maintain_order="left")
        return numbered.partition_by("number", maintain_order=True, include_key=False)


def assign_blocks(batches: Iterable[Any]) -> Iterator[Any]:
    """Yield the rows of partitions with the block of each user and their old position."""
    for batch in batches:
        for share, rows, blocks in zip(*(c.to_pylist() for c in batch.columns), strict=True):
            known = from_cell(blocks).with_columns(pl.col("user").cast(pl.String))
            table = from_cell(rows).with_columns(pl.col("user").cast(pl.String))
            position = pl.int_range(pl.len(), dtype=pl.Int64)
            numbered = table.with_columns(share=pl.lit(share, pl.Int64), place=position)
            joined = numbered.join(known, on="user", maintain_order="left")
            columns = [*table.columns, "block", "share", "place"]
            yield from to_arrow(joined.select(columns))


def _task_number() -> int:
    from pyspark import TaskContext  # noqa: PLC0415

    context = TaskContext.get()
    return 0 if context is None else int(context.partitionId())


OUTPUT_SCHEMA = "share long, what string, shares long, block binary"

_PIECE_ROWS = 1_000_000  # on average


def protect_task(
    work: ProtectFunction, seed: int | None, at_once: int
) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """Build the function of a task that protects partitions; rows, mapping and counts are separate.

    The order in which rows are published is drawn here too, so that it is staged with them.
    """

    def run(batches: Iterable[Any]) -> Iterator[Any]:
        for numbers, table in _merge_partitions(iter_partitions(batches), at_once):
            rng = partition_random_source(seed, numbers[0])
            part = work(table.lazy(), rng)
            order = pl.Series("order", rng.uint64s(part.rows.height).view(np.int64))
            summary = pl.DataFrame({"summary": [json.dumps([part.counts, part.texts])]})
            tables = {"rows": part.rows.with_columns(order), "summary": summary}
            if part.mapping is not None:
                tables["mapping"] = part.mapping
            for what, rows in tables.items():
                cell = {"share": [numbers[0]], "what": [what], "shares": [len(numbers)],
                        "block": [to_cell(rows)]}  # fmt: skip
                yield from to_arrow(pl.DataFrame(cell))

    return run


def _merge_partitions(
    partitions: Iterable[tuple[int, pl.DataFrame]], at_once: int
) -> Iterator[tuple[list[int], pl.DataFrame]]:
    """Merge partitions up to `at_once` rows, with one encoding for all of them."""
    numbers: list[int] = []
    tables: list[pl.DataFrame] = []
    for number, table in partitions:
        if tables and sum(t.height for t in tables) + table.height > at_once:
            yield numbers, _concat_encoded(tables)
            numbers, tables = [], []
        numbers.append(number)
        tables.append(table)
    if tables:
        yield numbers, _concat_encoded(tables)


def _concat_encoded(tables: list[pl.DataFrame]) -> pl.DataFrame:
    if len(tables) == 1:
        return tables[0]
    schema = tables[0].schema
    plain = {name: pl.String() for name, dtype in schema.items() if is_text_type(dtype)}
    return pl.concat(table.cast(plain) for table in tables).cast(dict(schema))  # type: ignore[arg-type]


def collect_outputs(parts: Any) -> ProtectedTable:
    """Collect the staged outputs of all partitions."""
    counts: Counter[str] = Counter()
    texts: dict[str, list[str]] = {}
    for cell in parts.filter("what = 'summary'").select("block").toLocalIterator():
        numbers, texts = json.loads(from_cell(bytes(cell[0]))["summary"][0])
        counts.update(numbers)
    folder = Path(tempfile.mkdtemp(prefix="queryveil-release-"))
    # Lazy tables that scan these files may outlive this object: keep them until the exit.
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    try:
        rows = _write_and_scan(_iter_shuffled(parts), folder / "rows")
        mapping = _write_and_scan(_iter_cells(parts.filter("what = 'mapping'")), folder / "mapping")
        if rows is None:
            raise VerificationError(
                "no partition returned any row", hint="this is a defect: please report it"
            )
        _check_pseudonyms(mapping)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return ProtectedTable(rows, mapping, dict(counts), texts)


def _iter_cells(parts: Any) -> Iterator[pl.DataFrame]:
    for cell in parts.select("block").toLocalIterator(prefetchPartitions=True):
        yield from_cell(bytes(cell[0]))


def _iter_shuffled(parts: Any) -> Iterator[pl.DataFrame]:
    """Yield all rows in random order.

    The high bits of the random number of a row select its piece; all bits order it in the piece.
    """
    cells = parts.filter("what = 'rows'").select("share", "block")
    sample = cells.first()
    schema = plain_schema(from_cell(bytes(sample["block"])))
    rows = cells.mapInArrow(_emit_all_rows, spark_schema(schema))
    pieces = max(1, round(rows.count() / _PIECE_ROWS))
    piece = f.pmod(f.shiftright("order", 20), f.lit(pieces))
    mixed = rows.repartition(pieces, piece).mapInArrow(_sort_rows, "block binary")
    for piece_rows in _iter_cells(mixed):
        yield restore_types(piece_rows, schema).drop("order")


def _emit_all_rows(batches: Iterable[Any]) -> Iterator[Any]:
    for _, table in iter_partitions(batches):
        yield from to_arrow(table)


def _sort_rows(batches: Iterable[Any]) -> Iterator[Any]:
    parts = [pl.DataFrame(pl.from_arrow(batch)) for batch in batches]
    if parts:
        yield from to_arrow(pl.DataFrame({"block": [to_cell(pl.concat(parts).sort("order"))]}))


def _write_and_scan(pieces: Iterator[pl.DataFrame], folder: Path) -> pl.LazyFrame | None:
    """Write pieces to the local disk, and return them as one lazy table."""
    folder.mkdir()
    for number, piece in enumerate(pieces):
        piece.write_parquet(folder / f"{number:06}.parquet", compression="lz4")
    return pl.scan_parquet(folder / "*.parquet") if any(folder.iterdir()) else None


def _check_pseudonyms(mapping: pl.LazyFrame | None) -> None:
    """Raise an error if two partitions drew one pseudonym: it would merge two users."""
    if mapping is None:
        return
    pseudonym = pl.col("pseudonym")
    is_unique = pseudonym.n_unique() == pseudonym.len()
    if not mapping.select(is_unique).collect(engine="streaming").item():
        raise VerificationError("two users were given one pseudonym", hint="run it again")
