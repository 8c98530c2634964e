"""The promise of `Occurrences`, by adding up every outcome of tiny inputs.

The code that is run is the released one: it gets every noise value there is, and the chances of
the values are added up where a key shows. No formula of `dp/tails.py` is used.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from queryveil.dp.noise import Integers, NoiseSource
from queryveil.dp.occurrence_counts import LaplaceCounts, OccurrenceThreshold

Floats = NDArray[np.float64]
ROUNDING = 1 + 1e-9

# A user's occurrences, epsilon and delta; large deltas, so that every part of it is seen.
CASES = [
    (1, "1", "0.01"), (1, "0.25", "0.001"), (1, "3", "0.01"), (2, "1", "0.01"),
    (2, "0.5", "1e-4"), (2, "4", "0.001"), (3, "1.5", "0.01"), (3, "3", "1e-5"),
]  # fmt: skip


class Every(NoiseSource):
    """Noise that takes each value once."""

    def __init__(self, values: Integers) -> None:
        super().__init__()
        self.values = values

    def laplace(self, size: int, scale: Fraction) -> Integers:
        return self.values[:size]


def law(scale: Fraction) -> tuple[Integers, Floats]:
    """Give the values of discrete Laplace noise and their chances; beyond is less than 1e-17."""
    reach = math.ceil(40 * scale)
    values = np.arange(-reach, reach + 1)
    weights = np.exp(-np.abs(values) / float(scale))
    return values, weights / math.fsum(weights)


def shows(choice: OccurrenceThreshold, count: int) -> float:
    """Add up the chances of the noise with which a key of this count shows."""
    values, chances = law(choice.scale)
    places = choice.release(np.full(len(values), count), Every(values))
    return math.fsum(chances[places])


def outcomes(marginals: list[Floats]) -> Floats:
    """Give the chance of every outcome of several keys, whose noise is drawn one by one."""
    return reduce(np.multiply.outer, marginals).ravel()


def excess(one: Floats, two: Floats, epsilon: float) -> float:
    """Give the least delta for which `one` is at most e^epsilon times `two`, and delta."""
    return math.fsum(np.maximum(one - math.exp(epsilon) * ROUNDING * two, 0))


def spread(d: int) -> Iterator[tuple[int, ...]]:
    """Give every way in which a user can spread up to d occurrences over keys."""
    for keys in range(1, d + 1):
        for ways in product(range(1, d + 1), repeat=keys):
            if sum(ways) <= d and list(ways) == sorted(ways):
                yield ways


def worst(choice: OccurrenceThreshold, epsilon: float) -> tuple[float, float]:
    """Give the worst delta over all tiny inputs: with her against without, and back."""
    table = [
        shows(choice, count) for count in range(choice.threshold + choice.contribution_bound + 4)
    ]
    laws = [np.array([1 - p, p]) for p in table]
    found = [0.0, 0.0]
    for ways in spread(choice.contribution_bound):
        for others in product(range(choice.threshold + 3), repeat=len(ways)):
            without = outcomes([laws[n] for n in others])
            with_her = outcomes([laws[n + own] for n, own in zip(others, ways, strict=True)])
            found[0] = max(found[0], excess(with_her, without, epsilon))
            found[1] = max(found[1], excess(without, with_her, epsilon))
    return found[0], found[1]


@pytest.mark.parametrize(("d", "epsilon", "delta"), CASES)
def test_the_choice_keeps_its_promise(d: int, epsilon: str, delta: str) -> None:
    choice = OccurrenceThreshold.calibrate(d, Fraction(epsilon), Fraction(delta))
    forth, back = worst(choice, float(choice.epsilon))
    assert forth <= float(choice.delta) * ROUNDING <= float(Fraction(delta)) * ROUNDING
    assert back == 0  # nothing shows without her that cannot show with her
    # And it is no better than told: one key with all, or each with one.
    p_all, p_one = shows(choice, d), shows(choice, 1)
    assert forth == pytest.approx(max(p_all, 1 - (1 - p_one) ** d), rel=1e-6)


@pytest.mark.parametrize(("d", "epsilon", "delta"), CASES)
def test_the_published_threshold_keeps_it_too(d: int, epsilon: str, delta: str) -> None:
    choice = OccurrenceThreshold.as_published(d, Fraction(epsilon), Fraction(delta))
    forth, back = worst(choice, float(choice.epsilon))
    assert forth < float(Fraction(delta))
    assert back == 0


@pytest.mark.parametrize(("d", "epsilon", "delta"), CASES)
def test_a_threshold_one_lower_breaks_it(d: int, epsilon: str, delta: str) -> None:
    choice = OccurrenceThreshold.calibrate(d, Fraction(epsilon), Fraction(delta))
    lower = replace(choice, threshold=choice.threshold - 1)
    assert worst(lower, float(choice.epsilon))[0] > float(Fraction(delta))


@pytest.mark.parametrize(("d", "epsilon", "delta"), CASES)
def test_a_scale_a_fifth_smaller_breaks_it(d: int, epsilon: str, delta: str) -> None:
    choice = OccurrenceThreshold.calibrate(d, Fraction(epsilon), Fraction(delta))
    smaller = replace(choice, scale=choice.scale * Fraction(4, 5))
    forth, back = worst(smaller, float(choice.epsilon))
    assert forth > float(Fraction(delta))
    assert back > float(Fraction(delta))


def test_a_low_threshold_costs_epsilon_without_her() -> None:
    # The second part of the paper's alpha: the noise alone would be 1/10.
    choice = OccurrenceThreshold(Fraction(10), 10, 1)
    assert worst(choice, 1 / 10)[1] > 0.01
    assert worst(choice, float(choice.epsilon))[1] == 0


# --- the choice and the counts together ----------------------------------------------------------


def told(choice: OccurrenceThreshold, fresh: LaplaceCounts, count: int, size: int) -> Floats:
    """Give the chances of all that can be told of a key: nothing, or one of many counts."""
    values, chances = law(fresh.scale)
    shown = shows(choice, count)
    found = np.zeros(1 + size)
    found[0] = 1 - shown
    noisy = fresh.release(np.full(len(values), count), Every(values))
    np.add.at(found, 1 + noisy - values[0], shown * chances)
    return found


def worst_told(choice: OccurrenceThreshold, fresh: LaplaceCounts, epsilon: float) -> float:
    size = 2 * math.ceil(40 * fresh.scale) + choice.threshold + 8
    laws = [
        told(choice, fresh, n, size)
        for n in range(choice.threshold + choice.contribution_bound + 3)
    ]
    found = 0.0
    for ways in spread(min(choice.contribution_bound, 2)):
        for others in product((0, 1, choice.threshold - 1, choice.threshold + 2), repeat=len(ways)):
            without = outcomes([laws[n] for n in others])
            with_her = outcomes([laws[n + own] for n, own in zip(others, ways, strict=True)])
            both = excess(with_her, without, epsilon), excess(without, with_her, epsilon)
            found = max(found, *both)
    return found


@pytest.mark.parametrize("d", [1, 2])
def test_choice_and_counts_keep_their_promise_together(d: int) -> None:
    delta = Fraction(1, 100)
    choice, fresh = (
        OccurrenceThreshold.calibrate(d, Fraction(1), delta),
        LaplaceCounts.for_epsilon(d, Fraction(1, 2)),
    )
    epsilon = float(choice.epsilon + fresh.epsilon)
    assert worst_told(choice, fresh, epsilon) <= float(delta) * ROUNDING
    smaller = replace(fresh, scale=fresh.scale / 2)
    assert worst_told(choice, smaller, epsilon) > float(delta)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_noise_on_known_keys_has_no_delta(d: int) -> None:
    fresh = LaplaceCounts.for_epsilon(d, Fraction(1))
    values, chances = law(fresh.scale)

    def counted(count: int) -> Floats:
        noisy = fresh.release(np.full(len(values), count), Every(values))
        found = np.zeros(len(values) + d)
        found[noisy - values[0]] = chances
        return found[d:-d]  # what only one of the two can reach is less than 1e-17

    for n in range(1, d + 1):
        zero, some = counted(0), counted(n)
        for one, two in ((zero, some), (some, zero)):
            assert excess(one, two, float(fresh.epsilon)) < 1e-16
            if n == d:
                assert excess(one, two, 0.8 * float(fresh.epsilon)) > 0.01
