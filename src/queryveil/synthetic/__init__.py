"""Synthetic query logs, for tests, examples and benchmarks. They contain no real user."""

from .distributions import FIRST_DAY, LINES_MEAN, LINES_MOST, BlockRandom, Bools, Ints
from .figures import LogFigures, measure_log
from .generator import generate_blocks, make_log, planned_rows
from .output import write_synthetic_log
from .queries import QueryWriter
from .sessions import RowKind, plan_sessions, rows_per_user
from .shapes import SHAPES, ClassicShape, LogShape, ShopShape, parse_shape
from .vocabulary import load_vocabulary
from .words import LANGUAGES, load_words

__all__ = [
    "FIRST_DAY",
    "LANGUAGES",
    "LINES_MEAN",
    "LINES_MOST",
    "SHAPES",
    "BlockRandom",
    "Bools",
    "ClassicShape",
    "Ints",
    "LogFigures",
    "LogShape",
    "QueryWriter",
    "RowKind",
    "ShopShape",
    "generate_blocks",
    "load_vocabulary",
    "load_words",
    "make_log",
    "measure_log",
    "parse_shape",
    "plan_sessions",
    "planned_rows",
    "rows_per_user",
    "write_synthetic_log",
]
