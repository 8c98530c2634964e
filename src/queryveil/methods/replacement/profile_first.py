"""Profile first: spend the budget of a user on their profile of topics, not on single queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from ...concepts.similarity.domain_sets import DomainSet
from ...concepts.taxonomy.arrays import IntArray, RaggedArray
from ...core.parameters import parameter
from ...core.progress import Progress
from ...core.randomness import RandomSource
from ...dp.budget import format_amount
from ...dp.losses import Loss, pure_rho
from ...dp.noise import NoiseSource
from ...errors import ParameterError
from ...log.query_log import QueryLog
from ...release.guarantee import Guarantee
from ..base import MethodOutput
from ..forecast import Forecast, ForecastFact
from .base import ASSUMPTIONS, NEIGHBOURS, NOT_COVERED, ReplacementMethod
from .noise_description import describe_profile_noise
from .phrases import BoundedPhrases, bound_phrases
from .profile_mechanisms import (
    Apportionments,
    Floats,
    ProfileMechanism,
    apportion,
    choose_profile_mechanism,
    uniform_loss,
)

_MECHANISMS = ("auto", "cells", "answers", "population", "uniform")


@dataclass(frozen=True)
class ProfileFirst(ReplacementMethod):
    """Release each user's profile of topics privately, and draw queries from it.

    >>> str(ProfileFirst(epsilon=10))
    'profile-first:epsilon=10.0'
    """

    name: ClassVar[str] = "profile-first"
    title: ClassVar[str] = "queries drawn from a private profile of each user's topics"
    paper: ClassVar[str] = "none: beyond Sánchez et al. 2018"
    guarantee_summary: ClassVar[str] = "differential privacy for a user's whole log"
    good_for: ClassVar[str] = (
        "the interests of single users, by topic: user modeling and personalization; the "
        "words of the queries are not kept"
    )

    mechanism: str = parameter(
        "auto",
        "how profiles are released: noisy counts, randomized answers, one mean, or not at all",
        choices=_MECHANISMS,
    )
    topics: str = parameter(
        "auto", "topics of a profile: auto, sanchez4, sanchez19, lexicographer, or concepts"
    )

    def check_ready(self) -> None:
        """Raise an error if the domain has too few topics."""
        _topic_concepts(self.domains())

    def forecast(self, expected_users: int) -> Forecast:
        """Return how profiles would be released, and the expected loss on example profiles."""
        topics = len(_topic_concepts(self.domains())[1])
        mechanism = self._choose_mechanism(expected_users, topics)
        facts = [ForecastFact("topics", topics, "topics of a profile")]
        if mechanism is None:
            facts.append(ForecastFact("profiles", "all the same", "profiles", "text"))
            return Forecast(facts=tuple(facts))
        points = getattr(mechanism, "points", 0)
        name = type(mechanism).__name__.lower()
        profiles = f"{name}, in {points} points" if points else "one mean for all"
        saved = 1 - mechanism.loss / uniform_loss(topics)
        title = "loss saved against a uniform profile, about"
        facts.append(ForecastFact("profiles", profiles, "profiles", "text"))
        facts.append(ForecastFact("saved_loss", round(saved, 4), title, "fraction"))
        return Forecast(facts=tuple(facts))

    def run(self, log: QueryLog, rng: RandomSource, progress: Progress) -> MethodOutput:
        """Count the topics of each user, release profiles privately, draw queries."""
        domains = self.domains()
        topics, concepts = _topic_concepts(domains)
        noise = NoiseSource(None if rng.is_secure else rng.uint64s)
        concept_mapping = self._map_queries(log, domains, progress)
        with progress.stage("profiles"):
            slots = bound_phrases(log, concept_mapping, topics, self.max_phrases_per_user)
            counts = _count_topics(slots, len(concepts))
        with progress.stage("release profiles"):
            # The number of users is public, so the choice of the mechanism may depend on it.
            points = apportion(self._release_profiles(counts, noise), self.max_phrases_per_user)
        with progress.stage("draw queries"):
            drawn = _sample_concepts(points, concepts, rng)
            written = self._render(domains, slots, points.sum(axis=1), drawn, rng)
        notes = (domains.describe(), f"profiles have {len(concepts)} topics")
        mechanism = self._choose_mechanism(*counts.shape)
        effects = describe_profile_noise(mechanism, *counts.shape)
        return self._build_output(slots, written, notes, noise_statements=effects)

    def _release_profiles(self, counts: Apportionments, noise: NoiseSource) -> Floats:
        """Return the private profile of each user; later steps read nothing else of the log."""
        mechanism = self._choose_mechanism(*counts.shape)
        return np.ones(counts.shape) if mechanism is None else mechanism.profiles(counts, noise)

    def _choose_mechanism(self, users: int, topics: int) -> ProfileMechanism | None:
        """Return the mechanism of profiles, from public numbers alone; None for uniform ones."""
        if self.mechanism == "uniform" or not users:
            return None
        return choose_profile_mechanism(topics, self.user_epsilon, users, self.mechanism)

    def guarantee(self) -> Guarantee:
        """Return epsilon for a user's whole log."""
        epsilon = format_amount(self.user_epsilon)
        return Guarantee(
            model="pure-dp",
            statement=(
                "Any change of one user's queries changes the probability of any outcome by at "
                f"most a factor of e^{epsilon}. The budget is spent on the fractions of topics in "
                f"the queries of a user; their {self.max_phrases_per_user:,} released queries are "
                "labels of concepts, drawn at random by these fractions. The bound for one query "
                "alone is the same."
            ),
            neighbours=NEIGHBOURS,
            epsilon=float(self.user_epsilon),
            relation="replace-one",
            losses=(Loss("replace-one", pure_rho(self.user_epsilon)),),
            per_query_epsilon=float(self.user_epsilon),
            assumptions=ASSUMPTIONS,
            not_covered=NOT_COVERED,
            checks=self._checks(),
        )


def _topic_concepts(domains: DomainSet) -> tuple[IntArray, RaggedArray]:
    """Return the topic number of every concept, or -1, and the concepts of each topic.

    Topics without a concept in the domains are omitted.
    """
    concepts = np.unique(domains.concepts)
    topic = domains.topics.topic_of[concepts]
    used = np.unique(topic[topic >= 0])
    if len(used) < 2:
        raise ParameterError(
            f"a profile needs at least two topics, but the domain has {len(used)}",
            hint="use a wider `domain`, or other `topics`",
        )
    numbers = np.full(len(domains.taxonomy) + 1, -1)  # the last one is for index -1: no concept
    numbers[concepts] = np.where(topic >= 0, np.searchsorted(used, topic), -1)
    representative = np.where(domains.index_of >= 0, domains.concepts[domains.index_of], -1)
    inside = concepts[topic >= 0]
    return numbers[representative], RaggedArray.group_by(numbers[inside], inside, len(used))


def _count_topics(slots: BoundedPhrases, topics: int) -> Apportionments:
    """Count the phrases of each topic in each user's slots."""
    user, topic = (slots.table[name].to_numpy().astype(np.int64) for name in ("user", "item"))
    size = len(slots.users) * topics
    return np.bincount(user * topics + topic, minlength=size).reshape(len(slots.users), topics)


def _sample_concepts(points: Apportionments, concepts: RaggedArray, rng: RandomSource) -> IntArray:
    """Draw one concept of a topic per point; those of each user are in random order."""
    users, topics = points.shape
    user = np.repeat(np.arange(users, dtype=np.int32), points.sum(axis=1))
    topic = np.repeat(np.tile(np.arange(topics), users), points.reshape(-1))
    picks = rng.uint64s(len(topic)) % concepts.sizes[topic].astype(np.uint64)
    concept = concepts.items[concepts.start[topic] + picks.astype(np.int64)]
    keys = pl.DataFrame({"user": user, "by": rng.uint64s(len(user))})
    order = keys.with_columns(index=pl.int_range(pl.len())).sort("user", "by")["index"]
    return np.asarray(concept[order.to_numpy()], np.int32)
