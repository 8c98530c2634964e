"""`Release`: what a method gives back, ready to be written, with all that the cards need."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from ..engine import Chance, Progress, Silent, peak_mb, summed
from ..log import QueryLog
from ..version import __version__
from .cards import figures_of, public_card
from .guarantee import Guarantee

__all__ = ["Release"]


@dataclass(frozen=True)
class Release:
    """A protected log with its guarantee.

    `log` has the published columns, rows already in random order; `tables` are statistics
    (see `tables.py`), already sorted. A release has one or the other, or both. `mapping` (user,
    pseudonym, and group where there are groups) belongs to the owner. `dropped` counts
    whole rows by reason, `blanked` single cells. `made` counts the released rows that are no
    row of the input, by reason, so that always
    rows read + made = released + dropped + rejected. `notes` stand on the public card,
    `ledger` on the internal one. `settle` is told the folder once it stands in its place.
    `concepts` (user, the pseudonym; concept) is what the rows mean, where the method knows that;
    measures ask for it, and it is not written. `recipe` is the method's line with the paths of its
    files, for the owner to run it again.
    """

    method: str
    parameters: Mapping[str, Any]
    guarantee: Guarantee
    source: QueryLog
    log: pl.LazyFrame | None = None
    tables: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    mapping: pl.DataFrame | pl.LazyFrame | None = None
    concepts: pl.DataFrame | None = field(default=None, repr=False)
    dropped: Mapping[str, int] = field(default_factory=dict)
    blanked: Mapping[str, int] = field(default_factory=dict)
    made: Mapping[str, int] = field(default_factory=dict)
    not_release_grade: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    recipe: str | None = None
    ledger: Mapping[str, Any] = field(default_factory=dict)
    settle: Callable[[Path], None] = field(default=lambda _: None, repr=False)
    progress: Progress = field(default_factory=Silent, repr=False)

    def write(
        self,
        folder: str | Path,
        *,
        form: str = "parquet",
        force: bool = False,
        forget_mapping: bool = False,
    ) -> dict[str, Any]:
        """Write the folder, whole or not at all, verify it, and give the internal card."""
        from .write import write_release  # noqa: PLC0415  (write.py needs this class)

        return write_release(self, Path(folder), form, force, forget_mapping)

    def public_card(self, figures: dict[str, int], files: dict[str, str]) -> dict[str, Any]:
        """Make the card that may be published."""
        return public_card(
            version=__version__,
            method=self.method,
            parameters=dict(self.parameters),
            guarantee=self.guarantee.as_dict(),
            release_grade=not self.not_release_grade,
            why_not=list(self.not_release_grade),
            notes=list(self.notes),
            figures=figures,
            files=files,
        )

    def internal_card(self, public: dict[str, Any]) -> dict[str, Any]:
        """Add to the public card what only the owner may know."""
        tally = self.source.tally
        dropped = dict(tally.dropped)
        for reason, rows in self.dropped.items():
            dropped[reason] = dropped.get(reason, 0) + rows
        return public | {
            "input": {
                "rows": tally.rows,
                "users": self.source.distinct("user"),
                "queries": self.source.distinct("query"),
                "last_time": self._last_time(),
                "rejected": dict(tally.rejected),
                "normalised": dict(tally.changed),
                "sha256": {source.path: source.sha256 for source in self.source.sources},
                "columns": {source.path: dict(source.columns) for source in self.source.sources},
                "objections": dict(tally.objections),
                "formats": sorted({source.format for source in self.source.sources}),
            },
            "engine": self.source.engine,
            "recipe": self.recipe,
            "output": dict(public["figures"]),
            "made": dict(self.made),
            "dropped": dropped,
            "blanked": dict(self.blanked),
            "ledger": dict(self.ledger),
            "seconds": dict(self.progress.seconds),
            "peak_mb": peak_mb(),
        }

    def _last_time(self) -> str | None:
        """Tell up to when the log goes: what extends this release begins after it."""
        last = summed(self.source.rows, _latest, ["all"], tops=["time"])["time"].drop_nulls()
        # Years beyond 9999 too.
        return last.dt.to_string("iso:strict")[0] if len(last) else None

    def planned_card(self) -> dict[str, Any]:
        """Give the internal card as it would be, without writing anything."""
        return self.internal_card(self.public_card(figures_of(self.log, self.tables), {}))


def _latest(frame: pl.LazyFrame, _: Chance) -> pl.DataFrame:
    last = frame.select(pl.col("time").max()).collect(engine="streaming")
    return last.with_columns(all=pl.lit(0))
