"""The steps that methods are made of, and the one place that decides where each runs.

A table is a lazy frame here, or a `Far` one in shares on other machines. Methods call these and
never ask where. The column `user` is the unit of privacy, so counts are of distinct users unless
a name says otherwise. What a function gives for a share has each key once, with whole numbers
beside it.
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
    """Name what a table's steps run on."""
    return table.engine if isinstance(table, RemoteTable) else "local"


def map_partitions(table: Table, work: PartitionFunction, chance: RandomSource) -> Table:
    """Run each share through a function, and keep what it gives as a table.

    What was drawn by chance is drawn once: every later step meets the same rows.
    """
    return (
        table.map_partitions(work, chance)
        if isinstance(table, RemoteTable)
        else work(table, chance).lazy()
    )


def aggregate_remote(
    table: Table,
    work: PartitionFunction,
    keys: KeyColumns,
    chance: RandomSource | None = None,
    tops: KeyColumns = (),
) -> Table:
    """Do as `summed` does, and leave the result where the table is."""
    if isinstance(table, RemoteTable):
        return table.aggregate_remote(work, keys, chance, tops)
    return work(table, chance or RandomSource()).lazy()


def aggregate(
    table: Table,
    work: PartitionFunction,
    keys: KeyColumns,
    chance: RandomSource | None = None,
    *,
    tops: KeyColumns = (),
    at_least: tuple[str, int] | None = None,
) -> pl.DataFrame:
    """Run each share through a function and add up what it gives, key by key.

    Of the columns in `tops` the greatest is taken instead. Without a `chance` the function must
    give the same again. `at_least` names a column and its least sum: only such keys come here.
    """
    if isinstance(table, RemoteTable):
        return table.aggregate(work, keys, chance, tops, at_least)
    rows = work(table, chance or RandomSource())
    return rows if at_least is None else rows.filter(pl.col(at_least[0]) >= at_least[1])


def protect_partitions(
    table: Table, work: ProtectFunction, chance: RandomSource, at_once: int = 0
) -> ProtectedTable:
    """Run each share through a function that makes rows for publication.

    Shares may be taken together up to so many rows.
    """
    if isinstance(table, RemoteTable):
        return table.protect_partitions(work, chance, at_once)
    part = work(table, chance)
    return ProtectedTable(part.rows.lazy(), part.mapping, part.counts, part.shared)


def count_users_by_flags(
    table: Table, key: str, sizes: Table, marks: PartitionFunction
) -> pl.DataFrame:
    """Count users by the marks of their keys: marks, count.

    `sizes` are the keys with their users and lines. `marks` gets them, and gives key and marks, a
    number whose bits are the marks. A user has all marks that any of her keys has; who has none
    is left out.
    """
    if isinstance(table, RemoteTable) and isinstance(sizes, RemoteTable):
        return table.count_users_by_flags(key, sizes, marks)
    if isinstance(table, RemoteTable) or isinstance(sizes, RemoteTable):
        raise UsageError("these tables lie in different places: this is a defect, report it")
    pairs = table.select("user", key).unique()
    found = marks(sizes, RandomSource())
    bits = found.filter(pl.col("marks") > 0).lazy().select(key, "marks")
    mine = pairs.join(bits, on=key).group_by("user").agg(pl.col("marks").bitwise_or())
    return mine.group_by("marks").agg(count=pl.len()).collect(engine="streaming")


def count_users_by_key(table: Table, keys: KeyColumns, at_least: int) -> pl.DataFrame:
    """Find the keys that at least so many distinct users have, with the number of users."""
    if isinstance(table, RemoteTable):
        least = ("users", at_least)
        return aggregate(table, partial(_users_of_keys, keys=keys), keys, at_least=least)
    return _users_of_keys(table, RandomSource(), keys=keys, at_least=at_least)


def _users_of_keys(
    table: pl.LazyFrame, _: RandomSource, *, keys: KeyColumns, at_least: int = 1
) -> pl.DataFrame:
    """Count the users of keys.

    A key with fewer rows than that cannot have the users: counting rows first leaves the
    long tail out of the costly count of distinct pairs.
    """
    names = list(keys)
    rows = table.select("user", *names).drop_nulls(names)
    enough = rows.group_by(names).len().filter(pl.col("len") >= at_least).drop("len")
    some = rows if at_least == 1 else rows.join(enough, on=names, how="semi")
    users = some.unique().group_by(names).agg(users=pl.len())
    return users.filter(pl.col("users") >= at_least).collect(engine="streaming")


def count_users_and_rows(table: pl.LazyFrame, _: RandomSource, *, keys: KeyColumns) -> pl.DataFrame:
    """Count the users and the lines of keys, in one share."""
    names = list(keys)
    pairs = table.group_by("user", *names).agg(lines=pl.len())
    found = pairs.group_by(names).agg(users=pl.len(), lines=pl.col("lines").sum())
    return found.drop_nulls(names).collect(engine="streaming")


def match_encoding(frame: pl.LazyFrame, wanted: pl.DataFrame, *names: str) -> pl.DataFrame:
    """Give texts the encoding that a share has for them, so that they can be joined."""
    kinds = frame.collect_schema()
    return wanted.with_columns(pl.col(name).cast(kinds[name]) for name in names)


def filter_keys(table: pl.LazyFrame, wanted: pl.DataFrame, keys: KeyColumns) -> pl.LazyFrame:
    """Keep the rows whose key is wanted."""
    return table.join(wanted.lazy().select(list(keys)), on=list(keys), how="semi")


def count_rows(table: Table) -> int:
    """Count the rows."""
    if isinstance(table, RemoteTable):
        found = aggregate(table, _rows, ["all"])
        return int(found["count"].sum())
    return int(table.select(pl.len()).collect(engine="streaming").item())


def _rows(frame: pl.LazyFrame, _: RandomSource) -> pl.DataFrame:
    return frame.select(count=pl.len().cast(pl.Int64)).collect().with_columns(all=pl.lit(0))


def count_distinct(table: Table, column: str) -> int:
    """Count the different values of a column."""
    if isinstance(table, RemoteTable):
        return table.count_distinct(column)
    return int(table.select(pl.col(column).drop_nulls().n_unique()).collect().item())


def unique_users(table: pl.LazyFrame) -> pl.Series:
    """List the users, each once, in the order of their names."""
    users = table.select("user").unique().collect(engine="streaming")["user"]
    return users.cast(pl.String).sort()


def unique_queries(table: pl.LazyFrame) -> pl.Series:
    """List the queries, each once, in order; as categories if that is what they are."""
    return table.select("query").unique().collect(engine="streaming")["query"].sort()


def values_of(table: pl.LazyFrame, column: str) -> pl.DataFrame:
    """Return the different values of a column, without nulls, each once.

    Texts are told apart as categories: each of those that are kept would hold the texts of all
    rows which were read with it.
    """
    kind, value = table.collect_schema()[column], pl.col(column)
    if kind == pl.String:
        value = value.cast(pl.Categorical(pl.Categories.random()))
    found = table.select(value).drop_nulls().unique().collect(engine="streaming")
    return found.cast({column: kind})


def sample_users(table: pl.LazyFrame, size: int, chance: RandomSource) -> pl.LazyFrame:
    """Keep the rows of so many users, drawn uniformly."""
    users = unique_users(table)
    chosen = users.gather(chance.permutation(len(users))[:size])
    kind = table.collect_schema()["user"]
    return filter_keys(table, chosen.cast(kind).to_frame("user"), ["user"])


def shuffle_rows(table: pl.LazyFrame, chance: RandomSource) -> pl.LazyFrame:
    """Put the rows in random order."""
    rows = table.collect(engine="streaming")
    return rows.lazy().select(pl.all().gather(pl.lit(chance.permutation(rows.height))))
