"""Weights and their calibration: what is asked for, what is taken, what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest

from queryveil.concepts.similarity.domains import IdentityScore
from queryveil.dp.exponential.calibration import (
    calibrate_bounded_range,
    calibrate_exact,
    calibrate_nominal,
)
from queryveil.dp.exponential.weights import (
    Candidates,
    ExponentialWeights,
    ScoreTable,
    max_exponent,
    max_log_ratio,
)
from queryveil.errors import UsageError


def line(size: int) -> Candidates:
    """Items on a line, the nearer the better."""
    places = np.arange(size)
    table = np.abs(places[:, None] - places[None, :]).astype(np.uint16)
    return Candidates.of(ScoreTable(1 - np.arange(size) / size, table))


def test_counts_of_levels() -> None:
    assert line(3).counts.tolist() == [[0, 1, 1], [0, 2, 0], [0, 1, 1]]
    assert line(3).score_range == pytest.approx(2 / 3)
    assert len(line(3)) == 3
    assert Candidates.of(IdentityScore(5)).counts.tolist() == [[0, 4]]


def test_classes_and_starts() -> None:
    choices = Candidates.of(IdentityScore(5))
    assert choices.starts.tolist() == [0, 5]
    assert choices.classes(np.array([0, 4])).tolist() == [0, 0]
    assert line(3).classes(np.array([2, 0])).tolist() == [2, 0]


def test_weights_are_integers_in_proportion() -> None:
    weights = ExponentialWeights.of(line(4), 2.0)
    assert weights.levels.dtype == np.int64
    assert weights.levels[0] == 2**55
    expected = np.exp(-2.0 * np.arange(4) / 4)
    np.testing.assert_allclose(weights.levels / weights.levels[0], expected, rtol=1e-15)
    assert weights.totals.tolist() == [
        int(weights.levels[[abs(i - o) for o in range(4)]].sum()) for i in range(4)
    ]
    assert weights.log_ratio_bound == pytest.approx(1.5, abs=1e-10)
    assert weights.log_ratio_bound > 1.5


def test_no_strength_makes_all_alike() -> None:
    weights = ExponentialWeights.of(line(4), 0.0)
    assert len(set(weights.levels.tolist())) == 1
    assert max_log_ratio(weights) <= 2e-11


@pytest.mark.parametrize("strength", [-1.0, math.nan, math.inf, 1e3])
def test_a_strength_that_cannot_be_drawn_is_refused(strength: float) -> None:
    with pytest.raises(UsageError, match="exponent"):
        ExponentialWeights.of(line(4), strength)


@pytest.mark.parametrize("size", [2, 3, 1000, 100_000])
def test_the_greatest_strength_still_has_fair_weights(size: int) -> None:
    choices = Candidates.of(IdentityScore(size))
    weights = ExponentialWeights.of(choices, max_exponent(choices))
    assert weights.levels.min() >= 2**6 - 1
    assert weights.totals.max() < 2**59
    for epsilon in (50.0, 1e4):  # more is asked for than can be drawn: the most is taken
        for made in (calibrate_nominal(choices, epsilon), calibrate_exact(choices, epsilon)):
            assert made.exponent <= max_exponent(choices)
            assert max_log_ratio(made) <= epsilon


def test_one_item_needs_no_strength() -> None:
    for choices in (line(1), Candidates.of(IdentityScore(1))):
        assert choices.score_range == 0
        assert (
            calibrate_exact(choices, 1.0).exponent == calibrate_nominal(choices, 1.0).exponent == 0
        )
        assert max_log_ratio(calibrate_exact(choices, 1.0)) <= 2e-11


def test_a_sensitivity_may_be_named() -> None:
    assert calibrate_nominal(line(4), 1.0).exponent == pytest.approx(1 / 1.5)
    assert calibrate_nominal(line(4), 1.0, sensitivity=1.0).exponent == pytest.approx(0.5)
    # One that is too small would break the promise, and is not believed.
    assert 2 * calibrate_nominal(line(4), 1.0, sensitivity=0.1).log_ratio_bound <= 1.0


@pytest.mark.parametrize("epsilon", [1e-7, 0.01, 1.0, 20.0])
@pytest.mark.parametrize("size", [2, 9, 60])
def test_calibration_comes_near_epsilon(size: int, epsilon: float) -> None:
    made = calibrate_exact(line(size), epsilon)
    assert max_log_ratio(made) <= epsilon
    assert max_log_ratio(made) >= 0.999 * epsilon
    assert 2 * calibrate_bounded_range(line(size), epsilon / 2).log_ratio_bound <= epsilon


def test_a_good_hint_is_taken_as_it_is() -> None:
    found = calibrate_exact(line(30), 1.0)
    assert calibrate_exact(line(30), 1.0, found.exponent).exponent == found.exponent


@pytest.mark.parametrize(
    "hint", [0.0, -1.0, 1e-9, 0.5, 1.6, 3.0, 20.0, 1e9, math.inf, -math.inf, math.nan]
)
def test_a_wrong_hint_does_no_harm(hint: float) -> None:
    """Neither one that is too great, which would break the promise, nor one that wastes."""
    made = calibrate_exact(line(30), 1.0, hint)
    assert 0.999 <= max_log_ratio(made) <= 1.0
