"""Weighted selection: weights no longer than 1, thresholds by slow sums, costs in the budget."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import exp, fsum

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from queryveil.dp.noise import NoiseSource
from queryveil.dp.set_union import (
    GaussianCounts,
    SetUnionRelease,
    WeightedSelection,
    calibrate_set_union,
)
from queryveil.dp.thresholded_counts import TableBudget
from queryveil.errors import UsageError

UNIT = 1024
ONE = Fraction(1)
SMALL = Fraction(1, 10**7)


class Silence(NoiseSource):
    """No noise at all; remembers how much was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[tuple[int, Fraction]] = []

    def gaussian(self, size: int, scale: Fraction) -> np.ndarray:
        self.asked.append((size, scale))
        return np.zeros(size, np.int64)


def slow_tail(scale: float, least: int) -> float:
    """Sum up the discrete Gaussian from `least` on."""
    far = int(14 * scale) + 2
    whole = fsum(exp(-z * z / (2 * scale * scale)) for z in range(-far, far + 1))
    return fsum(exp(-z * z / (2 * scale * scale)) for z in range(least, far + 1)) / whole


def slow_weight(own: int) -> int:
    return max(w for w in range(UNIT + 1) if own * w * w <= UNIT * UNIT)


# --- one round -----------------------------------------------------------------------------------


@given(sizes=st.lists(st.integers(1, 60), min_size=1, max_size=30))
def test_no_user_is_longer_than_one(sizes: list[int]) -> None:
    one = WeightedSelection(Fraction(1000), 5000, 60)
    user = np.repeat(np.arange(len(sizes)), sizes)
    weights = one.weights(user)
    for number, size in enumerate(sizes):
        hers = weights[user == number].tolist()
        assert hers == [slow_weight(size)] * size
        assert sum(w * w for w in hers) <= UNIT * UNIT


def test_weights_fit_up_to_the_most_keys() -> None:
    one = WeightedSelection(Fraction(1000), 5000, 10_000)
    for size in (1, 99, 1_000, 9_999, 10_000):
        weight = int(one.weights(np.zeros(size, np.int64))[0])
        assert size * weight**2 <= UNIT**2 < size * (weight + 1) ** 2
        assert weight > 0


@pytest.mark.parametrize(("keys", "rho"), [(1, "1"), (2, "2"), (7, "8"), (70, "1"), (7, "400")])
@pytest.mark.parametrize("chance", ["1e-3", "1e-9"])
def test_thresholds_by_slow_sums(keys: int, rho: str, chance: str) -> None:
    allowed = Fraction(chance)
    one = WeightedSelection.calibrate(keys, Fraction(rho), allowed)
    assert one.rho <= Fraction(rho)
    assert one.delta_per_key <= allowed
    exact = max(
        own * slow_tail(float(one.scale), one.threshold - slow_weight(own))
        for own in range(1, keys + 1)
    )
    assert exact <= one.delta_per_key * (1 + Fraction(1, 10**9))
    # Not one less would do, and the bound is not far from the truth.
    assert replace(one, threshold=one.threshold - 1).delta_per_key > allowed
    assert exact > 0.8 * float(one.delta_per_key)


def test_a_threshold_below_a_weight_shows_for_sure() -> None:
    assert WeightedSelection(Fraction(100), 1024, 3).delta_per_key == 1
    assert WeightedSelection(Fraction(100_000), 1025, 3).delta_per_key == 1


def test_a_key_shows_by_all_users_but_the_heaviest() -> None:
    """Users 0..3 have one key, users 4 and 5 two: 1024 or 724 each."""
    user = np.array([0, 1, 2, 3, 4, 4, 5, 5])
    key = np.array([0, 0, 1, 2, 1, 2, 1, 3])
    for threshold, shown in [
        (1024, [0, 1]),
        (1025, [1]),
        (1448, [1]),
        (1449, []),
        (724, [0, 1, 2]),
    ]:
        quiet = Silence()
        one = WeightedSelection(Fraction(50), threshold, 2)
        assert one.release(user, key, quiet).tolist() == shown
        assert quiet.asked == [(3, Fraction(50))]  # key 3 has one user, and gets no noise


def test_one_user_changes_what_is_left_by_no_more_than_her_weight() -> None:
    """The heaviest user may be another one then; this is what the proof rests on."""
    weights = [1024, 724, 591, 512, 323]
    rng = np.random.default_rng(5)
    for _ in range(300):
        others = rng.choice(weights, size=rng.integers(0, 6)).tolist()
        new = int(rng.choice(weights))
        before = sum(others) - max(others, default=0)
        after = sum([*others, new]) - max([*others, new])
        assert 0 <= after - before <= new


def test_defects_are_refused() -> None:
    one = WeightedSelection(Fraction(1000), 5000, 2)
    with pytest.raises(UsageError, match="too many keys"):
        one.release(np.array([0, 0, 0]), np.array([0, 1, 2]), Silence())
    with pytest.raises(UsageError, match="twice"):
        one.release(np.array([0, 0]), np.array([1, 1]), Silence())
    none = np.zeros(0, np.int64)
    assert one.release(none, none, Silence()).tolist() == []


def test_real_noise_shows_about_half_at_the_threshold() -> None:
    one = WeightedSelection(Fraction(2000), 10 * UNIT, 1)
    key = np.repeat(np.arange(400), 11)
    shown = one.release(np.arange(len(key)), key, NoiseSource())
    assert 120 < len(shown) < 280
    assert one.median_release_count == 11


# --- counts of known keys ------------------------------------------------------------------------


def test_known_counts_are_all_shown_and_at_least_one() -> None:
    table = GaussianCounts.calibrate(10, Fraction(1, 100))
    assert table.rho <= Fraction(1, 100) < table.rho * Fraction(101, 100)
    noisy = table.release(np.array([0, 3, 100_000] * 200), NoiseSource())
    assert len(noisy) == 600 and noisy.min() == 1
    assert abs(int(noisy[2]) - 100_000) < 12 * table.scale
    assert table.release(np.zeros(0, np.int64), Silence()).tolist() == []


# --- all together --------------------------------------------------------------------------------


def shapes(*keys: int) -> list[TableBudget]:
    return [
        TableBudget(n, Fraction(2 if place == 0 else 1, len(keys) + 1))
        for place, n in enumerate(keys)
    ]


@settings(max_examples=25)
@given(
    epsilon=st.sampled_from(["0.01", "0.5", "1", "3", "20"]),
    delta=st.sampled_from(["1e-4", "1e-7", "1e-12", "1e-25"]),
    keys=st.lists(st.integers(1, 40), min_size=1, max_size=3),
    rounds=st.sampled_from([(1,), (1, 3, 9), (1, 1)]),
    select=st.sampled_from(["1/10", "3/4", "99/100"]),
)
def test_all_together_stays_within_the_budget(
    epsilon: str, delta: str, keys: list[int], rounds: tuple[int, ...], select: str
) -> None:
    most = Fraction(epsilon), Fraction(delta)
    made = calibrate_set_union(shapes(*keys), *most, rounds, Fraction(select))
    assert len(made.rounds) == len(rounds) and len(made.others) == len(keys) - 1
    assert made.delta(most[0]) <= most[1]
    if most[0] <= 3:  # beyond, thresholds are so low that whole numbers are coarse
        assert made.delta(most[0]) > most[1] * Fraction(8, 10)  # little is given away
    assert made.delta(most[0] * Fraction(9, 10)) > most[1]


def test_the_budget_is_cut_as_asked() -> None:
    made = calibrate_set_union([TableBudget(10, ONE)], ONE, SMALL, (1, 3, 9), Fraction(3, 4))
    first, second, third = made.rounds
    assert float(second.rho / first.rho) == pytest.approx(3, rel=1e-3)
    assert float(third.rho / first.rho) == pytest.approx(9, rel=1e-3)
    assert float(third.delta_per_key / first.delta_per_key) == pytest.approx(9, rel=1e-2)
    assert float(sum(one.rho for one in made.rounds) / made.rho) == pytest.approx(0.75, rel=1e-3)
    assert first.median_release_count > second.median_release_count > third.median_release_count


def test_a_rest_is_left_and_paid_for() -> None:
    made = calibrate_set_union(shapes(10, 3), ONE, SMALL, rest=Fraction(1, 20))
    assert float(made.remaining_rho / made.rho) == pytest.approx(0.05, rel=1e-3)
    assert made.delta(ONE) <= SMALL < replace(made, remaining_rho=2 * made.remaining_rho).delta(ONE)


def test_delta_adds_up_everything() -> None:
    made = calibrate_set_union(shapes(5, 3, 2), ONE, SMALL)
    alone = SetUnionRelease(made.rounds, made.counts)
    assert alone.rho < made.rho and alone.chance < made.chance
    assert alone.delta(ONE) < made.delta(ONE)
    low = replace(made.rounds[0], threshold=made.rounds[0].threshold - 2 * UNIT)
    assert replace(made, rounds=(low,)).delta(ONE) > SMALL
    quiet = replace(made.counts, scale=made.counts.scale / 2)
    assert replace(made, counts=quiet).delta(ONE) > SMALL
    sure = replace(made.rounds[0], threshold=5)
    assert replace(made, rounds=(sure,)).delta(ONE) == 1.0


def test_more_budget_finds_more() -> None:
    def users(epsilon: str = "1", delta: str = "1e-7", keys: int = 10, select: str = "3/4") -> int:
        made = calibrate_set_union(
            [TableBudget(keys, ONE)], Fraction(epsilon), Fraction(delta), (1,), Fraction(select)
        )
        return made.rounds[0].median_release_count

    assert users("0.3") > users("1") > users("4")
    assert users(delta="1e-12") > users(delta="1e-7") > users(delta="1e-4")
    assert users(keys=40) > users(keys=10) > users(keys=1)
    assert users(select="1/2") > users(select="3/4") > users(select="9/10")


def test_what_cannot_be_kept_is_refused() -> None:
    with pytest.raises(UsageError, match="cannot be kept"):
        calibrate_set_union([TableBudget(2, ONE)], Fraction("1e-9"), Fraction("1e-2"))
    for share in ("0", "1", "3/2"):
        with pytest.raises(UsageError, match="selection cannot take"):
            calibrate_set_union([TableBudget(2, ONE)], ONE, SMALL, (1,), Fraction(share))
