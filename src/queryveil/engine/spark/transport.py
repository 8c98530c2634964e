"""Tables as Spark carries them: a share as one cell, or its rows. Runs on the executors too."""

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

# A table in shares: the number of each, its rows, and all of it as one cell.
PARTITION_SCHEMA = "share long, rows long, block binary"
_SHARE_ROWS = 250_000
_MANY = 100_000  # shares that one task can number
_NAME_BYTES = 10  # names of different shares must not meet: 80 bits


def to_cell(table: pl.DataFrame) -> bytes:
    """Put a table into one cell."""
    cell = io.BytesIO()
    table.write_ipc(cell, compression="zstd")
    return cell.getvalue()


def from_cell(cell: bytes) -> pl.DataFrame:
    """Take a table out of its cell."""
    return pl.read_ipc(io.BytesIO(cell))


def spark_schema(kinds: Mapping[str, pl.DataType]) -> str:
    """Say in Spark's words what columns a table has; dates and times travel as numbers."""
    return ", ".join(f"`{name}` {_spark_kind(kind)}" for name, kind in kinds.items())


def is_text_type(kind: pl.DataType) -> bool:
    """Tell what travels as texts."""
    return isinstance(kind, (pl.String, pl.Categorical, pl.Null))


def _spark_kind(kind: pl.DataType) -> str:
    if is_text_type(kind):
        return "string"
    if kind == pl.Boolean:
        return "boolean"
    if kind == pl.Binary:
        return "binary"
    return "double" if kind.is_float() else "long"


def restore_types(table: pl.DataFrame, kinds: Mapping[str, pl.DataType]) -> pl.DataFrame:
    """Give what came from Spark its kinds again; texts stay texts."""
    return table.select(
        pl.col(name) if is_text_type(kind) else _back(name, kind) for name, kind in kinds.items()
    )


def _back(name: str, kind: pl.DataType) -> pl.Expr:
    through = pl.Int32 if kind == pl.Date else pl.Int64
    return pl.col(name).cast(through).cast(kind) if kind.is_temporal() else pl.col(name).cast(kind)


def to_arrow(table: pl.DataFrame) -> Iterator[Any]:
    """Give a table as Spark takes it."""
    import pyarrow as pa  # noqa: PLC0415  (only where Spark is)

    kinds = {"string": pa.string(), "boolean": pa.bool_(), "binary": pa.binary(),
             "double": pa.float64(), "long": pa.int64()}  # fmt: skip
    plain = table.select(_plain(name, kind) for name, kind in table.schema.items())
    fields = [pa.field(name, kinds[_spark_kind(kind)]) for name, kind in table.schema.items()]
    given = plain.to_arrow(compat_level=pl.CompatLevel.oldest()).cast(pa.schema(fields))
    yield from given.to_batches(max_chunksize=50_000)


def _plain(name: str, kind: pl.DataType) -> pl.Expr:
    column = pl.col(name)
    if _spark_kind(kind) == "string":
        return column.cast(pl.String)
    return column.to_physical().cast(pl.Int64) if _spark_kind(kind) == "long" else column


def iter_partitions(batches: Iterable[Any]) -> Iterator[tuple[int, pl.DataFrame]]:
    """Take the shares that a task was given, one after the other."""
    for batch in batches:
        for number, cell in zip(batch.column("share"), batch.column("block"), strict=True):
            yield number.as_py(), from_cell(cell.as_py())


def emit_partition(number: int, table: pl.DataFrame) -> Iterator[Any]:
    """Give a table back as one share."""
    cell = {"share": [number], "rows": [table.height], "block": [to_cell(table)]}
    yield from to_arrow(pl.DataFrame(cell))


def partition_random_source(seed: int | None, share: int) -> RandomSource:
    """Give a share chance of its own; the same again only if there is a seed."""
    own = None if seed is None else (seed + 1) * 1_000_003 + share
    return RandomSource(own, name_bytes=_NAME_BYTES)


def partition_task(
    work: PartitionFunction, seed: int | None, give: Callable[[int, pl.DataFrame], Iterator[Any]]
) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """Make what a task does: run each of its shares through a function."""

    def run(batches: Iterable[Any]) -> Iterator[Any]:
        for number, table in iter_partitions(batches):
            yield from give(number, work(table.lazy(), partition_random_source(seed, number)))

    return run


@dataclass(frozen=True)
class PartitionPacker:
    """How the rows of a task become shares.

    `kinds` are the columns of a share, and `encode` puts its texts into numbers. Rows with the
    same value in the column `whole` stay together; those of each value of the column `each` are
    a share of their own. `order` are columns by which rows are put in order. What is not in
    `kinds` is left out.
    """

    kinds: Mapping[str, pl.DataType]
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
        first = _task() * _MANY
        for place, part in enumerate(self._cut(rows)):
            yield from emit_partition(first + place, self.encode(restore_types(part, self.kinds)))

    def _cut(self, rows: pl.DataFrame) -> list[pl.DataFrame]:
        if self.each is not None:
            return rows.partition_by(self.each, maintain_order=True)
        if rows.height <= _SHARE_ROWS:
            return [rows]
        if self.whole is None:
            return list(rows.iter_slices(_SHARE_ROWS))
        sizes = rows.group_by(self.whole).len().sort(self.whole)
        number = (sizes["len"].cum_sum() - sizes["len"]) // _SHARE_ROWS
        places = sizes.select(self.whole, number)
        numbered = rows.join(places.rename({"len": "number"}), on=self.whole, maintain_order="left")
        return numbered.partition_by("number", maintain_order=True, include_key=False)


def assign_blocks(batches: Iterable[Any]) -> Iterator[Any]:
    """Give the rows of shares with the block of each user, and where they stood."""
    for batch in batches:
        for share, rows, blocks in zip(*(c.to_pylist() for c in batch.columns), strict=True):
            known = from_cell(blocks).with_columns(pl.col("user").cast(pl.String))
            table = from_cell(rows).with_columns(pl.col("user").cast(pl.String))
            place = pl.int_range(pl.len(), dtype=pl.Int64)
            placed = table.with_columns(share=pl.lit(share, pl.Int64), place=place)
            joined = placed.join(known, on="user", maintain_order="left")
            columns = [*table.columns, "block", "share", "place"]
            yield from to_arrow(joined.select(columns))


def _task() -> int:
    from pyspark import TaskContext  # noqa: PLC0415

    context = TaskContext.get()
    return 0 if context is None else int(context.partitionId())


OUTPUT_SCHEMA = "share long, what string, shares long, block binary"

_ROWS = 1_000_000  # of a piece, on average


def protect_task(
    work: ProtectFunction, seed: int | None, at_once: int
) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """Make what a task does: protect its shares, and tell rows, mapping and counts apart.

    The order in which rows will be published is drawn here too, so that it is written once.
    """

    def run(batches: Iterable[Any]) -> Iterator[Any]:
        for numbers, table in _together(iter_partitions(batches), at_once):
            chance = partition_random_source(seed, numbers[0])
            part = work(table.lazy(), chance)
            order = pl.Series("order", chance.uint64s(part.rows.height).view(np.int64))
            told = pl.DataFrame({"told": [json.dumps([part.counts, part.shared])]})
            tables = {"rows": part.rows.with_columns(order), "told": told}
            if part.mapping is not None:
                tables["mapping"] = part.mapping
            for what, rows in tables.items():
                cell = {"share": [numbers[0]], "what": [what], "shares": [len(numbers)],
                        "block": [to_cell(rows)]}  # fmt: skip
                yield from to_arrow(pl.DataFrame(cell))

    return run


def _together(
    shares: Iterable[tuple[int, pl.DataFrame]], at_once: int
) -> Iterator[tuple[list[int], pl.DataFrame]]:
    """Take shares together, up to so many rows; what each encodes in its own way is put as one."""
    numbers: list[int] = []
    tables: list[pl.DataFrame] = []
    for number, table in shares:
        if tables and sum(t.height for t in tables) + table.height > at_once:
            yield numbers, _one(tables)
            numbers, tables = [], []
        numbers.append(number)
        tables.append(table)
    if tables:
        yield numbers, _one(tables)


def _one(tables: list[pl.DataFrame]) -> pl.DataFrame:
    kinds = tables[0].schema
    plain = {name: pl.String() for name, kind in kinds.items() if is_text_type(kind)}
    if len(tables) == 1:
        return tables[0]
    return pl.concat(table.cast(plain) for table in tables).cast(dict(kinds))  # type: ignore[arg-type]


def collect_outputs(parts: Any) -> ProtectedTable:
    """Bring here what was staged."""
    counts: Counter[str] = Counter()
    told: dict[str, Any] = {}
    for cell in parts.filter("what = 'told'").select("block").toLocalIterator():
        numbers, told = json.loads(from_cell(bytes(cell[0]))["told"][0])
        counts.update(numbers)
    folder = Path(tempfile.mkdtemp(prefix="queryveil-release-"))
    # Tables made of these may live longer than they do: the folder stays to the end.
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    try:
        rows = _scanned(_mixed(parts), folder / "rows")
        mapping = _scanned(_cells(parts.filter("what = 'mapping'")), folder / "mapping")
        if rows is None:
            raise VerificationError("no share gave any row", hint="this is a defect, report it")
        _check_names(mapping)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return ProtectedTable(rows, mapping, dict(counts), told)


def _cells(parts: Any) -> Iterator[pl.DataFrame]:
    for cell in parts.select("block").toLocalIterator(prefetchPartitions=True):
        yield from_cell(bytes(cell[0]))


def _mixed(parts: Any) -> Iterator[pl.DataFrame]:
    """Give all rows in random order.

    A row goes to a piece by the first bits of its random number, and stands in it by all of them.
    """
    cells = parts.filter("what = 'rows'").select("share", "block")
    sample = cells.first()
    kinds = dict(from_cell(bytes(sample["block"])).schema)
    texts = {name: pl.String() if is_text_type(kind) else kind for name, kind in kinds.items()}
    rows = cells.mapInArrow(_spread, spark_schema(texts))
    pieces = max(1, round(rows.count() / _ROWS))
    piece = f.pmod(f.shiftright("order", 20), f.lit(pieces))
    mixed = rows.repartition(pieces, piece).mapInArrow(_in_order, "block binary")
    for rows_here in _cells(mixed):
        yield restore_types(rows_here, texts).drop("order")


def _spread(batches: Iterable[Any]) -> Iterator[Any]:
    for _, table in iter_partitions(batches):
        yield from to_arrow(table)


def _in_order(batches: Iterable[Any]) -> Iterator[Any]:
    parts = [pl.DataFrame(pl.from_arrow(batch)) for batch in batches]
    if parts:
        yield from to_arrow(pl.DataFrame({"block": [to_cell(pl.concat(parts).sort("order"))]}))


def _scanned(pieces: Iterator[pl.DataFrame], folder: Path) -> pl.LazyFrame | None:
    """Write pieces to this machine's disk, and give them as one lazy table."""
    folder.mkdir()
    for number, piece in enumerate(pieces):
        piece.write_parquet(folder / f"{number:06}.parquet", compression="lz4")
    return pl.scan_parquet(folder / "*.parquet") if any(folder.iterdir()) else None


def _check_names(mapping: pl.LazyFrame | None) -> None:
    """Refuse names that two shares drew alike: two people would be one."""
    if mapping is None:
        return
    name = pl.col("pseudonym")
    once = mapping.select(name.n_unique() == name.len()).collect(engine="streaming").item()
    if not once:
        raise VerificationError("two users were given one pseudonym", hint="run it again")
