"""Semantic replacement (Sánchez, Batet, Viejo, Rodríguez-García, Castellà-Roca 2018)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np
import polars as pl

from ...concepts.similarity.domain_sets import DomainSet
from ...concepts.taxonomy.arrays import IntArray
from ...core.parameters import parameter
from ...core.progress import NoProgress, Progress
from ...core.randomness import RandomSource
from ...dp.noise import NoiseSource
from ...engine.operations import unique_users
from ...errors import ParameterError
from ...log.query_log import QueryLog
from ...release.guarantee import Guarantee
from ..base import MethodOutput
from ..continuation import ContinuableMethod, PreviousContributions
from ..forecast import Forecast, ForecastFact
from .base import REWRITE_BLOCKER, ReplacementMethod, replacement_guarantee
from .mechanism import (
    CALIBRATIONS,
    CRITERIA,
    PhraseBudget,
    ReplacementMechanism,
    calibrate_mechanism,
)
from .noise_description import describe_replacement_noise
from .phrases import BoundedPhrases, bound_phrases, pad_phrases
from .rendering import by_pseudonym, render_rows, substitute_phrases

_NO_USERS = pl.DataFrame(schema={"user": pl.String, "pseudonym": pl.String, "slots": pl.Int64})


@dataclass(frozen=True)
class SemanticReplacement(ReplacementMethod, ContinuableMethod):
    """Replace each query by a label of similar meaning, drawn at random.

    >>> str(SemanticReplacement(criterion="sqc1", epsilon=2))
    'semantic-replacement:epsilon=2.0:criterion=sqc1'
    """

    name: ClassVar[str] = "semantic-replacement"
    title: ClassVar[str] = "each query replaced by a concept of similar meaning, drawn at random"
    paper: ClassVar[str] = "Sánchez, Batet, Viejo, Rodríguez-García, Castellà-Roca 2018"
    guarantee_summary: ClassVar[str] = "differential privacy for a user's whole log"
    good_for: ClassVar[str] = (
        "a log of rows per user with a formal guarantee, if epsilon is large or few queries "
        "per user are kept; else the released queries are almost random"
    )
    parallelism: ClassVar[Literal["no", "steps", "users", "blocks"]] = "users"

    criterion: str = parameter(
        "sqc2",
        "score of a concept: similarity (sqc1), within the topic (sqc2), or equality (nsqc)",
        choices=CRITERIA,
    )
    topics: str = parameter(
        "auto",
        "topics of the score sqc2: auto, sanchez4, sanchez19, lexicographer, branches, or concepts",
    )
    calibration: str = parameter(
        "exact",
        "weights of the choice: the most useful within epsilon, or those of the paper",
        choices=CALIBRATIONS,
    )
    delta: float = parameter(
        0.0,
        "probability by which the bound of epsilon can be exceeded; 0: never",
        min=0.0,
        max=0.01,
    )
    preserve_length: bool = parameter(
        False, "keep the number of phrases of each user, which is then public"
    )
    keep_context_words: bool = parameter(
        False, "keep the other words of a query, which the guarantee does not cover"
    )
    previous_epsilon: float = parameter(
        0.0, "epsilon that earlier releases of these users spent", min=0.0, max=1e6, internal=True
    )
    continues: bool = parameter(False, "whether it continues an earlier release", internal=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.keep_context_words and not self.preserve_length:
            raise ParameterError(
                "`keep_context_words` needs `preserve_length`",
                hint="a row without a query has no other words to keep",
            )
        if self.delta and self.calibration == "permute-and-flip":
            raise ParameterError(
                "permute-and-flip cannot be composed by its range, so it has no `delta`",
                hint='omit `delta`, or use `calibration="exact"`',
            )

    # -- privacy loss ----------------------------------------------------------------------------

    @property
    def phrase_budget(self) -> PhraseBudget:
        """The budget of all slots of a user, which is divided equally."""
        return PhraseBudget(
            self.user_epsilon, Fraction(repr(self.delta)), self.max_phrases_per_user
        )

    @property
    def total_epsilon(self) -> Fraction:
        """The epsilon of a user's whole log, including that of earlier releases."""
        return self.user_epsilon + Fraction(repr(self.previous_epsilon))

    def guarantee(self) -> Guarantee:
        """Return the guarantee of these parameters."""
        return replacement_guarantee(self, self._checks(full=not self.preserve_length))

    def reasons_not_to_publish(self) -> tuple[str, ...]:
        """Return that words of queries are copied, if they are."""
        return (REWRITE_BLOCKER,) if self.keep_context_words else ()

    # -- the run ---------------------------------------------------------------------------------

    def mechanism(self, domains: DomainSet, progress: Progress) -> ReplacementMechanism:
        """Return the calibrated mechanism, which does not depend on the log."""
        return calibrate_mechanism(
            domains, self.criterion, self.calibration, self.phrase_budget, progress
        )

    def check_ready(self) -> None:
        """Raise an error if the mechanism cannot be calibrated; the calibration is cached."""
        self.mechanism(self.domains(), NoProgress())

    def forecast(self, expected_users: int) -> Forecast:  # noqa: ARG002
        """Return how often a query stays unchanged, or becomes a similar concept."""
        domains = self.domains()
        nominal = replace(self, calibration="nominal", delta=0.0).mechanism(domains, NoProgress())
        mechanisms = {
            "": (self.mechanism(domains, NoProgress()), ""),
            "nominal_": (nominal, ", with the nominal calibration"),
            "uniform_": (_build_uniform(domains), ", with uniformly random concepts"),
        }
        scores = {
            "unchanged": (1.0, "a phrase stays unchanged"),
            "similar": (0.5, "a phrase becomes a similar concept, or stays"),
        }
        rates = tuple(
            ForecastFact(
                f"{prefix}{name}_probability", mechanism.chance(score), title + more, "fraction"
            )
            for name, (score, title) in scores.items()
            for prefix, (mechanism, more) in mechanisms.items()
        )
        epsilon = self.phrase_budget.per_query
        return Forecast(
            facts=(
                ForecastFact("max_phrases", self.max_phrases_per_user, "phrases of a user"),
                ForecastFact("phrase_epsilon", epsilon, "epsilon of one phrase"),
                ForecastFact("domain_concepts", len(domains.concepts), "concepts to draw from"),
                *rates,
            )
        )

    def noise_statements(self) -> tuple[str, ...]:
        """Return how often a phrase stays unchanged; a mean over the domain, not over a log."""
        domains = self.domains()
        return self._describe_noise(domains, self.mechanism(domains, NoProgress()))

    def _describe_noise(
        self, domains: DomainSet, mechanism: ReplacementMechanism
    ) -> tuple[str, ...]:
        return describe_replacement_noise(
            stays=mechanism.chance(1.0),
            blindly=len(domains.domains) / len(domains.concepts),
            concepts=len(domains.concepts),
            rows=self.max_phrases_per_user,
            filled=not self.preserve_length,
        )

    def run(self, log: QueryLog, rng: RandomSource, progress: Progress) -> MethodOutput:
        """Map queries to concepts, draw one for each slot, render the labels."""
        return self.continue_release(
            log, PreviousContributions(_NO_USERS, self.max_phrases_per_user), rng, progress
        )

    def count_contributions(self, log: QueryLog, earlier: PreviousContributions) -> pl.DataFrame:
        """Return the number of slots that each user uses now."""
        domains = self.domains()
        concept_mapping = self._map_queries(log, domains, NoProgress())
        bounds = self._user_bounds(log, earlier)
        slots = bound_phrases(log, concept_mapping, domains.index_of, bounds)
        return _contributions(slots, self._used_slots(slots))

    def continuing(self, previous_epsilon: float) -> SemanticReplacement:
        """Return this method with the guarantee of all releases together."""
        return replace(self, continues=True, previous_epsilon=previous_epsilon)

    def continue_release(
        self,
        log: QueryLog,
        earlier: PreviousContributions,
        rng: RandomSource,
        progress: Progress,
    ) -> MethodOutput:
        """Anonymize new events of users of earlier releases, with the slots they have left."""
        domains = self.domains()
        mechanism = self.mechanism(domains, progress)
        noise = NoiseSource(None if rng.is_secure else rng.uint64s)
        concept_mapping = self._map_queries(log, domains, progress)
        with progress.stage("fill slots"):
            bounds = self._user_bounds(log, earlier)
            slots = bound_phrases(log, concept_mapping, domains.index_of, bounds)
        drawn = mechanism.replace(self._items(slots), noise, progress)
        with progress.stage("name"):
            mapping = earlier.updated(_contributions(slots, self._used_slots(slots)), rng)
            drawn = np.take(domains.concepts.astype(np.int32), drawn, out=drawn, mode="clip")
            before = _used_before(slots.users, earlier).to_numpy()
            names, sizes = _sort_mapping(mapping, slots.users), self._used_slots(slots)
            # One variable for all three arrays: at most two of them are in memory at a time.
            drawn = self._sort_by_user(slots, drawn)
            drawn = by_pseudonym(names, sizes, drawn)
            written = render_rows(domains.taxonomy, names, sizes, drawn, rng, before)
            if self.keep_context_words:
                written = substitute_phrases(written, concept_mapping, slots, names, before, rng)
        return self._build_output(
            slots,
            written,
            (domains.describe(),),
            mapping=mapping,
            noise_statements=self._describe_noise(domains, mechanism),
        )

    def _user_bounds(self, log: QueryLog, earlier: PreviousContributions) -> pl.DataFrame:
        """Return all users, also those of earlier releases, and their slots in this release.

        Unless users keep their number of phrases, a user has all slots of a release or none: with
        a part of them, the number of rows would reveal how many slots they had used.
        """
        cap = self.max_phrases_per_user
        now = pl.DataFrame({"user": unique_users(log.local_frame)})
        users = pl.concat([now, earlier.mapping.select("user")]).unique().sort("user")
        free = (earlier.max_contributions - _used_before(users["user"], earlier).to_numpy()).clip(
            0, cap
        )
        if not self.preserve_length:
            free = np.where(free == cap, cap, 0)
        return users.with_columns(bound=pl.Series(free))

    def _items(self, slots: BoundedPhrases) -> IntArray:
        """Return the item of each released row, or -1 for none."""
        return slots.table["item"].to_numpy() if self.preserve_length else pad_phrases(slots)

    def _sort_by_user(self, slots: BoundedPhrases, concepts: IntArray) -> IntArray:
        """Return the concepts sorted by user and slot."""
        if not self.preserve_length:
            return concepts
        order = slots.table.select(pl.arg_sort_by("user", "slot")).to_series()
        return np.asarray(concepts[order.to_numpy()])

    def _used_slots(self, slots: BoundedPhrases) -> IntArray:
        return slots.counts() if self.preserve_length else slots.bounds


def _build_uniform(domains: DomainSet) -> ReplacementMechanism:
    """Return the mechanism that draws all concepts with almost equal probability."""
    return calibrate_mechanism(
        domains, "sqc1", "nominal", PhraseBudget(Fraction(1, 10**9), Fraction(0), 1)
    )


def _contributions(slots: BoundedPhrases, used: IntArray) -> pl.DataFrame:
    return pl.DataFrame({"user": slots.users, "slots": used.astype(np.int64)})


def _sort_mapping(mapping: pl.DataFrame, users: pl.Series) -> pl.DataFrame:
    """Return the mapping in the order of these users."""
    return pl.DataFrame({"user": users}).join(mapping, on="user", maintain_order="left")


def _used_before(users: pl.Series, earlier: PreviousContributions) -> pl.Series:
    """Return the number of slots that each of these users has used so far."""
    known = pl.DataFrame({"user": users}).join(
        earlier.mapping, on="user", how="left", maintain_order="left"
    )
    return known["slots"].fill_null(0)
