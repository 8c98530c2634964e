"""What an owner may say about a log, the same for every command that reads one."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from ..errors import UsageError
from .cleaning import check_time_format
from .readers.base import parse_columns


@dataclass(frozen=True)
class ReadOptions:
    """What an owner may say about a log, the same for every command that reads one.

    format
        the name of a reader; told by the file's name where it is not given
    columns
        our name of a column and the file's: ``{"user": "uid", "query": "q"}``
    since, until
        the first and the last day to keep
    sample_users
        a number of users (from 1 on) or a share of them (below 1) to keep, drawn at random
    exclude_users
        users to leave out, because they objected
    max_rejected
        the share of rows that may be rejected before the run stops
    may_stop
        whether rows can stop the run: too many that are rejected, or none at all. Under
        differential privacy they must not, as one person's rows would show
    max_expanded
        how many bytes a packed file may expand to
    """

    format: str | None = None
    columns: dict[str, str] = field(default_factory=dict)
    since: date | None = None
    until: date | None = None
    sample_users: float | None = None
    exclude_users: frozenset[str] = field(default=frozenset(), repr=False)
    max_rejected: float = 0.01
    max_decompressed_size: int | None = None
    encoding: str = "utf-8"
    time_format: str | None = None
    quote: str | None = None
    query_parameter: str = "q"
    delimiter: str | None = None
    may_stop: bool = True

    def __post_init__(self) -> None:
        self._take_texts()
        if not 0 <= self.max_rejected <= 1:
            raise UsageError(f"max-rejected is {self.max_rejected}", hint="a share, 0 to 1")
        if self.sample_users is not None and not 0 < self.sample_users < float("inf"):
            raise UsageError("the sample has no users", hint="a number from 1, or a share: 5%")
        if self.since and self.until and self.since > self.until:
            raise UsageError(f"the dates end ({self.until}) before they begin ({self.since})")
        if self.max_decompressed_size is not None and self.max_decompressed_size < 1:
            raise UsageError(
                f"max-expanded is {self.max_decompressed_size}", hint="bytes, from 1 on"
            )
        if self.quote not in (None, "none") and not _is_sign(self.quote):
            raise UsageError(f'"{self.quote}" is no quotation mark', hint='one sign, or "none"')
        if self.delimiter is not None:
            object.__setattr__(self, "delimiter", _delimiter(self.delimiter))
        if self.time_format:
            check_time_format(self.time_format)

    def fingerprint(self) -> str:
        """Tell all options in one text; users who objected as a digest."""
        names = sorted(self.__dataclass_fields__.keys() - {"may_stop"})  # the rows are the same
        values = {name: getattr(self, name) for name in names}
        users = "\n".join(sorted(self.exclude_users)).encode(errors="backslashreplace")
        values["exclude_users"] = hashlib.sha256(users).hexdigest()
        values["columns"] = sorted(self.columns.items())
        return json.dumps(values, default=str)

    def _take_texts(self) -> None:
        """Take in Python what the commands take: user=uid,query=q and 2006-03-01."""
        given: dict[str, Any] = vars(self)
        if isinstance(given["columns"], str):
            object.__setattr__(self, "columns", parse_columns(given["columns"]))
        for name in ("since", "until"):
            if isinstance(day := given[name], str):
                object.__setattr__(self, name, _day(day))
        if isinstance(given["exclude_users"], str):
            raise UsageError("exclude_users is a text", hint='a set of users: {"7", "8"}')
        object.__setattr__(self, "exclude_users", frozenset(map(str, self.exclude_users)))
        for name in ("sample_users", "max_rejected"):
            if isinstance(value := given[name], str):
                raise UsageError(f'{name} is the text "{value}"', hint="a number: 0.05, or 1000")


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text.strip())
    except ValueError as error:
        raise UsageError(f'"{text}" is no day', hint="write 2006-03-01") from error


def _delimiter(text: str) -> str:
    sign = "\t" if text in ("tab", "\\t") else text
    if len(sign) != 1 or not (sign == "\t" or _is_sign(sign)) or sign.isalnum() or sign == '"':
        raise UsageError(f'"{text}" is no delimiter', hint='one sign: , ; | or "tab"')
    return sign


def _is_sign(text: str | None) -> bool:
    return text is not None and len(text) == 1 and text.isascii() and text.isprintable()
