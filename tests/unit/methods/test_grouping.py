"""MDAV and greedy groups against plain slow versions written from the papers."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from queryveil.errors import UsageError, VerificationError
from queryveil.methods.microaggregation.grouping import (
    check_groups,
    greedy_groups,
    group_sizes,
    mdav,
    mean_intra_group_distance,
)


def symmetric(seed: int, size: int, steps: int) -> np.ndarray:
    """Few steps make many ties."""
    rng = np.random.default_rng(seed)
    cells = rng.integers(steps + 1, size=(size, size)) if steps else rng.random((size, size))
    upper = np.triu(cells, 1).astype(np.float32) / np.float32(max(steps, 1))
    return upper + upper.T


@st.composite
def cases(draw) -> tuple[np.ndarray, int]:
    k = draw(st.integers(2, 5))
    size = draw(st.sampled_from([k, 2 * k - 1, 2 * k, 3 * k - 1, 3 * k]) | st.integers(k, 30))
    return symmetric(draw(st.integers(0, 10**6)), size, draw(st.sampled_from([0, 1, 3, 8]))), k


def numbered(groups: list[list[int]]) -> list[int]:
    place = {user: number for number, group in enumerate(groups) for user in group}
    return [place[user] for user in sorted(place)]


def slow_mdav(matrix: np.ndarray, k: int) -> list[int]:
    d = [[Fraction(float(cell)) for cell in row] for row in matrix]
    left, groups = list(range(len(d))), []

    def around(user: int) -> None:
        near = sorted(left, key=lambda x: (x != user, d[user][x], x))[:k]
        groups.append(near)
        left[:] = [x for x in left if x not in near]

    def far_from_medoid() -> int:
        medoid = min(left, key=lambda c: (sum(d[c][x] for x in left), c))
        return max(left, key=lambda x: (d[medoid][x], -x))

    while len(left) >= 3 * k:
        first = far_from_medoid()
        around(first)
        around(max(left, key=lambda x: (d[first][x], -x)))
    if len(left) >= 2 * k:
        around(far_from_medoid())
    return numbered([*groups, left])


def slow_greedy(sim: np.ndarray, k: int) -> list[int]:
    m = [[Fraction(float(cell)) for cell in row] for row in sim]
    left, groups = list(range(len(m))), []
    while len(left) >= 2 * k:
        z = list(min(combinations(left, 2), key=lambda p: (-m[p[0]][p[1]], p)))
        while len(z) < k:
            z.append(min(set(left) - set(z), key=lambda x: (-sum(m[u][x] for u in z), x)))
        groups.append(z)
        left = [x for x in left if x not in z]
    return numbered([*groups, left])


@settings(max_examples=150)
@given(cases())
def test_mdav_is_the_algorithm(case) -> None:
    matrix, k = case
    found = mdav(matrix, k)
    assert found.tolist() == slow_mdav(matrix, k)
    assert found.dtype == np.int32
    sizes = group_sizes(found)
    assert len(sizes) == len(matrix) // k
    assert (sizes[:-1] == k).all()
    assert k <= sizes[-1] < 2 * k


@settings(max_examples=150)
@given(cases(), st.booleans())
def test_greedy_groups_are_the_algorithm(case, whole: bool) -> None:
    matrix, k = case
    similar = np.rint(matrix * 8).astype(np.int32) if whole else matrix
    np.fill_diagonal(similar, 99)
    found = greedy_groups(similar, k)
    assert found.tolist() == slow_greedy(similar, k)
    assert found.dtype == np.int32
    assert len(group_sizes(found)) == len(matrix) // k
    check_groups(found, k)


@pytest.mark.parametrize("make", [mdav, greedy_groups])
@pytest.mark.parametrize("size", [3, 5, 6, 8, 9, 10])
def test_users_who_are_all_alike(make, size: int) -> None:
    """Ties go to the lowest numbers, so groups follow the users' order."""
    found = make(np.zeros((size, size), np.float32), 3)
    last = size // 3 - 1
    assert found.tolist() == [min(user // 3, last) for user in range(size)]


@pytest.mark.parametrize("make", [mdav, greedy_groups])
def test_the_same_groups_at_any_size_of_distances(make) -> None:
    matrix = symmetric(1, 200, 0)
    found = make(matrix, 4)
    assert (found == make(matrix, 4)).all()
    assert (found == make(matrix * np.float32(2**30), 4)).all()
    assert (found == make(matrix * np.float32(2**-30), 4)).all()


@pytest.mark.parametrize("make", [mdav, greedy_groups])
def test_the_matrix_is_left_alone(make) -> None:
    matrix = symmetric(2, 50, 3)
    matrix.setflags(write=False)
    make(matrix, 3)


@pytest.mark.parametrize("make", [mdav, greedy_groups])
@pytest.mark.parametrize("k", [-1, 0, 1, 5])
def test_k_out_of_range(make, k: int) -> None:
    with pytest.raises(UsageError, match="k must be 2 to 4"):
        make(np.zeros((4, 4), np.float32), k)


@pytest.mark.parametrize("make", [mdav, greedy_groups])
@pytest.mark.parametrize("cell", [np.nan, np.inf, -np.inf])
def test_cells_that_are_no_numbers(make, cell: float) -> None:
    matrix = np.zeros((4, 4), np.float32)
    matrix[1, 2] = matrix[2, 1] = cell
    with pytest.raises(UsageError, match="cells"):
        make(matrix, 2)


def test_matrices_that_are_no_distances() -> None:
    with pytest.raises(UsageError, match="must be square"):
        mdav(np.zeros((4, 3), np.float32), 2)
    with pytest.raises(UsageError, match="negative"):
        mdav(-np.ones((4, 4), np.float32), 2)


def test_small_groups_are_refused() -> None:
    check_groups(np.array([0, 1, 0, 1], np.int32), 2)
    check_groups(np.array([], np.int32), 2)
    with pytest.raises(VerificationError, match="group 1 has 1 users, fewer than k = 2"):
        check_groups(np.array([0, 0, 1], np.int32), 2)
    with pytest.raises(VerificationError, match="group 1 has 0 users"):
        check_groups(np.array([0, 0, 2, 2], np.int32), 2)
    with pytest.raises(VerificationError, match="user 2 is in no group"):
        check_groups(np.array([0, 0, -1], np.int32), 2)


@given(cases())
def test_within_is_a_mean_of_means(case) -> None:
    matrix, k = case
    group = mdav(matrix, k)
    means = []
    for user, number in enumerate(group):
        others = [x for x in np.flatnonzero(group == number) if x != user]
        means.append(np.mean([float(matrix[user, x]) for x in others]))
    assert mean_intra_group_distance(matrix, group) == pytest.approx(np.mean(means))


def test_within_of_nobody_and_of_the_lonely() -> None:
    assert mean_intra_group_distance(np.zeros((0, 0), np.float32), np.array([], np.int32)) == 0
    assert mean_intra_group_distance(np.ones((2, 2)) - np.eye(2), np.array([0, 1], np.int32)) == 0
