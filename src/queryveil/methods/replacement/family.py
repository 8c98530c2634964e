"""What the methods of this shelf share: parameters, the domain, and the rows that they write."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl

from ...concepts.loaders.registry import open_taxonomy, public_names
from ...concepts.mapping.mapper import Mapper
from ...concepts.mapping.result import ConceptMapping
from ...concepts.similarity.domain_sets import ALL, DomainSet, open_domains, parse_domain
from ...concepts.taxonomy.arrays import IntArray
from ...core.parameters import parameter
from ...core.progress import Progress
from ...core.randomness import RandomSource
from ...engine.operations import unique_queries
from ...log.query_log import QueryLog
from ...release.guarantee import Check
from ...release.release import Release
from ..base import Method
from .phrases import NO_CONCEPT, BoundedPhrases
from .rendering import ReplacementRows, by_pseudonym, render_rows

__all__ = ["ReplacementMethod"]


@dataclass(frozen=True)
class ReplacementMethod(Method):
    """The base of the shelf: epsilon, what it covers, and the concepts that may be given."""

    epsilon: float = parameter(1.0, "what one person can change at most", low=0.001, high=1000.0)
    budget: str = parameter(
        "per-user", "whether epsilon is for a user's whole log, or for each query",
        choices=("per-user", "per-query"),
    )  # fmt: skip
    domain: str = parameter(
        ALL, "concepts that are given: all, a concept, several topics, or A, B, C of the paper"
    )
    max_queries_per_user: int = parameter(
        100, "queries, counted as phrases, of each user", low=1, high=10_000, unit="phrases"
    )
    taxonomy: str = parameter("wordnet", "what queries mean: wordnet, or a taxonomy's file")

    def __post_init__(self) -> None:
        super().__post_init__()
        parse_domain(self.domain)  # refuses what is none

    @property
    def user_epsilon(self) -> Fraction:
        """What this release costs for a user's whole log."""
        each = Fraction(repr(self.epsilon))
        return each * self.max_queries_per_user if self.budget == "per-query" else each

    def input_files(self) -> tuple[Path, ...]:
        """List the files of the taxonomy."""
        names = (name.strip() for name in self.taxonomy.split(","))
        return tuple(Path(name) for name in names if name and name != "wordnet")

    def domains(self) -> DomainSet:
        """Open the taxonomy and find the domains, and the topics of profiles."""
        topics = self.params().get("topics", "auto")
        return open_domains(open_taxonomy(self.taxonomy), self.domain, topics)

    def _found(self, log: QueryLog, domains: DomainSet, progress: Progress) -> ConceptMapping:
        return Mapper(domains.taxonomy).map(unique_queries(log.local_frame), progress)

    def coverage(self, dropped: Mapping[str, int]) -> float | None:
        """Return the share of rows that have a concept of the domain."""
        rows = sum(dropped.values())
        return round(1 - dropped.get(NO_CONCEPT, 0) / rows, 4) if rows else None

    def _checks(self, full: bool = True) -> tuple[Check, ...]:
        """Each user has her rows, numbered and without clicks."""
        rows = {"rows": self.max_queries_per_user, "all": full}
        return Check("slots", rows), Check("no-clicks", {})

    def _named(
        self,
        domains: DomainSet,
        slots: BoundedPhrases,
        sizes: IntArray,
        concepts: IntArray,
        chance: RandomSource,
    ) -> ReplacementRows:
        """Give users new names, and concepts labels."""
        names = pl.Series("pseudonym", chance.tokens(len(slots.users))).cast(pl.String)
        mapping = pl.DataFrame({"user": slots.users, "pseudonym": names})
        sorted_ = by_pseudonym(mapping, sizes, concepts)
        return render_rows(domains.taxonomy, mapping, sizes, sorted_, chance)

    def _release(
        self,
        log: QueryLog,
        slots: BoundedPhrases,
        written: ReplacementRows,
        notes: tuple[str, ...],
        **more: Any,
    ) -> Release:
        """Put the release together; every row of the log gives way to new ones."""
        return Release(
            method=self.name,
            parameters=self._published(),
            guarantee=self.guarantee(),
            source=log,
            log=written.log.lazy().with_columns(pl.col("time").cast(pl.Int32)),
            concepts=written.concepts,
            dropped=slots.dropped,
            generated={"rows with a concept drawn at random": written.log.height},
            notes=notes,
            coverage=self.coverage(slots.dropped),
            **({"mapping": written.mapping} | more),
        )

    def _published(self) -> dict[str, Any]:
        """Give the parameters as the card shows them: where a taxonomy's file lies is private."""
        return {**self.params(), "taxonomy": ",".join(public_names(self.taxonomy))}
