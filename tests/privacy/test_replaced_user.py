"""A user who is replaced moves what gets noise by at most twice the square of one who comes."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from queryveil.dp.set_union import WeightedSelection
from queryveil.dp.thresholded_counts import ThresholdedCounts
from queryveil.methods.base import parse_method

KEYS = 4  # a user's at most
UNIT = 1024
people = st.lists(st.sets(st.integers(0, 5), min_size=1, max_size=KEYS), max_size=5)
person = st.sets(st.integers(0, 5), min_size=1, max_size=KEYS)


def weighed(users: list[set[int]]) -> np.ndarray:
    """What weighted selection puts noise on: the sums without the heaviest user."""
    made = WeightedSelection(Fraction(10), 10_000, KEYS)
    user = np.array([n for n, keys in enumerate(users) for _ in keys], np.int64)
    key = np.array([key for keys in users for key in sorted(keys)], np.int64)
    weights = made.weights(user) if len(user) else user
    total, heaviest = np.zeros(6, np.int64), np.zeros(6, np.int64)
    np.add.at(total, key, weights)
    np.maximum.at(heaviest, key, weights)
    return total - heaviest


def counted(users: list[set[int]]) -> np.ndarray:
    """What a table of counts puts noise on: users above the least number but one."""
    made = ThresholdedCounts("gaussian", Fraction(10), 10_000, KEYS)
    counts = np.bincount([key for keys in users for key in keys], minlength=6)
    return np.maximum(0, counts - (made.min_users - 1))


@settings(max_examples=300, deadline=None)
@given(people, person, person)
def test_a_replaced_user(others: list[set[int]], one: set[int], two: set[int]) -> None:
    for noisy, most in ((weighed, UNIT**2), (counted, KEYS)):
        before, with_one, with_two = (noisy([*others, *more]) for more in ([], [one], [two]))
        shared = before > 0  # the others are own keys of one user or the other
        u, v = ((now - before)[shared] for now in (with_one, with_two))
        assert (u >= 0).all()
        assert (v >= 0).all()
        assert u @ u <= most
        assert (u - v) @ (u - v) <= 2 * most


def test_losses_are_those_of_the_noise() -> None:
    for line in (
        "dp-statistics",
        "dp-statistics:selection=sips",
        "dp-statistics:selection=gaussian",
        "dp-statistics:max-queries-per-user=1",
        "click-graph:max-queries-per-user=3",
        "dp-statistics:mode=pure",
    ):
        promise = parse_method(line).guarantee()
        add, swap = promise.losses
        assert (add.relation, swap.relation) == ("add-remove", "replace-one")
        assert swap.rho >= 2 * add.rho * (1 - Fraction(1, 10**9))
        assert add.delta == swap.delta <= Fraction(repr(promise.delta or 0.0))
        assert 0 < add.rho <= Fraction(repr(promise.epsilon)) ** 2 / 2
    made = parse_method("dp-statistics:max-queries-per-user=1:budget-split=1/0/0").mechanisms()
    assert made.selection == "laplace"
    assert made.rho == 1 / (2 * made.queries.scale**2)
