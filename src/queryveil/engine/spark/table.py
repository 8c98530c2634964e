"""`SparkTable`: a table in shares of whole users, and the steps it can take.

A share is one cell of a Parquet table that is written once and read again by every step. So a step
moves no rows between machines: each share is run through a function of ours, and only what comes
out is added up by key, first in each share, then over all. A user or query that has a tenth of
all lines weighs no more than others in that.

Whatever was drawn by chance is written before anything reads it. Spark may run a task twice, but
of its two results one is kept, whole, and the other is never read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any

import polars as pl
from pyspark.sql import functions as f

from ...core.randomness import RandomSource
from ...errors import InputError, UsageError
from ..operations import aggregate
from ..table import PartitionFunction, ProtectedTable, ProtectFunction, RemoteTable
from .session import SparkCluster, readable_errors
from .transport import (
    OUTPUT_SCHEMA,
    PARTITION_SCHEMA,
    PartitionPacker,
    assign_blocks,
    collect_outputs,
    emit_partition,
    is_text_type,
    partition_task,
    protect_task,
    restore_types,
    spark_schema,
    to_arrow,
)


_FEW = 5  # keys of fewer users than this are joined by key; the others are told to everybody


def identity_encoder(table: pl.DataFrame) -> pl.DataFrame:
    """Leave texts as they are."""
    return table


class SparkTable(RemoteTable):
    """A staged table; `empty` is one of its shares without rows, which tells its columns."""

    def __init__(
        self,
        spark: SparkCluster,
        place: str,
        empty: pl.DataFrame,
        encode: Callable[[pl.DataFrame], pl.DataFrame] = identity_encoder,
    ) -> None:
        self.spark, self.place, self.empty, self.encode = spark, place, empty, encode
        self.engine = spark.describe
        with readable_errors():
            self.shares = spark.session.read.schema(PARTITION_SCHEMA).parquet(place)

    @classmethod
    def from_rows(
        cls,
        spark: SparkCluster,
        rows: Any,
        empty: pl.DataFrame,
        encode: Callable[[pl.DataFrame], pl.DataFrame] = identity_encoder,
        **how: Any,
    ) -> SparkTable:
        """Stage rows of Spark as shares; `how` they are packed is told by `Packing`."""
        fill = PartitionPacker(dict(empty.schema), encode, **how)
        place = spark.new_path("table")
        with readable_errors():
            write_once(rows.mapInArrow(fill, PARTITION_SCHEMA), place)
        return cls(spark, place, encode(empty), encode)

    @cached_property
    def row_counts(self) -> tuple[int, int]:
        """How many shares there are, and how many different ones."""
        with readable_errors():
            told = self.shares.agg(f.count("*"), f.countDistinct("share")).first()
            return int(told[0]), int(told[1])

    def count_rows(self) -> int:
        """Count the rows by what the shares tell."""
        with readable_errors():
            return _total(self.shares, "rows")

    def map_partitions(self, work: PartitionFunction, chance: RandomSource) -> SparkTable:
        """Run each share through a function, and stage what it gives."""
        task = partition_task(work, chance.seed, emit_partition)
        place = self.spark.new_path("table")
        with readable_errors():
            write_once(self.shares.mapInArrow(task, PARTITION_SCHEMA), place)
        empty = work(self.empty.lazy(), RandomSource(0))
        encode = self.encode if empty.schema == self.empty.schema else identity_encoder
        derived = SparkTable(self.spark, place, empty, encode)
        self._check(*derived.row_counts)
        return derived

    def aggregate_remote(
        self,
        work: PartitionFunction,
        keys: Sequence[str],
        chance: RandomSource | None,
        tops: Sequence[str],
    ) -> SparkTable:
        """Add up by keys, and stage the sums; their shares have any keys."""
        grouped, kinds = self._grouped(work, keys, chance, tops)
        empty = pl.DataFrame(schema=kinds)
        return SparkTable.from_rows(self.spark, grouped, empty)

    def aggregate(
        self,
        work: PartitionFunction,
        keys: Sequence[str],
        chance: RandomSource | None,
        tops: Sequence[str],
        at_least: tuple[str, int] | None,
    ) -> pl.DataFrame:
        """Add up by keys, and bring here what has enough."""
        grouped, kinds = self._grouped(work, keys, chance, tops)
        if at_least is not None:
            grouped = grouped.filter(f.col(at_least[0]) >= at_least[1])
        with readable_errors():
            found = restore_types(_here(grouped), kinds)
        if found.height:
            return found
        nothing = work(self.empty.lazy(), RandomSource(0)).cast(kinds)  # type: ignore[arg-type]
        return nothing if at_least is None else nothing.filter(pl.col(at_least[0]) >= at_least[1])

    def count_distinct(self, column: str) -> int:
        """Count the different values of a column."""
        values = partial(_values, column=column)
        kinds = _kinds(values(self.empty.lazy(), RandomSource(0)))
        with readable_errors():
            return int(self._rows(values, None, kinds).distinct().count())

    def _grouped(
        self,
        work: PartitionFunction,
        keys: Sequence[str],
        chance: RandomSource | None,
        tops: Sequence[str],
    ) -> tuple[Any, dict[str, pl.DataType]]:
        kinds = _kinds(work(self.empty.lazy(), RandomSource(0)))
        rows = self._rows(work, chance, kinds)
        numbers = [name for name in kinds if name not in keys]
        sums = [(f.max if name in tops else f.sum)(name).alias(name) for name in numbers]
        grouped = rows.groupBy(*keys).agg(*sums) if sums else rows.select(*keys).distinct()
        return grouped.select(*kinds), kinds

    def _rows(
        self, work: PartitionFunction, chance: RandomSource | None, kinds: dict[str, pl.DataType]
    ) -> Any:
        """Give the rows of all shares; where chance decides them they are written down first."""
        if chance is not None:
            return self.map_partitions(work, chance)._rows(_as_it_is, None, kinds)
        task = partition_task(work, None, _rows_of_share)
        return self.shares.mapInArrow(task, spark_schema(kinds))

    def protect_partitions(
        self, work: ProtectFunction, chance: RandomSource, at_once: int
    ) -> ProtectedTable:
        """Make rows for publication, stage them, and bring them here in random order."""
        place = self.spark.new_path("parts")
        with readable_errors():
            task = protect_task(work, chance.seed, at_once)
            write_once(self.shares.mapInArrow(task, OUTPUT_SCHEMA), place)
            parts = self.spark.session.read.schema(OUTPUT_SCHEMA).parquet(place)
            told = parts.filter("what = 'told'")
            self._check(_total(told, "shares"), _total(told.dropDuplicates(["share"]), "shares"))
            return collect_outputs(parts)

    def repartition(self, blocks: RemoteTable) -> SparkTable:
        """Cut into shares by the block of each user."""
        blocks = _here_too(blocks)
        numbers = aggregate(blocks, _blocks, ["block"])["block"]
        kinds = _kinds(self.empty)
        where = {"block": pl.Int64(), "share": pl.Int64(), "place": pl.Int64()}
        other = blocks.shares.select("share", f.col("block").alias("blocks"))
        both = self.shares.select("share", "block").join(other, "share")
        rows = both.mapInArrow(assign_blocks, spark_schema(kinds | where))
        # Neighbours may share a task; packing gives each block a share of its own.
        split = rows.repartitionByRange(max(1, len(numbers)), "block")
        empty = pl.DataFrame(schema=kinds)
        placed = ("share", "place")
        return SparkTable.from_rows(
            self.spark, split, empty, self.encode, each="block", order=placed
        )

    def count_users_by_flags(
        self, key: str, sizes: RemoteTable, marks: PartitionFunction
    ) -> pl.DataFrame:
        """Count users by the marks of their keys."""
        of_keys = _here_too(sizes)
        with_users = partial(_with_users, key=key, marks=marks)
        found = of_keys._rows(
            with_users, None, _kinds(with_users(of_keys.empty.lazy(), RandomSource(0)))
        )
        found = found.filter("marks > 0")
        pairs_of = partial(_pairs, key=key)
        pairs = self._rows(pairs_of, None, _kinds(pairs_of(self.empty.lazy(), RandomSource(0))))
        rare = pairs.join(found.filter(f.col("users") < _FEW), key)
        known = pairs.join(f.broadcast(found.filter(f.col("users") >= _FEW)), key)
        both = rare.select("user", "marks").unionAll(known.select("user", "marks"))
        mine = both.groupBy("user").agg(f.bit_or("marks").alias("marks"))
        with readable_errors():
            return _here(mine.groupBy("marks").agg(f.count("*").alias("count")))

    def _check(self, shares: int, different: int) -> None:
        """Refuse to go on if a share is missing, or there twice."""
        _, expected = self.row_counts
        if not shares == different == expected:
            raise InputError(
                f"of {expected:,} shares {shares:,} were written, {different:,} different ones",
                where=self.spark.scratch,
                hint="--scratch must be a folder that all machines of the cluster share",
            )


def write_once(rows: Any, place: str) -> None:
    """Write once; a place that exists is an error."""
    # Of a task that runs twice one output must be kept, whole: the first version does that.
    commit = "mapreduce.fileoutputcommitter.algorithm.version"
    packed = rows.write.option("compression", "uncompressed").option(commit, "1")
    packed.option("parquet.block.size", 64 << 20).parquet(place)


def _here(rows: Any) -> pl.DataFrame:
    """Bring a small table here."""
    if hasattr(rows, "toArrow"):
        return pl.DataFrame(pl.from_arrow(rows.toArrow()))
    return pl.DataFrame(pl.from_pandas(rows.toPandas()))


def _kinds(table: pl.DataFrame) -> dict[str, pl.DataType]:
    return {
        name: pl.String() if is_text_type(kind) else kind for name, kind in table.schema.items()
    }


def _as_it_is(frame: pl.LazyFrame, _: RandomSource) -> pl.DataFrame:
    return frame.collect()


def _rows_of_share(_: int, table: pl.DataFrame) -> Any:
    return to_arrow(table)


def _here_too(table: RemoteTable) -> SparkTable:
    if not isinstance(table, SparkTable):
        raise UsageError("this table lies elsewhere: this is a defect, report it")
    return table


def _blocks(frame: pl.LazyFrame, _: RandomSource) -> pl.DataFrame:
    return frame.select("block").unique().collect()


def _total(rows: Any, column: str) -> int:
    return int(rows.agg(f.sum(column)).first()[0] or 0)


def _with_users(
    frame: pl.LazyFrame, chance: RandomSource, *, key: str, marks: PartitionFunction
) -> pl.DataFrame:
    keys = frame.collect()
    return marks(keys.lazy(), chance).join(keys.select(key, "users"), on=key)


def _values(frame: pl.LazyFrame, _: RandomSource, *, column: str) -> pl.DataFrame:
    return frame.select(column).drop_nulls().unique().collect()


def _pairs(frame: pl.LazyFrame, _: RandomSource, *, key: str) -> pl.DataFrame:
    return frame.select("user", key).unique().collect()
