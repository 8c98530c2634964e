"""Reading, cleaning and holding a query log, and writing one that belongs to nobody."""

from .identifiers import KINDS, kinds_of, kinds_of_urls, mark, mask, redact
from .options import ReadOptions
from .read import read_log
from .readers import READERS, parse_columns
from .screening import Identifiers, check_setting, flagged, screen
from .sessions import PAUSE_MINUTES, events_of, is_click, with_sessions
from .table import COLUMNS, QueryLog
from .tally import Source, Tally

__all__ = [
    "COLUMNS",
    "KINDS",
    "PAUSE_MINUTES",
    "READERS",
    "Identifiers",
    "QueryLog",
    "ReadOptions",
    "Source",
    "Tally",
    "check_setting",
    "events_of",
    "flagged",
    "is_click",
    "kinds_of",
    "kinds_of_urls",
    "mark",
    "mask",
    "parse_columns",
    "read_log",
    "redact",
    "screen",
    "with_sessions",
]
