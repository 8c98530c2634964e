"""Where the heavy whole-log steps run.

The room knows no method. It gives the few relational steps that methods are made of
(`steps`), which run here or on a cluster (`far`, `spark`), the one source of randomness
(`chance`), a way to tell how far a run is (`progress`), the overlap of reading with computing
(`prefetch`), files that appear whole or not at all (`files`, `renaming`), and small files of
others, read within bounds (`bounded`).
"""

from .bounded import MOST_BYTES, MOST_LIST, BoundsError, parse_json, read_json, read_within
from .chance import Chance
from .choice import ENGINES, Engine
from .far import Far, Part, Table, Whole, Work
from .files import whole_file
from .hints import recall, remember
from .prefetch import prefetch
from .progress import Progress, Silent, peak_mb
from .renaming import exchange, locked, rename_new
from .steps import (
    Keys,
    alike,
    count,
    derive,
    distinct,
    distinct_queries,
    distinct_users,
    engine_of,
    keep,
    keyed,
    keys_with_users,
    marked,
    permute,
    protected,
    sample_users,
    summed,
    users_and_lines,
    values_of,
)

__all__ = [
    "ENGINES",
    "MOST_BYTES",
    "MOST_LIST",
    "BoundsError",
    "Chance",
    "Engine",
    "Far",
    "Keys",
    "Part",
    "Progress",
    "Silent",
    "Table",
    "Whole",
    "Work",
    "alike",
    "count",
    "derive",
    "distinct",
    "distinct_queries",
    "distinct_users",
    "engine_of",
    "exchange",
    "keep",
    "keyed",
    "keys_with_users",
    "locked",
    "marked",
    "parse_json",
    "peak_mb",
    "permute",
    "prefetch",
    "protected",
    "read_json",
    "read_within",
    "recall",
    "remember",
    "rename_new",
    "sample_users",
    "summed",
    "users_and_lines",
    "values_of",
    "whole_file",
]
