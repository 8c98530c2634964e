"""Tables cost what they may and no more, and show what reaches the threshold."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from queryveil.dp.accounting import TableLoss, composed_delta, gaussian_tail, laplace_tail
from queryveil.dp.thresholded_counts import (
    TableBudget,
    ThresholdedCounts,
    calibrate_gaussian,
    calibrate_laplace,
)
from queryveil.errors import UsageError


class Given:
    """Noise that was decided beforehand."""

    def __init__(self, *values: int) -> None:
        self.values = np.array(values, np.int64)
        self.asked: list[tuple[str, int, Fraction]] = []

    def laplace(self, size: int, scale: Fraction) -> np.ndarray:
        self.asked.append(("laplace", size, scale))
        return self.values[:size]

    def gaussian(self, size: int, scale: Fraction) -> np.ndarray:
        self.asked.append(("gaussian", size, scale))
        return self.values[:size]


SHARES = st.sampled_from(
    (
        (Fraction(1),),
        (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)),
        (Fraction(5, 7), Fraction(1, 7), Fraction(1, 7)),
    )
)
EPSILONS = st.sampled_from((Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(5)))
DELTAS = st.integers(4, 14).map(lambda n: Fraction(1, 10**n))
KEYS = st.integers(1, 60)


def shapes_of(shares: tuple[Fraction, ...], keys: int) -> list[TableBudget]:
    return [TableBudget(keys + place, share) for place, share in enumerate(shares)]


# --- what is made --------------------------------------------------------------------------------


@settings(max_examples=40)
@given(SHARES, KEYS, EPSILONS, DELTAS)
def test_laplace_tables_use_up_the_budget(shares, keys, epsilon, delta) -> None:
    tables = calibrate_laplace(shapes_of(shares, keys), epsilon, delta)
    assert epsilon * Fraction(9, 10) < sum(t.epsilon for t in tables) <= epsilon
    assert sum(t.contribution_bound * t.delta_per_key for t in tables) <= delta
    for table, share in zip(tables, shares, strict=True):
        assert (table.scale * 256).denominator == 1
        assert table.epsilon <= epsilon * share
        assert table.delta_per_key == laplace_tail(table.scale, table.threshold - 1)
        # One less, and a key of hers shows too often.
        assert (
            table.contribution_bound * laplace_tail(table.scale, table.threshold - 2)
            > delta * share
        )


@settings(max_examples=8)
@given(SHARES, KEYS, EPSILONS, DELTAS, st.sampled_from((Fraction(0), Fraction(1, 20))))
def test_gaussian_tables_use_up_the_budget(shares, keys, epsilon, delta, rest) -> None:
    tables, left = calibrate_gaussian(shapes_of(shares, keys), epsilon, delta, rest)

    def cost(smaller: Fraction = Fraction(1)) -> float:
        parts = [
            TableLoss(float(t.rho / smaller**2), t.contribution_bound, float(t.delta_per_key))
            for t in tables
        ]
        return composed_delta(parts, float(left), epsilon)

    assert cost() <= delta
    assert cost(Fraction(97, 100)) > delta  # 3 % less noise would be too little
    noise = sum(t.rho for t in tables)
    assert bool(left) == bool(rest)
    assert left <= rest * (noise + left) * Fraction(103, 100)
    for table, share in zip(tables, shares, strict=True):
        assert (table.scale * 256).denominator == 1
        assert table.rho <= share * noise * Fraction(105, 100)
        assert table.delta_per_key == gaussian_tail(table.scale, table.threshold - 1)


def test_the_default_budget_in_numbers() -> None:
    """A change of these is a change of what is promised, or of how good it is."""
    shares = (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4))
    shapes = [TableBudget(20, share) for share in shares]
    tables, _ = calibrate_gaussian(shapes, Fraction(1), Fraction(1, 10**9), Fraction(1, 20))
    assert [t.median_release_count for t in tables] == [258, 369, 369]
    laplace = calibrate_laplace(shapes, Fraction(1), Fraction(1, 10**9))
    assert [t.scale for t in laplace] == [40, 80, 80]
    assert [t.median_release_count for t in laplace] == [952, 1956, 1956]


def test_half_the_epsilon_needs_about_twice_the_noise() -> None:
    one, half = (
        calibrate_gaussian([TableBudget(20, Fraction(1))], epsilon, Fraction(1, 10**9))[0][0].scale
        for epsilon in (Fraction(1), Fraction(1, 2))
    )
    assert 1.9 < half / one < 2.1


@pytest.mark.parametrize("kind", [calibrate_laplace, calibrate_gaussian])
def test_a_budget_that_cannot_be_kept_is_refused(kind) -> None:
    with pytest.raises(UsageError):
        kind([TableBudget(1, Fraction(1))], Fraction(1, 10**15), Fraction(1, 10**9))


def test_a_key_that_shows_often_needs_an_epsilon_that_pays_for_it() -> None:
    """With little epsilon and much delta, leaving a user out would cost more than noise does."""
    with pytest.raises(UsageError, match="cannot be kept"):
        calibrate_laplace([TableBudget(1, Fraction(1))], Fraction(1, 1000), Fraction(1, 10))


# --- one table -----------------------------------------------------------------------------------


def test_keys_below_least_get_no_noise_and_never_show() -> None:
    table = ThresholdedCounts(
        "laplace", Fraction(2), threshold=5, contribution_bound=1, min_users=3
    )
    source = Given(100, 3, 2)
    places, counts = table.release(np.array([2, 3, 0, 4, 5, 1]), source)
    # Effective counts are 1, 2, 3; noise makes 101, 5, 5.
    assert source.asked == [("laplace", 3, Fraction(2))]
    assert places.tolist() == [1, 3, 4]
    assert counts.tolist() == [103, 7, 7]
    assert counts.min() >= table.median_release_count == 7


def test_the_threshold_itself_shows_and_one_less_does_not() -> None:
    table = ThresholdedCounts("gaussian", Fraction(2), threshold=5, contribution_bound=1)
    places, counts = table.release(np.array([9, 9, 9]), Given(-3, -4, -5))
    # 9 users are an effective count of 8: 5 shows, 4 and 3 do not.
    assert places.tolist() == [0]
    assert counts.tolist() == [6]


def test_an_empty_table_stays_empty() -> None:
    table = ThresholdedCounts("gaussian", Fraction(2), threshold=5, contribution_bound=1)
    places, counts = table.release(np.zeros(0, np.int64), Given())
    assert (len(places), len(counts)) == (0, 0)


@settings(max_examples=50)
@given(
    st.lists(st.integers(0, 12), max_size=6),
    st.integers(1, 4),
    st.integers(1, 9),
    st.data(),
)
def test_release_is_the_rule_of_the_proof(counts, least, threshold, data) -> None:
    table = ThresholdedCounts(
        "laplace", Fraction(1), threshold, contribution_bound=2, min_users=least
    )
    enough = [place for place, n in enumerate(counts) if n >= least]
    noise = data.draw(st.lists(st.integers(-20, 20), min_size=len(enough), max_size=len(enough)))
    wanted = {}
    for place, z in zip(enough, noise, strict=True):
        effective = max(0, counts[place] - (least - 1))
        if effective + z >= threshold:
            wanted[place] = effective + z + least - 1
    places, shown = table.release(np.array(counts, np.int64), Given(*noise))
    assert dict(zip(places.tolist(), shown.tolist(), strict=True)) == wanted


def test_each_noise_has_its_own_cost() -> None:
    laplace = ThresholdedCounts("laplace", Fraction(4), 5, contribution_bound=8)
    gaussian = ThresholdedCounts("gaussian", Fraction(4), 5, contribution_bound=8)
    assert laplace.epsilon == 2
    assert gaussian.rho == Fraction(1, 4)
    assert laplace.rho == 8 * Fraction(1, 32)  # each key a pure 1/4
    with pytest.raises(UsageError):
        _ = gaussian.epsilon


@pytest.mark.parametrize("wrong", [{"threshold": 0}, {"contribution_bound": 0}, {"min_users": 0}])
def test_a_table_without_a_proof_is_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(UsageError, match="must be at least 1"):
        ThresholdedCounts(
            **{"noise": "laplace", "scale": Fraction(1), "threshold": 5, "contribution_bound": 1}
            | wrong
        )
