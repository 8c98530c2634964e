"""Partitions of users: made from their distances by hierarchical clustering, and compared.

A partition is an array with the cluster of each user. Users whose distance is 0 are never parted,
so there may be fewer clusters than were asked for.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.extras import import_extra
from ...core.randomness import RandomSource

Labels = NDArray[np.integer[Any]]
Floats = NDArray[np.floating[Any]]

_SHUFFLES = 20  # of a partition, to see what chance gives
_SEED = 2013


def partition_distance(one: Labels, two: Labels) -> float:
    """Give dPart of two partitions, eq. (8) of Batet 2013 (López de Mántaras 1991).

    It is 0 if they are the same, whatever the clusters are called, and 1 if one tells nothing
    about the other.

    >>> partition_distance(np.array([0, 0, 1, 1]), np.array([7, 7, 3, 3]))
    0.0
    >>> round(partition_distance(np.array([0, 0, 1, 1]), np.array([0, 0, 0, 1])), 4)
    0.7925
    """
    (_, a), (_, b) = (np.unique(labels, return_inverse=True) for labels in (one, two))
    both = _information(a * (int(b.max(initial=0)) + 1) + b)
    if both == 0:
        return 0.0
    return min(1.0, max(0.0, (2 * both - _information(a) - _information(b)) / both))


def _information(labels: Labels) -> float:
    """Give the entropy of a partition, in bits; in one order, so that equal ones are equal."""
    shares = np.sort(np.unique(labels, return_counts=True)[1]) / len(labels)
    return float(-(shares * np.log2(shares)).sum()) if len(shares) > 1 else 0.0


def expected_distance(one: Labels, two: Labels) -> float:
    """Give the mean dPart when the users of one partition are shuffled: no information at all.

    The clusters keep their sizes, and the shuffles are always the same.
    """
    chance = RandomSource(_SEED)
    found = [partition_distance(one, two[chance.permutation(len(two))]) for _ in range(_SHUFFLES)]
    return float(np.mean(found))


def linkage_tree(matrix: Floats, linkage: str) -> NDArray[np.float64]:
    """Join the two nearest clusters again and again, by SciPy: a row a step, the height third.

    With `ward`, the formula of Lance and Williams is used on the distances as they are.
    """
    names = ("scipy.cluster.hierarchy", "scipy.spatial.distance")
    hierarchy, distance = (import_extra(name, "clustering users") for name in names)
    condensed = distance.squareform(np.asarray(matrix, np.float64), checks=False)
    return np.asarray(hierarchy.linkage(condensed, method=linkage))


def cut_tree(steps: Floats, number: int) -> Labels:
    """Give the partition into that many clusters, or fewer where equal users fill fewer.

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
    """Give the number of clusters with the best index of Calinski and Harabasz; least of equals.

    The sums of squares are taken from the distances: those of a cluster are the squared
    distances of all its pairs, over its size. Clusters have two users on average at least: the
    index grows without bound as they come down to one.
    """
    users = len(matrix)
    inside = _inside(np.square(matrix, dtype=np.float64), steps)[::-1]  # of 1, 2, ... clusters
    numbers = np.arange(2, max(2, users // 2) + 1)
    rest = inside[numbers - 1]
    between = (inside[0] - rest) / (numbers - 1) * (users - numbers)
    index = np.divide(between, rest, out=np.full(len(rest), np.inf), where=rest > 0)
    return int(numbers[np.argmax(index)])


def _inside(squares: NDArray[np.float64], steps: Floats) -> NDArray[np.float64]:
    """Give the sum of squares inside clusters, of single users first, of one cluster last.

    `sums` has the squared distances of all pairs of two clusters, or within one.
    """
    users, sums = len(squares), squares.copy()
    size, found = np.ones(users), np.zeros(users)
    place = np.arange(2 * users - 1)
    for step, (a, b) in enumerate(steps[:, :2].astype(np.int64).tolist()):
        one, two = int(place[a]), int(place[b])
        apart = sums[one, one] / size[one] + sums[two, two] / size[two]
        sums[one] += sums[two]
        sums[:, one] += sums[:, two]
        size[one] += size[two]
        place[users + step] = one
        found[step + 1] = found[step] + (sums[one, one] / size[one] - apart) / 2
    return np.maximum(found, 0)
