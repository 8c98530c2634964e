"""The base class of methods that group users by the concepts of their queries."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...core.parameters import parameter
from ...core.progress import Progress
from ...core.randomness import RandomSource
from ...engine.table import RemoteTable
from ...log.query_log import QueryLog
from ..base import MethodOutput
from .base import Microaggregation
from .blocking import repartition_by_similarity
from .coverage import MIN_COVERAGE, check_coverage


@dataclass(frozen=True)
class ByMeaning(Microaggregation):
    """A method that requires a minimal coverage of the log by the taxonomy."""

    min_coverage: float = parameter(
        MIN_COVERAGE,
        "fraction of phrases that must have a concept of the taxonomy",
        min=0.0,
        max=1.0,
    )

    def run_partition(self, log: QueryLog, rng: RandomSource, progress: Progress) -> MethodOutput:
        """Anonymize a block of users; the coverage was checked for all blocks together."""
        return replace(self, min_coverage=0.0).run(log, rng, progress)

    def repartition(self, rows: RemoteTable, progress: Progress) -> RemoteTable:
        """Repartition a log into blocks of similar users, after a check of its coverage."""
        return repartition_by_similarity(
            rows, self.taxonomy, self.k, self.least, progress, covered=self._check_coverage
        )

    def _check_coverage(self, coverage: float) -> float:
        return check_coverage(coverage, self.min_coverage, self.public_params()["taxonomy"])
