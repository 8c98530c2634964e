"""Counts of keys that nobody knows beforehand: noise on each, and a threshold.

A mechanism, its scale, its threshold and what it costs are one object, so that they cannot drift
apart. Each user counts once for each of at most `keys` keys.
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
_SHOWN = Fraction(2, 5)  # of delta: the chance that a key shows because of her; least thresholds
_HALVINGS = 60


@dataclass(frozen=True)
class ThresholdedCounts:
    """One table of counts with noise; a key shows if enough is left of its count.

    A key that fewer than `least` users have never shows, which saves most of the noise. From
    the others `least - 1` is taken, so that a key's count is 1 when it first may show.
    """

    noise: Literal["laplace", "gaussian"]
    scale: Fraction
    threshold: int
    contribution_bound: int
    min_users: int = 2

    def __post_init__(self) -> None:
        # Below these the costs would not be those of what `release` does.
        if self.threshold < 1 or self.contribution_bound < 1 or self.min_users < 1:
            raise UsageError(f"a table cannot have {self}")

    @property
    def epsilon(self) -> Fraction:
        """What Laplace noise costs: a user changes `keys` counts by one."""
        if self.noise != "laplace":
            raise UsageError("Gaussian noise has no epsilon of its own")
        return self.contribution_bound / self.scale

    @property
    def rho(self) -> Fraction:
        """What noise costs, as zCDP; Laplace noise costs a pure 1 / scale for each key."""
        if self.noise != "gaussian":
            return self.contribution_bound * pure_rho(1 / self.scale)
        return self.contribution_bound / (2 * self.scale * self.scale)

    @property
    def delta_per_key(self) -> Fraction:
        """The chance, at most, that a key shows which one user lifts to `least` users."""
        return _TAILS[self.noise](self.scale, self.threshold - 1)

    @property
    def median_release_count(self) -> int:
        """How many users a key needs to show in half of all cases."""
        return self.threshold + self.min_users - 1

    def release(self, counts: Integers, source: NoiseSource) -> tuple[Integers, Integers]:
        """Give the places of the keys that show, and their noisy counts."""
        places = np.flatnonzero(counts >= self.min_users)
        draw = source.laplace if self.noise == "laplace" else source.gaussian
        noisy = counts[places] - (self.min_users - 1) + draw(len(places), self.scale)
        shown = noisy >= self.threshold
        return places[shown], noisy[shown] + (self.min_users - 1)


@dataclass(frozen=True)
class TableBudget:
    """What is known of a table beforehand: a user's keys at most, and its share of the budget."""

    contribution_bound: int
    weight: Fraction


def calibrate_laplace(
    shapes: Sequence[TableBudget], epsilon: Fraction, delta: Fraction, least: int = 2
) -> list[ThresholdedCounts]:
    """Make tables with Laplace noise that cost at most epsilon and delta together.

    >>> one = calibrate_laplace([TableBudget(1, Fraction(1))], Fraction(1), Fraction(1, 10**6))[0]
    >>> one.scale, one.threshold
    (Fraction(1, 1), 15)
    """
    found = []
    for shape in shapes:
        scale = exact_scale(shape.contribution_bound / (epsilon * shape.weight))
        reach = min_threshold(laplace_tail, scale, delta * shape.weight / shape.contribution_bound)
        found.append(
            ThresholdedCounts("laplace", scale, reach + 1, shape.contribution_bound, least)
        )
    _check_laplace(found, epsilon, delta)
    return found


def _check_laplace(tables: Sequence[ThresholdedCounts], epsilon: Fraction, delta: Fraction) -> None:
    """Refuse what costs more than was allowed."""
    shown = sum(table.contribution_bound * table.delta_per_key for table in tables)
    # If an own key of hers does not show, leaving her out looks likelier: -ln(1 - chance). That
    # is paid by the epsilon which this key does not need, 1 / scale.
    paid = all(t.delta_per_key / (1 - t.delta_per_key) <= 1 / t.scale for t in tables)
    if sum(table.epsilon for table in tables) > epsilon or shown > delta or not paid:
        raise UsageError(
            "this epsilon and delta cannot be kept", hint="take a smaller delta, or an epsilon "
            "that is not so far from 1",
        )  # fmt: skip


def calibrate_gaussian(
    shapes: Sequence[TableBudget],
    epsilon: Fraction,
    delta: Fraction,
    rest: Fraction = Fraction(0),
    least: int = 2,
) -> tuple[list[ThresholdedCounts], Fraction]:
    """Make tables with Gaussian noise that cost at most epsilon and delta together.

    `rest` is a share of the noise's budget that is left for something else; its rho is given
    too. The shares of the shapes are those of the remaining budget.
    """
    low, high = 0.0, float(epsilon)  # rho = epsilon is always too much
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        fits = _cost(*_tables(shapes, middle, rest, delta, least), epsilon) <= delta
        low, high = (middle, high) if fits else (low, middle)
    if not low:
        raise UsageError("this epsilon and delta cannot be kept", hint="take a larger epsilon")
    return _tables(shapes, low, rest, delta, least)


def _tables(
    shapes: Sequence[TableBudget], rho: float, rest: Fraction, delta: Fraction, least: int
) -> tuple[list[ThresholdedCounts], Fraction]:
    whole = Fraction(rho)
    found = []
    for shape in shapes:
        scale = exact_sqrt(shape.contribution_bound / (2 * whole * (1 - rest) * shape.weight))
        reach = min_threshold(
            gaussian_tail, scale, _SHOWN * delta * shape.weight / shape.contribution_bound
        )
        found.append(
            ThresholdedCounts("gaussian", scale, reach + 1, shape.contribution_bound, least)
        )
    return found, whole * rest


def _cost(tables: Sequence[ThresholdedCounts], rest: Fraction, epsilon: Fraction) -> float:
    parts = [TableLoss(float(t.rho), t.contribution_bound, float(t.delta_per_key)) for t in tables]
    return composed_delta(parts, float(rest), epsilon)
