"""The draw of a concept for each slot: criterion, calibration and sampling."""

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
from ...dp.exponential.calibration import (
    calibrate_bounded_range,
    calibrate_exact,
    calibrate_nominal,
)
from ...dp.exponential.sampling import (
    check_permute_and_flip,
    permute_and_flip,
    sample,
    uniform_below,
)
from ...dp.exponential.weights import Candidates, ExponentialWeights
from ...dp.noise import NoiseSource

CRITERIA = ("sqc1", "sqc2", "nsqc")
CALIBRATIONS = ("exact", "nominal", "permute-and-flip")
PIECE = 1 << 22  # rows that are sampled at a time


@dataclass(frozen=True)
class PhraseBudget:
    """The budget of all slots of a user, and of one slot.

    With a delta, slots are composed by their bounded range, with less loss than by epsilon.
    """

    epsilon: Fraction
    delta: Fraction
    contribution_bound: int

    @property
    def range_bound(self) -> float:
        """The maximal log-ratio of weights, if slots are composed by their range.

        A range of twice the log-ratio r has a rho of (2 r)^2 / 8.
        """
        if not self.delta:
            return 0.0
        return math.sqrt(2 * float(self.range_rho) / self.contribution_bound)

    @property
    def range_rho(self) -> Fraction:
        """The zCDP parameter of all slots, if they are composed by their range."""
        if not self.delta:
            return Fraction(0)
        return Fraction(max_rho(float(self.epsilon), float(self.delta)))

    @property
    def phrase_epsilon(self) -> float:
        """The epsilon of one slot, if epsilons are summed; rounded down to stay within the sum."""
        return math.nextafter(float(self.epsilon / self.contribution_bound), 0.0)

    @property
    def per_query(self) -> float:
        """The epsilon of one slot: log-probabilities differ by at most twice that of weights."""
        return max(float(self.epsilon / self.contribution_bound), 2 * self.range_bound)


@dataclass(frozen=True, eq=False)
class ReplacementMechanism:
    """The weights of each domain; an item is an index of the concatenated domains."""

    domains: DomainSet
    weights: list[ExponentialWeights]
    uses_permute_and_flip: bool

    def chance(self, min_score: float) -> float:
        """Return the mean probability that a concept becomes one with at least this score."""
        sizes = [len(domain) for domain in self.domains.domains]
        probabilities = [weights.probability_at_least(min_score) for weights in self.weights]
        return float(np.average(probabilities, weights=sizes))

    def replace(self, items: IntArray, noise: NoiseSource, progress: Progress) -> IntArray:
        """Draw for each item an item of its domain, possibly the same.

        For an empty slot (-1) a uniformly random item is drawn first, and then replaced.
        """
        drawn = np.empty(len(items), np.int32)
        with progress.stage("replace", len(items)) as advance:
            for begin in range(0, len(items), PIECE):
                piece = slice(begin, begin + PIECE)
                drawn[piece] = self._replace_piece(items[piece], noise, advance)
        return drawn

    def _replace_piece(
        self, items: IntArray, noise: NoiseSource, advance: Callable[[int], None]
    ) -> IntArray:
        """Draw for one piece of items; a draw needs ten times the memory of its output."""
        starts = self.domains.starts
        outputs = np.empty(len(items), np.int32)
        inputs = items.astype(np.int32)
        empty = np.flatnonzero(items < 0)
        inputs[empty] = uniform_below(np.full(len(empty), starts[-1]), noise)
        for number, weights in enumerate(self.weights):
            low, high = starts[number], starts[number + 1]
            rows = np.flatnonzero((inputs >= low) & (inputs < high))
            local = inputs[rows] - low
            if self.uses_permute_and_flip:
                drawn = permute_and_flip(weights, local.astype(np.int64), noise)
                advance(len(rows))
            else:
                drawn = sample(weights, local, noise, advance)
            outputs[rows] = drawn + low
        return outputs


def calibrate_mechanism(
    domains: DomainSet,
    criterion: str,
    calibration: str,
    budget: PhraseBudget,
    progress: Progress | None = None,
) -> ReplacementMechanism:
    """Return the mechanism with the sharpest weights that the budget allows."""
    with (progress or NoProgress()).stage("calibrate"):
        known = [_known_candidates(domain, criterion, domains) for domain in domains.domains]
        weights = [_calibrate_by_epsilon(domain, calibration, budget) for domain in known]
        if budget.delta:
            by_range = [calibrate_bounded_range(k.choices, budget.range_bound) for k in known]
            weights = _choose_sharper(weights, by_range)
    uses_permute_and_flip = calibration == "permute-and-flip"
    if uses_permute_and_flip:
        for domain_weights in weights:
            check_permute_and_flip(domain_weights)
    return ReplacementMechanism(domains, weights, uses_permute_and_flip)


def _choose_sharper(
    by_epsilon: list[ExponentialWeights], by_range: list[ExponentialWeights]
) -> list[ExponentialWeights]:
    """Choose one list for all domains: the slots of a user are composed in one way."""
    return max(
        by_epsilon, by_range, key=lambda domains: sum(weights.exponent for weights in domains)
    )


def _calibrate_by_epsilon(
    known: _Known, calibration: str, budget: PhraseBudget
) -> ExponentialWeights:
    if calibration != "exact":
        return calibrate_nominal(known.choices, budget.phrase_epsilon)
    return _calibrate_with_hint(known, budget.phrase_epsilon)


def _calibrate_with_hint(known: _Known, epsilon: float) -> ExponentialWeights:
    """Calibrate from the exponent of an earlier run, if it is valid; else search and save it."""
    key = f"{known.digest} {epsilon!r}"
    hint = load_hint(key)
    weights = calibrate_exact(known.choices, epsilon, hint)
    if weights.exponent != hint:
        save_hint(key, weights.exponent)
    return weights


# -- tables that are kept between runs of one process ------------------------------------------


@dataclass(frozen=True, eq=False)
class _Known:
    choices: Candidates
    digest: str


_kept: OrderedDict[str, _Known] = OrderedDict()
_lock = Lock()
_MAX_KEPT = 16


def _known_candidates(domain: Domain, criterion: str, domains: DomainSet) -> _Known:
    scores: SimilarityScore | IdentityScore
    if criterion == "nsqc":
        scores = IdentityScore(len(domain))
    else:
        scores = similarity_score(domain, domains.topics if criterion == "sqc2" else None)
    digest = _digest(scores)
    with _lock:
        if digest not in _kept:
            _kept[digest] = _Known(Candidates.of(scores), digest)
            if len(_kept) > _MAX_KEPT:
                _kept.popitem(last=False)
        return _kept[digest]


def _digest(scores: SimilarityScore | IdentityScore) -> str:
    """Return a digest of everything that determines the scores."""
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
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
