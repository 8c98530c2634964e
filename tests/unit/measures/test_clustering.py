"""Partitions: the distance of two, the clusters of users, and the best number of them."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from queryveil.measures._shared.clustering import (
    best_cluster_count,
    cut_tree,
    expected_distance,
    linkage_tree,
    partition_distance,
)

pairs = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=30)
points = st.lists(st.floats(0, 1), min_size=3, max_size=9, unique=True)


def plain_distance(one: list[int], two: list[int]) -> float:
    """The definition as it stands in SPEC 8.1."""

    def information(labels: list) -> float:
        counts = Counter(labels).values()
        return -sum(n / len(labels) * log2(n / len(labels)) for n in counts)

    both = information(list(zip(one, two, strict=True)))
    return (2 * both - information(one) - information(two)) / both if both else 0.0


@pytest.mark.parametrize(
    ("one", "two", "apart"),
    [
        ([0, 0, 1, 1], [5, 5, 2, 2], 0),
        ([0, 0, 1, 1], [0, 1, 0, 1], 1),
        ([0, 0, 1, 1], [0, 0, 0, 1], 0.7925),
        ([0, 0, 0], [1, 1, 1], 0),
        ([0, 1, 2], [0, 0, 0], 1),
    ],
)
def test_values_worked_by_hand(one: list, two: list, apart: float) -> None:
    assert partition_distance(np.array(one), np.array(two)) == pytest.approx(apart, abs=5e-5)


@given(pairs)
def test_it_is_the_definition(both: list) -> None:
    one, two = (list(side) for side in zip(*both, strict=True))
    found = partition_distance(np.array(one), np.array(two))
    assert found == pytest.approx(plain_distance(one, two), abs=1e-9)
    assert 0 <= found <= 1
    assert found == pytest.approx(partition_distance(np.array(two), np.array(one)), abs=1e-12)


@given(pairs)
def test_other_names_for_the_clusters_change_nothing(both: list) -> None:
    one = np.array([a for a, _ in both])
    assert partition_distance(one, 7 - one) == 0


def test_the_level_of_chance_is_that_of_random_partitions() -> None:
    one, two = np.arange(1000) % 80, np.arange(1000) // 12.5
    assert expected_distance(one, two.astype(int)) == pytest.approx(0.725, abs=0.02)  # SPEC 8.1
    assert expected_distance(one, two.astype(int)) == expected_distance(one, two.astype(int))


def line(places: list[float]) -> np.ndarray:
    there = np.array(places)
    return abs(there - there[:, None])


def plain_average(matrix: np.ndarray, number: int) -> set[frozenset[int]]:
    """Join the two clusters with the least mean distance until there are so many."""
    clusters = [frozenset([user]) for user in range(len(matrix))]
    while len(clusters) > number:
        one, two = min(
            combinations(clusters, 2), key=lambda two: matrix[np.ix_(*map(sorted, two))].mean()
        )
        clusters = [c for c in clusters if c not in (one, two)] + [one | two]
    return set(clusters)


@given(st.integers(0, 10**6), st.integers(3, 9), st.data())
def test_average_linkage_is_the_definition(seed: int, users: int, data: st.DataObject) -> None:
    matrix = np.random.default_rng(seed).random((users, users))
    matrix = (matrix + matrix.T) * (1 - np.eye(users))
    number = data.draw(st.integers(1, users))
    labels = cut_tree(linkage_tree(matrix, "average"), number)
    found = {frozenset(np.flatnonzero(labels == one).tolist()) for one in np.unique(labels)}
    assert found == plain_average(matrix, number)


@pytest.mark.parametrize("linkage", ["ward", "average"])
def test_clusters_worked_by_hand(linkage: str) -> None:
    steps = linkage_tree(line([0, 0.1, 0.5, 0.6, 0.9]), linkage)
    assert partition_distance(cut_tree(steps, 3), np.array([0, 0, 1, 1, 2])) == 0
    assert partition_distance(cut_tree(steps, 5), np.arange(5)) == 0
    assert len(np.unique(cut_tree(steps, 1))) == 1


@pytest.mark.parametrize("linkage", ["ward", "average"])
def test_equal_users_are_never_parted(linkage: str) -> None:
    steps = linkage_tree(line([0, 0, 0, 1, 1]), linkage)
    assert partition_distance(cut_tree(steps, 4), np.array([0, 0, 0, 1, 1])) == 0


def plain_index(matrix: np.ndarray, labels: np.ndarray) -> float:
    """CH for a distance matrix, SPEC 8.2."""
    users, numbers = len(matrix), np.unique(labels)
    total = (matrix**2).sum() / (2 * users)
    own = [np.flatnonzero(labels == number) for number in numbers]
    inside = sum((matrix[np.ix_(some, some)] ** 2).sum() / (2 * len(some)) for some in own)
    if inside <= 0:
        return np.inf
    return ((total - inside) / (len(numbers) - 1)) / (inside / (users - len(numbers)))


@given(points, st.sampled_from(["ward", "average"]))
def test_the_best_number_is_that_of_the_definition(places: list, linkage: str) -> None:
    matrix = line([round(place, 3) for place in places])
    steps = linkage_tree(matrix, linkage)
    found = best_cluster_count(matrix, steps)
    known = {n: cut_tree(steps, n) for n in range(2, max(2, len(places) // 2) + 1)}
    index = {n: plain_index(matrix, labels) for n, labels in known.items() if len(set(labels)) == n}
    if index and max(index.values()) < np.inf:
        assert index[found] == pytest.approx(max(index.values()), rel=1e-6)


def test_three_heaps_are_three_clusters() -> None:
    matrix = line([0, 0.01, 0.02, 0.5, 0.51, 0.52, 0.98, 0.99, 1])
    assert best_cluster_count(matrix, linkage_tree(matrix, "ward")) == 3
    equal = line([0, 0, 0.5, 0.5, 1, 1])
    assert best_cluster_count(equal, linkage_tree(equal, "ward")) == 3
    assert best_cluster_count(line([0, 1]), linkage_tree(line([0, 1]), "ward")) == 2
