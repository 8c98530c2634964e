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

from ...concepts.likeness.criteria import Near, Same, near
from ...concepts.likeness.domain import Domain
from ...concepts.taxonomy import Ints
from ...dp import Noise
from ...dp.accounting import most_rho
from ...dp.choice import (
    Choices,
    Weights,
    apart_by,
    calibrate,
    check_flip,
    draw,
    flip,
    nominal,
)
from ...dp.choice.draw import below
from ...engine import Progress, Silent, recall, remember
from .domains import Domains

__all__ = ["CALIBRATIONS", "CRITERIA", "PIECE", "Budget", "Mechanism", "mechanism_for"]

CRITERIA = ("sqc1", "sqc2", "nsqc")
CALIBRATIONS = ("exact", "nominal", "permute-and-flip")
PIECE = 1 << 22  # rows at a time


@dataclass(frozen=True)
class Budget:
    """What one slot may cost, and all slots of a user together.

    With a delta slots are added up by their range, which costs less than adding up epsilon.
    """

    epsilon: Fraction
    delta: Fraction
    slots: int

    @property
    def ratio(self) -> float:
        """How far weights may lie apart, as a log-ratio, if slots are added up by their range.

        A range of twice the ratio r costs (2 r)^2 / 8 of rho.
        """
        if not self.delta:
            return 0.0
        return math.sqrt(2 * float(self.range_rho) / self.slots)

    @property
    def range_rho(self) -> Fraction:
        """What slots cost together, as zCDP, if they are added up by their range."""
        if not self.delta:
            return Fraction(0)
        return Fraction(most_rho(float(self.epsilon), float(self.delta)))

    @property
    def slot(self) -> float:
        """The epsilon of one slot, if epsilons are added up; rounded down, so that all fit."""
        return math.nextafter(float(self.epsilon / self.slots), 0.0)

    @property
    def per_query(self) -> float:
        """What is told of one slot: chances differ by at most twice the ratio of the weights."""
        return max(float(self.epsilon / self.slots), 2 * self.ratio)


@dataclass(frozen=True, eq=False)
class Mechanism:
    """One weighting for each domain; items are places in the row of all domains' concepts."""

    domains: Domains
    weights: list[Weights]
    flips: bool

    def chance(self, least: float) -> float:
        """Give the chance that a concept becomes one which scores at least so much."""
        sizes = [len(domain) for domain in self.domains.domains]
        chances = [weights.chance(least) for weights in self.weights]
        return float(np.average(chances, weights=sizes))

    def replace(self, items: Ints, noise: Noise, progress: Progress) -> Ints:
        """Draw for each item another one of its domain, or itself.

        Where there is no item (-1) a concept is taken at random first, all being equally likely.
        """
        found = np.empty(len(items), np.int32)
        with progress.stage("replace", len(items)) as advance:
            for begin in range(0, len(items), PIECE):
                some = slice(begin, begin + PIECE)
                found[some] = self._replaced(items[some], noise, advance)
        return found

    def _replaced(self, items: Ints, noise: Noise, advance: Callable[[int], None]) -> Ints:
        """Draw for some items; a draw takes ten times the memory of what it gives."""
        starts = self.domains.starts
        found = np.empty(len(items), np.int32)
        inputs = items.astype(np.int32)
        empty = np.flatnonzero(items < 0)
        inputs[empty] = below(np.full(len(empty), starts[-1]), noise)
        for number, weights in enumerate(self.weights):
            low, high = starts[number], starts[number + 1]
            mine = np.flatnonzero((inputs >= low) & (inputs < high))
            local = inputs[mine] - low
            if self.flips:
                drawn = flip(weights, local.astype(np.int64), noise)
                advance(len(mine))
            else:
                drawn = draw(weights, local, noise, advance)
            found[mine] = drawn + low
        return found


def mechanism_for(
    domains: Domains,
    criterion: str,
    calibration: str,
    budget: Budget,
    progress: Progress | None = None,
) -> Mechanism:
    """Make the weights of every domain: the strongest that the budget allows."""
    with (progress or Silent()).stage("calibrate"):
        known = [_choices(domain, criterion, domains) for domain in domains.domains]
        made = [_by_epsilon(one, calibration, budget) for one in known]
        if budget.delta:
            made = _stronger(made, [apart_by(one.choices, budget.ratio) for one in known])
    flips = calibration == "permute-and-flip"
    if flips:
        for weights in made:
            check_flip(weights)
    return Mechanism(domains, made, flips)


def _stronger(one: list[Weights], two: list[Weights]) -> list[Weights]:
    """Take one list or the other, for all domains: a user's slots are added up in one way."""
    return max(one, two, key=lambda made: sum(weights.strength for weights in made))


def _by_epsilon(known: _Known, calibration: str, budget: Budget) -> Weights:
    if calibration != "exact":
        return nominal(known.choices, budget.slot)
    return _calibrated(known, budget.slot)


def _calibrated(known: _Known, epsilon: float) -> Weights:
    """Take up what an earlier run found, if it holds; else search, and keep that."""
    key = f"{known.digest} {epsilon!r}"
    hint = recall(key)
    made = calibrate(known.choices, epsilon, hint)
    if made.strength != hint:
        remember(key, made.strength)
    return made


# -- tables that are kept between runs of one process ------------------------------------------


@dataclass(frozen=True, eq=False)
class _Known:
    choices: Choices
    digest: str


_kept: OrderedDict[str, _Known] = OrderedDict()
_lock = Lock()
_MOST_KEPT = 16


def _choices(domain: Domain, criterion: str, domains: Domains) -> _Known:
    scores: Near | Same
    if criterion == "nsqc":
        scores = Same(len(domain))
    else:
        scores = near(domain, domains.topics if criterion == "sqc2" else None)
    digest = _digest(scores)
    with _lock:
        if digest not in _kept:
            _kept[digest] = _Known(Choices.of(scores), digest)
            if len(_kept) > _MOST_KEPT:
                _kept.popitem(last=False)
        return _kept[digest]


def _digest(scores: Near | Same) -> str:
    """Name scores by all that decides them."""
    if isinstance(scores, Same):
        return f"same {scores.size}"
    domain = scores.domain
    arrays = (
        domain.sizes,
        domain.above,
        domain.base,
        domain.bases.start,
        domain.bases.items,
        scores.topic,
    )
    whole = hashlib.sha256()
    for array in arrays:
        whole.update(np.ascontiguousarray(array).tobytes())
    return whole.hexdigest()
