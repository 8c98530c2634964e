"""Account for every row of the input: it is kept, dropped or rejected, with a reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import polars as pl

from ..core.records import Record

REJECT_SCHEMA = {"file": pl.String, "line": pl.Int64, "reason": pl.String}


@dataclass(frozen=True)
class SourceFile:
    """A file that was read, the digest of its bytes, and the columns that were used."""

    path: str
    format: str
    sha256: str = field(repr=False)
    columns: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, repr=False)
class RowCounts(Record):
    """The numbers of rows read, dropped, rejected and normalized, by reason."""

    rows: int
    dropped: Mapping[str, int]
    rejected: Mapping[str, int]
    normalized: Mapping[str, int]


@dataclass(repr=False)
class RowAccounting:
    """The numbers of rows read, dropped, rejected and normalized while a log was read.

    `excluded_users` has the number of users to exclude, and how many of them had a row. Exact
    numbers could reveal whether a user is in the log, so the repr shows none.

    >>> accounting = RowAccounting(rows=10, dropped={"empty query": 2}, rejected={"no user": 1})
    >>> accounting.kept
    7
    """

    rows: int = 0
    dropped: dict[str, int] = field(default_factory=dict)
    rejected: dict[str, int] = field(default_factory=dict)
    normalized: dict[str, int] = field(default_factory=dict)
    excluded_users: dict[str, int] = field(default_factory=dict)
    rejected_blocks: list[pl.DataFrame] = field(default_factory=list)

    @property
    def kept(self) -> int:
        """The number of rows that are in the log."""
        return self.rows - sum(self.dropped.values()) - sum(self.rejected.values())

    @property
    def rejected_share(self) -> float:
        """The fraction of rows that were rejected."""
        return sum(self.rejected.values()) / self.rows if self.rows else 0.0

    def counts(self) -> RowCounts:
        """Return the numbers as they are now."""
        return RowCounts(self.rows, dict(self.dropped), dict(self.rejected), dict(self.normalized))

    def drop(self, reasons: Mapping[str, int]) -> None:
        """Count rows that are dropped on purpose."""
        _add_counts(self.dropped, reasons)

    def change(self, reasons: Mapping[str, int]) -> None:
        """Count rows whose query text was normalized, or whose click was removed."""
        _add_counts(self.normalized, reasons)

    def reject(self, rows: pl.DataFrame) -> None:
        """Count rows that cannot be read, and keep their file and line."""
        if rows.height:
            self.rejected_blocks.append(rows)
            _add_counts(self.rejected, dict(rows.group_by("reason").len().rows()))

    def reject_many(self, reasons: Mapping[str, int], examples: pl.DataFrame) -> None:
        """Count rejected rows of which only `examples` have a file and a line."""
        self.rejected_blocks.append(examples)
        _add_counts(self.rejected, reasons)

    def rejected_rows(self) -> pl.DataFrame:
        """Return the rejected rows: file, line, reason."""
        return pl.concat([pl.DataFrame(schema=REJECT_SCHEMA), *self.rejected_blocks])


def _add_counts(counts: dict[str, int], added: Mapping[str, int]) -> None:
    for reason, number in added.items():
        if number:
            counts[reason] = counts.get(reason, 0) + number
