"""Which keys many users have: weights that are shared out among a user's keys, noise, a threshold.

A user with few keys weighs each of them more, so that her keys are found with fewer users. Only
the names of keys are found this way; their counts are a second table, of keys that are known
then. docs/privacy/selection.md has the proofs.

Weights: Gopi, Gulhane, Kulkarni, Shen, Shokouhi and Yekhanin 2020. Rounds: Swanberg, Desfontaines
and Haney 2023.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

import numpy as np

from ..errors import UsageError
from .accounting import TableLoss, composed_delta, gaussian_tail, min_threshold
from .noise import Integers, NoiseSource, exact_sqrt
from .thresholded_counts import TableBudget, ThresholdedCounts

_UNIT = 1 << 10  # weights are whole numbers of 1/1024, rounded down
_SHOWN = Fraction(1, 2)  # of delta may be the chance that an own key shows
_SAFE = 1 + 1e-9  # more than what floats round away
_HALVINGS = 60


@dataclass(frozen=True)
class WeightedSelection:
    """One round: a key shows if noise on its weight reaches the threshold.

    The heaviest user of a key does not count for it. A key that one user alone has therefore
    weighs nothing and never shows, which saves most of the noise.
    """

    scale: Fraction
    threshold: int
    contribution_bound: int

    @classmethod
    def calibrate(cls, keys: int, rho: Fraction, chance: Fraction) -> WeightedSelection:
        """Make the round that costs at most so much, as zCDP, and shows own keys so rarely.

        >>> one = WeightedSelection.calibrate(2, Fraction(1, 50), Fraction(1, 10**7))
        >>> one.rho <= Fraction(1, 50), one.delta_per_key <= Fraction(1, 10**7)
        (True, True)
        """
        scale = exact_sqrt(_UNIT**2 / (2 * rho))
        threshold = 0
        for own, weight in _steps(keys):
            reach = threshold - weight
            if reach < 1 or own * gaussian_tail(scale, reach) > chance:
                threshold = weight + min_threshold(gaussian_tail, scale, chance / own)
        return cls(scale, threshold, keys)

    @property
    def rho(self) -> Fraction:
        """What the noise costs, as zCDP: a user's weights are at most 1 long."""
        return _UNIT**2 / (2 * self.scale * self.scale)

    @property
    def delta_per_key(self) -> Fraction:
        """The chance, at most, that any key shows which without her would weigh nothing."""
        reaches = [
            (own, self.threshold - weight) for own, weight in _steps(self.contribution_bound)
        ]
        if min(reach for _, reach in reaches) < 1:
            return Fraction(1)
        return min(Fraction(1), max(n * gaussian_tail(self.scale, reach) for n, reach in reaches))

    @property
    def median_release_count(self) -> int:
        """How many users with `keys` keys each a key needs to show in half of all cases."""
        return -(-self.threshold // _weight(self.contribution_bound)) + 1

    @property
    def noise_in_users(self) -> Fraction:
        """The noise, in users with `keys` keys each."""
        return self.scale / _weight(self.contribution_bound)

    def weights(self, user: Integers) -> Integers:
        """Give the weight of each row: whole numbers of 1/1024, no user longer than 1."""
        rows = np.bincount(user)
        if len(rows) and int(rows.max()) > self.contribution_bound:
            raise UsageError("a user has too many keys: this is a defect, report it")
        table = np.array(
            [0, *(_weight(n) for n in range(1, self.contribution_bound + 1))], np.int64
        )
        return np.asarray(table[rows][user])

    def release(self, user: Integers, key: Integers, source: NoiseSource) -> Integers:
        """Give the keys that show; `user` and `key` are numbered from 0, each pair once.

        Where users are spread over machines, each gives `weights`, and `shown` takes the sums.
        """
        size = int(key.max()) + 1 if len(key) else 0
        pairs = np.sort(user * size + key)
        if bool((pairs[1:] == pairs[:-1]).any()):
            raise UsageError("a user has a key twice: this is a defect, report it")
        weights = self.weights(user)
        # Sums of whole numbers below 2^53 are exact, although NumPy adds them up as floats.
        total = np.bincount(key, weights, size).astype(np.int64)
        heaviest = np.zeros(size, np.int64)
        np.maximum.at(heaviest, key, weights)
        return self.select(total, heaviest, source)

    def select(self, total: Integers, heaviest: Integers, source: NoiseSource) -> Integers:
        """Give the places of keys that show, by what all users of each weigh, and the heaviest."""
        left = total - heaviest
        places = np.flatnonzero(left)
        noisy = left[places] + source.gaussian(len(places), self.scale)
        return places[noisy >= self.threshold]


@dataclass(frozen=True)
class GaussianCounts:
    """Counts of keys that are public already: noise on each, and no threshold."""

    scale: Fraction
    keys: int

    @classmethod
    def calibrate(cls, keys: int, rho: Fraction) -> GaussianCounts:
        """Make the table that costs at most so much, as zCDP."""
        return cls(exact_sqrt(keys / (2 * rho)), keys)

    @property
    def rho(self) -> Fraction:
        """What the noise costs, as zCDP: a user changes `keys` counts by one."""
        return self.keys / (2 * self.scale * self.scale)

    def release(self, counts: Integers, source: NoiseSource) -> Integers:
        """Add noise to every count; what falls below 1 is shown as 1."""
        return np.asarray(np.maximum(counts + source.gaussian(len(counts), self.scale), 1))


@dataclass(frozen=True)
class SetUnionRelease:
    """All that is released: rounds that find keys, their counts, and further tables."""

    rounds: tuple[WeightedSelection, ...]
    counts: GaussianCounts
    others: tuple[ThresholdedCounts, ...] = ()
    remaining_rho: Fraction = Fraction(0)  # rho that is left for something else, such as a sketch

    @property
    def rho(self) -> Fraction:
        """What all noise costs together, as zCDP."""
        found = sum((one.rho for one in self.rounds), self.counts.rho + self.remaining_rho)
        return found + sum((table.rho for table in self.others), Fraction(0))

    @property
    def chance(self) -> Fraction:
        """The chance, at most, that an own key of a user shows anywhere."""
        found = sum((one.delta_per_key for one in self.rounds), Fraction(0))
        return found + sum(
            (table.contribution_bound * table.delta_per_key for table in self.others), Fraction(0)
        )

    def delta(self, epsilon: Fraction) -> float:
        """Bound delta at this epsilon: all noise, and every chance that an own key shows.

        Which keys are her own in a later round depends on what came before, so both are paid
        in full.
        """
        parts = [TableLoss(float(one.rho), 1, float(one.delta_per_key)) for one in self.rounds]
        parts += [
            TableLoss(float(t.rho), t.contribution_bound, float(t.delta_per_key))
            for t in self.others
        ]
        return composed_delta(parts, float(self.counts.rho + self.remaining_rho), epsilon)


def calibrate_set_union(
    shapes: Sequence[TableBudget],
    epsilon: Fraction,
    delta: Fraction,
    rounds: Sequence[int] = (1,),
    select: Fraction = Fraction(9, 10),
    rest: Fraction = Fraction(0),
) -> SetUnionRelease:
    """Make rounds and tables that cost at most epsilon and delta together.

    The first shape is that of the keys that are to be found. `rounds` are the proportions of
    what each round may cost, and `select` is what all rounds take of the first shape's budget
    for noise; what remains is for counts. The other shapes are tables with thresholds of their
    own. `rest` is a share of the budget for noise that is left for something else.

    >>> made = calibrate_set_union([TableBudget(10, Fraction(1))], Fraction(1), Fraction(1, 10**7), (1, 3, 9))
    >>> made.delta(Fraction(1)) <= 1e-7, [one.median_release_count for one in made.rounds]
    (True, [381, 215, 121])
    """
    first, *others = shapes
    if not 0 < select < 1:
        raise UsageError(f"selection cannot take {select} of the budget", hint="between 0 and 1")
    whole, shown = _whole_rho(epsilon, delta), _SHOWN * delta
    rho = whole * (1 - rest)
    parts = [first.weight * Fraction(one, sum(rounds)) for one in rounds]
    made = SetUnionRelease(
        tuple(
            WeightedSelection.calibrate(first.contribution_bound, rho * select * p, shown * p)
            for p in parts
        ),
        GaussianCounts.calibrate(first.contribution_bound, rho * first.weight * (1 - select)),
        tuple(_table(shape, rho, shown) for shape in others),
        whole * rest,
    )
    if made.delta(epsilon) > delta:
        raise UsageError("this epsilon and delta cannot be kept", hint="take a larger epsilon")
    return made


def _whole_rho(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Give what all noise may cost, if own keys show with no more than their part of delta."""
    own = TableLoss(0.0, 1, float(_SHOWN * delta) * _SAFE)
    low, high = 0.0, float(epsilon)  # rho = epsilon is always too much
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        fits = composed_delta([own], middle * _SAFE, epsilon) <= delta
        low, high = (middle, high) if fits else (low, middle)
    if not low:
        raise UsageError("this epsilon and delta cannot be kept", hint="take a larger epsilon")
    return Fraction(low)


def _table(shape: TableBudget, rho: Fraction, shown: Fraction) -> ThresholdedCounts:
    """Make a table of counts with its share of the noise and of the chance."""
    scale = exact_sqrt(shape.contribution_bound / (2 * rho * shape.weight))
    reach = min_threshold(gaussian_tail, scale, shown * shape.weight / shape.contribution_bound)
    return ThresholdedCounts("gaussian", scale, reach + 1, shape.contribution_bound)


def _weight(own: int) -> int:
    """Give the weight of each key of a user who has so many: 1 / sqrt(own), rounded down.

    >>> [_weight(n) for n in (1, 2, 4, 10)], max(n * _weight(n) ** 2 for n in range(1, 99)) / 2**20
    ([1024, 724, 512, 323], 1.0)
    """
    return isqrt(_UNIT**2 // own)


def _steps(keys: int) -> list[tuple[int, int]]:
    """Give numbers of keys with their weights: of all numbers of one weight, the largest.

    More keys of the same weight show more often, so the others need not be looked at.
    """
    largest = {_weight(own): own for own in range(1, keys + 1)}
    return [(own, weight) for weight, own in largest.items()]
