"""Counts of unknown keys: noise on each, and a threshold.

A mechanism, its scale, its threshold and its privacy loss are one object, so that they always
belong together. Each user counts once for each of at most `contribution_bound` keys.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from ..errors import UsageError
from .accounting import TableLoss, Tail, composed_delta, gaussian_tail, laplace_tail, min_threshold
from .losses import pure_rho
from .noise import Integers, NoiseSource, exact_scale, exact_sqrt

_TAILS: dict[str, Tail] = {"laplace": laplace_tail, "gaussian": gaussian_tail}
# The part of delta for the release of keys of only one user; 2/5 gives about the lowest thresholds.
_KEY_FRACTION = Fraction(2, 5)
_HALVINGS = 60


@dataclass(frozen=True)
class ThresholdedCounts:
    """One table of noisy counts; a key is released if its noisy count reaches the threshold.

    A key of fewer than `min_users` users is never released, so that noise need not be drawn for
    it. From the other counts `min_users - 1` is subtracted before noise is added and compared with
    the threshold, so that a key that just reaches `min_users` has a count of 1 there.
    """

    noise: Literal["laplace", "gaussian"]
    scale: Fraction
    threshold: int
    contribution_bound: int
    min_users: int = 2

    def __post_init__(self) -> None:
        # The proof of the privacy loss needs these bounds.
        if self.threshold < 1 or self.contribution_bound < 1 or self.min_users < 1:
            raise UsageError(
                f"threshold, contribution_bound and min_users must be at least 1, got {self}"
            )

    @property
    def epsilon(self) -> Fraction:
        """The epsilon of Laplace noise: a user changes `contribution_bound` counts by one."""
        if self.noise != "laplace":
            raise UsageError("Gaussian noise has no epsilon without a delta")
        return self.contribution_bound / self.scale

    @property
    def rho(self) -> Fraction:
        """The zCDP loss of the noise; Laplace noise is a pure 1 / scale for each key."""
        if self.noise != "gaussian":
            return self.contribution_bound * pure_rho(1 / self.scale)
        return self.contribution_bound / (2 * self.scale * self.scale)

    @property
    def delta_per_key(self) -> Fraction:
        """A bound on the probability that a key is released which one user lifts to `min_users`."""
        return _TAILS[self.noise](self.scale, self.threshold - 1)

    @property
    def median_release_count(self) -> int:
        """The number of users at which a key is released with probability one half."""
        return self.threshold + self.min_users - 1

    def release(self, counts: Integers, source: NoiseSource) -> tuple[Integers, Integers]:
        """Return the indices of the released keys, and their noisy counts."""
        indices = np.flatnonzero(counts >= self.min_users)
        draw = source.laplace if self.noise == "laplace" else source.gaussian
        noisy = counts[indices] - (self.min_users - 1) + draw(len(indices), self.scale)
        passes = noisy >= self.threshold
        return indices[passes], noisy[passes] + (self.min_users - 1)


@dataclass(frozen=True)
class TableBudget:
    """The public parameters of a table: its contribution bound and its weight in the budget."""

    contribution_bound: int
    weight: Fraction


def calibrate_laplace(
    shapes: Sequence[TableBudget], epsilon: Fraction, delta: Fraction, min_users: int = 2
) -> list[ThresholdedCounts]:
    """Return tables with Laplace noise that cost at most epsilon and delta together.

    >>> budget = TableBudget(1, Fraction(1))
    >>> table = calibrate_laplace([budget], Fraction(1), Fraction(1, 10**6))[0]
    >>> table.scale, table.threshold
    (Fraction(1, 1), 15)
    """
    tables = []
    for shape in shapes:
        bound = shape.contribution_bound
        scale = exact_scale(bound / (epsilon * shape.weight))
        margin = min_threshold(laplace_tail, scale, delta * shape.weight / bound)
        tables.append(ThresholdedCounts("laplace", scale, margin + 1, bound, min_users))
    _check_laplace(tables, epsilon, delta)
    return tables


def _check_laplace(tables: Sequence[ThresholdedCounts], epsilon: Fraction, delta: Fraction) -> None:
    """Raise UsageError for tables that cost more than epsilon and delta."""
    lifted = sum(table.contribution_bound * table.delta_per_key for table in tables)
    # That a key of only one user is not released is more likely without this user: by a factor
    # whose logarithm is -ln(1 - p). It is paid by the epsilon that this key does not need,
    # 1 / scale.
    paid = all(t.delta_per_key / (1 - t.delta_per_key) <= 1 / t.scale for t in tables)
    if sum(table.epsilon for table in tables) > epsilon or lifted > delta or not paid:
        raise UsageError(
            "this epsilon and delta cannot be kept", hint="take a smaller delta, or an epsilon "
            "that is not so far from 1",
        )  # fmt: skip


def calibrate_gaussian(
    shapes: Sequence[TableBudget],
    epsilon: Fraction,
    delta: Fraction,
    rest: Fraction = Fraction(0),
    min_users: int = 2,
) -> tuple[list[ThresholdedCounts], Fraction]:
    """Return tables with Gaussian noise that cost at most epsilon and delta together.

    Args:
        shapes: Their weights divide the budget that remains without `rest`.
        rest: The fraction of the budget for noise that is left for other mechanisms.

    Returns:
        The tables, and the rho that is left for other mechanisms.
    """
    low, high = 0.0, float(epsilon)  # rho = epsilon is always too much
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        tables, other_rho = _build_tables(shapes, middle, rest, delta, min_users)
        fits = _compute_delta(tables, other_rho, epsilon) <= delta
        low, high = (middle, high) if fits else (low, middle)
    if not low:
        raise UsageError("this epsilon and delta cannot be kept", hint="take a larger epsilon")
    return _build_tables(shapes, low, rest, delta, min_users)


def calibrate_table(
    shape: TableBudget, rho: Fraction, key_delta: Fraction, min_users: int = 2
) -> ThresholdedCounts:
    """Return a Gaussian table that takes its weight of rho and of `key_delta`.

    `key_delta` bounds the probability that a key of only one user is released.
    """
    bound = shape.contribution_bound
    scale = exact_sqrt(bound / (2 * rho * shape.weight))
    margin = min_threshold(gaussian_tail, scale, key_delta * shape.weight / bound)
    return ThresholdedCounts("gaussian", scale, margin + 1, bound, min_users)


def _build_tables(
    shapes: Sequence[TableBudget], rho: float, rest: Fraction, delta: Fraction, min_users: int
) -> tuple[list[ThresholdedCounts], Fraction]:
    total = Fraction(rho)
    table_rho, key_delta = total * (1 - rest), _KEY_FRACTION * delta
    tables = [calibrate_table(shape, table_rho, key_delta, min_users) for shape in shapes]
    return tables, total * rest


def _compute_delta(
    tables: Sequence[ThresholdedCounts], other_rho: Fraction, epsilon: Fraction
) -> float:
    losses = [TableLoss(float(t.rho), t.contribution_bound, float(t.delta_per_key)) for t in tables]
    return composed_delta(losses, float(other_rho), epsilon)
