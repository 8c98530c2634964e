"""Operations on a whole log, which run in this process or on Apache Spark.

The package knows no method. `operations` has the few relational operations that methods consist
of; `table` describes a table on a cluster, and `spark` implements it.
"""

from .operations import (
    KeyColumns,
    aggregate,
    aggregate_remote,
    count_distinct,
    count_rows,
    count_users_and_rows,
    count_users_by_flags,
    count_users_by_key,
    engine_name,
    filter_keys,
    map_partitions,
    match_encoding,
    protect_partitions,
    sample_users,
    shuffle_rows,
    unique_queries,
    unique_users,
    values_of,
)
from .table import (
    ENGINES,
    EngineConfig,
    PartitionFunction,
    PartitionOutput,
    ProtectedTable,
    RemoteTable,
    Table,
)

__all__ = [
    "ENGINES",
    "EngineConfig",
    "KeyColumns",
    "PartitionFunction",
    "PartitionOutput",
    "ProtectedTable",
    "RemoteTable",
    "Table",
    "aggregate",
    "aggregate_remote",
    "count_distinct",
    "count_rows",
    "count_users_and_rows",
    "count_users_by_flags",
    "count_users_by_key",
    "engine_name",
    "filter_keys",
    "map_partitions",
    "match_encoding",
    "protect_partitions",
    "sample_users",
    "shuffle_rows",
    "unique_queries",
    "unique_users",
    "values_of",
]
