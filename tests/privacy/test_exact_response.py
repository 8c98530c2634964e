"""Randomised response, counted out: its weights are integers, so every ratio is exact."""

from __future__ import annotations

from decimal import ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction
from itertools import product
from math import exp

import numpy as np
import pytest
from choosing import chi_square
from hypothesis import given
from hypothesis import strategies as st

from queryveil.concepts.similarity.domains import IdentityScore
from queryveil.core.randomness import RandomSource
from queryveil.dp.exponential.calibration import calibrate_exact
from queryveil.dp.exponential.weights import Candidates
from queryveil.dp.noise import NoiseSource
from queryveil.dp.randomized_response import RandomizedResponse
from queryveil.errors import UsageError
from queryveil.methods.replacement import profile_mechanisms as telling
from queryveil.methods.replacement.profile_first import ProfileFirst
from queryveil.methods.replacement.profile_mechanisms import (
    HistogramProfiles,
    PopulationMean,
    ResponseProfiles,
    apportion,
    choose_profile_mechanism,
    count_apportionments,
    rank_apportionments,
)

EPSILONS = [Fraction(1, 1000), Fraction(1, 10), Fraction(1), Fraction(7, 3), Fraction(10), 30]


def power(epsilon: Fraction) -> Fraction:
    """Give a number just below e^epsilon."""
    with localcontext(prec=80, rounding=ROUND_FLOOR):
        exact = (Decimal(epsilon.numerator) / epsilon.denominator).exp()
        return Fraction(exact.next_minus().next_minus())


def noise(seed: int) -> NoiseSource:
    return NoiseSource(RandomSource(seed).uint64s)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("size", [1, 2, 19, 39_914])
def test_the_ratio_is_epsilon_and_no_more(size: int, epsilon: Fraction) -> None:
    response = RandomizedResponse(size, Fraction(epsilon))
    true, other = response.true_weight, response.other_weight
    assert response.total == true + (size - 1) * other
    assert Fraction(true, other) <= power(Fraction(epsilon))
    assert Fraction(true + 1, other) >= power(Fraction(epsilon))  # the next integer is too much
    assert response.truth_probability == true / response.total
    assert response.signal_strength == pytest.approx((true - other) / response.total)


@given(st.fractions(Fraction(1, 1000), 100))
def test_any_epsilon_is_rounded_down(epsilon: Fraction) -> None:
    response = RandomizedResponse(3, epsilon)
    assert Fraction(response.true_weight, response.other_weight) <= power(epsilon)
    assert response.total < 2**60


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0, 10.0])
@pytest.mark.parametrize("size", [2, 19, 606])
def test_it_is_the_exactly_calibrated_choice(size: int, epsilon: float) -> None:
    weights = calibrate_exact(Candidates.of(IdentityScore(size)), epsilon)
    chosen = weights.levels[0] / weights.totals[0]
    wanted = exp(epsilon) / (exp(epsilon) + size - 1)
    response = RandomizedResponse(size, Fraction(repr(epsilon)))
    assert response.truth_probability == pytest.approx(wanted, rel=1e-3)
    assert chosen == pytest.approx(wanted, rel=max(1e-3, 3e-4 * epsilon))


@pytest.mark.parametrize("size", [2, 5])
def test_answers_have_their_chances(size: int) -> None:
    response = RandomizedResponse(size, Fraction(1))
    answers = np.tile(np.arange(size), 40_000)
    told = response.draw(answers, noise(4))
    assert told.dtype == np.int64
    for answer in range(size):
        chances = np.full(size, response.other_weight / response.total)
        chances[answer] = response.truth_probability
        value, limit = chi_square(told[answers == answer], chances)
        assert value < limit
        value, limit = chi_square(told[answers == answer], np.roll(chances, 1))
        assert value > limit


def test_one_answer_is_always_given() -> None:
    response = RandomizedResponse(1, Fraction(1))
    assert response.truth_probability == 1
    assert response.draw(np.zeros(20, np.int64), noise(1)).tolist() == [0] * 20


def test_no_answers() -> None:
    assert RandomizedResponse(5, Fraction(1)).draw(np.zeros(0, np.int64), noise(1)).tolist() == []


@pytest.mark.parametrize("answers", [[-1], [5], [0, 7]])
def test_answers_that_are_none_are_refused(answers: list[int]) -> None:
    with pytest.raises(UsageError, match="from 0 to 4"):
        RandomizedResponse(5, Fraction(1)).draw(np.array(answers), noise(1))


@pytest.mark.parametrize(
    ("size", "epsilon"), [(0, 1), (-3, 1), (5, 0), (5, -1), (2**60, 1), (2**62, 1)]
)
def test_what_cannot_be_drawn_is_refused(size: int, epsilon: int) -> None:
    with pytest.raises(UsageError, match="no response among"):
        RandomizedResponse(size, Fraction(epsilon))


# --- profiles ------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(2), Fraction(5)])
@pytest.mark.parametrize("points", [1, 3])
def test_no_two_profiles_are_further_apart_than_epsilon(epsilon: Fraction, points: int) -> None:
    """Three topics, all profiles of up to four phrases, all answers."""
    way = ResponseProfiles(3, points, epsilon)
    profiles = np.array(list(product(range(5), repeat=3)))
    answers = rank_apportionments(apportion(profiles, points)).tolist()
    size, response = count_apportionments(3, points), way.response
    assert set(answers) == set(range(size)) == set(range(response.size))
    rows = [
        [Fraction(response.true_weight if told == truth else response.other_weight, response.total)
         for told in range(size)]
        for truth in range(size)
    ]  # fmt: skip
    assert all(sum(row) == 1 for row in rows)
    worst = max(max(column) / min(column) for column in zip(*rows, strict=True))
    assert Fraction(995, 1000) * power(epsilon) <= worst <= power(epsilon)


def test_an_answer_is_drawn_from_the_profile_alone() -> None:
    """What is told of a user is one answer of the response, and nothing else is looked at."""
    asked = []

    class Response:
        size, signal_strength = 6, 1.0

        def draw(self, answers: np.ndarray, noise: NoiseSource) -> np.ndarray:
            asked.append(answers.tolist())
            return np.array([5, 5, 0])

    way = ResponseProfiles(3, 2, Fraction(1))
    vars(way)["response"] = Response()
    one = way.profiles(np.array([[1, 0, 0], [0, 0, 0], [0, 3, 3]]), noise(1))
    two = way.profiles(np.array([[0, 0, 9], [5, 5, 5], [1, 1, 1]]), noise(2))
    assert asked[0] != asked[1]
    assert one.tolist() == two.tolist()


class Spy:
    """Notes what is paid for."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.paid: list[tuple[str, Fraction]] = []
        for kind in (ResponseProfiles, HistogramProfiles, PopulationMean):
            patch.setattr(kind, "profiles", self._noting(kind.__name__.lower(), kind.profiles))

    def _noting(self, name: str, real):
        def profiles(way, *args):
            self.paid.append((name, way.epsilon))
            return real(way, *args)

        return profiles


@pytest.mark.parametrize("topics", [2, 19])
@pytest.mark.parametrize("mechanism", ["auto", "answers", "cells", "population", "uniform"])
@pytest.mark.parametrize("epsilon", [0.001, 0.7, 3.0, 100.0])
def test_epsilon_is_spent_once(
    topics: int, mechanism: str, epsilon: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    spy = Spy(monkeypatch)
    method = ProfileFirst(epsilon=epsilon, mechanism=mechanism)
    counts = np.arange(50 * topics).reshape(50, topics) % 7
    profiles = method._release_profiles(counts, NoiseSource())
    assert profiles.shape == (50, topics)
    assert np.isfinite(profiles).all()
    assert profiles.min() >= 0
    assert (profiles.sum(axis=1) > 0).all()
    paid = sum(cost for _, cost in spy.paid)
    assert paid == (0 if mechanism == "uniform" else Fraction(repr(epsilon)))
    if mechanism not in ("auto", "uniform"):
        kinds = {"answers": "responseprofiles", "cells": "histogramprofiles"}
        expected = kinds.get(mechanism, "populationmean")
        assert [name for name, _ in spy.paid] == [expected]


def test_auto_takes_what_fits_the_public_numbers() -> None:
    """One mean where little is known, answers for few users and much epsilon, cells for many."""
    taken = {
        type(choose_profile_mechanism(4, Fraction(epsilon), users)).__name__
        for epsilon, users in ((Fraction(1, 100), 1), (10, 3), (1, 100_000))
    }
    assert taken == {"PopulationMean", "ResponseProfiles", "HistogramProfiles"}


counts_of_topics = st.lists(st.integers(0, 1000), min_size=5, max_size=5)


@given(counts_of_topics, counts_of_topics)
def test_another_log_moves_twice_the_parts_at_most(one: list[int], two: list[int]) -> None:
    handed = apportion(np.array([one, two]), telling._PARTS)
    assert handed.min() >= 0
    assert handed.sum(axis=1).tolist() == [1000, 1000]
    assert int(np.abs(handed[0] - handed[1]).sum()) <= 2000


class Asked:
    """No noise, and a note of what was asked for."""

    is_secure = True

    def __init__(self) -> None:
        self.laplaces: list[tuple[int, Fraction]] = []

    def laplace(self, size: int, scale: Fraction) -> np.ndarray:
        self.laplaces.append((size, scale))
        return np.zeros(size, np.int64)

    def uint64s(self, size: int) -> np.ndarray:
        return np.full(size, 2**64 - 1, np.uint64)  # no empty cell shows


@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(5, 2), Fraction(1, 3)])
def test_the_noise_of_the_sum_is_for_that(epsilon: Fraction) -> None:
    source = Asked()
    counts = np.array([[3, 1, 0, 0]] * 900 + [[0, 0, 1, 1]] * 100)
    profiles = PopulationMean(4, epsilon).profiles(counts, source)
    ((size, scale),) = source.laplaces
    assert size == 4
    assert 2000 / epsilon <= scale < 2000 / epsilon + Fraction(1, 256)
    assert profiles[0] == pytest.approx([0.675, 0.225, 0.05, 0.05], abs=0.01)
    assert (profiles == profiles[0]).all()


# --- cells ---------------------------------------------------------------------------------------

logs_of_users = st.lists(
    st.lists(st.integers(0, 4), min_size=3, max_size=3), min_size=1, max_size=30
)


@given(logs_of_users, st.lists(st.integers(0, 4), min_size=3, max_size=3), st.data())
def test_another_log_moves_two_cells_by_one(users, other, data) -> None:
    place = data.draw(st.integers(0, len(users) - 1))
    changed = [*users[:place], other, *users[place + 1 :]]
    sizes = [
        np.bincount(
            rank_apportionments(apportion(np.array(logs), 2)), minlength=count_apportionments(3, 2)
        )
        for logs in (users, changed)
    ]
    assert int(np.abs(sizes[0] - sizes[1]).sum()) <= 2


@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(5, 2), Fraction(1, 3)])
def test_cells_have_noise_for_two_counts(epsilon: Fraction) -> None:
    noisy = HistogramProfiles(3, 2, epsilon, 100).noisy
    assert 2 / epsilon <= noisy.scale < 2 / epsilon + Fraction(1, 256)
    assert noisy.epsilon <= epsilon
    assert noisy.contribution_bound == 2
    source = Asked()
    HistogramProfiles(3, 2, epsilon, 4).profiles(
        np.array([[1, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 1]]), source
    )
    assert {scale for _, scale in source.laplaces[:1]} == {noisy.scale}
    assert source.laplaces[0][0] == 3  # one for each cell that has users


@given(logs_of_users, logs_of_users, st.data())
def test_of_cells_only_the_noisy_counts_are_seen(users, others, data) -> None:
    """Two logs with the same noisy counts give the same profiles, as often; who has which is
    known to the owner alone."""
    size = min(len(users), len(others))
    counts = [np.array(logs[:size]) for logs in (users, others)]
    shown = data.draw(st.sets(st.integers(0, 5), max_size=6).map(sorted))
    noisy = [data.draw(st.integers(1, 9)) for _ in shown]

    class Given:
        def release(self, *_: object) -> tuple[np.ndarray, np.ndarray]:
            return np.array(shown, np.int64), np.array(noisy, np.int64)

    found = []
    for one in counts:
        way = HistogramProfiles(3, 2, Fraction(1), size)
        vars(way)["noisy"] = Given()
        found.append(sorted(map(tuple, way.profiles(one, noise(1)).tolist())))
    assert found[0] == found[1]
