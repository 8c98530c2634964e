"""The options for reading a log, the same for every command that reads one."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from datetime import date

from ..errors import UsageError
from .cleaning import check_time_format
from .readers.columns import check_columns, parse_columns


@dataclass(frozen=True)
class ReadOptions:
    """The options for reading a log, the same for every command that reads one.

    Attributes:
        format: The name of a reader; by default the one that fits the name of the file.
        columns: Our name of a column and the file's: ``{"user": "uid", "query": "q"}``.
        since: The first day to keep.
        until: The last day to keep.
        sample_users: A number of users (1 or more) or a fraction of them (below 1) to keep,
            sampled uniformly.
        exclude_users: Users to exclude, because they objected.
        max_rejected: The fraction of rows that may be rejected before the run stops.
        may_stop: Whether rows can stop the run: too many rejected ones, or none at all. Under
            differential privacy they must not, because the rows of one user could decide it.
        max_decompressed_size: The number of bytes that a compressed file may expand to.
        sheet: The sheet of an Excel file; by default the first.
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
    sheet: str | None = None

    def __post_init__(self) -> None:
        self._parse_texts()
        if not 0 <= self.max_rejected <= 1:
            raise UsageError(
                f"`max_rejected` must be from 0 to 1, got {self.max_rejected}",
                hint="it is a fraction of the rows",
            )
        if self.sample_users is not None and not 0 < self.sample_users < float("inf"):
            raise UsageError(
                f"`sample_users` must be positive, got {self.sample_users}",
                hint="a number of users, or a fraction of them: 5%",
            )
        if self.since and self.until and self.since > self.until:
            raise UsageError(f"`until` ({self.until}) is before `since` ({self.since})")
        if self.max_decompressed_size is not None and self.max_decompressed_size < 1:
            raise UsageError(
                f"`max_decompressed_size` must be at least 1, got {self.max_decompressed_size}",
                hint="it is a number of bytes",
            )
        if self.quote not in (None, "none") and not _is_printable_character(self.quote):
            raise UsageError(
                f'"{self.quote}" is not a quotation mark', hint='one ASCII character, or "none"'
            )
        if self.delimiter is not None:
            object.__setattr__(self, "delimiter", _parse_delimiter(self.delimiter))
        if self.time_format:
            check_time_format(self.time_format)

    def fingerprint(self) -> str:
        """Return all options as one text; excluded users are replaced by a digest."""
        names = sorted(
            self.__dataclass_fields__.keys() - {"may_stop"}
        )  # it does not change the rows
        values = {name: getattr(self, name) for name in names}
        if self.sheet is None:  # so that digests of logs without sheets stay as they were
            del values["sheet"]
        users = "\n".join(sorted(self.exclude_users)).encode(errors="backslashreplace")
        values["exclude_users"] = hashlib.sha256(users).hexdigest()
        values["columns"] = sorted(self.columns.items())
        return json.dumps(values, default=str)

    def _parse_texts(self) -> None:
        """Parse the texts that the commands accept: user=uid,query=q and 2006-03-01."""
        values = vars(self)
        if isinstance(values["columns"], str):
            object.__setattr__(self, "columns", parse_columns(values["columns"]))
        else:
            object.__setattr__(self, "columns", check_columns(values["columns"] or {}))
        for name in ("since", "until"):
            if isinstance(day := values[name], str):
                object.__setattr__(self, name, _parse_day(day))
        if isinstance(values["exclude_users"], str):
            raise UsageError("exclude_users must be a set, got a text", hint='{"7", "8"}')
        object.__setattr__(self, "exclude_users", frozenset(map(str, self.exclude_users)))
        for name in ("sample_users", "max_rejected"):
            if isinstance(value := values[name], str):
                raise UsageError(
                    f'{name} must be a number, got the text "{value}"', hint="0.05, or 1000"
                )


def _parse_day(text: str) -> date:
    try:
        return date.fromisoformat(text.strip())
    except ValueError as error:
        raise UsageError(f'"{text}" is not a date', hint="write it as 2006-03-01") from error


def _parse_delimiter(text: str) -> str:
    sign = "\t" if text in ("tab", "\\t") else text
    if (
        len(sign) != 1
        or not (sign == "\t" or _is_printable_character(sign))
        or sign.isalnum()
        or sign == '"'
    ):
        raise UsageError(f'"{text}" is not a delimiter', hint='one character: , ; | or "tab"')
    return sign


def _is_printable_character(text: str | None) -> bool:
    return text is not None and len(text) == 1 and text.isascii() and text.isprintable()
