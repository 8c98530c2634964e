"""The result of a replication: a comparison, with the claims that were checked on it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..comparison.journal import Journal
from ..comparison.page import render_comparison
from ..comparison.result import ClaimResult, Comparison
from ..comparison.writing import write_documents
from ..core.records import Record, json_field


@dataclass(frozen=True, repr=False, kw_only=True)
class Replication(Record):
    """The figures of a paper on our log, its claims, and how our evaluation deviates from it."""

    schema_number = 1

    comparison: Comparison = json_field(flat=True)
    claims: tuple[ClaimResult, ...]
    deviations: tuple[str, ...]

    def __repr__(self) -> str:
        held = sum(claim.holds is True for claim in self.claims)
        return f"Replication({held} of {len(self.claims)} claims hold)"

    def write(
        self, folder: str | Path, *, overwrite: bool = False, journal: Journal | None = None
    ) -> Path:
        """Write table, figures and page into a folder that only the data owner can read."""
        page = render_comparison(self.comparison, self.claims, self.deviations)
        return write_documents(self.comparison, self, page, Path(folder), overwrite, journal)
