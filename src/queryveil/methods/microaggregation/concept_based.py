"""Methods that group users by what their queries mean: they need queries that mean something."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...core.parameters import parameter
from ...core.progress import Progress
from ...core.randomness import RandomSource
from ...engine.table import RemoteTable
from ...log.query_log import QueryLog
from ...release.release import Release
from .base import Microaggregation
from .blocking import repartition_by_similarity
from .coverage import MIN_COVERAGE, check_coverage


@dataclass(frozen=True)
class ByMeaning(Microaggregation):
    """The base of these: they refuse a log of which the taxonomy covers too little."""

    min_coverage: float = parameter(
        MIN_COVERAGE, "share of phrases that must have a concept of the taxonomy", min=0.0, max=1.0
    )

    def run_share(self, log: QueryLog, chance: RandomSource, progress: Progress) -> Release:
        """Protect a block of users; of all blocks together enough is covered."""
        release = replace(self, min_coverage=0.0).run(log, chance, progress)
        return replace(release, parameters=self._published())

    def repartition(self, rows: RemoteTable, progress: Progress) -> RemoteTable:
        """Cut a log into blocks, unless too little of it is covered."""
        return repartition_by_similarity(
            rows, self.taxonomy, self.k, self.least, progress, covered=self._check_coverage
        )

    def _check_coverage(self, share: float) -> float:
        return check_coverage(share, self.min_coverage, self._published()["taxonomy"])
