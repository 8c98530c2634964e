"""Profile first: a user's budget is spent on what she is interested in, not on single queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

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
from ...release.release import Release
from .base import ASSUMPTIONS, NEIGHBOURS, NOT_COVERED, ReplacementMethod
from .noise_description import told_says
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
    """Tell each user's profile of topics privately, and draw her queries from it.

    >>> str(ProfileFirst(epsilon=10))
    'profile-first:epsilon=10.0'
    """

    name: ClassVar[str] = "profile-first"
    title: ClassVar[str] = "queries drawn from a private profile of each user's topics"
    paper: ClassVar[str] = "none: beyond Sánchez et al. 2018"
    guarantee_summary: ClassVar[str] = "differential privacy for a user's whole log"

    mechanism: str = parameter(
        "auto", "how profiles are told: counted, by answers, one mean for all, or not at all",
        choices=_MECHANISMS,
    )  # fmt: skip
    topics: str = parameter(
        "auto", "topics of the profile: auto, sanchez4, sanchez19, lexicographer, or concepts"
    )

    def check_ready(self) -> None:
        """Open the taxonomy and find the topics."""
        _topic_concepts(self.domains())

    def forecast(self, population: int) -> dict[str, Any]:
        """Tell how profiles would be told, and what loss to expect on made-up ones."""
        _, concepts = _topic_concepts(self.domains())
        topics, facts = len(concepts), {"topics": f"{len(concepts):,}", "profiles": "all alike"}
        way = self._way(population, topics)
        if way is None:
            return {"facts": facts}
        points = getattr(way, "points", 0)
        told = f"{type(way).__name__.lower()}, in {points} points" if points else "one mean for all"
        saved = 1 - way.loss / uniform_loss(topics)
        facts |= {"profiles": told, "loss saved against a uniform profile": f"about {saved:.0%}"}
        return {"facts": facts}

    def run(self, log: QueryLog, chance: RandomSource, progress: Progress) -> Release:
        """Count each user's topics, tell them privately, draw her queries."""
        domains = self.domains()
        topics, concepts = _topic_concepts(domains)
        noise = NoiseSource(None if chance.is_secure else chance.uint64s)
        found = self._found(log, domains, progress)
        with progress.stage("profiles"):
            slots = bound_phrases(log, found, topics, self.max_queries_per_user)
            counts = _counts(slots, len(concepts))
        with progress.stage("tell profiles"):
            # How many users there are is public, so that it may help to choose the way.
            handed = apportion(self._profiles(counts, noise), self.max_queries_per_user)
        with progress.stage("draw queries"):
            drawn = _drawn(handed, concepts, chance)
            written = self._named(domains, slots, handed.sum(axis=1), drawn, chance)
        notes = (domains.describe(), f"profiles have {len(concepts)} topics")
        says = told_says(self._way(*counts.shape), *counts.shape)
        return self._release(log, slots, written, notes, noise_says=says, progress=progress)

    def _profiles(self, counts: Apportionments, noise: NoiseSource) -> Floats:
        """Give each user's private profile; nothing else of the log is looked at from here on."""
        way = self._way(*counts.shape)
        return np.ones(counts.shape) if way is None else way.profiles(counts, noise)

    def _way(self, users: int, topics: int) -> ProfileMechanism | None:
        """Choose how profiles are told, from public numbers alone; None if not at all."""
        if self.mechanism == "uniform" or not users:
            return None
        return choose_profile_mechanism(topics, self.user_epsilon, users, self.mechanism)

    def guarantee(self) -> Guarantee:
        """Promise epsilon for a user's whole log."""
        epsilon = format_amount(self.user_epsilon)
        return Guarantee(
            model="pure-dp",
            statement=(
                f"Whatever any one person asked changes the chance of any outcome by at most a "
                f"factor of e^{epsilon}. It is spent on the shares of topics in her queries; the "
                f"{self.max_queries_per_user:,} queries that stand for her are names of concepts, "
                "drawn at random by these shares. For one query alone it is no less."
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
    """Give for every concept the number of its topic, or -1, and the concepts of each topic.

    Topics without a concept in the domains do not count.
    """
    concepts = np.unique(domains.concepts)
    topic = domains.topics.topic_of[concepts]
    used = np.unique(topic[topic >= 0])
    if len(used) < 2:
        raise ParameterError(
            f"a profile needs two topics or more, and the domain has {len(used)}",
            hint="take a wider --domain, or other --topics",
        )
    numbers = np.full(len(domains.taxonomy) + 1, -1)  # the last is for no concept
    numbers[concepts] = np.where(topic >= 0, np.searchsorted(used, topic), -1)
    standing = np.where(domains.index_of >= 0, domains.concepts[domains.index_of], -1)
    inside = concepts[topic >= 0]
    return numbers[standing], RaggedArray.group_by(numbers[inside], inside, len(used))


def _counts(slots: BoundedPhrases, topics: int) -> Apportionments:
    """Count the phrases of each topic in each user's slots."""
    user, topic = (slots.table[name].to_numpy().astype(np.int64) for name in ("user", "item"))
    size = len(slots.users) * topics
    return np.bincount(user * topics + topic, minlength=size).reshape(len(slots.users), topics)


def _drawn(handed: Apportionments, concepts: RaggedArray, chance: RandomSource) -> IntArray:
    """Draw concepts of each topic, as many as it has points, each user's in random order."""
    users, topics = handed.shape
    user = np.repeat(np.arange(users, dtype=np.int32), handed.sum(axis=1))
    topic = np.repeat(np.tile(np.arange(topics), users), handed.reshape(-1))
    picks = chance.uint64s(len(topic)) % concepts.sizes[topic].astype(np.uint64)
    concept = concepts.items[concepts.start[topic] + picks.astype(np.int64)]
    keys = pl.DataFrame({"user": user, "by": chance.uint64s(len(user))})
    order = keys.with_columns(place=pl.int_range(pl.len())).sort("user", "by")["place"]
    return np.asarray(concept[order.to_numpy()], np.int32)
