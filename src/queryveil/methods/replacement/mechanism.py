"""The choice of a concept for each slot: criterion, calibration, and the drawing itself."""

from __future__ import annotations

import hashlib
import math
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from threading import Lock

import numpy as np

from ...concepts.similarity.domain_sets import DomainSet
from ...concepts.similarity.domains import Domain, IdentityScore, SimilarityScore, similarity_score
from ...concepts.taxonomy.arrays import IntArray
from ...core.files import load_hint, save_hint
from ...core.progress import NoProgress, Progress
from ...dp.accounting import max_rho
from ...dp.exponential.sampling import (
    calibrate_bounded_range,
    calibrate_exact,
    calibrate_nominal,
    check_permute_and_flip,
    permute_and_flip,
    sample,
    uniform_below,
)
from ...dp.exponential.weights import Candidates, ExponentialWeights
from ...dp.noise import NoiseSource


CRITERIA = ("sqc1", "sqc2", "nsqc")
CALIBRATIONS = ("exact", "nominal", "permute-and-flip")
PIECE = 1 << 22  # rows at a time


@dataclass(frozen=True)
class PhraseBudget:
    """What one slot may cost, and all slots of a user together.

    With a delta slots are added up by their range, which costs less than adding up epsilon.
    """

    epsilon: Fraction
    delta: Fraction
    contribution_bound: int

    @property
    def range_bound(self) -> float:
        """How far weights may lie apart, as a log-ratio, if slots are added up by their range.

        A range of twice the ratio r costs (2 r)^2 / 8 of rho.
        """
        if not self.delta:
            return 0.0
        return math.sqrt(2 * float(self.range_rho) / self.contribution_bound)

    @property
    def range_rho(self) -> Fraction:
        """What slots cost together, as zCDP, if they are added up by their range."""
        if not self.delta:
            return Fraction(0)
        return Fraction(max_rho(float(self.epsilon), float(self.delta)))

    @property
    def phrase_epsilon(self) -> float:
        """The epsilon of one slot, if epsilons are added up; rounded down, so that all fit."""
        return math.nextafter(float(self.epsilon / self.contribution_bound), 0.0)

    @property
    def per_query(self) -> float:
        """What is told of one slot: chances differ by at most twice the ratio of the weights."""
        return max(float(self.epsilon / self.contribution_bound), 2 * self.range_bound)


@dataclass(frozen=True, eq=False)
class ReplacementMechanism:
    """One weighting for each domain; items are places in the row of all domains' concepts."""

    domains: DomainSet
    weights: list[ExponentialWeights]
    uses_permute_and_flip: bool

    def chance(self, least: float) -> float:
        """Give the chance that a concept becomes one which scores at least so much."""
        sizes = [len(domain) for domain in self.domains.domains]
        chances = [weights.probability_at_least(least) for weights in self.weights]
        return float(np.average(chances, weights=sizes))

    def replace(self, items: IntArray, noise: NoiseSource, progress: Progress) -> IntArray:
        """Draw for each item another one of its domain, or itself.

        Where there is no item (-1) a concept is taken at random first, all being equally likely.
        """
        found = np.empty(len(items), np.int32)
        with progress.stage("replace", len(items)) as advance:
            for begin in range(0, len(items), PIECE):
                some = slice(begin, begin + PIECE)
                found[some] = self._replaced(items[some], noise, advance)
        return found

    def _replaced(
        self, items: IntArray, noise: NoiseSource, advance: Callable[[int], None]
    ) -> IntArray:
        """Draw for some items; a draw takes ten times the memory of what it gives."""
        starts = self.domains.starts
        found = np.empty(len(items), np.int32)
        inputs = items.astype(np.int32)
        empty = np.flatnonzero(items < 0)
        inputs[empty] = uniform_below(np.full(len(empty), starts[-1]), noise)
        for number, weights in enumerate(self.weights):
            low, high = starts[number], starts[number + 1]
            mine = np.flatnonzero((inputs >= low) & (inputs < high))
            local = inputs[mine] - low
            if self.uses_permute_and_flip:
                drawn = permute_and_flip(weights, local.astype(np.int64), noise)
                advance(len(mine))
            else:
                drawn = sample(weights, local, noise, advance)
            found[mine] = drawn + low
        return found


def calibrate_mechanism(
    domains: DomainSet,
    criterion: str,
    calibration: str,
    budget: PhraseBudget,
    progress: Progress | None = None,
) -> ReplacementMechanism:
    """Make the weights of every domain: the strongest that the budget allows."""
    with (progress or NoProgress()).stage("calibrate"):
        known = [_choices(domain, criterion, domains) for domain in domains.domains]
        made = [_by_epsilon(one, calibration, budget) for one in known]
        if budget.delta:
            made = _stronger(
                made, [calibrate_bounded_range(one.choices, budget.range_bound) for one in known]
            )
    flips = calibration == "permute-and-flip"
    if flips:
        for weights in made:
            check_permute_and_flip(weights)
    return ReplacementMechanism(domains, made, flips)


def _stronger(
    one: list[ExponentialWeights], two: list[ExponentialWeights]
) -> list[ExponentialWeights]:
    """Take one list or the other, for all domains: a user's slots are added up in one way."""
    return max(one, two, key=lambda made: sum(weights.exponent for weights in made))


def _by_epsilon(known: _Known, calibration: str, budget: PhraseBudget) -> ExponentialWeights:
    if calibration != "exact":
        return calibrate_nominal(known.choices, budget.phrase_epsilon)
    return _calibrated(known, budget.phrase_epsilon)


def _calibrated(known: _Known, epsilon: float) -> ExponentialWeights:
    """Take up what an earlier run found, if it holds; else search, and keep that."""
    key = f"{known.digest} {epsilon!r}"
    hint = load_hint(key)
    made = calibrate_exact(known.choices, epsilon, hint)
    if made.exponent != hint:
        save_hint(key, made.exponent)
    return made


# -- tables that are kept between runs of one process ------------------------------------------


@dataclass(frozen=True, eq=False)
class _Known:
    choices: Candidates
    digest: str


_kept: OrderedDict[str, _Known] = OrderedDict()
_lock = Lock()
_MOST_KEPT = 16


def _choices(domain: Domain, criterion: str, domains: DomainSet) -> _Known:
    scores: SimilarityScore | IdentityScore
    if criterion == "nsqc":
        scores = IdentityScore(len(domain))
    else:
        scores = similarity_score(domain, domains.topics if criterion == "sqc2" else None)
    digest = _digest(scores)
    with _lock:
        if digest not in _kept:
            _kept[digest] = _Known(Candidates.of(scores), digest)
            if len(_kept) > _MOST_KEPT:
                _kept.popitem(last=False)
        return _kept[digest]


def _digest(scores: SimilarityScore | IdentityScore) -> str:
    """Name scores by all that decides them."""
    if isinstance(scores, IdentityScore):
        return f"same {scores.size}"
    domain = scores.domain
    arrays = (
        domain.sizes,
        domain.ancestor_counts,
        domain.class_base,
        domain.bases.start,
        domain.bases.items,
        scores.topic,
    )
    whole = hashlib.sha256()
    for array in arrays:
        whole.update(np.ascontiguousarray(array).tobytes())
    return whole.hexdigest()
