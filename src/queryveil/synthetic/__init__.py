"""Synthetic query logs, for tests, examples and benchmarks. They contain no real user."""

from .distributions import FIRST_DAY, LINES_MEAN, LINES_MOST, BlockRandom, Bools, Ints
from .generator import generate_blocks, planned_rows
from .output import write_synthetic_log
from .queries import QueryWriter
from .sessions import RowKind, plan_sessions, rows_per_user
from .vocabulary import load_vocabulary

__all__ = [
    "FIRST_DAY",
    "LINES_MEAN",
    "LINES_MOST",
    "BlockRandom",
    "Bools",
    "Ints",
    "QueryWriter",
    "RowKind",
    "generate_blocks",
    "load_vocabulary",
    "plan_sessions",
    "planned_rows",
    "rows_per_user",
    "write_synthetic_log",
]
