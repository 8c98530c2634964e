"""Read query logs: files in many formats become one table with clean, typed rows."""

from .accounting import RowAccounting, SourceFile
from .identifiers import (
    IDENTIFIER_KINDS,
    flag_identifiers,
    kinds_of,
    kinds_of_urls,
    mask,
    mask_identifiers,
)
from .options import ReadOptions
from .query_log import COLUMNS, SESSION_GAP_MINUTES, QueryLog, add_sessions, group_events, is_click
from .readers.access_log import ACCESS
from .readers.base import RawRows, Reader, ReaderOptions
from .readers.columns import parse_columns
from .readers.csv import CSV, TSV
from .readers.jsonl import JSONL
from .readers.legacy import AOL, EXCITE
from .readers.parquet import PARQUET
from .readers.registry import READERS, detect_reader
from .readers.source import TextFile
from .readers.ubi import UBI
from .reading import read_log
from .screening import Identifiers, check_setting, flagged, screen

__all__ = [
    "ACCESS",
    "AOL",
    "COLUMNS",
    "CSV",
    "EXCITE",
    "IDENTIFIER_KINDS",
    "JSONL",
    "PARQUET",
    "READERS",
    "SESSION_GAP_MINUTES",
    "TSV",
    "UBI",
    "Identifiers",
    "QueryLog",
    "RawRows",
    "ReadOptions",
    "Reader",
    "ReaderOptions",
    "RowAccounting",
    "SourceFile",
    "TextFile",
    "add_sessions",
    "check_setting",
    "detect_reader",
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
