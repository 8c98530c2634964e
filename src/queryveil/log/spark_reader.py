"""`read_with_spark`: read a log with Spark, clean it by the same rules, and partition it by user.

The cleaned rows are written once. The number of rows, the users with very many of them, and the
partitions are computed from the written rows.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

import polars as pl
from pyspark.sql import Window
from pyspark.sql import functions as f

from .._version import __version__
from ..engine.spark.session import SparkCluster, readable_errors
from ..engine.spark.table import SparkTable, write_once
from ..engine.spark.transport import spark_schema, to_arrow
from ..errors import InputError, UsageError
from .accounting import REJECT_SCHEMA, RowAccounting, SourceFile
from .cleaning import Cleaner
from .options import ReadOptions
from .query_log import SCHEMA, QueryLog, categorical_encoder
from .readers.base import RawRows
from .readers.columns import describe_mapping
from .spark_sources import SparkSource, open_spark_source

MAX_ROWS_PER_PARTITION = (
    1_000_000  # of a user: more is not a human user, and would exhaust a machine
)
_TASK_ROWS = 1_000_000  # on average
_BATCH = 200_000
_SPARE_BITS = 40  # dropped from hashes before summing, so that a trillion of them fit
_MAX_EXAMPLES = 100  # rejected rows that a task reports
_POSITION_SCHEMA = {"file": pl.Int64(), "place": pl.Int64()}
_STAGED_SCHEMA = {**SCHEMA, **_POSITION_SCHEMA, "summary": pl.String()}


def read_with_spark(
    spark: SparkCluster, inputs: Any, options: ReadOptions, cleaner: Cleaner
) -> tuple[QueryLog, Cleaner]:
    """Read files by their names, or a DataFrame of the session.

    Returns:
        The log, and the cleaner with the accounting of all rows.
    """
    if options.sample_users is not None:
        raise UsageError("users cannot be sampled on Spark", hint="leave `sample_users` out")
    with readable_errors():
        source = open_spark_source(spark.session, inputs, options)
        cleaner = replace(cleaner, extra_columns=tuple(_POSITION_SCHEMA))
        path = spark.new_path("cleaned")
        task = _CleaningTask(cleaner, source)
        write_once(source.rows.mapInArrow(task.run, spark_schema(_STAGED_SCHEMA)), path)
        staged = spark.session.read.schema(spark_schema(_STAGED_SCHEMA)).parquet(path)
        accounting = _sum_accounting(staged, cleaner)
        rows = staged.filter("summary is null").drop("summary")
        written_rows, digest = _count_and_hash(rows)
        _check_row_count(written_rows, accounting, spark)
        rows, truncated = _truncate_long_logs(rows)
        if truncated:
            kept, digest = _count_and_hash(rows)
            reason = f"beyond a user's first {MAX_ROWS_PER_PARTITION:,} lines"
            accounting.drop({reason: accounting.kept - kept})
    table = _partition_by_user(spark, rows, accounting)
    _check_row_count(table.count_rows(), accounting, spark)
    spark.remove(path)
    columns = {} if source.format == "aol" else describe_mapping(source.columns)
    is_table = hasattr(inputs, "mapInArrow") or source.format == "table"
    names = [source.name] if is_table else [str(name) for name in inputs]
    sources = tuple(SourceFile(name, source.format, digest, columns) for name in names)
    return QueryLog(table, accounting, sources), cleaner


@dataclass(frozen=True)
class _CleaningTask:
    """Cleans the rows of a task, and reports the accounting at the end."""

    cleaner: Cleaner
    source: SparkSource

    def run(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Clean batch by batch; the last row has no user, but the summary of the task."""
        cleaner = replace(self.cleaner, accounting=RowAccounting(), excluded_seen=set(), columns={})
        for table in _merge_batches(batches):
            raw = self.source.to_raw_rows(table)
            kept = cleaner.clean(self._to_raw_rows(raw))
            yield from to_arrow(kept.with_columns(summary=pl.lit(None, pl.String)))
        yield from to_arrow(_summary_row(cleaner))

    def _to_raw_rows(self, table: pl.DataFrame) -> RawRows:
        source = self.source
        rows = RawRows(source.name, table, source.time_format, source.has_time)
        return replace(rows, needs_time=source.needs_time, zero_rank=source.format == "aol")

    def __reduce__(self) -> Any:
        # The table of Spark cannot be pickled, and tasks do not need it.
        return (_CleaningTask, (self.cleaner, replace(self.source, rows=None)))


def _merge_batches(batches: Iterable[Any]) -> Iterator[pl.DataFrame]:
    """Merge small batches, because the fixed cost of each operation is high."""
    waiting: list[pl.DataFrame] = []
    for batch in batches:
        waiting.append(pl.DataFrame(pl.from_arrow(batch)))
        if sum(table.height for table in waiting) >= _BATCH:
            yield pl.concat(waiting)
            waiting = []
    if waiting:
        yield pl.concat(waiting)


def _summary_row(cleaner: Cleaner) -> pl.DataFrame:
    """Return one row with the accounting of a task as JSON."""
    accounting = asdict(replace(cleaner.accounting, rejected_blocks=[]))
    examples = cleaner.accounting.rejected_rows().head(_MAX_EXAMPLES).rows()
    summary = accounting | {"rejects": examples, "excluded": sorted(cleaner.excluded_seen)}
    summary |= {"times": cleaner.has_times, "versions": [__version__, pl.__version__]}
    row = pl.DataFrame(schema=_STAGED_SCHEMA).clear(1)
    return row.with_columns(summary=pl.lit(json.dumps(summary)))


def _sum_accounting(staged: Any, cleaner: Cleaner) -> RowAccounting:
    """Add the summaries of all tasks to the accounting of the cleaner."""
    for (text,) in staged.filter("summary is not null").select("summary").toLocalIterator():
        summary = json.loads(text)
        if summary["versions"] != [__version__, pl.__version__]:
            raise InputError(
                "executors have another version of queryveil or Polars than this machine",
                hint=f"they have {summary['versions']}: "
                "ship one environment to all (docs/how-to/spark.md)",
            )
        accounting = cleaner.accounting
        accounting.rows += summary["rows"]
        accounting.drop(summary["dropped"])
        accounting.change(summary["normalized"])
        rejects = pl.DataFrame(summary["rejects"], schema=REJECT_SCHEMA, orient="row")
        accounting.reject_many(summary["rejected"], rejects)
        cleaner.excluded_seen.update(summary["excluded"])
        cleaner.has_times = cleaner.has_times or summary["times"]
    return cleaner.accounting


def _check_row_count(rows: int, accounting: RowAccounting, spark: SparkCluster) -> None:
    if rows != accounting.kept:
        raise InputError(
            f"{accounting.kept:,} rows were cleaned, but {rows:,} were written",
            where=spark.scratch,
            hint="`spark_scratch` must be a folder that all machines of the cluster share",
        )


def _truncate_long_logs(rows: Any) -> tuple[Any, bool]:
    """Keep the first rows, in whole minutes, of users who have too many.

    The rows that are kept of a user depend on the user's own rows alone. No operation holds all
    rows of such a user at once: rows are counted by minute, and the counts are summed.
    """
    long = (
        rows.groupBy("user").count().filter(f.col("count") > MAX_ROWS_PER_PARTITION).select("user")
    )
    names = long.toPandas()["user"].tolist()
    if not names:
        return rows, False
    # Without times, any deterministic choice of rows will do.
    bucket = f.coalesce(
        f.floor(f.col("time") / 60_000_000), f.pmod(f.xxhash64("query"), f.lit(10**6))
    )
    bucketed = rows.withColumn("bucket", bucket)
    counts = bucketed.join(f.broadcast(long), "user").groupBy("user", "bucket").count()
    running = f.sum("count").over(Window.partitionBy("user").orderBy("bucket"))
    fits = counts.withColumn("running", running).filter(f.col("running") <= MAX_ROWS_PER_PARTITION)
    last = fits.groupBy("user").agg(f.max("bucket").alias("last"))
    cuts = f.broadcast(long.join(last, "user", "left"))
    limited = bucketed.join(cuts.withColumn("long", f.lit(True)), "user", "left")
    kept = limited.filter(f.col("long").isNull() | (f.col("bucket") <= f.col("last")))
    return kept.drop("bucket", "last", "long"), True


def _partition_by_user(spark: SparkCluster, rows: Any, accounting: RowAccounting) -> SparkTable:
    empty = pl.DataFrame(schema=SCHEMA)
    tasks = max(
        1, -(-accounting.kept // _TASK_ROWS), min(64, spark.session.sparkContext.defaultParallelism)
    )
    split = rows.repartition(tasks, "user")
    order = tuple(_POSITION_SCHEMA)
    return SparkTable.from_rows(spark, split, empty, _encode, whole="user", order=order)


def _encode(rows: pl.DataFrame) -> pl.DataFrame:
    return categorical_encoder()(rows)


def _count_and_hash(rows: Any) -> tuple[int, str]:
    """Count the rows, and return a digest of them that does not depend on their order."""
    # xxhash64 skips nulls: the null flags distinguish rows that differ only in their position.
    nulls = [f.isnull(name).cast("int") for name in ("time", "rank", "url")]
    hashes = [f.xxhash64(f.lit(salt), *SCHEMA, *nulls) for salt in (1, 2)]
    mixed = [f.bit_xor(column) for column in hashes]
    sums = [f.sum(f.shiftrightunsigned(column, _SPARE_BITS)) for column in hashes]
    totals = rows.agg(f.count("*"), *mixed, *sums).first()
    return int(totals[0]), hashlib.sha256("/".join(map(str, totals)).encode()).hexdigest()
