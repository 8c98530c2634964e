"""Reading, cleaning and holding a query log, and writing one that belongs to nobody."""

from .identifiers import KINDS, mark, redact
from .options import ReadOptions
from .read import read_log
from .readers import READERS, parse_columns
from .sessions import PAUSE_MINUTES, events_of, is_click, with_sessions
from .table import COLUMNS, QueryLog
from .tally import Source, Tally

__all__ = [
    "COLUMNS",
    "KINDS",
    "PAUSE_MINUTES",
    "READERS",
    "QueryLog",
    "ReadOptions",
    "Source",
    "Tally",
    "events_of",
    "is_click",
    "mark",
    "parse_columns",
    "read_log",
    "redact",
    "with_sessions",
]
