"""The concept histogram: the second baseline of Sánchez et al. 2018 (HBDP), with repaired noise."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np

from ...core.parameters import parameter
from ...core.progress import Progress
from ...core.randomness import RandomSource
from ...dp.accounting import laplace_tail, min_threshold
from ...dp.budget import format_amount
from ...dp.losses import Loss, pure_rho
from ...dp.noise import Integers, NoiseSource, exact_scale
from ...dp.public_counts import PublicCounts
from ...errors import ParameterError
from ...log.query_log import QueryLog
from ...release.guarantee import Guarantee
from ..base import MethodOutput
from ..forecast import Forecast, ForecastFact
from .base import ASSUMPTIONS, NEIGHBOURS, NOT_COVERED, ReplacementMethod
from .noise_description import describe_histogram_noise, own_share
from .phrases import BoundedPhrases, bound_phrases


@dataclass(frozen=True)
class ConceptHistogram(ReplacementMethod):
    """Add noise to the concept counts of each user, and draw queries by the noisy counts.

    >>> str(ConceptHistogram(epsilon=10))
    'concept-histogram:epsilon=10.0'
    """

    name: ClassVar[str] = "concept-histogram"
    title: ClassVar[str] = "queries drawn from noisy counts of each user's concepts"
    paper: ClassVar[str] = "Sánchez et al. 2018, the baseline HBDP"
    guarantee_summary: ClassVar[str] = "differential privacy for a user's whole log"
    good_for: ClassVar[str] = (
        "a baseline in comparisons; with a usual privacy budget it keeps almost nothing"
    )
    parallelism: ClassVar[Literal["no", "steps", "users", "blocks"]] = "users"

    threshold: int | Literal["auto"] = parameter(
        "auto",
        "minimum noisy count of a released concept; 1: as in the paper; auto: few by noise alone",
        min=1,
        max=10**9,
    )

    def counts(self, cells: int) -> PublicCounts:
        """Return the mechanism: another log of one user changes counts by twice the bound at most.

        The paper uses the length of the longest log, which depends on the data, and only once.
        """
        bound = self.max_phrases_per_user
        scale = exact_scale(2 * bound / self.user_epsilon)
        if self.threshold != "auto":
            return PublicCounts(scale, self.threshold, 2 * bound)
        # A user gets at most about a quarter as many empty concepts by noise as they have rows.
        tail = Fraction(min(bound, cells), 4 * cells)
        return PublicCounts(scale, min_threshold(laplace_tail, scale, tail), 2 * bound)

    def check_ready(self) -> None:
        """Raise an error if the domain is invalid or the noise cannot be drawn."""
        self.counts(len(self.domains().concepts))

    def noise_statements(self) -> tuple[str, ...]:
        """Return how many rows of a user have their own concepts, at best."""
        cells = len(self.domains().concepts)
        return describe_histogram_noise(self.counts(cells), cells, self.max_phrases_per_user)

    def forecast(self, expected_users: int) -> Forecast:  # noqa: ARG002
        """Return the effect of noise on the concepts of a user, for any log."""
        cells = len(self.domains().concepts)
        mechanism = self.counts(cells)
        own_rows = own_share(mechanism, cells, self.max_phrases_per_user).mean_rows
        return Forecast(
            facts=(
                ForecastFact("domain_concepts", cells, "concepts that may be released"),
                ForecastFact("noise_scale", float(mechanism.scale), "scale of the noise"),
                ForecastFact("threshold", mechanism.threshold, "a concept counts from so many on"),
                ForecastFact(
                    "own_rows", own_rows, "rows with a user's own concept, at best", "fraction"
                ),
            )
        )

    def run(self, log: QueryLog, rng: RandomSource, progress: Progress) -> MethodOutput:
        """Count concepts, add noise, draw queries."""
        domains = self.domains()
        cells, bound = len(domains.concepts), self.max_phrases_per_user
        noise = NoiseSource(None if rng.is_secure else rng.uint64s)
        concept_mapping = self._map_queries(log, domains, progress)
        with progress.stage("count concepts"):
            slots = bound_phrases(log, concept_mapping, domains.index_of, bound)
            indices, counts = _count_concepts(slots, cells)
        mechanism = self.counts(cells)
        with progress.stage("add noise"):
            total = len(slots.users) * cells
            selected, noisy = mechanism.release(indices, counts, total, noise)
        with progress.stage("draw queries"):
            items = _spread(selected, noisy, len(slots.users), cells, bound, rng)
            concepts = domains.concepts[items].astype(np.int32)
            written = self._render(domains, slots, slots.bounds, concepts, rng)
        notes = (domains.describe(), f"a concept counts from {mechanism.threshold:,} on")
        effects = describe_histogram_noise(mechanism, cells, bound)
        return self._build_output(slots, written, notes, noise_statements=effects)

    def guarantee(self) -> Guarantee:
        """Return epsilon for a user's whole log."""
        epsilon = format_amount(self.user_epsilon)
        return Guarantee(
            model="pure-dp",
            statement=(
                "Any change of one user's queries changes the probability of any outcome by at "
                f"most a factor of e^{epsilon}. The noise of each concept count is calibrated for "
                f"a change of all {self.max_phrases_per_user:,} phrases of a user; the released "
                "queries are labels of concepts, drawn by these noisy counts."
            ),
            neighbours=NEIGHBOURS,
            epsilon=float(self.user_epsilon),
            relation="replace-one",
            losses=(Loss("replace-one", pure_rho(self.user_epsilon)),),
            per_query_epsilon=float(self.user_epsilon / self.max_phrases_per_user),
            assumptions=ASSUMPTIONS,
            not_covered=NOT_COVERED,
            checks=self._checks(),
        )


def _count_concepts(slots: BoundedPhrases, cells: int) -> tuple[Integers, Integers]:
    """Count the concepts of each user; a cell is a pair of user and concept."""
    if len(slots.users) * cells >= 2**50:
        raise ParameterError(
            "the log has too many users for a domain of so many concepts",
            hint="use a smaller `domain`",
        )
    user, item = (slots.table[name].to_numpy().astype(np.int64) for name in ("user", "item"))
    indices, counts = np.unique(user * cells + item, return_counts=True)
    return indices.astype(np.int64), counts.astype(np.int64)


def _spread(
    selected: Integers, noisy: Integers, users: int, cells: int, rows: int, rng: RandomSource
) -> Integers:
    """Allocate the rows of each user to concepts in proportion to their noisy counts.

    This is systematic sampling: rows are at equal distances along the cumulative counts. Users
    without any count get uniformly random concepts.
    """
    ends = np.cumsum(noisy)
    user = selected // cells
    last = np.searchsorted(user, np.arange(users), side="right")
    total = np.concatenate([[0], ends])[last]
    before = np.concatenate([[0], total[:-1]])
    width = total - before
    steps = (2 * np.arange(rows, dtype=np.int64) + 1)[None, :]
    positions = (before[:, None] + width[:, None] * steps // (2 * rows)).reshape(-1)
    items = (rng.uint64s(users * rows) % np.uint64(cells)).astype(np.int64)
    has_counts = np.repeat(width > 0, rows)
    index = np.searchsorted(ends, positions[has_counts], side="right")
    items[has_counts] = selected[index] % cells
    return items
