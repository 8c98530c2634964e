"""The base class of the replacement methods, and their guarantees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from ...concepts.loaders.registry import open_taxonomy
from ...concepts.mapping.options import LANGUAGE_HELP, SAME, TERMS_HELP, MappingOptions
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
from ...core.records import Scalar
from ...dp.budget import format_amount
from ...dp.losses import Loss, pure_rho
from ...engine.operations import unique_queries
from ...log.query_log import QueryLog
from ...release.guarantee import Check, Guarantee, Model
from ..base import FAILURES, READ_ALONE, Method, MethodOutput
from .phrases import NO_CONCEPT, BoundedPhrases
from .rendering import ReplacementRows, by_pseudonym, render_rows

if TYPE_CHECKING:
    from .semantic import SemanticReplacement


NEIGHBOURS = "two logs of the same users that differ in the whole log of one user"
ASSUMPTIONS = (
    "a user name of the log stands for one person, and one person has one user name",
    "how many users the log has is public: those with a row that was read and kept",
    READ_ALONE,
    "how the files are read (format, columns, form of times) was fixed independently of the log",
    "the taxonomy, the domain and all parameters were chosen independently of the log",
    "the data owner keeps the ledger, and adds up the loss of all releases",
)
NOT_COVERED = (
    "that a user is in the log: each has a pseudonym and rows of their own",
    "that every row of a user was dropped when the log was read (empty queries, rows that cannot "
    "be read, days that were not selected): such a user has no pseudonym",
    "how long the run took, and the files under private/",
    FAILURES,
)
REWRITE_BLOCKER = "the text copies words of the users' own queries, which no epsilon covers"

_LENGTHS = "how many phrases with a concept each user has in each log, up to the cap"
_FIRST = "in which of the logs each user first appears"
_RETRY = (
    "if a run was killed: that the next run accepts the very same log only, so that whoever sees a "
    "refusal learns that the log is a different one"
)
_ROUNDING_MARGIN = 1 + Fraction(1, 10**9)  # larger than the rounding error of floats
_TOPICS = "the topics of each user's queries in their order, including how many have one"


def replacement_guarantee(method: SemanticReplacement, checks: tuple[Check, ...]) -> Guarantee:
    """Return epsilon for a user's whole log, conditional or none if the parameters require it."""
    if method.keep_context_words:
        return _rewrite_guarantee(method)
    given = _state_condition(method)
    epsilon, delta = method.total_epsilon, method.delta
    model: Model = "conditional-dp" if given else "approx-dp" if delta else "pure-dp"
    return Guarantee(
        model=model,
        statement=_state_guarantee(method, given),
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


def _state_condition(method: SemanticReplacement) -> str | None:
    parts = [_TOPICS] if is_split_by_topic(method.domain) else []
    parts += [_LENGTHS] if method.preserve_length else []
    parts += [_FIRST] if method.continues else []
    return " and ".join(parts) or None


def _loss(method: SemanticReplacement) -> Loss:
    """Return the loss of all slots: each is drawn independently, within its epsilon or range.

    With a delta, slots are composed in one of two ways. The larger loss of the two is used here.
    """
    slot = method.user_epsilon / method.max_phrases_per_user
    rho = method.total_epsilon / slot * pure_rho(slot)
    return Loss("replace-one", max(rho, method.phrase_budget.range_rho * _ROUNDING_MARGIN))


def _state_guarantee(method: SemanticReplacement, given: str | None) -> str:
    per_user = format_amount(method.total_epsilon)
    per_phrase = f"{method.phrase_budget.per_query:.4g}"
    exception = f", except with probability {method.delta:g}" if method.delta else ""
    within = f"Between logs that agree in {given}: any" if given else "Any"
    return (
        f"{within} change of one user's queries changes the probability of any outcome by at most "
        f"a factor of e^{per_user}{exception}. For the change of one phrase to another one in the "
        f"same slot it is e^{per_phrase}: epsilon {per_phrase} for a phrase, {per_user} for a "
        f"user's {method.max_phrases_per_user:,} phrases. Every released query is the label of a "
        "concept, drawn at random."
    ) + _state_earlier_releases(method)


def _state_earlier_releases(method: SemanticReplacement) -> str:
    if not method.previous_epsilon:
        return ""
    before = f"{method.previous_epsilon:g}"
    return f" That includes epsilon {before} of the releases that this one extends."


def _not_covered(method: SemanticReplacement) -> tuple[str, ...]:
    topics = f"{_TOPICS}: a replacement stays within the topic of its query"
    lengths = f"{_LENGTHS}: these numbers are released exactly"
    return (
        *((topics,) if is_split_by_topic(method.domain) else ()),
        *((lengths,) if method.preserve_length else ()),
        *((f"{_FIRST}: a new pseudonym is recognized as new", _RETRY) if method.continues else ()),
        *NOT_COVERED,
    )


def _rewrite_guarantee(method: SemanticReplacement) -> Guarantee:
    """Return no guarantee: modifiers, plurals and stop words are the user's own words."""
    return Guarantee(
        model="none",
        statement=(
            "Each noun phrase is replaced by another one as the paper does, and the other words "
            "of the query stay. The draws of concepts alone would have epsilon "
            f"{format_amount(method.total_epsilon)} for a user and "
            f"{method.phrase_budget.per_query:.4g} for a phrase; the text has none."
        ),
        not_covered=(
            "the text: it copies the user's words, also rare ones and names",
            *_not_covered(method),
        ),
        checks=(Check("no-clicks", {}),),
    )


@dataclass(frozen=True)
class ReplacementMethod(Method):
    """The base class of the replacement methods: epsilon, its unit, and the domain."""

    epsilon: float = parameter(
        1.0,
        "privacy loss, at most: of a user's whole log or of one query (see `budget_unit`)",
        min=0.001,
        max=1000.0,
    )
    budget_unit: str = parameter(
        "user", "what epsilon is for: a user's whole log, or each query by itself",
        choices=("user", "query"),
    )  # fmt: skip
    domain: str = parameter(
        ALL,
        "concepts that can be released: all, below a concept, topics, or A, B, C of the paper",
    )
    max_phrases_per_user: int = parameter(
        100,
        "number of phrases of each user that are released; a query has one or more",
        min=1,
        max=10_000,
        unit="phrases",
    )
    # Without the names of brands: each candidate more takes probability from the near ones.
    taxonomy: str = parameter(
        "wordnet-nouns", "taxonomy of concepts: wordnet-nouns, shop, or a file"
    )
    language: str = parameter(SAME, LANGUAGE_HELP)
    terms: str = parameter("", TERMS_HELP)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.mapping_options.check(may_guess=False)
        parse_domain(self.domain)  # raises an error if it is invalid

    @property
    def user_epsilon(self) -> Fraction:
        """The epsilon of this release for a user's whole log."""
        each = Fraction(repr(self.epsilon))
        return each * self.max_phrases_per_user if self.budget_unit == "query" else each

    def input_files(self) -> tuple[Path, ...]:
        """Return the files of the taxonomy and of custom terms."""
        return self.mapping_options.files()

    @property
    def mapping_options(self) -> MappingOptions:
        """How queries are mapped to concepts."""
        return MappingOptions(self.taxonomy, self.language, self.terms)

    def domains(self) -> DomainSet:
        """Return the domains of the taxonomy, and the topics of profiles."""
        topics = str(self.params().get("topics", "auto"))
        plain = open_domains(open_taxonomy(self.taxonomy), self.domain, topics)
        # Domains and topics are named in the language of the taxonomy; labels are released in that
        # of the queries. The concepts have the same numbers.
        return replace(plain, taxonomy=self.mapping_options.open_taxonomy())

    def _map_queries(self, log: QueryLog, domains: DomainSet, progress: Progress) -> ConceptMapping:
        mapper = self.mapping_options.mapper(domains.taxonomy)
        return mapper.map(unique_queries(log.local_frame), progress)

    def coverage(self, dropped: Mapping[str, int]) -> float | None:
        """Return the fraction of rows that have a concept of the domain."""
        rows = sum(dropped.values())
        return round(1 - dropped.get(NO_CONCEPT, 0) / rows, 4) if rows else None

    def _checks(self, full: bool = True) -> tuple[Check, ...]:
        """Return the checks that each user has numbered rows without clicks."""
        rows = {"rows": self.max_phrases_per_user, "all": full}
        return Check("slots", rows), Check("no-clicks", {})

    def _render(
        self,
        domains: DomainSet,
        slots: BoundedPhrases,
        sizes: IntArray,
        concepts: IntArray,
        rng: RandomSource,
    ) -> ReplacementRows:
        """Return the rows of all users, with pseudonyms and labels."""
        names = pl.Series("pseudonym", rng.tokens(len(slots.users))).cast(pl.String)
        mapping = pl.DataFrame({"user": slots.users, "pseudonym": names})
        ordered = by_pseudonym(mapping, sizes, concepts)
        return render_rows(domains.taxonomy, mapping, sizes, ordered, rng)

    def _build_output(
        self,
        slots: BoundedPhrases,
        written: ReplacementRows,
        notes: tuple[str, ...],
        **more: Any,
    ) -> MethodOutput:
        """Return the output, in which generated rows replace all rows of the log."""
        return MethodOutput(
            log=written.log.lazy().with_columns(pl.col("time").cast(pl.Int32)),
            concepts=written.concepts,
            dropped=slots.dropped,
            generated={"rows with a concept drawn at random": written.log.height},
            notes=notes,
            **({"mapping": written.mapping} | more),
        )

    def public_params(self) -> dict[str, Scalar]:
        """Return the parameters for the card; the folders of files are private."""
        return {**self.params(), **self.mapping_options.public_params()}
