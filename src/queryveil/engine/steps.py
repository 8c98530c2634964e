"""The relational steps that methods are made of, for Polars.

Each step takes and gives a lazy table. A second engine gives the same names for its own
tables; methods call these and never ask where they run. The column `user` is the unit of
privacy, so counts are of distinct users unless a name says otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from .chance import Chance

__all__ = [
    "Keys",
    "count",
    "distinct_queries",
    "distinct_users",
    "keep",
    "keys_with_users",
    "permute",
    "sample_users",
]

Keys = Sequence[str]


def keys_with_users(table: pl.LazyFrame, keys: Keys, at_least: int) -> pl.DataFrame:
    """Find the keys that at least so many distinct users have, with the number of users.

    A key with fewer rows than that cannot have the users: counting rows first leaves the
    long tail out of the costly count of distinct pairs.
    """
    names = list(keys)
    rows = table.select("user", *names).drop_nulls(names)
    enough = rows.group_by(names).len().filter(pl.col("len") >= at_least).drop("len")
    pairs = rows.join(enough, on=names, how="semi").unique()
    users = pairs.group_by(names).agg(users=pl.len())
    return users.filter(pl.col("users") >= at_least).collect(engine="streaming")


def keep(table: pl.LazyFrame, wanted: pl.DataFrame, keys: Keys) -> pl.LazyFrame:
    """Keep the rows whose key is wanted."""
    return table.join(wanted.lazy().select(list(keys)), on=list(keys), how="semi")


def count(table: pl.LazyFrame) -> int:
    """Count the rows."""
    return int(table.select(pl.len()).collect(engine="streaming").item())


def distinct_users(table: pl.LazyFrame) -> pl.Series:
    """List the users, each once, in the order of their names."""
    users = table.select("user").unique().collect(engine="streaming")["user"]
    return users.cast(pl.String).sort()


def distinct_queries(table: pl.LazyFrame) -> pl.Series:
    """List the queries, each once, in order; as categories if that is what they are."""
    return table.select("query").unique().collect(engine="streaming")["query"].sort()


def sample_users(table: pl.LazyFrame, size: int, chance: Chance) -> pl.LazyFrame:
    """Keep the rows of so many users, drawn uniformly."""
    users = distinct_users(table)
    chosen = users.gather(chance.order(len(users))[:size])
    kind = table.collect_schema()["user"]
    return keep(table, chosen.cast(kind).to_frame("user"), ["user"])


def permute(table: pl.LazyFrame, chance: Chance) -> pl.LazyFrame:
    """Put the rows in random order."""
    rows = table.collect(engine="streaming")
    return rows.lazy().select(pl.all().gather(pl.lit(chance.order(rows.height))))
