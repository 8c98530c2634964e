"""Noisy counts, counted out: all outcomes of small tables, with and without one user.

The code that releases is run on every noise there is; the chances of noise come from the formula,
in decimals. So the distance between the two outcomes is exact, but for what noise has far out,
which is added. Nothing is drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement
from math import exp

import numpy as np
import pytest

from queryveil.dp.noise import exact_scale
from queryveil.dp.thresholded_counts import (
    TableBudget,
    ThresholdedCounts,
    calibrate_gaussian,
    calibrate_laplace,
)

EPSILON = Fraction(1)
DELTA = Fraction(1, 1000)  # large, so that little noise is enough
ROUNDED = 1 + 1e-10  # what sums of floats may lose
KINDS = ("laplace", "gaussian")


class Given:
    """A source that gives the noise it was made with."""

    def __init__(self, noise: np.ndarray) -> None:
        self.noise = noise

    def laplace(self, size: int, scale: Fraction) -> np.ndarray:
        return self.noise[:size]

    gaussian = laplace


@cache
def noise_of(kind: str, scale: Fraction) -> tuple[np.ndarray, np.ndarray, float]:
    """Give integers, their chances by the formula, and a bound on the chance of all others."""
    far = int(30 * scale) if kind == "laplace" else int(10 * scale)
    with localcontext(prec=40):
        half = []
        for z in range(2 * far):
            power = z / scale if kind == "laplace" else z * z / (2 * scale * scale)
            half.append((-Decimal(power.numerator) / power.denominator).exp())
        whole = 2 * sum(half) - half[0]
        chances = [float(half[abs(z)] / whole) for z in range(-far, far + 1)]
        # The weights beyond 2 * far are below those from far to there.
        rest = float(4 * sum(half[far + 1 :]) / whole)
    return np.arange(-far, far + 1), np.array(chances), rest


def outcome(table: ThresholdedCounts, users: int, top: int) -> np.ndarray:
    """Give the chances of not showing, of showing the least count, the next, ... for one key."""
    noise, chances, _ = noise_of(table.noise, table.scale)
    places, counts = table.release(np.full(len(noise), users), Given(noise))
    found = np.zeros(top)
    np.add.at(found, 1 + counts - table.median_release_count, chances[places])
    found[0] = chances.sum() - found.sum()
    return found


def joint(table: ThresholdedCounts, users: Sequence[int], most: int) -> np.ndarray:
    """Give the chances of all outcomes of several keys, of which none has more users than that."""
    far = int(noise_of(table.noise, table.scale)[0].max())
    top = 2 + max(0, most + far - table.median_release_count)
    found = np.ones(1)
    for count in users:
        found = np.multiply.outer(found, outcome(table, count, top)).ravel()
    return found


def excess(one: np.ndarray, other: np.ndarray, epsilon: float) -> float:
    """Give by how much `one` exceeds e^epsilon times `other` at most, over all events."""
    return float(np.maximum(one - exp(epsilon) * other, 0).sum())


def rest(table: ThresholdedCounts, keys: int) -> float:
    return keys * noise_of(table.noise, table.scale)[2]


def worst(table: ThresholdedCounts, without: Sequence[int], hers: int) -> float:
    """Give the greater of both directions; she adds one to each of the first `hers` keys."""
    with_her = [n + 1 if place < hers else n for place, n in enumerate(without)]
    out, in_ = (joint(table, users, max(with_her)) for users in (without, with_her))
    both = max(excess(in_, out, float(EPSILON)), excess(out, in_, float(EPSILON)))
    return both + rest(table, len(without))


def made(kind: str, keys: int, least: int = 2) -> ThresholdedCounts:
    shapes = [TableBudget(keys, Fraction(1))]
    if kind == "laplace":
        return calibrate_laplace(shapes, EPSILON, DELTA, least)[0]
    return calibrate_gaussian(shapes, EPSILON, DELTA, min_users=least)[0][0]


def counts_to_try(table: ThresholdedCounts) -> list[int]:
    """Nobody, those around `least`, around the threshold, and many."""
    least, high = table.min_users, table.median_release_count
    return sorted({0, 1, least - 2, least - 1, least, high - 2, high, high + 30} - {-1})


# --- one table -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("least", [1, 2, 3])
def test_one_key_of_a_user(kind: str, least: int) -> None:
    table = made(kind, 1, least)
    assert rest(table, 1) < 1e-9
    for others in counts_to_try(table):
        assert worst(table, [others], 1) <= float(DELTA) * ROUNDED


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("least", [1, 2])
def test_two_keys_of_a_user(kind: str, least: int) -> None:
    table = made(kind, 2, least)
    for others in combinations_with_replacement(counts_to_try(table), 2):
        assert worst(table, others, 2) <= float(DELTA) * ROUNDED


@pytest.mark.parametrize("kind", KINDS)
def test_keys_of_others_beside_hers_change_nothing(kind: str) -> None:
    table = made(kind, 1)
    for others in [(1, 1, 2), (2, 4, 1), (table.median_release_count, 0, 3)]:
        three, one = worst(table, others, 1), worst(table, others[:1], 1)
        assert three == pytest.approx(one, rel=1e-6, abs=1e-8)
        assert three <= float(DELTA) * ROUNDED


def test_outcomes_are_chances() -> None:
    for kind in KINDS:
        table = made(kind, 2)
        assert joint(table, [1, 5], 5).sum() == pytest.approx(1, abs=1e-9)
        assert joint(table, [1, 0], 1)[0] == pytest.approx(1, abs=1e-9)  # below least nothing shows


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("keys", [1, 5])
def test_the_chance_of_a_lifted_key_is_bounded(kind: str, keys: int) -> None:
    table = made(kind, keys)
    shows = joint(table, [table.min_users], table.min_users)[1:].sum()
    assert shows <= float(table.delta_per_key) * ROUNDED
    assert float(table.delta_per_key) <= shows * (1.1 if kind == "gaussian" else 1.0001)


# --- as little noise as that ---------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("keys", [1, 2])
def test_a_fifth_less_noise_breaks_it(kind: str, keys: int) -> None:
    table = made(kind, keys)
    less = replace(table, scale=exact_scale(table.scale * Fraction(4, 5)))
    tries = ([others] * keys for others in counts_to_try(table))
    assert max(worst(less, others, keys) for others in tries) > float(DELTA)


@pytest.mark.parametrize("kind", KINDS)
def test_a_lower_threshold_breaks_it(kind: str) -> None:
    table = made(kind, 1)
    steps = 1 if kind == "laplace" else 4  # 3/5 of a Gaussian's delta are for what noise hides
    lower = replace(table, threshold=table.threshold - steps)
    assert worst(lower, [table.min_users - 1], 1) > float(DELTA)


def test_a_key_that_the_rule_forgets_breaks_it() -> None:
    """A table that counts two keys of a user and is made for one gives too much away."""
    for kind in KINDS:
        table = made(kind, 1)
        many = [table.median_release_count + 30] * 2
        assert worst(table, many, 2) > float(DELTA)


@pytest.mark.parametrize("kind", KINDS)
def test_taking_nothing_off_rare_keys_breaks_it(kind: str) -> None:
    """If `least` only hid keys, one that becomes visible would jump by more than one."""
    table = made(kind, 1, least=8)
    noise, chances, _ = noise_of(table.noise, table.scale)
    jumped = chances[noise + 8 >= table.threshold].sum()  # 8 users where 7 are hidden
    assert jumped > float(DELTA)
    assert worst(table, [7], 1) <= float(DELTA) * ROUNDED


# --- two tables, the second made in view of the first --------------------------------------------


def tables_of_two(kind: str, share: Fraction) -> list[ThresholdedCounts]:
    shapes = [TableBudget(1, share), TableBudget(1, 1 - share)]
    if kind == "laplace":
        return calibrate_laplace(shapes, EPSILON, DELTA)
    return calibrate_gaussian(shapes, EPSILON, DELTA)[0]


def second_in_view(tables: Sequence[ThresholdedCounts], first: int, adaptive: bool) -> float:
    """Give the distance if the worst key of table two is chosen, at best by what table one shows.

    The choice is between a key that only she lifts over `least`, and one that many have.
    """
    one, two = tables
    with_her, without = (joint(one, [users], first + 1) for users in (first + 1, first))
    keys = (two.min_users - 1, two.median_release_count + 40)
    found = []
    for direction in (1, -1):
        pair = (with_her, without)[::direction]
        costs = []
        for users in keys:
            later = (joint(two, [n], users + 1) for n in (users + 1, users))
            p, q = tuple(later)[::direction]
            gaps = pair[0][:, None] * p - exp(float(EPSILON)) * pair[1][:, None] * q
            costs.append(np.maximum(gaps, 0).sum(axis=1))
        together = np.maximum(*costs).sum() if adaptive else max(cost.sum() for cost in costs)
        found.append(float(together))
    return max(found) + rest(one, 1) + rest(two, 1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("share", [Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)])
def test_the_second_table_may_depend_on_the_first(kind: str, share: Fraction) -> None:
    tables = tables_of_two(kind, share)
    for first in (1, tables[0].median_release_count, tables[0].median_release_count + 40):
        assert second_in_view(tables, first, adaptive=True) <= float(DELTA) * ROUNDED


def test_dependence_costs_more_than_the_worst_fixed_cut() -> None:
    """Why lifted and hidden keys are added up: the dearer of both is not enough."""
    tables = tables_of_two("gaussian", Fraction(1, 2))
    first = tables[0].median_release_count + 40
    fixed, adaptive = (second_in_view(tables, first, adaptive=a) for a in (False, True))
    assert adaptive > 1.2 * fixed
