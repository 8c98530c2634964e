"""Where the heavy whole-log steps run.

The room knows no method. It gives the few relational steps that methods are made of
(`steps`), which run here or on a cluster (`far`, `spark`), the one source of randomness
(`chance`), a way to tell how far a run is (`progress`), the overlap of reading with computing
(`prefetch`), files that appear whole or not at all (`files`, `renaming`), and small files of
others, read within bounds (`bounded`).
"""

from .bounded import MOST_BYTES, MOST_LIST, BoundsError, parse_json, read_json, read_within
from .chance import RandomSource
from .choice import ENGINES, EngineConfig
from .far import PartitionFunction, PartitionOutput, ProtectedTable, RemoteTable, Table
from .files import atomic_file
from .hints import load_hint, save_hint
from .prefetch import prefetch
from .progress import NoProgress, Progress, peak_memory_mb
from .renaming import exchange, locked, rename_new
from .steps import (
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

__all__ = [
    "ENGINES",
    "MOST_BYTES",
    "MOST_LIST",
    "BoundsError",
    "EngineConfig",
    "KeyColumns",
    "NoProgress",
    "PartitionFunction",
    "PartitionOutput",
    "Progress",
    "ProtectedTable",
    "RandomSource",
    "RemoteTable",
    "Table",
    "aggregate",
    "aggregate_remote",
    "atomic_file",
    "count_distinct",
    "count_rows",
    "count_users_and_rows",
    "count_users_by_flags",
    "count_users_by_key",
    "engine_name",
    "exchange",
    "filter_keys",
    "load_hint",
    "locked",
    "map_partitions",
    "match_encoding",
    "parse_json",
    "peak_memory_mb",
    "prefetch",
    "protect_partitions",
    "read_json",
    "read_within",
    "rename_new",
    "sample_users",
    "save_hint",
    "shuffle_rows",
    "unique_queries",
    "unique_users",
    "values_of",
]
