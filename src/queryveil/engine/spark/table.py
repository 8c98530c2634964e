"""`SparkTable`: a table in partitions of whole users, and its operations.

A partition is one cell of a Parquet table that is written once and read by every operation. So an
operation moves no rows between machines: a function is applied to each partition, and only its
results are summed by key, first within each partition, then over all. A user or query with a tenth
of all rows therefore causes no skew.

Random values are written before anything reads them. Spark may run a task twice, but it keeps
exactly one of the two outputs, as a whole, and never reads the other.
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
    partition_task,
    plain_schema,
    protect_task,
    restore_types,
    spark_schema,
    to_arrow,
)

_FEW = 5  # keys of fewer users are joined by shuffling; the other keys are broadcast


def identity_encoder(table: pl.DataFrame) -> pl.DataFrame:
    """Return the table unchanged."""
    return table


class SparkTable(RemoteTable):
    """A staged table; `empty` is a partition without rows, which has its columns."""

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
        **packing: Any,
    ) -> SparkTable:
        """Stage rows of Spark as partitions; `packing` are fields of `PartitionPacker`."""
        packer = PartitionPacker(dict(empty.schema), encode, **packing)
        path = spark.new_path("table")
        with readable_errors():
            write_once(rows.mapInArrow(packer, PARTITION_SCHEMA), path)
        return cls(spark, path, encode(empty), encode)

    @cached_property
    def row_counts(self) -> tuple[int, int]:
        """The number of partitions, and the number of distinct ones."""
        with readable_errors():
            counts = self.shares.agg(f.count("*"), f.countDistinct("share")).first()
            return int(counts[0]), int(counts[1])

    def count_rows(self) -> int:
        """Count the rows by the stored sizes of the partitions."""
        with readable_errors():
            return _total(self.shares, "rows")

    def map_partitions(self, work: PartitionFunction, rng: RandomSource) -> SparkTable:
        """Apply a function to each partition, and stage the results."""
        task = partition_task(work, rng.seed, emit_partition)
        path = self.spark.new_path("table")
        with readable_errors():
            write_once(self.shares.mapInArrow(task, PARTITION_SCHEMA), path)
        empty = work(self.empty.lazy(), RandomSource(0))
        encode = self.encode if empty.schema == self.empty.schema else identity_encoder
        derived = SparkTable(self.spark, path, empty, encode)
        self._check_complete(*derived.row_counts)
        return derived

    def aggregate_remote(
        self,
        work: PartitionFunction,
        keys: Sequence[str],
        rng: RandomSource | None,
        tops: Sequence[str],
    ) -> SparkTable:
        """Sum by key, and stage the sums; their partitions have arbitrary keys."""
        sums, schema = self._sum_by_key(work, keys, rng, tops)
        empty = pl.DataFrame(schema=schema)
        return SparkTable.from_rows(self.spark, sums, empty)

    def aggregate(
        self,
        work: PartitionFunction,
        keys: Sequence[str],
        rng: RandomSource | None,
        tops: Sequence[str],
        at_least: tuple[str, int] | None,
    ) -> pl.DataFrame:
        """Sum by key, and collect the sums that reach the minimum."""
        sums, schema = self._sum_by_key(work, keys, rng, tops)
        if at_least is not None:
            sums = sums.filter(f.col(at_least[0]) >= at_least[1])
        with readable_errors():
            rows = restore_types(_collect(sums), schema)
        if rows.height:
            return rows
        # As in the local engine, where a function may return a row for an empty table.
        rows = work(self.empty.lazy(), RandomSource(0)).cast(schema)  # type: ignore[arg-type]
        return rows if at_least is None else rows.filter(pl.col(at_least[0]) >= at_least[1])

    def count_distinct(self, column: str) -> int:
        """Count the distinct values of a column."""
        values = partial(_distinct_values, column=column)
        schema = plain_schema(values(self.empty.lazy(), RandomSource(0)))
        with readable_errors():
            return int(self._rows(values, None, schema).distinct().count())

    def _sum_by_key(
        self,
        work: PartitionFunction,
        keys: Sequence[str],
        rng: RandomSource | None,
        tops: Sequence[str],
    ) -> tuple[Any, dict[str, pl.DataType]]:
        """Return the sums as a table of Spark, and their schema."""
        schema = plain_schema(work(self.empty.lazy(), RandomSource(0)))
        rows = self._rows(work, rng, schema)
        numbers = [name for name in schema if name not in keys]
        sums = [(f.max if name in tops else f.sum)(name).alias(name) for name in numbers]
        grouped = rows.groupBy(*keys).agg(*sums) if sums else rows.select(*keys).distinct()
        return grouped.select(*schema), schema

    def _rows(
        self, work: PartitionFunction, rng: RandomSource | None, schema: dict[str, pl.DataType]
    ) -> Any:
        """Return the rows of all partitions; random ones are staged first, and so drawn once."""
        if rng is not None:
            return self.map_partitions(work, rng)._rows(_collect_frame, None, schema)
        task = partition_task(work, None, _emit_rows)
        return self.shares.mapInArrow(task, spark_schema(schema))

    def protect_partitions(
        self, work: ProtectFunction, rng: RandomSource, at_once: int
    ) -> ProtectedTable:
        """Protect the partitions, stage the results, and collect them in random order."""
        path = self.spark.new_path("parts")
        with readable_errors():
            task = protect_task(work, rng.seed, at_once)
            write_once(self.shares.mapInArrow(task, OUTPUT_SCHEMA), path)
            parts = self.spark.session.read.schema(OUTPUT_SCHEMA).parquet(path)
            summaries = parts.filter("what = 'summary'")
            distinct = summaries.dropDuplicates(["share"])
            self._check_complete(_total(summaries, "shares"), _total(distinct, "shares"))
            return collect_outputs(parts)

    def repartition(self, blocks: RemoteTable) -> SparkTable:
        """Repartition by the block of each user."""
        blocks = _check_spark_table(blocks)
        numbers = aggregate(blocks, _distinct_blocks, ["block"])["block"]
        schema = plain_schema(self.empty)
        positions = {"block": pl.Int64(), "share": pl.Int64(), "place": pl.Int64()}
        other = blocks.shares.select("share", f.col("block").alias("blocks"))
        both = self.shares.select("share", "block").join(other, "share")
        rows = both.mapInArrow(assign_blocks, spark_schema(schema | positions))
        # Adjacent blocks may go to one task; packing puts each block into its own partition.
        split = rows.repartitionByRange(max(1, len(numbers)), "block")
        empty = pl.DataFrame(schema=schema)
        order = ("share", "place")
        return SparkTable.from_rows(
            self.spark, split, empty, self.encode, each="block", order=order
        )

    def count_users_by_flags(
        self, key: str, key_sizes: RemoteTable, flag_keys: PartitionFunction
    ) -> pl.DataFrame:
        """Count users by the union of the flags of their keys."""
        keys = _check_spark_table(key_sizes)
        flag = partial(_flag_keys_with_users, key=key, flag_keys=flag_keys)
        flagged = keys._rows(flag, None, plain_schema(flag(keys.empty.lazy(), RandomSource(0))))
        flagged = flagged.filter("marks > 0")
        list_pairs = partial(_distinct_pairs, key=key)
        schema = plain_schema(list_pairs(self.empty.lazy(), RandomSource(0)))
        pairs = self._rows(list_pairs, None, schema)
        # Frequent keys are few, so they are broadcast: a shuffle by key would be skewed by them.
        rare = pairs.join(flagged.filter(f.col("users") < _FEW), key)
        frequent = pairs.join(f.broadcast(flagged.filter(f.col("users") >= _FEW)), key)
        both = rare.select("user", "marks").unionAll(frequent.select("user", "marks"))
        users = both.groupBy("user").agg(f.bit_or("marks").alias("marks"))
        with readable_errors():
            return _collect(users.groupBy("marks").agg(f.count("*").alias("count")))

    def _check_complete(self, written: int, distinct: int) -> None:
        """Raise an error if a partition is missing or was written twice."""
        _, expected = self.row_counts
        if not written == distinct == expected:
            raise InputError(
                f"{written:,} of {expected:,} partitions were written, "
                f"{distinct:,} of them distinct",
                where=self.spark.scratch,
                hint="`spark_scratch` must be a folder that all machines of the cluster share",
            )


def write_once(rows: Any, path: str) -> None:
    """Write a table of Spark; raise an error if the path exists."""
    # Version 1 of the committer keeps exactly one output, as a whole, of a task that ran twice.
    commit = "mapreduce.fileoutputcommitter.algorithm.version"
    packed = rows.write.option("compression", "uncompressed").option(commit, "1")
    packed.option("parquet.block.size", 64 << 20).parquet(path)


def _collect(rows: Any) -> pl.DataFrame:
    """Collect a small table of Spark."""
    if hasattr(rows, "toArrow"):
        return pl.DataFrame(pl.from_arrow(rows.toArrow()))
    return pl.DataFrame(pl.from_pandas(rows.toPandas()))


def _collect_frame(frame: pl.LazyFrame, _: RandomSource) -> pl.DataFrame:
    return frame.collect()


def _emit_rows(_: int, table: pl.DataFrame) -> Any:
    return to_arrow(table)


def _check_spark_table(table: RemoteTable) -> SparkTable:
    if not isinstance(table, SparkTable):
        raise UsageError("this table is not on Spark", hint="this is a defect: please report it")
    return table


def _distinct_blocks(frame: pl.LazyFrame, _: RandomSource) -> pl.DataFrame:
    return frame.select("block").unique().collect()


def _total(rows: Any, column: str) -> int:
    return int(rows.agg(f.sum(column)).first()[0] or 0)


def _flag_keys_with_users(
    frame: pl.LazyFrame, rng: RandomSource, *, key: str, flag_keys: PartitionFunction
) -> pl.DataFrame:
    keys = frame.collect()
    return flag_keys(keys.lazy(), rng).join(keys.select(key, "users"), on=key)


def _distinct_values(frame: pl.LazyFrame, _: RandomSource, *, column: str) -> pl.DataFrame:
    return frame.select(column).drop_nulls().unique().collect()


def _distinct_pairs(frame: pl.LazyFrame, _: RandomSource, *, key: str) -> pl.DataFrame:
    return frame.select("user", key).unique().collect()
