"""Reading, cleaning and holding a query log, and writing one that belongs to nobody."""

from .identifiers import (
    IDENTIFIER_KINDS,
    flag_identifiers,
    kinds_of,
    kinds_of_urls,
    mask,
    mask_identifiers,
)
from .options import ReadOptions
from .read import read_log
from .readers import READERS, parse_columns
from .screening import Identifiers, check_setting, flagged, screen
from .sessions import SESSION_GAP_MINUTES, add_sessions, group_events, is_click
from .table import COLUMNS, QueryLog
from .tally import RowAccounting, SourceFile

__all__ = [
    "COLUMNS",
    "IDENTIFIER_KINDS",
    "READERS",
    "SESSION_GAP_MINUTES",
    "Identifiers",
    "QueryLog",
    "ReadOptions",
    "RowAccounting",
    "SourceFile",
    "add_sessions",
    "check_setting",
    "flag_identifiers",
    "flagged",
    "group_events",
    "is_click",
    "kinds_of",
    "kinds_of_urls",
    "mask",
    "mask_identifiers",
    "parse_columns",
    "read_log",
    "screen",
]
