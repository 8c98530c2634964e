"""Profiles in points, and the ways to tell them."""

from __future__ import annotations

import inspect
from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from queryveil.core.randomness import RandomSource
from queryveil.dp.noise import NoiseSource
from queryveil.methods.replacement.profile_mechanisms import (
    HistogramProfiles,
    PopulationMean,
    ResponseProfiles,
    apportion,
    choose_profile_mechanism,
    count_apportionments,
    expected_loss,
    js_divergence,
    rank_apportionments,
    shrink_to_mean,
    shrink_to_uniform,
    uniform_loss,
    unrank_apportionments,
)


def noise(seed: int = 1) -> NoiseSource:
    return NoiseSource(RandomSource(seed).uint64s)


# --- numbering -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("topics", "points"), [(1, 1), (1, 5), (2, 1), (2, 7), (3, 4), (4, 3), (5, 2), (7, 1), (6, 4)]
)
def test_ways_are_numbered_without_gaps(topics: int, points: int) -> None:
    every = [way for way in product(range(points + 1), repeat=topics) if sum(way) == points]
    assert len(every) == count_apportionments(topics, points) == comb(points + topics - 1, points)
    numbers = rank_apportionments(np.array(every))
    assert sorted(numbers.tolist()) == list(range(len(every)))
    assert unrank_apportionments(numbers, topics, points).tolist() == [list(way) for way in every]


@pytest.mark.parametrize(("topics", "points"), [(100, 2), (26, 10), (19, 30), (4, 100), (300, 1)])
def test_many_ways_do_not_overflow(topics: int, points: int) -> None:
    whole = count_apportionments(topics, points)
    numbers = np.unique((RandomSource(1).uint64s(500) % np.uint64(whole)).astype(np.int64))
    numbers = np.unique(np.append(numbers, [0, whole - 1]))
    handed = unrank_apportionments(numbers, topics, points)
    assert handed.min() >= 0
    assert (handed.sum(axis=1) == points).all()
    assert rank_apportionments(handed).tolist() == numbers.tolist()


def test_nothing_has_no_number() -> None:
    assert rank_apportionments(np.zeros((0, 3), np.int64)).tolist() == []
    assert unrank_apportionments(np.zeros(0, np.int64), 3, 2).shape == (0, 3)


# --- handing out ---------------------------------------------------------------------------------


def largest_remainders(profile: list[int], points: int) -> list[int]:
    whole = sum(profile)
    exact = [Fraction(points * (c if whole else 1), whole or len(profile)) for c in profile]
    found = [int(part) for part in exact]
    rest = sorted(range(len(profile)), key=lambda topic: (found[topic] - exact[topic], topic))
    for topic in rest[: points - sum(found)]:
        found[topic] += 1
    return found


profiles_of = st.lists(st.integers(0, 1000), min_size=1, max_size=8)


@example([115, 201, 251, 272, 398, 39, 211, 527], 399)  # the third and sixth remain alike
@example([1, 1, 1], 2)
@given(profiles_of, st.integers(1, 1000))
def test_points_follow_the_largest_remainders(profile: list[int], points: int) -> None:
    found = apportion(np.array([profile]), points)[0].tolist()
    assert found == largest_remainders(profile, points)
    assert sum(found) == points


@given(st.lists(st.integers(0, 9), min_size=2, max_size=4), st.integers(1, 5))
def test_no_other_way_is_nearer(profile: list[int], points: int) -> None:
    whole = sum(profile)
    exact = np.array(profile) / whole if whole else np.full(len(profile), 1 / len(profile))
    found = apportion(np.array([profile]), points)[0]
    apart = np.abs(found - points * exact).sum()
    for way in product(range(points + 1), repeat=len(profile)):
        if sum(way) == points:
            assert apart <= np.abs(np.array(way) - points * exact).sum() + 1e-9


def test_of_equal_remainders_the_first_counts() -> None:
    assert apportion(np.array([[1, 1, 1], [7, 7, 7]]), 1).tolist() == [[1, 0, 0], [1, 0, 0]]
    assert apportion(np.array([[1, 1, 1]]), 2).tolist() == [[1, 1, 0]]
    assert apportion(np.array([[0.1, 0.1, 0.1]]), 100).tolist() == [[34, 33, 33]]


# --- what is made of them ------------------------------------------------------------------------


def test_the_public_numbers_alone_choose_the_way() -> None:
    assert list(inspect.signature(choose_profile_mechanism).parameters) == [
        "topics",
        "epsilon",
        "users",
        "kind",
    ]
    assert choose_profile_mechanism(4, Fraction(2), 100) == choose_profile_mechanism(
        4, Fraction(2), 100
    )


@pytest.mark.parametrize("topics", [2, 19])
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(10)])
def test_the_best_way_is_the_best(topics: int, epsilon: Fraction) -> None:
    for users in (1, 10_000):
        best = choose_profile_mechanism(topics, epsilon, users)
        single = [choose_profile_mechanism(topics, epsilon, users, kind).loss
                  for kind in ("answers", "cells", "population")]  # fmt: skip
        assert best.loss == min(single) <= uniform_loss(topics)


def test_more_epsilon_and_more_users_help() -> None:
    losses = [
        choose_profile_mechanism(19, Fraction(epsilon), 1000).loss for epsilon in (1, 3, 10, 30)
    ]
    assert losses == sorted(losses, reverse=True)
    losses = [
        choose_profile_mechanism(19, Fraction(1), users).loss for users in (10, 1000, 100_000)
    ]
    assert losses == sorted(losses, reverse=True)


@pytest.mark.parametrize("signal", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("points", [1, 2, 10, 100])
def test_a_profile_lies_between_what_is_told_and_the_mean(points: int, signal: float) -> None:
    told, mean = np.array([[points, 0], [0, points]]), np.array([0.3, 0.7])
    made = shrink_to_mean(told, mean, signal)
    assert made.sum(axis=1) == pytest.approx([1, 1])
    trust = (made[0, 0] - 0.3) / 0.7
    assert 0 <= trust <= signal
    assert made[1, 0] == pytest.approx(0.3 * (1 - trust))


def test_points_that_signal_nothing_are_the_mean() -> None:
    assert expected_loss(4, 3, 0.0) == pytest.approx(uniform_loss(4))
    assert expected_loss(4, 3, 1.0) < expected_loss(4, 3, 0.5) < uniform_loss(4)


def test_divergence() -> None:
    one = np.array([[1.0, 0.0], [0.5, 0.5], [1.0, 0.0]])
    two = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    assert js_divergence(one, two) == pytest.approx([0, 0.311278, 1], abs=1e-6)


def test_shrinking() -> None:
    mean = np.array([0.7, 0.2, 0.1])
    assert shrink_to_uniform(mean, 0.0) == pytest.approx(mean)
    assert shrink_to_uniform(mean, 10.0) == pytest.approx([1 / 3] * 3)
    assert shrink_to_uniform(np.array([1.4, -0.2, -0.2]), 0.0) == pytest.approx([1, 0, 0])
    assert shrink_to_uniform(np.full(3, 1 / 3), 1.0) == pytest.approx([1 / 3] * 3)
    assert shrink_to_uniform(np.array([-8.0, -126.0]), 0.1) == pytest.approx(
        [1 / 2] * 2
    )  # nothing is left


# --- a population --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def population() -> np.ndarray:
    """Many users, most of whom have one strong interest."""
    rng = np.random.default_rng(1)
    main = rng.choice(4, 20_000, p=[0.5, 0.3, 0.15, 0.05])
    counts = rng.integers(0, 3, (20_000, 4))
    counts[np.arange(20_000), main] += 20
    return counts


@pytest.mark.parametrize("points", [1, 3])
def test_answers_recover_the_mean(population: np.ndarray, points: int) -> None:
    way = ResponseProfiles(4, points, Fraction(3))
    handed = apportion(population, points)
    told = unrank_apportionments(way.response.draw(rank_apportionments(handed), noise()), 4, points)
    truth = handed.mean(axis=0) / points
    assert np.abs(told.mean(axis=0) / points - truth).max() > 0.02  # biased as it is told
    assert way._estimate_mean(told) == pytest.approx(truth, abs=0.01)


@pytest.mark.parametrize(
    "way",
    [
        ResponseProfiles(4, 2, Fraction(3)),
        HistogramProfiles(4, 3, Fraction(1), 20_000),
        PopulationMean(4, Fraction(1)),
    ],
    ids=lambda way: type(way).__name__,
)
def test_profiles_are_better_than_uniform_ones(population: np.ndarray, way) -> None:
    truth = population / population.sum(axis=1, keepdims=True)
    made = way.profiles(population, noise())
    assert made.shape == truth.shape
    assert made.sum(axis=1) == pytest.approx(np.ones(len(made)))
    assert made.min() >= 0
    uniform = js_divergence(truth, np.full(truth.shape, 0.25)).mean()
    assert js_divergence(truth, made).mean() < 0.95 * uniform
    assert made.mean(axis=0) == pytest.approx(truth.mean(axis=0), abs=0.08)


def test_cells_give_everybody_a_profile() -> None:
    for users in (1, 2, 17):
        counts = np.arange(users * 3).reshape(users, 3) % 5
        for seed in range(20):
            made = HistogramProfiles(3, 2, Fraction(1, 2), users).profiles(counts, noise(seed))
            assert made.shape == (users, 3)
            assert made.sum(axis=1) == pytest.approx(np.ones(users))


def test_with_little_noise_users_keep_their_cells() -> None:
    counts = np.array([[2, 0, 0]] * 50 + [[0, 1, 1]] * 50)
    made = HistogramProfiles(3, 2, Fraction(50), 100).profiles(counts, noise())
    assert (made[:50].argmax(axis=1) == 0).all()
    assert (made[50:, 0] < made[50:, 1]).all()
