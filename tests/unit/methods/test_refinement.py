"""Refined partitions: never worse, of lawful sizes, and the best where that can be tried out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from queryveil.errors import UsageError, VerificationError
from queryveil.methods.microaggregation import refinement as module
from queryveil.methods.microaggregation.grouping import group_sizes, mdav, mean_intra_group_distance
from queryveil.methods.microaggregation.refinement import refine_groups


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
    """Try out all ways to pair users."""
    if not left:
        return 0.0
    one, rest = left[0], left[1:]
    return min(
        float(matrix[one, two]) + least_pairs(matrix, tuple(x for x in rest if x != two))
        for two in rest
    )


@settings(max_examples=40)
@given(st.integers(2, 5), st.integers(0, 25), st.integers(0, 10**6), st.booleans(), st.booleans())
def test_never_worse(k: int, more: int, seed: int, ties: bool, bad: bool) -> None:
    matrix = clustered(k + more, seed, 4)
    if ties:
        matrix = np.rint(matrix * 3).astype(np.float32)
    group = chunks(len(matrix), k) if bad else mdav(matrix, k)
    given_ = group.copy()
    found = refine_groups(matrix, group, k)
    assert (group == given_).all()
    assert mean_intra_group_distance(matrix, found) <= mean_intra_group_distance(matrix, group)
    assert total(matrix, found) <= total(matrix, group) * (1 + 1e-12)
    sizes = group_sizes(found)
    assert k <= sizes.min() <= sizes.max() < 2 * k
    assert len(sizes) == len(matrix) // k
    assert found.dtype == np.int32
    assert (found == refine_groups(matrix, group, k)).all()


@settings(max_examples=25)
@given(st.integers(2, 5), st.integers(0, 10**6))
def test_pairs_are_the_best(half: int, seed: int) -> None:
    matrix = clustered(2 * half, seed, 3)
    found = refine_groups(matrix, chunks(2 * half, 2), 2)
    best = least_pairs(matrix, tuple(range(2 * half)))
    assert total(matrix, found) / 2 == pytest.approx(best, abs=1e-6)


@pytest.mark.parametrize("size", [6, 7, 25])
@pytest.mark.parametrize("k", [2, 3])
def test_a_step_gains_what_it_says(size: int, k: int) -> None:
    """The gains of all swaps and moves, against the sums before and after them."""
    matrix, group = clustered(size, 5, 3), chunks(size, k)
    search = module._Search(matrix, group, k)

    def gain(after: np.ndarray) -> float:
        sums = (total(matrix, group) - total(matrix, after)) / 2
        means = (
            (mean_intra_group_distance(matrix, group) - mean_intra_group_distance(matrix, after))
            * size
            * (k - 1)
            / 2
        )
        return min(sums, means)

    for user in range(size):
        sums = np.bincount(group, matrix[user])
        swaps, moves = search._swap_gains(user, sums), search._move_gains(user, sums)
        for other in np.flatnonzero(group != group[user]):
            after = group.copy()
            after[[user, other]] = group[[other, user]]
            assert swaps[other] == pytest.approx(gain(after), abs=1e-5)
        assert (moves is None) == (group_sizes(group)[group[user]] == k)
        for number in () if moves is None else np.flatnonzero(np.isfinite(moves)):
            after = group.copy()
            after[user] = number
            assert moves[number] == pytest.approx(gain(after), abs=1e-5)


# Pairs of more than 300 users are matched among the nearest; the others take seconds at that size.
@pytest.mark.parametrize(("k", "size"), [(2, 331), (3, 151), (5, 151), (7, 151)])
def test_better_than_mdav(k: int, size: int) -> None:
    matrix = clustered(size)
    group = mdav(matrix, k)
    assert mean_intra_group_distance(
        matrix, refine_groups(matrix, group, k)
    ) < 0.94 * mean_intra_group_distance(matrix, group)


@pytest.mark.parametrize("k", [2, 3])
def test_users_who_are_all_alike_stay_in_groups(k: int) -> None:
    matrix = np.zeros((13, 13), np.float32)
    sizes = group_sizes(refine_groups(matrix, mdav(matrix, k), k))
    assert sizes.min() >= k
    assert sizes.sum() == 13


def test_groups_of_three_among_pairs_stay_lawful() -> None:
    """Fewer groups than pairs: nothing is matched, swaps do it."""
    matrix, group = clustered(12, 3, 2), np.repeat(np.arange(4), 3).astype(np.int32)
    found = refine_groups(matrix, group, 2)
    assert group_sizes(found).tolist() and group_sizes(found).min() >= 2
    assert group_sizes(found).max() <= 3
    assert mean_intra_group_distance(matrix, found) <= mean_intra_group_distance(matrix, group)


def test_one_group_and_nobody() -> None:
    for size in (0, 2, 3):
        group = np.zeros(size, np.int32)
        assert (refine_groups(clustered(3)[:size, :size], group, 2) == group).all()


def test_what_is_refused() -> None:
    with pytest.raises(VerificationError):
        refine_groups(clustered(4), np.array([0, 0, 0, 1], np.int32), 2)
    with pytest.raises(UsageError, match="a row and a column for each of 4"):
        refine_groups(clustered(5), np.array([0, 0, 1, 1], np.int32), 2)
