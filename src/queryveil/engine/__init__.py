"""Where the heavy whole-log steps run.

The room knows no method. It gives the few relational steps that methods are made of
(`steps`), the one source of randomness (`chance`), a way to tell how far a run is
(`progress`), the overlap of reading with computing (`prefetch`), and files that appear whole
or not at all (`files`).
"""

from .chance import Chance
from .files import whole_file
from .hints import recall, remember
from .prefetch import prefetch
from .progress import Progress, Silent, peak_mb
from .steps import (
    Keys,
    count,
    distinct_queries,
    distinct_users,
    keep,
    keys_with_users,
    permute,
    sample_users,
)

__all__ = [
    "Chance",
    "Keys",
    "Progress",
    "Silent",
    "count",
    "distinct_queries",
    "distinct_users",
    "keep",
    "keys_with_users",
    "peak_mb",
    "permute",
    "prefetch",
    "recall",
    "remember",
    "sample_users",
    "whole_file",
]
