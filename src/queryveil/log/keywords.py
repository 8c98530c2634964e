"""The options for reading a log as keyword arguments, for every function that takes a log."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import date
from typing import TypedDict

from .options import ReadOptions


class ReadingKeywords(TypedDict, total=False):
    """The attributes of `ReadOptions`, which describes them, as keyword arguments."""

    format: str | None
    columns: Mapping[str, str | int] | str
    since: date | str | None
    until: date | str | None
    sample_users: float | None
    exclude_users: Collection[str | int]
    max_rejected: float
    max_decompressed_size: int | None
    encoding: str
    time_format: str | None
    quote: str | None
    query_parameter: str
    delimiter: str | None
    may_stop: bool
    sheet: str | None


READING_OPTIONS = tuple(ReadOptions.__dataclass_fields__)
