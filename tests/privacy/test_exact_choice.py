"""The choice of a concept, counted out: every chance, and every ratio of two chances.

The criteria are written here a second time, with sets, from eq. (3) to (12) of Sanchez et al. 2018.
Weights are integers, so that what is looked at is the mechanism itself. Nothing is drawn.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import exp, log

import numpy as np
import pytest
from choosing import CRITERIA, Case, apart, graph, hand_made, log_chances, sport, table_of
from hypothesis import given, settings
from hypothesis import strategies as st

from queryveil.core.progress import NoProgress
from queryveil.dp.accounting import max_rho, zcdp_delta
from queryveil.dp.exponential.calibration import (
    calibrate_bounded_range,
    calibrate_exact,
    calibrate_nominal,
)
from queryveil.dp.exponential.weights import Candidates, ExponentialWeights, max_log_ratio
from queryveil.errors import ParameterError
from queryveil.methods.replacement.mechanism import PhraseBudget
from queryveil.methods.replacement.semantic import SemanticReplacement

EPSILONS = (0.001, 0.1, 1.0, 10.0)
CASES = {"hand-made": hand_made, "sport": sport}
STRENGTHS = {"nominal": calibrate_nominal, "exact": calibrate_exact}

each_case = pytest.mark.parametrize("name", CASES)
each_criterion = pytest.mark.parametrize("criterion", CRITERIA)
each_epsilon = pytest.mark.parametrize("epsilon", EPSILONS)
each_calibration = pytest.mark.parametrize("calibration", STRENGTHS)


@pytest.fixture(autouse=True)
def no_hints(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


@cache
def case(name: str) -> Case:
    return CASES[name]()


@cache
def choices(name: str, criterion: str) -> Candidates:
    return case(name).choices(criterion)


@cache
def oracle(name: str, criterion: str) -> np.ndarray:
    return case(name).oracle(criterion)


@cache
def made(name: str, criterion: str, calibration: str, epsilon: float) -> ExponentialWeights:
    return STRENGTHS[calibration](choices(name, criterion), epsilon)


def test_the_cases_are_what_they_should_be() -> None:
    assert [len(case(name).domain) for name in CASES] == [9, 177]
    assert choices("hand-made", "sqc2").scores.sizes.max() > 1  # a class of several
    assert len({Candidates.of(case("sport").scores("sqc2")).scores.near(0).stop, 1}) == 2


# --- chances -------------------------------------------------------------------------------------


@each_case
@each_criterion
@each_calibration
@each_epsilon
def test_chances_are_those_of_the_equations(name, criterion, calibration, epsilon) -> None:
    """Eq. (3) and (7): in proportion to exp(strength * score), and one in all."""
    weights = made(name, criterion, calibration, epsilon)
    table = table_of(weights)
    totals = np.repeat(weights.totals, weights.choices.scores.sizes)
    assert table.sum(axis=1).tolist() == totals.tolist()
    wanted = np.exp(weights.exponent * oracle(name, criterion))
    wanted /= wanted.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(table / totals[:, None], wanted, rtol=1e-9)


@each_case
@each_criterion
@each_epsilon
def test_the_nominal_strength_is_the_papers(name, criterion, epsilon) -> None:
    """Eq. (3): epsilon over twice the span; eq. (7) and (12): the scores span from 0 to 1."""
    scores = oracle(name, criterion)
    span = scores.max() - scores.min() if criterion == "sqc1" else 1.0
    assert choices(name, criterion).score_range == pytest.approx(span, abs=1e-12)
    weights = made(name, criterion, "nominal", epsilon)
    assert weights.exponent == pytest.approx(epsilon / (2 * span), rel=1e-6)


# --- ratios --------------------------------------------------------------------------------------


@each_case
@each_criterion
@each_calibration
@each_epsilon
def test_no_two_inputs_are_further_apart_than_epsilon(
    name, criterion, calibration, epsilon
) -> None:
    weights = made(name, criterion, calibration, epsilon)
    plain = apart(log_chances(weights))
    assert plain <= max_log_ratio(weights) <= plain + 3e-11
    assert plain <= epsilon
    if calibration == "exact":
        assert plain >= 0.999 * epsilon


@each_case
@each_criterion
@each_calibration
@each_epsilon
def test_a_slot_without_a_query_is_one_more_input(name, criterion, calibration, epsilon) -> None:
    """A concept is drawn uniformly first, and then replaced like any other."""
    logs = log_chances(made(name, criterion, calibration, epsilon))
    padded = np.log(np.exp(logs).mean(axis=0, keepdims=True))
    assert float(np.exp(padded).sum()) == pytest.approx(1)
    assert apart(np.concatenate([logs, padded])) <= epsilon


@each_case
@each_criterion
@each_epsilon
def test_a_little_more_strength_would_be_seen(name, criterion, epsilon) -> None:
    weights = made(name, criterion, "exact", epsilon)
    stronger = ExponentialWeights.of(weights.choices, weights.exponent * 1.02)
    assert apart(log_chances(stronger)) > epsilon
    assert max_log_ratio(stronger) > epsilon


@each_case
@each_criterion
def test_exact_calibration_is_stronger(name, criterion) -> None:
    for epsilon in EPSILONS:
        gain = made(name, criterion, "exact", epsilon).exponent
        gain /= made(name, criterion, "nominal", epsilon).exponent
        assert 1.2 < gain < 2.0001


@each_criterion
def test_the_worst_ratio_in_fractions(criterion) -> None:
    """The same with exact fractions and one logarithm at the end."""
    weights = made("hand-made", criterion, "exact", 1.0)
    table = table_of(weights).tolist()
    rows = [[Fraction(weight, sum(row)) for weight in row] for row in table]
    assert all(sum(row) == 1 for row in rows)
    greatest = max(max(column) / min(column) for column in zip(*rows, strict=True))
    assert log(greatest) == pytest.approx(max_log_ratio(weights), abs=3e-11)
    assert greatest <= Fraction(exp(1.0))


@settings(max_examples=40)
@given(st.data())
def test_on_any_small_graph(data) -> None:
    size = data.draw(st.integers(2, 12))
    edges = {"n0": []}
    for node in range(1, size):
        above = st.lists(st.integers(0, node - 1), min_size=1, max_size=3, unique=True)
        edges[f"n{node}"] = [f"n{parent}" for parent in data.draw(above)]
    top = data.draw(st.integers(0, size - 1))
    node = st.integers(0, size - 1).map("n{}".format)
    topics = data.draw(st.lists(node, min_size=1, max_size=3, unique=True))
    one = Case(graph(edges), f"n{top}", topics)
    criterion = data.draw(st.sampled_from(CRITERIA))
    strength = data.draw(st.sampled_from([0.0, 0.3, 2.0, 9.0]))
    weights = ExponentialWeights.of(one.choices(criterion), strength)
    wanted = np.exp(strength * one.oracle(criterion))
    wanted /= wanted.sum(axis=1, keepdims=True)
    found = log_chances(weights)
    np.testing.assert_allclose(np.exp(found).astype(float), wanted, rtol=1e-9)
    assert apart(found) <= max_log_ratio(weights) <= apart(found) + 3e-11


# --- bounded range -------------------------------------------------------------------------------


def widest(weights: ExponentialWeights) -> float:
    """Give the range of log-ratios over all outputs, for the pair of inputs with most."""
    logs = log_chances(weights)
    found = 0.0
    for row in logs:
        between = logs - row
        found = max(found, float((between.max(axis=1) - between.min(axis=1)).max()))
    return found


@each_criterion
@pytest.mark.parametrize(
    ("name", "ratio"), [("hand-made", 0.01), ("hand-made", 0.3), ("hand-made", 3.0), ("sport", 0.3)]
)
def test_the_range_is_twice_the_ratio_of_the_weights(name, criterion, ratio) -> None:
    weights = calibrate_bounded_range(choices(name, criterion), ratio)
    assert weights.log_ratio_bound <= ratio
    assert weights.log_ratio_bound >= 0.999 * ratio
    assert widest(weights) <= 2 * weights.log_ratio_bound <= 2 * ratio


@each_criterion
@pytest.mark.parametrize("calibration", ["exact", "nominal"])
@pytest.mark.parametrize(("epsilon", "slots"), [(1.0, 10), (1.0, 100), (10.0, 100)])
def test_slots_with_a_delta_are_within_it(criterion, calibration, epsilon, slots) -> None:
    """Either all slots together cost epsilon alone, or their ranges stay below delta."""
    method = SemanticReplacement(
        epsilon=epsilon, delta=1e-6, max_phrases_per_user=slots, domain="n#00433458",
        criterion=criterion, calibration=calibration,
    )  # fmt: skip
    (weights,) = method.mechanism(method.domains(), NoProgress()).weights
    rho = slots * widest(weights) ** 2 / 8
    ranged = float(zcdp_delta(np.array([rho]), epsilon)[0]) <= 1e-6
    assert ranged or slots * apart(log_chances(weights)) <= epsilon
    if slots == 100:
        assert ranged
        assert slots * apart(log_chances(weights)) > epsilon  # else it would gain nothing
        # The card tells of one query what it really costs.
        assert apart(log_chances(weights)) <= method.phrase_budget.per_query


@pytest.mark.parametrize("slots", [12, 16, 18, 100])
@pytest.mark.parametrize("criterion", ["sqc1", "sqc2"])
def test_slots_of_several_domains_are_added_up_in_one_way(criterion, slots) -> None:
    """A user's slots may lie in any of the domains: all must count by epsilon, or all by range."""
    method = SemanticReplacement(
        epsilon=1.0, delta=1e-6, max_phrases_per_user=slots, domain="sanchez4",
        topics="sanchez19", criterion=criterion,
    )  # fmt: skip
    weights = method.mechanism(method.domains(), NoProgress()).weights
    pure = [max_log_ratio(one) * slots <= 1.0 + 1e-9 for one in weights]
    ranged = [one.log_ratio_bound <= method.phrase_budget.range_bound + 1e-12 for one in weights]
    assert all(pure) or all(ranged)


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 10.0])
@pytest.mark.parametrize("delta", [1e-9, 1e-6, 1e-2])
def test_the_greatest_rho_is_within_delta_and_a_little_more_is_not(epsilon, delta) -> None:
    rho = max_rho(epsilon, delta)
    assert float(zcdp_delta(np.array([rho]), epsilon)[0]) <= delta
    assert float(zcdp_delta(np.array([rho * 1.001]), epsilon)[0]) > delta
    budget = PhraseBudget(Fraction(repr(epsilon)), Fraction(repr(delta)), 7)
    assert 7 * (2 * budget.range_bound) ** 2 / 8 == pytest.approx(rho)


def test_permute_and_flip_takes_no_delta() -> None:
    with pytest.raises(ParameterError, match="range"):
        SemanticReplacement(delta=1e-6, calibration="permute-and-flip")


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 7.3])
@pytest.mark.parametrize("slots", [1, 3, 7, 100])
def test_all_slots_fit_into_epsilon_exactly(epsilon, slots) -> None:
    budget = PhraseBudget(Fraction(repr(epsilon)), Fraction(0), slots)
    assert slots * Fraction(budget.phrase_epsilon) <= Fraction(repr(epsilon))
    assert budget.phrase_epsilon == pytest.approx(epsilon / slots)
