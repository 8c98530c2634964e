"""Refined groups: never worse, of the same sizes, and nearly the best where that can be tried."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from queryveil.errors import UsageError
from queryveil.methods.microaggregation.grouping import group_sizes, mdav, mean_intra_group_distance
from queryveil.methods.microaggregation.refinement import _Search, refine_groups


def clustered(size: int, seed: int = 0, clusters: int = 40) -> np.ndarray:
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(clusters, 6)) * 2
    points = centres[rng.integers(clusters, size=size)] + rng.normal(size=(size, 6))
    matrix = np.sqrt(((points[:, None] - points) ** 2).sum(axis=2))
    return (matrix / matrix.max()).astype(np.float32)


def total(matrix: np.ndarray, group: np.ndarray) -> float:
    return float(matrix[group[:, None] == group].sum(dtype=np.float64))


def chunks(size: int, k: int) -> np.ndarray:
    """Groups in the users' order: as bad as any."""
    return np.minimum(np.arange(size) // k, size // k - 1).astype(np.int32)


def least_pairs(matrix: np.ndarray, left: tuple[int, ...]) -> float:
    """Try all ways to pair users."""
    if not left:
        return 0.0
    one, rest = left[0], left[1:]
    return min(
        float(matrix[one, two]) + least_pairs(matrix, tuple(x for x in rest if x != two))
        for two in rest
    )


@settings(max_examples=40)
@given(st.integers(2, 5), st.integers(0, 25), st.integers(0, 10**6), st.booleans(), st.booleans())
def test_refined_groups_are_never_worse_and_have_the_same_sizes(
    k: int, more: int, seed: int, ties: bool, bad: bool
) -> None:
    matrix = clustered(k + more, seed, 4)
    if ties:
        matrix = np.rint(matrix * 3).astype(np.float32)
    group = chunks(len(matrix), k) if bad else mdav(matrix, k)
    before = group.copy()
    refined = refine_groups(matrix, group)
    assert (group == before).all()
    assert total(matrix, refined) <= total(matrix, group) * (1 + 1e-6)
    assert (group_sizes(refined) == group_sizes(group)).all()
    assert refined.dtype == np.int32
    assert (refined == refine_groups(matrix, group)).all()


@pytest.mark.parametrize("half", [2, 3, 4])
def test_pairs_are_nearly_the_best(half: int) -> None:
    ratios = []
    for seed in range(30):
        matrix = clustered(2 * half, seed, 3)
        best = least_pairs(matrix, tuple(range(2 * half)))
        ratios.append(total(matrix, refine_groups(matrix, chunks(2 * half, 2))) / (2 * best))
    assert min(ratios) > 0.999
    assert np.mean(ratios) < 1.01


@pytest.mark.parametrize(("size", "k"), [(40, 4), (43, 5), (30, 3)])
def test_the_sums_of_the_search_stay_those_of_its_groups(size: int, k: int) -> None:
    matrix = clustered(size, seed=size)
    search = _Search(matrix, chunks(size, k))
    for step in (search.reassign, search.swap, search.reassign):
        step()
        member = np.eye(len(search.sizes), dtype=np.float32)[search.group]
        np.testing.assert_allclose(search.sums, matrix @ member, atol=1e-4)


@pytest.mark.parametrize("k", [2, 5, 10])
def test_refined_groups_are_better_than_those_of_mdav(k: int) -> None:
    matrix = clustered(300)
    group = mdav(matrix, k)
    refined = refine_groups(matrix, group)
    before, after = (mean_intra_group_distance(matrix, of) for of in (group, refined))
    assert after < 0.95 * before


@pytest.mark.parametrize("k", [2, 5])
def test_equal_users_stay_where_they_are(k: int) -> None:
    group = chunks(20, k)
    assert (refine_groups(np.zeros((20, 20), np.float32), group) == group).all()


def test_one_group_and_nobody() -> None:
    assert refine_groups(clustered(4), np.zeros(4, np.int32)).tolist() == [0, 0, 0, 0]
    assert refine_groups(np.zeros((0, 0), np.float32), np.zeros(0, np.int32)).tolist() == []


def test_a_matrix_of_other_users_is_refused() -> None:
    with pytest.raises(UsageError, match="a row and a column for each of 4 users"):
        refine_groups(clustered(5), np.zeros(4, np.int32))
