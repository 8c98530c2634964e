"""Where the heavy whole-log steps run.

The room knows no method. It gives the few relational steps that methods are made of
(`steps`), which run here or on a cluster (`far`, `spark`), the one source of randomness
(`chance`), a way to tell how far a run is (`progress`), the overlap of reading with computing
(`prefetch`), and files that appear whole or not at all (`files`).
"""

from .chance import Chance
from .choice import ENGINES, Engine
from .far import Far, Part, Table, Whole, Work
from .files import whole_file
from .hints import recall, remember
from .prefetch import prefetch
from .progress import Progress, Silent, peak_mb
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
)

__all__ = [
    "ENGINES",
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
    "keep",
    "keyed",
    "keys_with_users",
    "marked",
    "peak_mb",
    "permute",
    "prefetch",
    "protected",
    "recall",
    "remember",
    "sample_users",
    "summed",
    "users_and_lines",
    "whole_file",
]
