"""What is drawn has the chances that were counted out: the choice, and permute-and-flip."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import permutations
from math import factorial, log

import numpy as np
import pytest
from choosing import CRITERIA, Case, chi_square, graph, hand_made, sport, table_of

from queryveil.core.randomness import RandomSource
from queryveil.dp.exponential.calibration import calibrate_nominal
from queryveil.dp.exponential.sampling import permute_and_flip, sample, uniform_below
from queryveil.dp.exponential.weights import Candidates, ExponentialWeights, ScoreTable
from queryveil.dp.noise import NoiseSource
from queryveil.errors import UsageError

TINY = {
    "disease": [],
    "lungs": ["disease"],
    "skin": ["disease"],
    "asthma": ["lungs"],
    "cough": ["lungs"],
    "acne": ["skin"],
}


def noise(seed: int = 1) -> NoiseSource:
    return NoiseSource(RandomSource(seed).uint64s)


@cache
def case(name: str) -> Case:
    if name == "tiny":
        return Case(graph(TINY), "disease", ["lungs"])
    return {"hand-made": hand_made, "sport": sport}[name]()


def chances(weights: ExponentialWeights, item: int) -> np.ndarray:
    row = table_of(weights)[item]
    return row / row.sum()


# --- numbers below a total -----------------------------------------------------------------------


def test_numbers_below_a_total_are_equally_likely() -> None:
    drawn = uniform_below(np.full(200_000, 7), noise())
    value, limit = chi_square(drawn, np.full(7, 1 / 7))
    assert value < limit
    assert drawn.dtype == np.int64


@pytest.mark.parametrize("total", [1, 2, 3, 5, 2**57, 2**58 - 1, 3 * 2**50])
def test_what_would_favour_small_numbers_is_drawn_again(total: int) -> None:
    last = 2**64 // total * total - 1
    for first in {last, min(last + 1, 2**64 - 1), 2**64 - 1}:
        rest = iter([[first], [5]])
        found = uniform_below(
            np.array([total]), NoiseSource(lambda _, rest=rest: np.array(next(rest), "u8"))
        )
        assert found.tolist() == [(first if first <= last else 5) % total]


# --- the choice ----------------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("strength", [0.0, 3.0])
def test_each_input_has_its_chances(criterion: str, strength: float) -> None:
    """All rows near, near and far ones, and one class for all; classes of several items too."""
    weights = ExponentialWeights.of(case("hand-made").choices(criterion), strength)
    size, each = len(weights.choices), 20_000
    inputs = np.tile(np.arange(size), each)
    outputs = sample(weights, inputs, noise())
    assert outputs.dtype == np.int32
    for item in range(size):
        value, limit = chi_square(outputs[inputs == item], chances(weights, item))
        assert value < limit
    stronger = ExponentialWeights.of(weights.choices, strength + 0.5)
    value, limit = chi_square(outputs[inputs == 0], chances(stronger, 0))
    assert value > limit  # the test sees a wrong distribution


@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_larger_domain_has_its_chances(criterion: str) -> None:
    weights = calibrate_nominal(case("sport").choices(criterion), 8.0)
    inputs = np.repeat([0, 60, 120, 176], 30_000)
    inputs = inputs[RandomSource(3).permutation(len(inputs))]
    outputs = sample(weights, inputs, noise(2))
    assert outputs.min() >= 0
    assert outputs.max() < 177
    for item in np.unique(inputs).tolist():
        value, limit = chi_square(outputs[inputs == item], chances(weights, item))
        assert value < limit


def test_far_items_before_and_after_are_both_drawn() -> None:
    weights = ExponentialWeights.of(case("hand-made").choices("sqc2"), 0.5)
    topics = weights.choices.scores.topic
    assert len(set(topics.tolist())) == 3
    for item in range(len(weights.choices)):
        drawn = sample(weights, np.full(3000, item), noise(item))
        assert set(drawn.tolist()) == set(range(len(weights.choices)))


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("choose", [sample, permute_and_flip])
def test_no_inputs_give_no_outputs(criterion: str, choose) -> None:
    weights = ExponentialWeights.of(case("hand-made").choices(criterion), 1.0)
    assert choose(weights, np.empty(0, np.int32), noise()).tolist() == []


def test_progress_is_told() -> None:
    weights = ExponentialWeights.of(case("sport").choices("sqc2"), 1.0)
    steps: list[int] = []
    sample(weights, np.arange(177), noise(), steps.append)
    assert sum(steps) == 177


def test_one_item_stands_for_itself() -> None:
    weights = ExponentialWeights.of(
        Candidates.of(ScoreTable(np.array([1.0, 0.0]), np.zeros((1, 1), "u1"))), 0.0
    )
    assert sample(weights, np.zeros(50, np.int64), noise()).tolist() == [0] * 50
    assert permute_and_flip(weights, np.zeros(50, np.int64), noise()).tolist() == [0] * 50


def test_secret_draws_differ() -> None:
    weights = ExponentialWeights.of(case("sport").choices("sqc1"), 1.0)
    one, two = (sample(weights, np.zeros(100, np.int64), NoiseSource()) for _ in range(2))
    assert one.tolist() != two.tolist()


# --- permute-and-flip ----------------------------------------------------------------------------


def flipped(row: list[int]) -> list[Fraction]:
    """Give the chance of each output: over all orders, the first that its coin takes."""
    greatest = max(row)
    coins = [Fraction(weight, greatest) for weight in row]
    found = [Fraction(0)] * len(row)
    for order in permutations(range(len(row))):
        left = Fraction(1)
        for item in order:
            found[item] += left * coins[item]
            left *= 1 - coins[item]
            if not left:
                break
    return [chance / factorial(len(row)) for chance in found]


@cache
def exactly(criterion: str, epsilon: float) -> tuple[ExponentialWeights, list[list[Fraction]]]:
    weights = calibrate_nominal(case("tiny").choices(criterion), epsilon)
    return weights, [flipped(row) for row in table_of(weights).tolist()]


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("epsilon", [0.1, 5.0])
def test_permute_and_flip_stays_within_epsilon(criterion: str, epsilon: float) -> None:
    _, rows = exactly(criterion, epsilon)
    assert all(sum(row) == 1 for row in rows)
    worst = max(log(max(column) / min(column)) for column in zip(*rows, strict=True))
    assert 0.5 * epsilon < worst <= epsilon
    # It is never worse than the choice itself: the input stands for itself at least as often.
    table = table_of(exactly(criterion, epsilon)[0])
    for item, row in enumerate(rows):
        assert row[item] >= Fraction(int(table[item, item]), int(table[item].sum()))


@pytest.mark.parametrize("criterion", CRITERIA)
def test_permute_and_flip_draws_what_was_counted_out(criterion: str) -> None:
    weights, rows = exactly(criterion, 5.0)
    inputs = np.tile(np.arange(6), 200_000 // 6)
    outputs = permute_and_flip(weights, inputs, noise(5))
    for item, row in enumerate(rows):
        mine = outputs[inputs == item]
        value, limit = chi_square(mine, np.array([float(chance) for chance in row]))
        assert value < limit
        value, limit = chi_square(mine, chances(weights, item))
        assert value > limit  # it is not the exponential mechanism


def test_permute_and_flip_refuses_what_would_never_end() -> None:
    weights = calibrate_nominal(Candidates.of(_same(3000)), 20.0)
    with pytest.raises(UsageError, match="candidates"):
        permute_and_flip(weights, np.zeros(1, np.int64), noise())


def _same(size: int):
    from queryveil.concepts.similarity.domains import IdentityScore

    return IdentityScore(size)
