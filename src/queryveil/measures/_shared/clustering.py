"""Hierarchical clustering of users by their distances, and the distance of two clusterings.

A clustering is an array with the cluster of each user. Users with distance 0 are always in one
cluster, so there may be fewer clusters than requested.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.randomness import RandomSource

Labels = NDArray[np.integer[Any]]
Floats = NDArray[np.floating[Any]]

_SHUFFLES = 20  # of a clustering, to estimate the distance of unrelated ones
_SEED = 2013


def partition_distance(first: Labels, second: Labels) -> float:
    """Return dPart of two clusterings, eq. (8) of Batet 2013 (López de Mántaras 1991).

    It is 0 if they are the same up to the names of clusters, and 1 if they are independent.

    >>> partition_distance(np.array([0, 0, 1, 1]), np.array([7, 7, 3, 3]))
    0.0
    >>> round(partition_distance(np.array([0, 0, 1, 1]), np.array([0, 0, 0, 1])), 4)
    0.7925
    """
    (_, a), (_, b) = (np.unique(labels, return_inverse=True) for labels in (first, second))
    both = _entropy(a * (int(b.max(initial=0)) + 1) + b)
    if both == 0:
        return 0.0
    return min(1.0, max(0.0, (2 * both - _entropy(a) - _entropy(b)) / both))


def _entropy(labels: Labels) -> float:
    """Return the entropy of a clustering, in bits.

    Sizes are summed in sorted order, so that equal clusterings have exactly equal entropies.
    """
    fractions = np.sort(np.unique(labels, return_counts=True)[1]) / len(labels)
    return float(-(fractions * np.log2(fractions)).sum()) if len(fractions) > 1 else 0.0


def expected_distance(one: Labels, two: Labels) -> float:
    """Return the mean dPart if the users of one clustering are shuffled, as a baseline.

    The clusters keep their sizes, and the shuffles are always the same.
    """
    rng = RandomSource(_SEED)
    distances = [partition_distance(one, two[rng.permutation(len(two))]) for _ in range(_SHUFFLES)]
    return float(np.mean(distances))


def linkage_tree(matrix: Floats, linkage: str) -> NDArray[np.float64]:
    """Return the merge steps of hierarchical clustering, as SciPy has them: the height is third.

    With `ward`, the formula of Lance and Williams is applied to the distances as they are.
    """
    from scipy.cluster import hierarchy  # noqa: PLC0415  (slow to import)
    from scipy.spatial import distance  # noqa: PLC0415

    condensed = distance.squareform(np.asarray(matrix, np.float64), checks=False)
    return np.asarray(hierarchy.linkage(condensed, method=linkage))


def cut_tree(steps: Floats, number: int) -> Labels:
    """Return the clustering with that many clusters, or fewer if there are fewer distinct users.

    >>> cut_tree(np.array([[0, 1, 0.1, 2], [2, 3, 0.9, 3]]), 2).tolist()
    [1, 1, 0]
    """
    users = len(steps) + 1
    done = max(users - number, int(np.count_nonzero(steps[:, 2] <= 0)))
    above = np.arange(users + done)
    above[steps[:done, :2].astype(np.int64)] = (users + np.arange(done))[:, None]
    while not np.array_equal(above, above[above]):
        above = above[above]
    return np.asarray(np.unique(above[:users], return_inverse=True)[1])


def best_cluster_count(matrix: Floats, steps: Floats) -> int:
    """Return the number of clusters with the best Calinski-Harabasz index; the smallest of equals.

    The sums of squares are computed from the distances: that of a cluster is the sum of the
    squared distances of all its pairs, divided by its size. Clusters have at least two users on
    average, since the index grows without bound as they come down to one.
    """
    users = len(matrix)
    inside = _within_cluster_squares(np.square(matrix, dtype=np.float64), steps)[
        ::-1
    ]  # of 1, 2, ... clusters
    numbers = np.arange(2, max(2, users // 2) + 1)
    rest = inside[numbers - 1]
    between = (inside[0] - rest) / (numbers - 1) * (users - numbers)
    index = np.divide(between, rest, out=np.full(len(rest), np.inf), where=rest > 0)
    return int(numbers[np.argmax(index)])


def _within_cluster_squares(squares: NDArray[np.float64], steps: Floats) -> NDArray[np.float64]:
    """Return the within-cluster sum of squares of each step, from single users to one cluster.

    `sums` has the sums of squared distances between two clusters, or within one.
    """
    users, sums = len(squares), squares.copy()
    size, within = np.ones(users), np.zeros(users)
    row_of = np.arange(2 * users - 1)
    for step, (a, b) in enumerate(steps[:, :2].astype(np.int64).tolist()):
        left, right = int(row_of[a]), int(row_of[b])
        separate = sums[left, left] / size[left] + sums[right, right] / size[right]
        sums[left] += sums[right]
        sums[:, left] += sums[:, right]
        size[left] += size[right]
        row_of[users + step] = left
        within[step + 1] = within[step] + (sums[left, left] / size[left] - separate) / 2
    return np.maximum(within, 0)
