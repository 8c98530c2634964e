"""Key selection (set union): each user's weight is divided among their keys; noise; a threshold.

A user with few keys gives each of them more weight, so that these keys are selected with fewer
users. Only the names of keys are selected this way; their counts are a second table, of keys that
are public by then. docs/privacy/selection.md has the proofs.

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
from .thresholded_counts import TableBudget, ThresholdedCounts, calibrate_table

_UNIT = 1 << 10  # weights are multiples of 1/1024, rounded down
_KEY_FRACTION = Fraction(1, 2)  # of delta: the probability that a key of only one user is released
_SAFE = 1 + 1e-9  # larger than the rounding error of the float computations below
_HALVINGS = 60


@dataclass(frozen=True)
class WeightedSelection:
    """One round: a key is selected if its weight plus noise reaches the threshold.

    The heaviest user of a key does not count for it. A key that only one user has therefore
    has weight 0 and is never selected, so that noise need not be drawn for such keys.
    """

    scale: Fraction
    threshold: int
    contribution_bound: int

    @classmethod
    def calibrate(cls, keys: int, rho: Fraction, delta: Fraction) -> WeightedSelection:
        """Return the round that is rho-zCDP and selects keys of only one user with at most delta.

        >>> selection = WeightedSelection.calibrate(2, Fraction(1, 50), Fraction(1, 10**7))
        >>> selection.rho <= Fraction(1, 50), selection.delta_per_key <= Fraction(1, 10**7)
        (True, True)
        """
        scale = exact_sqrt(_UNIT**2 / (2 * rho))
        threshold = 0
        for own, weight in _weight_steps(keys):
            margin = threshold - weight
            if margin < 1 or own * gaussian_tail(scale, margin) > delta:
                threshold = weight + min_threshold(gaussian_tail, scale, delta / own)
        return cls(scale, threshold, keys)

    @property
    def rho(self) -> Fraction:
        """The zCDP loss of the noise: the L2 norm of a user's weights is at most 1."""
        return _UNIT**2 / (2 * self.scale * self.scale)

    @property
    def delta_per_key(self) -> Fraction:
        """A bound on the probability that any key is selected whose weight is 0 without one user.

        It covers all keys of the user in this round.
        """
        margins = [
            (own, self.threshold - weight) for own, weight in _weight_steps(self.contribution_bound)
        ]
        if min(margin for _, margin in margins) < 1:
            return Fraction(1)
        return min(Fraction(1), max(n * gaussian_tail(self.scale, margin) for n, margin in margins))

    @property
    def median_release_count(self) -> int:
        """The number of users at which a key is selected with probability one half.

        Each of these users has `contribution_bound` keys.
        """
        return -(-self.threshold // _weight(self.contribution_bound)) + 1

    @property
    def noise_in_users(self) -> Fraction:
        """The scale of the noise, in users with `contribution_bound` keys each."""
        return self.scale / _weight(self.contribution_bound)

    def weights(self, user: Integers) -> Integers:
        """Return the weight of each row in units of 1/1024; no user has an L2 norm above 1."""
        rows = np.bincount(user)
        if len(rows) and int(rows.max()) > self.contribution_bound:
            raise UsageError("a user has too many keys: this is a defect, report it")
        table = np.array(
            [0, *(_weight(n) for n in range(1, self.contribution_bound + 1))], np.int64
        )
        return np.asarray(table[rows][user])

    def release(self, user: Integers, key: Integers, source: NoiseSource) -> Integers:
        """Return the selected keys; `user` and `key` are numbered from 0, each pair once.

        Where users are spread over machines, each machine computes `weights`, and `select` takes
        their sums.
        """
        size = int(key.max()) + 1 if len(key) else 0
        pairs = np.sort(user * size + key)
        if bool((pairs[1:] == pairs[:-1]).any()):
            raise UsageError("a user has a key twice: this is a defect, report it")
        weights = self.weights(user)
        # Sums of integers below 2^53 are exact, although NumPy adds them up as floats.
        total = np.bincount(key, weights, size).astype(np.int64)
        heaviest = np.zeros(size, np.int64)
        np.maximum.at(heaviest, key, weights)
        return self.select(total, heaviest, source)

    def select(self, total: Integers, heaviest: Integers, source: NoiseSource) -> Integers:
        """Return the indices of the selected keys.

        Args:
            total: The sum of all users' weights of each key.
            heaviest: The largest weight that any user gives each key.
        """
        rest = total - heaviest
        indices = np.flatnonzero(rest)
        noisy = rest[indices] + source.gaussian(len(indices), self.scale)
        return indices[noisy >= self.threshold]


@dataclass(frozen=True)
class GaussianCounts:
    """Counts of keys that are public already: Gaussian noise on each, and no threshold."""

    scale: Fraction
    keys: int

    @classmethod
    def calibrate(cls, keys: int, rho: Fraction) -> GaussianCounts:
        """Return the table that is rho-zCDP."""
        return cls(exact_sqrt(keys / (2 * rho)), keys)

    @property
    def rho(self) -> Fraction:
        """The zCDP loss of the noise: a user changes `keys` counts by one."""
        return self.keys / (2 * self.scale * self.scale)

    def release(self, counts: Integers, source: NoiseSource) -> Integers:
        """Return every count with noise; values below 1 are released as 1."""
        return np.asarray(np.maximum(counts + source.gaussian(len(counts), self.scale), 1))


@dataclass(frozen=True)
class SetUnionRelease:
    """A whole release: rounds that select keys, the counts of these keys, and further tables."""

    rounds: tuple[WeightedSelection, ...]
    counts: GaussianCounts
    others: tuple[ThresholdedCounts, ...] = ()
    remaining_rho: Fraction = Fraction(0)  # rho that is left for something else, such as a sketch

    @property
    def rho(self) -> Fraction:
        """The zCDP loss of all noise together."""
        rho = sum((selection.rho for selection in self.rounds), self.counts.rho)
        return rho + self.remaining_rho + sum((table.rho for table in self.others), Fraction(0))

    @property
    def chance(self) -> Fraction:
        """A bound on the probability that a key of only one user is released anywhere."""
        selected = sum((selection.delta_per_key for selection in self.rounds), Fraction(0))
        return selected + sum(
            (table.contribution_bound * table.delta_per_key for table in self.others), Fraction(0)
        )

    def delta(self, epsilon: Fraction) -> float:
        """Bound delta at this epsilon: of all noise, and of releasing a key of only one user.

        Which keys only one user has in a later round depends on what came before, so both deltas
        are paid in full.
        """
        # A round bounds the probability for all keys of a user together, so its bound counts once.
        losses = [TableLoss(float(s.rho), 1, float(s.delta_per_key)) for s in self.rounds]
        losses += [
            TableLoss(float(t.rho), t.contribution_bound, float(t.delta_per_key))
            for t in self.others
        ]
        return composed_delta(losses, float(self.counts.rho + self.remaining_rho), epsilon)


def calibrate_set_union(
    shapes: Sequence[TableBudget],
    epsilon: Fraction,
    delta: Fraction,
    rounds: Sequence[int] = (1,),
    select: Fraction = Fraction(9, 10),
    rest: Fraction = Fraction(0),
) -> SetUnionRelease:
    """Return rounds and tables that cost at most epsilon and delta together.

    Args:
        shapes: The first is the table of the keys to be selected; the others are tables with
            thresholds of their own.
        rounds: The proportions in which the rounds divide their budget.
        select: The fraction of the first shape's budget for noise that all rounds take; the
            remainder is for counts.
        rest: The fraction of the whole budget for noise that is left for other mechanisms.

    >>> budget = TableBudget(10, Fraction(1))
    >>> release = calibrate_set_union([budget], Fraction(1), Fraction(1, 10**7), (1, 3, 9))
    >>> release.delta(Fraction(1)) <= 1e-7, [one.median_release_count for one in release.rounds]
    (True, [381, 215, 121])
    """
    first, *others = shapes
    if not 0 < select < 1:
        raise UsageError(f"selection cannot take {select} of the budget", hint="between 0 and 1")
    total_rho, key_delta = _compute_rho(epsilon, delta), _KEY_FRACTION * delta
    rho = total_rho * (1 - rest)
    weights = [first.weight * Fraction(proportion, sum(rounds)) for proportion in rounds]
    release = SetUnionRelease(
        tuple(
            WeightedSelection.calibrate(first.contribution_bound, rho * select * w, key_delta * w)
            for w in weights
        ),
        GaussianCounts.calibrate(first.contribution_bound, rho * first.weight * (1 - select)),
        tuple(calibrate_table(shape, rho, key_delta) for shape in others),
        total_rho * rest,
    )
    if release.delta(epsilon) > delta:
        raise UsageError("this epsilon and delta cannot be kept", hint="take a larger epsilon")
    return release


def _compute_rho(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return nearly the largest rho of all noise that fits beside the delta of single keys."""
    own = TableLoss(0.0, 1, float(_KEY_FRACTION * delta) * _SAFE)
    low, high = 0.0, float(epsilon)  # rho = epsilon is always too much
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        fits = composed_delta([own], middle * _SAFE, epsilon) <= delta
        low, high = (middle, high) if fits else (low, middle)
    if not low:
        raise UsageError("this epsilon and delta cannot be kept", hint="take a larger epsilon")
    return Fraction(low)


def _weight(own: int) -> int:
    """Return the weight of each key of a user with `own` keys: 1 / sqrt(own), rounded down.

    >>> [_weight(n) for n in (1, 2, 4, 10)], max(n * _weight(n) ** 2 for n in range(1, 99)) / 2**20
    ([1024, 724, 512, 323], 1.0)
    """
    return isqrt(_UNIT**2 // own)


def _weight_steps(keys: int) -> list[tuple[int, int]]:
    """Return numbers of keys with their weights: of all numbers of one weight, the largest.

    With the same weight, more keys are more often selected. So the largest number is the worst
    case, and the others need not be checked.
    """
    largest = {_weight(own): own for own in range(1, keys + 1)}
    return [(own, weight) for weight, own in largest.items()]
