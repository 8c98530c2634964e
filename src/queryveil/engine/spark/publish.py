"""From protected shares to a release: all rows mixed, in random order, brought here in pieces."""

from __future__ import annotations

import atexit
import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from pyspark.sql import functions as f

from ...errors import VerificationError
from ..table import ProtectedTable, ProtectFunction
from .transport import (
    from_cell,
    is_text_type,
    iter_partitions,
    partition_random_source,
    restore_types,
    spark_schema,
    to_arrow,
    to_cell,
)

__all__ = ["OUTPUT_SCHEMA", "collect_outputs", "protect_task"]

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
