"""The concept histogram: the second baseline of Sánchez et al. 2018 (HBDP), with honest noise."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal

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
from ...release.release import Release
from .base import ASSUMPTIONS, NEIGHBOURS, NOT_COVERED, ReplacementMethod
from .noise_description import counted_says, own_share
from .phrases import BoundedPhrases, bound_phrases


@dataclass(frozen=True)
class ConceptHistogram(ReplacementMethod):
    """Put noise on how often each user meant each concept, and draw her queries by that.

    >>> str(ConceptHistogram(epsilon=10))
    'concept-histogram:epsilon=10.0'
    """

    name: ClassVar[str] = "concept-histogram"
    title: ClassVar[str] = "queries drawn from noisy counts of each user's concepts"
    paper: ClassVar[str] = "Sánchez et al. 2018, the baseline HBDP"
    guarantee_summary: ClassVar[str] = "differential privacy for a user's whole log"
    parallelism: ClassVar[Literal["no", "steps", "users", "blocks"]] = "users"

    threshold: int = parameter(
        0, "noisy count from which on a concept counts: 1 as in the paper; 0 chooses", min=0,
        max=10**9,
    )  # fmt: skip

    def counts(self, cells: int) -> PublicCounts:
        """Make the noise: another log of one user moves at most twice her phrases.

        The paper takes the longest log instead, which depends on the data, and once.
        """
        most = self.max_queries_per_user
        scale = exact_scale(2 * most / self.user_epsilon)
        # About as many empty concepts of a user pass as she has rows.
        share = Fraction(min(most, cells), 4 * cells)
        found = self.threshold or min_threshold(laplace_tail, scale, share)
        return PublicCounts(scale, found, 2 * most)

    def check_ready(self) -> None:
        """Find the domain, and see that the noise can be drawn."""
        self.counts(len(self.domains().concepts))

    def noise_says(self) -> tuple[str, ...]:
        """Return how many of a person's rows carry what they asked, at best."""
        cells = len(self.domains().concepts)
        return counted_says(self.counts(cells), cells, self.max_queries_per_user)

    def forecast(self, population: int) -> dict[str, Any]:  # noqa: ARG002
        """Tell what noise leaves of a person's concepts, whatever the log holds."""
        cells = len(self.domains().concepts)
        counted = self.counts(cells)
        facts = {
            "concepts that may be given": f"{cells:,}",
            "scale of the noise": f"{float(counted.scale):,.4g}",
            "a concept counts from so many on": f"{counted.threshold:,}",
            "rows with a person's own concept": own_share(
                counted, cells, self.max_queries_per_user
            ).as_text(),
        }
        return {"facts": facts}

    def run(self, log: QueryLog, chance: RandomSource, progress: Progress) -> Release:
        """Count, add noise, draw."""
        domains = self.domains()
        cells, most = len(domains.concepts), self.max_queries_per_user
        noise = NoiseSource(None if chance.is_secure else chance.uint64s)
        found = self._found(log, domains, progress)
        with progress.stage("count concepts"):
            slots = bound_phrases(log, found, domains.index_of, most)
            places, counts = _histogram(slots, cells)
        counted = self.counts(cells)
        with progress.stage("add noise"):
            shown, noisy = counted.release(places, counts, len(slots.users) * cells, noise)
        with progress.stage("draw queries"):
            items = _spread(shown, noisy, len(slots.users), cells, most, chance)
            concepts = domains.concepts[items].astype(np.int32)
            written = self._named(domains, slots, slots.bounds, concepts, chance)
        notes = (domains.describe(), f"a concept counts from {counted.threshold:,} on")
        says = counted_says(counted, cells, most)
        return self._release(log, slots, written, notes, noise_says=says, progress=progress)

    def guarantee(self) -> Guarantee:
        """Promise epsilon for a user's whole log."""
        epsilon = format_amount(self.user_epsilon)
        return Guarantee(
            model="pure-dp",
            statement=(
                f"Whatever any one person asked changes the chance of any outcome by at most a "
                f"factor of e^{epsilon}. Each of her counts of concepts has noise made for "
                f"{self.max_queries_per_user:,} phrases that all could be others; the queries "
                "that stand for her are names of concepts, drawn by these noisy counts."
            ),
            neighbours=NEIGHBOURS,
            epsilon=float(self.user_epsilon),
            relation="replace-one",
            losses=(Loss("replace-one", pure_rho(self.user_epsilon)),),
            per_query_epsilon=float(self.user_epsilon / self.max_queries_per_user),
            assumptions=ASSUMPTIONS,
            not_covered=NOT_COVERED,
            checks=self._checks(),
        )


def _histogram(slots: BoundedPhrases, cells: int) -> tuple[Integers, Integers]:
    """Count each user's concepts; cells of all users stand in a row."""
    if len(slots.users) * cells >= 2**50:
        raise ParameterError("so many users and concepts cannot be counted", hint="--domain")
    user, item = (slots.table[name].to_numpy().astype(np.int64) for name in ("user", "item"))
    places, counts = np.unique(user * cells + item, return_counts=True)
    return places.astype(np.int64), counts.astype(np.int64)


def _spread(
    shown: Integers, noisy: Integers, users: int, cells: int, rows: int, chance: RandomSource
) -> Integers:
    """Give each user's rows to concepts in proportion to their noisy counts.

    Rows stand at equal distances along the counts. Who has no count gets concepts at random.
    """
    ends = np.cumsum(noisy)
    user = shown // cells
    last = np.searchsorted(user, np.arange(users), side="right")
    total = np.concatenate([[0], ends])[last]
    before = np.concatenate([[0], total[:-1]])
    width = total - before
    steps = (2 * np.arange(rows, dtype=np.int64) + 1)[None, :]
    spots = (before[:, None] + width[:, None] * steps // (2 * rows)).reshape(-1)
    items = (chance.uint64s(users * rows) % np.uint64(cells)).astype(np.int64)
    told = np.repeat(width > 0, rows)
    items[told] = shown[np.searchsorted(ends, spots[told], side="right")] % cells
    return items
