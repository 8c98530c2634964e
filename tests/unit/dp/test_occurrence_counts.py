"""Counts of occurrences: thresholds, what they cost, and what shows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from queryveil.dp.noise import NoiseSource
from queryveil.dp.occurrence_counts import LaplaceCounts, OccurrenceThreshold
from queryveil.errors import UsageError

EPSILON, DELTA = Fraction(1), Fraction(1, 10**6)


def partitions(n: int, most: int | None = None) -> Iterator[tuple[int, ...]]:
    """Give all ways to write n as a sum of numbers from 1 on, the greatest first."""
    if n == 0:
        yield ()
    for first in range(min(n, most or n), 0, -1):
        for rest in partitions(n - first, first):
            yield (first, *rest)


def test_partitions() -> None:
    assert list(partitions(3)) == [(3,), (2, 1), (1, 1, 1)]
    assert len(list(partitions(12))) == 77


CHOICES = [
    OccurrenceThreshold.calibrate(d, Fraction(epsilon), Fraction(delta))
    for d in (1, 2, 3, 5, 12)
    for epsilon in ("0.05", "1", "3")
    for delta in ("0.01", "1e-9")
] + [OccurrenceThreshold(Fraction(500), 12, 12), OccurrenceThreshold(Fraction(10), 10, 1)]


@pytest.mark.parametrize("choice", CHOICES, ids=str)
def test_no_way_to_spread_occurrences_is_worse_than_the_two_ends(
    choice: OccurrenceThreshold,
) -> None:
    for own in range(choice.contribution_bound + 1):
        shared = (choice.contribution_bound - own) / choice.scale
        for ways in partitions(own):
            chances = [choice.passes(n) for n in ways]
            assert 1 - math.prod((1 - p for p in chances), start=Fraction(1)) <= choice.delta
            cost = shared + sum((p / (1 - p) for p in chances), Fraction(0))
            assert cost <= choice.epsilon
            assert float(shared) - sum(math.log1p(-p) for p in map(float, chances)) <= float(
                choice.epsilon
            )


@pytest.mark.parametrize("d", [1, 2, 7, 40])
@pytest.mark.parametrize("epsilon", ["0.1", "1", "5"])
def test_the_tight_threshold_is_the_least(d: int, epsilon: str) -> None:
    choice = OccurrenceThreshold.calibrate(d, Fraction(epsilon), DELTA)
    assert choice.epsilon <= Fraction(epsilon)
    assert choice.delta <= DELTA
    if choice.threshold > d:
        assert replace(choice, threshold=choice.threshold - 1).delta > DELTA


@pytest.mark.parametrize("d", [1, 2, 5, 20, 160])
def test_the_published_threshold_is_that_of_the_paper(d: int) -> None:
    epsilon, delta = Fraction(repr(math.log(10))), Fraction(1, 10**5)
    choice = OccurrenceThreshold.as_published(d, epsilon, delta)
    paper = d * (1 - math.log(2e-5 / d) / math.log(10))  # 5.70, 12.0, 31.99, 140.0, 1264.5
    assert paper <= choice.threshold <= paper * (1 + 1 / 256) + 1.5
    assert d / 2 * math.exp((d - choice.threshold) / choice.scale) <= 1e-5
    tight = OccurrenceThreshold.calibrate(d, epsilon, delta)
    assert tight.threshold < choice.threshold
    assert tight.scale == choice.scale
    assert choice.delta < delta


def test_integer_noise_is_above_a_number_less_often_than_the_papers() -> None:
    choice = OccurrenceThreshold(Fraction(3), 20, 4)
    for n in range(1, 5):
        assert choice.passes(n) < math.exp((n - 20) / 3) / 2


def test_a_key_of_one_user_alone_can_cost_more_than_the_noise() -> None:
    # A threshold that is low for the noise, as in the right half of a published figure.
    choice = OccurrenceThreshold(Fraction(10), 10, 1)
    assert 0.19 < float(choice.passes(1)) < 0.2
    assert -math.log1p(-float(choice.passes(1))) <= choice.epsilon
    assert choice.epsilon > Fraction(2, 10)


def test_a_delta_near_epsilon_is_refused() -> None:
    with pytest.raises(UsageError, match="cannot be kept"):
        OccurrenceThreshold.calibrate(1, Fraction(1, 1000), Fraction(1, 100))


@pytest.mark.parametrize("threshold", [0, 2])
def test_a_threshold_below_what_one_user_has_is_refused(threshold: int) -> None:
    with pytest.raises(UsageError, match="threshold"):
        OccurrenceThreshold(Fraction(1), threshold, 3)


class Fixed(NoiseSource):
    """Noise that a test chooses."""

    def __init__(self, *noise: int) -> None:
        super().__init__()
        self.noise = np.array(noise, np.int64)

    def laplace(self, size: int, scale: Fraction) -> np.ndarray:
        assert size == len(self.noise)
        return self.noise


def test_what_is_above_the_threshold_shows() -> None:
    choice = OccurrenceThreshold(Fraction(2), 10, 3)
    counts = np.array([11, 10, 0, 10, 1, 400], np.int64)
    shown = choice.release(counts, Fixed(0, 0, 1, 10, -390))  # no noise for what nobody has
    assert shown.tolist() == [0, 3, 4]


def test_fresh_counts_get_noise_on_zeros_too() -> None:
    fresh = LaplaceCounts.for_epsilon(3, Fraction(1, 2))
    assert fresh.epsilon == Fraction(1, 2)
    assert fresh.release(np.array([0, 5], np.int64), Fixed(-2, 3)).tolist() == [-2, 8]


def test_costs_are_never_above_what_was_asked() -> None:
    for most in (1, 3, 7, 1000):
        fresh = LaplaceCounts.for_epsilon(most, Fraction(1, 3))
        assert Fraction(1, 4) < fresh.epsilon <= Fraction(1, 3)


def test_drawn_noise_shows_as_often_as_told() -> None:
    choice = OccurrenceThreshold(Fraction(2), 4, 2)
    shown = len(choice.release(np.full(200_000, 2, np.int64), NoiseSource()))
    assert abs(shown / 200_000 - float(choice.passes(2))) < 0.004
