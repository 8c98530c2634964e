"""What the methods of this shelf promise, and what not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from ...concepts.loaders.registry import open_taxonomy, public_names
from ...concepts.mapping.mapper import Mapper
from ...concepts.mapping.result import ConceptMapping
from ...concepts.similarity.domain_sets import (
    ALL,
    DomainSet,
    is_split_by_topic,
    open_domains,
    parse_domain,
)
from ...concepts.taxonomy.arrays import IntArray
from ...core.parameters import parameter
from ...core.progress import Progress
from ...core.randomness import RandomSource
from ...dp.budget import format_amount
from ...dp.losses import Loss, pure_rho
from ...engine.operations import unique_queries
from ...log.query_log import QueryLog
from ...release.guarantee import Check, Guarantee, Model
from ...release.release import Release
from ..base import FAILURES, READ_ALONE, Method
from .phrases import NO_CONCEPT, BoundedPhrases
from .rendering import ReplacementRows, by_pseudonym, render_rows

if TYPE_CHECKING:
    from .semantic import SemanticReplacement


NEIGHBOURS = "two logs of the same users that differ in the whole log of one user"
ASSUMPTIONS = (
    "a user name of the log stands for one person, and one person has one user name",
    "how many users the log has is public: those with a row that was read and kept",
    READ_ALONE,
    "how the files are read (format, columns, form of times) was fixed without looking at the log",
    "the taxonomy, the domain and all parameters were chosen without looking at the log",
    "who made the release keeps the ledger, and adds up what other releases cost",
)
NOT_COVERED = (
    "that a person is in the log: each has a pseudonym and rows of their own",
    "that every row of a person was left out when the log was read (empty queries, rows that "
    "cannot be read, days that were not asked for): they have no pseudonym then",
    "how long the run took, and the files under private/",
    FAILURES,
)
REWRITE_BLOCKER = "the text copies words of the users' own queries, which no epsilon covers"

_LENGTHS = "how many phrases with a concept each user has in each log, up to the cap"
_FIRST = "in which of the logs each user first appears"
_RETRY = (
    "if a run was killed: that the next one works with the very same log only, so that who sees "
    "it refused knows that the log is another one"
)
_SAFE = 1 + Fraction(1, 10**9)  # more than what floats round away
_TOPICS = "the topics of each user's queries in their order"


def replacement_guarantee(method: SemanticReplacement, checks: tuple[Check, ...]) -> Guarantee:
    """Promise epsilon for a user's whole log, as far as the parameters allow."""
    if method.rewrite:
        return _copied_words(method)
    given = _given(method)
    epsilon, delta = method.total_epsilon, method.delta
    model: Model = "conditional-dp" if given else "approx-dp" if delta else "pure-dp"
    return Guarantee(
        model=model,
        statement=_says(method, given),
        neighbours=NEIGHBOURS + (f" and agree in {given}" if given else ""),
        given=given,
        epsilon=float(epsilon),
        delta=delta or None,
        per_query_epsilon=method.phrase_budget.per_query,
        relation="replace-one",
        losses=(_loss(method),),
        assumptions=(*ASSUMPTIONS, *((f"public already: {given}",) if given else ())),
        not_covered=_not_covered(method),
        checks=checks,
    )


def _given(method: SemanticReplacement) -> str | None:
    parts = [_TOPICS] if is_split_by_topic(method.domain) else []
    parts += [_LENGTHS] if method.keep_length else []
    parts += [_FIRST] if method.goes_on else []
    return " and ".join(parts) or None


def _loss(method: SemanticReplacement) -> Loss:
    """Return what all slots lose together: each is drawn by itself, within its epsilon or range.

    With a delta slots are added up in one of the two ways, and the dearer one is taken here.
    """
    slot = method.user_epsilon / method.max_queries_per_user
    rho = method.total_epsilon / slot * pure_rho(slot)
    return Loss("replace-one", max(rho, method.phrase_budget.range_rho * _SAFE))


def _says(method: SemanticReplacement, given: str | None) -> str:
    whole, one = format_amount(method.total_epsilon), f"{method.phrase_budget.per_query:.4g}"
    chance = f", but for a chance of {method.delta:g}" if method.delta else ""
    within = f"Between logs that agree in {given}: whatever" if given else "Whatever"
    return (
        f"{within} any one person asked changes the chance of any outcome by at most a factor "
        f"of e^{whole}{chance}. For one phrase of hers that is another one in the same place it "
        f"is e^{one}: epsilon {one} for a phrase, {whole} for a person's "
        f"{method.max_queries_per_user:,} phrases. Every query that is given is the name of a "
        "concept, drawn at random."
    ) + _earlier(method)


def _earlier(method: SemanticReplacement) -> str:
    if not method.spent_before:
        return ""
    before = f"{method.spent_before:g}"
    return f" That includes epsilon {before} of the releases that this one extends."


def _not_covered(method: SemanticReplacement) -> tuple[str, ...]:
    topics = f"{_TOPICS}: a replacement stays within the topic of its query"
    lengths = f"{_LENGTHS}: these numbers are seen as they are"
    return (
        *((topics,) if is_split_by_topic(method.domain) else ()),
        *((lengths,) if method.keep_length else ()),
        *((f"{_FIRST}: a new pseudonym is seen to be new", _RETRY) if method.goes_on else ()),
        *NOT_COVERED,
    )


def _copied_words(method: SemanticReplacement) -> Guarantee:
    """Promise nothing: modifiers, plurals and stop words are the user's own words."""
    return Guarantee(
        model="none",
        statement=(
            "Each noun phrase is replaced by another one as the paper does, and the other words "
            "of the query stay. The draws of concepts alone would keep epsilon "
            f"{format_amount(method.total_epsilon)} for a person and "
            f"{method.phrase_budget.per_query:.4g} for a phrase; the text does not."
        ),
        not_covered=(
            "the text: it copies the user's words, also rare ones and names",
            *_not_covered(method),
        ),
        checks=(Check("no-clicks", {}),),
    )


@dataclass(frozen=True)
class ReplacementMethod(Method):
    """The base of the shelf: epsilon, what it covers, and the concepts that may be given."""

    epsilon: float = parameter(1.0, "what one person can change at most", min=0.001, max=1000.0)
    budget: str = parameter(
        "per-user", "whether epsilon is for a user's whole log, or for each query",
        choices=("per-user", "per-query"),
    )  # fmt: skip
    domain: str = parameter(
        ALL, "concepts that are given: all, a concept, several topics, or A, B, C of the paper"
    )
    max_queries_per_user: int = parameter(
        100, "queries, counted as phrases, of each user", min=1, max=10_000, unit="phrases"
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
