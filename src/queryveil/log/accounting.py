"""Nothing is lost: every row that goes in is kept, dropped or rejected, with a reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import polars as pl

REJECT_SCHEMA = {"file": pl.String, "line": pl.Int64, "reason": pl.String}


@dataclass(frozen=True)
class SourceFile:
    """One file that was read, the digest of its bytes, and which of its columns were taken."""

    path: str
    format: str
    sha256: str = field(repr=False)
    columns: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(repr=False)
class RowAccounting:
    """What became of the rows while a log was read.

    `objections` says how many users were to be left out, and how many of them had a row. Exact
    numbers could tell whether a person is in the log, so no repr shows any.

    >>> tally = RowAccounting(rows=10, dropped={"empty query": 2}, rejected={"no user": 1})
    >>> tally.kept
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
        """Rows that are in the log."""
        return self.rows - sum(self.dropped.values()) - sum(self.rejected.values())

    @property
    def rejected_share(self) -> float:
        """Rejected rows as a share of all."""
        return sum(self.rejected.values()) / self.rows if self.rows else 0.0

    def drop(self, reasons: Mapping[str, int]) -> None:
        """Count rows that are left out on purpose."""
        _add(self.dropped, reasons)

    def change(self, reasons: Mapping[str, int]) -> None:
        """Count rows whose query text was normalised."""
        _add(self.normalized, reasons)

    def reject(self, rows: pl.DataFrame) -> None:
        """Count rows that cannot be read, and keep where they stand."""
        if rows.height:
            self.rejected_blocks.append(rows)
            _add(self.rejected, dict(rows.group_by("reason").len().rows()))

    def reject_many(self, reasons: Mapping[str, int], examples: pl.DataFrame) -> None:
        """Count rows of which only some tell where they stand."""
        self.rejected_blocks.append(examples)
        _add(self.rejected, reasons)

    def rejected_rows(self) -> pl.DataFrame:
        """List the rejected rows: file, line, reason."""
        return pl.concat([pl.DataFrame(schema=REJECT_SCHEMA), *self.rejected_blocks])


def _add(counts: dict[str, int], more: Mapping[str, int]) -> None:
    for reason, number in more.items():
        if number:
            counts[reason] = counts.get(reason, 0) + number
