"""The operations that methods consist of, and the only module that decides where each one runs.

A table is a lazy frame in this process, or a `RemoteTable` in partitions on other machines.
Methods call these operations and do not know which. The column `user` is the unit of privacy, so
counts are of distinct users unless a name states otherwise. A partition has all rows of its users,
so that numbers of users can be summed over partitions. The table that a function returns for a
partition has one row per key; all other columns are integers, and are summed. Functions must also
accept an empty partition.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import polars as pl

from ..core.randomness import RandomSource
from ..errors import UsageError
from .table import PartitionFunction, ProtectedTable, ProtectFunction, RemoteTable, Table

KeyColumns = Sequence[str]


def engine_name(table: Table) -> str:
    """Return the name of the engine that a table's operations run on."""
    return table.engine if isinstance(table, RemoteTable) else "local"


def map_partitions(table: Table, work: PartitionFunction, rng: RandomSource) -> Table:
    """Apply a function to each partition, and keep the results as a table.

    Random values are drawn only once: every later operation reads the same rows.
    """
    return (
        table.map_partitions(work, rng)
        if isinstance(table, RemoteTable)
        else work(table, rng).lazy()
    )


def aggregate_remote(
    table: Table,
    work: PartitionFunction,
    keys: KeyColumns,
    rng: RandomSource | None = None,
    tops: KeyColumns = (),
) -> Table:
    """Aggregate like `aggregate`, without a minimum, and leave the result on the cluster.

    The result is partitioned by key, so users must not be counted on it.
    """
    if isinstance(table, RemoteTable):
        return table.aggregate_remote(work, keys, rng, tops)
    return work(table, rng or RandomSource()).lazy()


def aggregate(
    table: Table,
    work: PartitionFunction,
    keys: KeyColumns,
    rng: RandomSource | None = None,
    *,
    tops: KeyColumns = (),
    at_least: tuple[str, int] | None = None,
) -> pl.DataFrame:
    """Apply a function to each partition and sum its results by key.

    Args:
        keys: The key columns; the function returns each key once per partition.
        rng: Needed by functions that draw. Without it the function must be deterministic,
            because Spark may run it twice.
        tops: Columns of which the maximum is taken instead of the sum.
        at_least: A column and its minimum sum; other keys are not returned.
    """
    if isinstance(table, RemoteTable):
        return table.aggregate(work, keys, rng, tops, at_least)
    rows = work(table, rng or RandomSource())
    return rows if at_least is None else rows.filter(pl.col(at_least[0]) >= at_least[1])


def protect_partitions(
    table: Table, work: ProtectFunction, rng: RandomSource, at_once: int = 0
) -> ProtectedTable:
    """Apply a function that returns protected rows to each partition.

    Partitions may be merged up to `at_once` rows; 0 merges none.
    """
    if isinstance(table, RemoteTable):
        return table.protect_partitions(work, rng, at_once)
    part = work(table, rng)
    return ProtectedTable(part.rows.lazy(), part.mapping, part.counts, part.texts)


def count_users_by_flags(
    table: Table, key: str, key_sizes: Table, flag_keys: PartitionFunction
) -> pl.DataFrame:
    """Count users by the union of the flags of their keys.

    Args:
        key_sizes: One row per key with its numbers of users and rows.
        flag_keys: Receives `key_sizes`; returns `key` and `marks`, a bit mask of flags.

    Returns:
        Columns `marks` and `count`. Users without any flag are omitted.
    """
    if isinstance(table, RemoteTable) and isinstance(key_sizes, RemoteTable):
        return table.count_users_by_flags(key, key_sizes, flag_keys)
    if isinstance(table, RemoteTable) or isinstance(key_sizes, RemoteTable):
        raise UsageError(
            "one of two tables is local and the other on a cluster",
            hint="this is a defect: please report it",
        )
    pairs = table.select("user", key).unique()
    flags = flag_keys(key_sizes, RandomSource()).filter(pl.col("marks") > 0)
    flagged_pairs = pairs.join(flags.lazy().select(key, "marks"), on=key)
    users = flagged_pairs.group_by("user").agg(pl.col("marks").bitwise_or())
    return users.group_by("marks").agg(count=pl.len()).collect(engine="streaming")


def count_users_by_key(table: Table, keys: KeyColumns, at_least: int) -> pl.DataFrame:
    """Return the keys that have at least `at_least` distinct users, with their numbers of users."""
    if isinstance(table, RemoteTable):
        count_users = partial(_count_users, keys=keys)
        return aggregate(table, count_users, keys, at_least=("users", at_least))
    return _count_users(table, RandomSource(), keys=keys, at_least=at_least)


def _count_users(
    table: pl.LazyFrame, _: RandomSource, *, keys: KeyColumns, at_least: int = 1
) -> pl.DataFrame:
    """Count the users of each key that has at least `at_least` of them.

    A key with fewer rows cannot have so many users. Counting rows first excludes the long tail
    from the expensive count of distinct pairs.
    """
    names = list(keys)
    rows = table.select("user", *names).drop_nulls(names)
    if at_least > 1:
        candidates = rows.group_by(names).len().filter(pl.col("len") >= at_least).drop("len")
        rows = rows.join(candidates, on=names, how="semi")
    users = rows.unique().group_by(names).agg(users=pl.len())
    return users.filter(pl.col("users") >= at_least).collect(engine="streaming")


def count_users_and_rows(table: pl.LazyFrame, _: RandomSource, *, keys: KeyColumns) -> pl.DataFrame:
    """Count the users and the rows of each key in one partition."""
    names = list(keys)
    pairs = table.group_by("user", *names).agg(lines=pl.len())
    counts = pairs.group_by(names).agg(users=pl.len(), lines=pl.col("lines").sum())
    return counts.drop_nulls(names).collect(engine="streaming")


def match_encoding(frame: pl.LazyFrame, wanted: pl.DataFrame, *names: str) -> pl.DataFrame:
    """Cast columns to the types they have in a partition, so that the two can be joined."""
    schema = frame.collect_schema()
    return wanted.with_columns(pl.col(name).cast(schema[name]) for name in names)


def filter_keys(table: pl.LazyFrame, wanted: pl.DataFrame, keys: KeyColumns) -> pl.LazyFrame:
    """Keep the rows whose key is in `wanted`."""
    return table.join(wanted.lazy().select(list(keys)), on=list(keys), how="semi")


def count_rows(table: Table) -> int:
    """Count the rows."""
    if isinstance(table, RemoteTable):
        counts = aggregate(table, _count_partition_rows, ["all"])
        return int(counts["count"].sum())
    return int(table.select(pl.len()).collect(engine="streaming").item())


def _count_partition_rows(frame: pl.LazyFrame, _: RandomSource) -> pl.DataFrame:
    return frame.select(count=pl.len().cast(pl.Int64)).collect().with_columns(all=pl.lit(0))


def count_distinct(table: Table, column: str) -> int:
    """Count the distinct values of a column."""
    if isinstance(table, RemoteTable):
        return table.count_distinct(column)
    return int(table.select(pl.col(column).drop_nulls().n_unique()).collect().item())


def unique_users(table: pl.LazyFrame) -> pl.Series:
    """Return the distinct users, sorted by name."""
    users = table.select("user").unique().collect(engine="streaming")["user"]
    return users.cast(pl.String).sort()


def unique_queries(table: pl.LazyFrame) -> pl.Series:
    """Return the distinct queries, sorted; categorical if the column is."""
    return table.select("query").unique().collect(engine="streaming")["query"].sort()


def values_of(table: pl.LazyFrame, column: str) -> pl.DataFrame:
    """Return the distinct values of a column, without nulls.

    Strings are compared as categories. Otherwise each distinct string would keep the buffer alive
    that holds the strings of all rows it was read with.
    """
    dtype, value = table.collect_schema()[column], pl.col(column)
    if dtype == pl.String:
        value = value.cast(pl.Categorical(pl.Categories.random()))
    values = table.select(value).drop_nulls().unique().collect(engine="streaming")
    return values.cast({column: dtype})


def sample_users(table: pl.LazyFrame, size: int, rng: RandomSource) -> pl.LazyFrame:
    """Keep the rows of so many users, sampled uniformly without replacement."""
    users = unique_users(table)
    chosen = users.gather(rng.permutation(len(users))[:size])
    dtype = table.collect_schema()["user"]
    return filter_keys(table, chosen.cast(dtype).to_frame("user"), ["user"])


def shuffle_rows(table: pl.LazyFrame, rng: RandomSource) -> pl.LazyFrame:
    """Put the rows in random order."""
    rows = table.collect(engine="streaming")
    return rows.lazy().select(pl.all().gather(pl.lit(rng.permutation(rows.height))))
