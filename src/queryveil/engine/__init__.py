"""Where the heavy whole-log steps run.

The room knows no method. It gives the few relational steps that methods are made of
(`steps`), which run here or on a cluster (`far`, `spark`), the one source of randomness
(`chance`), a way to tell how far a run is (`progress`), the overlap of reading with computing
(`prefetch`), files that appear whole or not at all (`files`, `renaming`), and small files of
others, read within bounds (`bounded`).
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
from .spark.session import SparkCluster, open_spark, readable_errors
from .spark.table import SparkTable
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
    "SparkCluster",
    "SparkTable",
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
    "open_spark",
    "protect_partitions",
    "readable_errors",
    "sample_users",
    "shuffle_rows",
    "unique_queries",
    "unique_users",
    "values_of",
]
