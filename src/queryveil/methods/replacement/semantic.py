"""Semantic replacement (Sánchez, Batet, Viejo, Rodríguez-García, Castellà-Roca 2018)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Literal

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
from ...release.release import Release
from .base import REWRITE_BLOCKER, ReplacementMethod, replacement_guarantee
from .mechanism import (
    CALIBRATIONS,
    CRITERIA,
    PhraseBudget,
    ReplacementMechanism,
    calibrate_mechanism,
)
from .noise_description import replaced_says
from .phrases import BoundedPhrases, PreviousContributions, bound_phrases, pad_phrases
from .rendering import by_pseudonym, render_rows, substitute_phrases


_NOBODY = pl.DataFrame(schema={"user": pl.String, "pseudonym": pl.String, "slots": pl.Int64})


@dataclass(frozen=True)
class SemanticReplacement(ReplacementMethod):
    """Replace each query by one of similar meaning, drawn at random.

    >>> str(SemanticReplacement(criterion="sqc1", epsilon=2))
    'semantic-replacement:epsilon=2.0:criterion=sqc1'
    """

    name: ClassVar[str] = "semantic-replacement"
    title: ClassVar[str] = "each query replaced by a concept of similar meaning, drawn at random"
    paper: ClassVar[str] = "Sánchez, Batet, Viejo, Rodríguez-García, Castellà-Roca 2018"
    guarantee_summary: ClassVar[str] = "differential privacy for a user's whole log"
    parallelism: ClassVar[Literal["no", "steps", "users", "blocks"]] = "users"

    criterion: str = parameter("sqc2", "what makes a concept a good stand-in", choices=CRITERIA)
    topics: str = parameter(
        "auto", "topics of sqc2: auto, sanchez4, sanchez19, lexicographer, branches, or concepts"
    )
    calibration: str = parameter(
        "exact", "the strongest choice within epsilon, or the paper's", choices=CALIBRATIONS
    )
    delta: float = parameter(0.0, "chance that the promise fails; 0 for none", min=0.0, max=0.01)
    keep_length: bool = parameter(
        False, "whether each user keeps her number of phrases, which is then seen"
    )
    rewrite: bool = parameter(
        False, "whether the other words of a query are kept, which no epsilon covers"
    )
    spent_before: float = parameter(
        0.0, "epsilon that earlier releases of these users spent; set by --append", min=0.0,
        max=1e6,
    )  # fmt: skip

    goes_on: bool = parameter(False, "whether it goes on with an earlier release; set by --append")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rewrite and not self.keep_length:
            raise ParameterError(
                "--rewrite needs --keep-length",
                hint="a row that stands for no query has no other words to keep",
            )
        if self.delta and self.calibration == "permute-and-flip":
            raise ParameterError(
                "permute-and-flip cannot be added up by its range, so it takes no --delta",
                hint="leave --delta out, or take --calibration exact",
            )

    # -- what it costs ---------------------------------------------------------------------------

    @property
    def phrase_budget(self) -> PhraseBudget:
        """What all slots of a user may cost, of which each one has a share."""
        return PhraseBudget(
            self.user_epsilon, Fraction(repr(self.delta)), self.max_queries_per_user
        )

    @property
    def total_epsilon(self) -> Fraction:
        """What a user's whole log costs, with what was spent before."""
        return self.user_epsilon + Fraction(repr(self.spent_before))

    def guarantee(self) -> Guarantee:
        """Promise what the parameters allow."""
        return replacement_guarantee(self, self._checks(full=not self.keep_length))

    def unfit(self) -> tuple[str, ...]:
        """Return that words of the users' own queries are copied, where they are."""
        return (REWRITE_BLOCKER,) if self.rewrite else ()

    # -- the run ---------------------------------------------------------------------------------

    def mechanism(self, domains: DomainSet, progress: Progress) -> ReplacementMechanism:
        """Make what draws; nothing of it depends on the log."""
        return calibrate_mechanism(
            domains, self.criterion, self.calibration, self.phrase_budget, progress
        )

    def check_ready(self) -> None:
        """Make the mechanism once, to see that it can be made; a later run is quicker for it."""
        self.mechanism(self.domains(), NoProgress())

    def forecast(self, population: int) -> dict[str, Any]:  # noqa: ARG002
        """Tell how often a query stays what it is, or becomes something near."""
        domains = self.domains()
        made = self.mechanism(domains, NoProgress())
        paper = replace(self, calibration="nominal", delta=0.0).mechanism(domains, NoProgress())
        facts = {
            "phrases of a user": f"{self.max_queries_per_user:,}",
            "epsilon of one phrase": f"{self.phrase_budget.per_query:.4g}",
            "concepts that may stand in": f"{len(domains.concepts):,}",
        }
        for least, name in ((1.0, "a phrase stays itself"), (0.5, "or becomes a near concept")):
            rates = (f"{100 * one.chance(least):.3g}%" for one in (made, paper, _blind(domains)))
            facts[name] = "{} of cases (nominal calibration: {}; by chance: {})".format(*rates)
        return {"facts": facts}

    def noise_says(self) -> tuple[str, ...]:
        """Return how often a phrase stays what it is; a mean over the domain, not over a log."""
        domains = self.domains()
        return self._noise_says(domains, self.mechanism(domains, NoProgress()))

    def _noise_says(self, domains: DomainSet, mechanism: ReplacementMechanism) -> tuple[str, ...]:
        return replaced_says(
            stays=mechanism.chance(1.0),
            blindly=len(domains.domains) / len(domains.concepts),
            concepts=len(domains.concepts),
            rows=self.max_queries_per_user,
            filled=not self.keep_length,
        )

    def run(self, log: QueryLog, chance: RandomSource, progress: Progress) -> Release:
        """Find the concepts, draw one for each slot, name them."""
        return self.continue_release(
            log, PreviousContributions(_NOBODY, self.max_queries_per_user), chance, progress
        )

    def count_contributions(self, log: QueryLog, earlier: PreviousContributions) -> pl.DataFrame:
        """Tell how many slots each user uses now."""
        slots = self._slots(log, earlier, self.domains(), NoProgress())
        return _uses(slots, self._used(slots))

    def continue_release(
        self,
        log: QueryLog,
        earlier: PreviousContributions,
        chance: RandomSource,
        progress: Progress,
    ) -> Release:
        """Protect new events of users who were released before, with the slots they have left."""
        domains = self.domains()
        mechanism = self.mechanism(domains, progress)
        noise = NoiseSource(None if chance.is_secure else chance.uint64s)
        found = self._found(log, domains, progress)
        with progress.stage("fill slots"):
            slots = bound_phrases(log, found, domains.index_of, self._most(log, earlier))
        drawn = mechanism.replace(self._items(slots), noise, progress)
        with progress.stage("name"):
            mapping = earlier.updated(_uses(slots, self._used(slots)), chance)
            drawn = np.take(domains.concepts.astype(np.int32), drawn, out=drawn, mode="clip")
            before = _used_before(slots.users, earlier).to_numpy()
            names, sizes = _in_order(mapping, slots.users), self._used(slots)
            # One name for all three, so that no more than two are held at a time.
            drawn = self._by_user(slots, drawn)
            drawn = by_pseudonym(names, sizes, drawn)
            written = render_rows(domains.taxonomy, names, sizes, drawn, chance, before)
            if self.rewrite:
                written = substitute_phrases(written, found, slots, names, before, chance)
        return self._release(
            log,
            slots,
            written,
            (domains.describe(),),
            mapping=mapping,
            noise_says=self._noise_says(domains, mechanism),
            not_release_grade=self.unfit(),
            progress=progress,
        )

    def _slots(
        self, log: QueryLog, earlier: PreviousContributions, domains: DomainSet, progress: Progress
    ) -> BoundedPhrases:
        found = self._found(log, domains, progress)
        return bound_phrases(log, found, domains.index_of, self._most(log, earlier))

    def _most(self, log: QueryLog, earlier: PreviousContributions) -> pl.DataFrame:
        """Give all users, also those of before, and the slots that each may use now.

        Whole releases or nothing, unless users keep their number of phrases: of a part, the
        number of rows would tell how much somebody had used.
        """
        cap = self.max_queries_per_user
        now = pl.DataFrame({"user": unique_users(log.local_frame)})
        users = pl.concat([now, earlier.mapping.select("user")]).unique().sort("user")
        free = (earlier.max_contributions - _used_before(users["user"], earlier).to_numpy()).clip(
            0, cap
        )
        if not self.keep_length:
            free = np.where(free == cap, cap, 0)
        return users.with_columns(most=pl.Series(free))

    def _items(self, slots: BoundedPhrases) -> IntArray:
        """Return the item of each row to be written, or -1 for none."""
        return slots.table["item"].to_numpy() if self.keep_length else pad_phrases(slots)

    def _by_user(self, slots: BoundedPhrases, concepts: IntArray) -> IntArray:
        """Return the concepts user after user, as they stand if all slots are laid out."""
        if not self.keep_length:
            return concepts
        order = slots.table.select(pl.arg_sort_by("user", "slot")).to_series()
        return np.asarray(concepts[order.to_numpy()])

    def _used(self, slots: BoundedPhrases) -> IntArray:
        return slots.counts() if self.keep_length else slots.bounds


def _blind(domains: DomainSet) -> ReplacementMechanism:
    """Give the mechanism that takes any concept alike."""
    return calibrate_mechanism(
        domains, "sqc1", "nominal", PhraseBudget(Fraction(1, 10**9), Fraction(0), 1)
    )


def _uses(slots: BoundedPhrases, used: IntArray) -> pl.DataFrame:
    return pl.DataFrame({"user": slots.users, "slots": used.astype(np.int64)})


def _in_order(mapping: pl.DataFrame, users: pl.Series) -> pl.DataFrame:
    """Give the mapping in the order of these users."""
    return pl.DataFrame({"user": users}).join(mapping, on="user", maintain_order="left")


def _used_before(users: pl.Series, earlier: PreviousContributions) -> pl.Series:
    """Give how many slots each of these users has used so far."""
    known = pl.DataFrame({"user": users}).join(
        earlier.mapping, on="user", how="left", maintain_order="left"
    )
    return known["slots"].fill_null(0)
