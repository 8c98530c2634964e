"""`read_far`: a log that Spark reads, cleaned by the same rules, staged in shares of users.

The cleaned rows are written once. From what was written come the number of rows, the users who
have very many of them, and the shares.
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
from .spark_sources import SparkSource, open_spark_source

MAX_ROWS_PER_PARTITION = 1_000_000  # of a user: more is no person, and would fill a machine
_PART_ROWS = 1_000_000  # of a task, on average
_BATCH = 200_000
_SPARE = 40  # bits of a hash that are left out of sums, so that a trillion of them fit
_EXAMPLES = 100  # rejected rows that a task tells of
_PLACES = {"file": pl.Int64(), "place": pl.Int64()}
_TOLD = {**SCHEMA, **_PLACES, "told": pl.String()}


def read_with_spark(
    spark: SparkCluster, given: Any, asked: ReadOptions, cleaner: Cleaner
) -> tuple[QueryLog, Cleaner]:
    """Read what Spark reads: names of files, or a DataFrame of the session.

    Gives the log, and the cleaner that knows what became of the rows.
    """
    if asked.sample_users is not None:
        raise UsageError("a sample of users is not drawn on Spark", hint="leave --sample-users out")
    with readable_errors():
        found = open_spark_source(spark.session, given, asked)
        cleaner = replace(cleaner, extra_columns=tuple(_PLACES))
        place = spark.new_path("cleaned")
        task = _Cleaning(cleaner, found)
        write_once(found.rows.mapInArrow(task.run, spark_schema(_TOLD)), place)
        staged = spark.session.read.schema(spark_schema(_TOLD)).parquet(place)
        tally = _told(staged, cleaner)
        rows = staged.filter("told is null").drop("told")
        written_rows, digest = _counted(rows)
        _check_whole(written_rows, tally, spark)
        rows, cut = _without_long_logs(rows)
        if cut:
            kept, digest = _counted(rows)
            tally.drop(
                {f"beyond a user's first {MAX_ROWS_PER_PARTITION:,} lines": tally.kept - kept}
            )
    table = _in_shares(spark, rows, tally)
    _check_whole(table.count_rows(), tally, spark)
    spark.remove(place)
    columns = {} if found.format == "aol" else found.columns
    names = [found.name] if hasattr(given, "mapInArrow") else [str(path) for path in given]
    if found.format == "table":
        names = [found.name]
    sources = tuple(SourceFile(name, found.format, digest, columns) for name in names)
    return QueryLog(table, tally, sources), cleaner


@dataclass(frozen=True)
class _Cleaning:
    """What a task does: cleans its rows, and tells at the end what became of them."""

    cleaner: Cleaner
    found: SparkSource

    def run(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Clean batch by batch; the last row has no user, and tells of all."""
        own = replace(self.cleaner, accounting=RowAccounting(), excluded_seen=set(), columns={})
        for some in _together(batches):
            raw = self.found.to_raw_rows(some)
            kept = own.clean(self._rows(raw))
            yield from to_arrow(kept.with_columns(told=pl.lit(None, pl.String)))
        yield from to_arrow(_last_row(own))

    def _rows(self, table: pl.DataFrame) -> RawRows:
        found = self.found
        rows = RawRows(found.name, table, found.time_format, found.has_time)
        return replace(rows, needs_time=found.needs_time)

    def __reduce__(self) -> Any:
        return (_Cleaning, (self.cleaner, replace(self.found, rows=None)))


def _together(batches: Iterable[Any]) -> Iterator[pl.DataFrame]:
    """Take small batches together: each step costs the same for few rows as for many."""
    waiting: list[pl.DataFrame] = []
    for batch in batches:
        waiting.append(pl.DataFrame(pl.from_arrow(batch)))
        if sum(table.height for table in waiting) >= _BATCH:
            yield pl.concat(waiting)
            waiting = []
    if waiting:
        yield pl.concat(waiting)


def _last_row(own: Cleaner) -> pl.DataFrame:
    tally = asdict(replace(own.accounting, rejected_blocks=[]))
    examples = own.accounting.rejected_rows().head(_EXAMPLES).rows()
    told = tally | {"rejects": examples, "excluded": sorted(own.excluded_seen)}
    told |= {"times": own.has_times, "versions": [__version__, pl.__version__]}
    nothing = pl.DataFrame(schema=_TOLD).clear(1)
    return nothing.with_columns(told=pl.lit(json.dumps(told)))


def _told(staged: Any, cleaner: Cleaner) -> RowAccounting:
    """Add up what the tasks tell."""
    for (text,) in staged.filter("told is not null").select("told").toLocalIterator():
        told = json.loads(text)
        if told["versions"] != [__version__, pl.__version__]:
            raise InputError(
                "executors have another version of queryveil or Polars than this machine",
                hint=f"they have {told['versions']}: ship one environment to all (docs/spark.md)",
            )
        tally = cleaner.accounting
        tally.rows += told["rows"]
        tally.drop(told["dropped"])
        tally.change(told["changed"])
        rejects = pl.DataFrame(told["rejects"], schema=REJECT_SCHEMA, orient="row")
        tally.reject_many(told["rejected"], rejects)
        cleaner.excluded_seen.update(told["excluded"])
        cleaner.has_times = cleaner.has_times or told["times"]
    return cleaner.accounting


def _check_whole(rows: int, tally: RowAccounting, spark: SparkCluster) -> None:
    if rows != tally.kept:
        raise InputError(
            f"{tally.kept:,} rows were cleaned, and {rows:,} written",
            where=spark.scratch,
            hint="--scratch must be a folder that all machines of the cluster share",
        )


def _without_long_logs(rows: Any) -> tuple[Any, bool]:
    """Keep the first lines, by whole minutes, of users who have far too many.

    What stays of a user is decided by her own rows alone. No step sees all rows of such a user
    at once: lines are counted by minute, and minutes added up.
    """
    long = (
        rows.groupBy("user").count().filter(f.col("count") > MAX_ROWS_PER_PARTITION).select("user")
    )
    names = long.toPandas()["user"].tolist()
    if not names:
        return rows, False
    # Where there is no time, any cut will do that is always the same.
    bucket = f.coalesce(
        f.floor(f.col("time") / 60_000_000), f.pmod(f.xxhash64("query"), f.lit(10**6))
    )
    marked = rows.withColumn("bucket", bucket)
    theirs = marked.join(f.broadcast(long), "user").groupBy("user", "bucket").count()
    running = f.sum("count").over(Window.partitionBy("user").orderBy("bucket"))
    fits = theirs.withColumn("running", running).filter(f.col("running") <= MAX_ROWS_PER_PARTITION)
    last = fits.groupBy("user").agg(f.max("bucket").alias("last"))
    cuts = f.broadcast(long.join(last, "user", "left"))
    known = marked.join(cuts.withColumn("long", f.lit(True)), "user", "left")
    kept = known.filter(f.col("long").isNull() | (f.col("bucket") <= f.col("last")))
    return kept.drop("bucket", "last", "long"), True


def _in_shares(spark: SparkCluster, rows: Any, tally: RowAccounting) -> SparkTable:
    empty = pl.DataFrame(schema=SCHEMA)
    parts = max(
        1, -(-tally.kept // _PART_ROWS), min(64, spark.session.sparkContext.defaultParallelism)
    )
    split = rows.repartition(parts, "user")
    return SparkTable.from_rows(spark, split, empty, _encoded, whole="user", order=tuple(_PLACES))


def _encoded(rows: pl.DataFrame) -> pl.DataFrame:
    return categorical_encoder()(rows)


def _counted(rows: Any) -> tuple[int, str]:
    """Count rows, and name the log by them, in any order: by two hashes of each, put together."""
    # A hash leaves out what is null: so it is told apart what is.
    nulls = [f.isnull(name).cast("int") for name in ("time", "rank", "url")]
    hashes = [f.xxhash64(f.lit(salt), *SCHEMA, *nulls) for salt in (1, 2)]
    mixed = [f.bit_xor(one) for one in hashes]
    sums = [f.sum(f.shiftrightunsigned(one, _SPARE)) for one in hashes]
    told = rows.agg(f.count("*"), *mixed, *sums).first()
    return int(told[0]), hashlib.sha256("/".join(map(str, told)).encode()).hexdigest()
