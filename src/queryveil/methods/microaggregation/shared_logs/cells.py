"""Decide how many rows of each cell the shared log of a group has.

The shared log has the mean profile of the members, each with the same weight. Whole numbers of rows
are found by largest remainders, first for topics and then for the cells of each. The rounding
errors of a group are carried to the next groups, so that the sums over all groups stay right.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ....concepts.similarity.topics import default_topics
from ....concepts.taxonomy.arrays import BoolArray, IntArray
from ....concepts.taxonomy.graph import Taxonomy
from ....core.randomness import RandomSource
from ..apportionment import Floats, largest_remainder, sum_by
from .rows import UserRows
from .texts import Texts

MAX_COUNT = 50  # how often a user counts for a query, where counts of the log are a goal
_CALIBRATED = 0.5  # the fraction of all rows, in the longest logs, whose cells are calibrated
_EXTRA_WEIGHT = 0.8  # of left-over words that have a concept
_POPULAR = 0.9  # the fraction of texts without a concept that is drawn from the whole log
_POPULAR_EXTRA = 0.5
_SOLE_WEIGHT = 0.4  # of a cell that one member of a group alone has
_RAKING_ROUNDS = 10
_MAX_FACTOR = 4.0  # of raking, for one cell


@dataclass(frozen=True, eq=False, repr=False)
class CellNumbers:
    """The numbers of cells: concepts, then texts, then two pools of texts of the whole log."""

    concepts: int
    texts: int

    @property
    def pool(self) -> int:
        """The cell of any text without a single concept."""
        return self.concepts + self.texts

    @property
    def extra_pool(self) -> int:
        """The cell of any left-over words that have a concept."""
        return self.pool + 1

    def __len__(self) -> int:
        return self.pool + 2


@dataclass(frozen=True, eq=False, repr=False)
class GroupCells:
    """Numbers of rows: group, cell and count, sorted by group and cell."""

    group: IntArray
    cell: IntArray
    count: IntArray


@dataclass(frozen=True, eq=False, repr=False)
class Groups:
    """The group of each user, the sizes of groups, and the length of each group's log.

    `is_long` flags the longest logs, whose cells are calibrated.
    """

    of_user: IntArray
    sizes: IntArray
    is_long: BoolArray
    length: IntArray

    def __len__(self) -> int:
        return len(self.sizes)


def count_cells(
    rows: UserRows, texts: Texts, taxonomy: Taxonomy, group: IntArray, rng: RandomSource
) -> tuple[GroupCells, UserRows, Groups]:
    """Return the rows of each cell in each group's log, the rows they are from, and the groups."""
    numbers = CellNumbers(len(taxonomy), len(texts))
    is_extra, is_own = _kinds_of_cells(texts, numbers)
    known = rows.text >= 0  # rows of stand-ins have words that the log does not have there
    goal = sum_by(rows.cell[known], np.minimum(rows.count, MAX_COUNT)[known], len(numbers))
    sizes = np.bincount(group)
    is_long = _longest_logs(sum_by(group[rows.user], rows.count, len(sizes)))
    rows = rows.select(~is_extra[rows.cell] | is_long[group[rows.user]])
    weight = np.where(is_extra[rows.cell], _EXTRA_WEIGHT, 1.0) * rows.count.astype(np.float64)
    length = _lengths(sum_by(group[rows.user], weight, len(sizes)), sizes)
    groups = Groups(group, sizes, is_long, length)
    profile = _mean_profiles(rows, weight, groups, numbers)
    for kind, pool, fraction in (
        (is_own, numbers.pool, _POPULAR),
        (is_extra, numbers.extra_pool, _POPULAR_EXTRA),
    ):
        profile = _move_to_pool(profile, kind, pool, fraction, len(groups))
        goal[pool] = fraction * goal[kind].sum()
        goal[kind] *= 1 - fraction
    profile = _rake(profile.sorted(), goal, groups)
    topic = _topics_of_cells(taxonomy, texts, numbers)
    count = _apportion(profile, topic, groups, rng)
    nonzero = count > 0
    return GroupCells(profile.group[nonzero], profile.cell[nonzero], count[nonzero]), rows, groups


def _kinds_of_cells(texts: Texts, numbers: CellNumbers) -> tuple[BoolArray, BoolArray]:
    """Return which cells are left-over words with a concept, and which are other texts."""
    is_extra, is_own = np.zeros((2, len(numbers)), np.bool_)
    is_extra[numbers.concepts : numbers.pool] = ~texts.is_query & (texts.concept >= 0)
    is_own[numbers.concepts : numbers.pool] = texts.is_query | (texts.concept < 0)
    return is_extra, is_own


def _longest_logs(total: Floats) -> BoolArray:
    """Return which logs are the longest, that have a given fraction of all rows."""
    order = np.argsort(-total, kind="stable")
    reached = np.cumsum(total[order]) < _CALIBRATED * total.sum()
    is_long = np.zeros(len(total), np.bool_)
    is_long[order[: int(reached.sum()) + 1]] = True
    return is_long


def _lengths(total: Floats, sizes: IntArray) -> IntArray:
    """Return the rows of each shared log: the mean of its members, and at least one."""
    return np.maximum(np.floor(total / sizes + 0.5), 1).astype(np.int64)


@dataclass(frozen=True, eq=False, repr=False)
class _Profiles:
    """The profiles of groups over cells; the portions of a group sum up to its length."""

    group: IntArray
    cell: IntArray
    portion: Floats

    def sorted(self) -> _Profiles:
        order = np.lexsort((self.cell, self.group))
        return _Profiles(self.group[order], self.cell[order], self.portion[order])


def _mean_profiles(
    rows: UserRows, weight: Floats, groups: Groups, numbers: CellNumbers
) -> _Profiles:
    """Return the mean profile of each group.

    The profile of a member is divided by the geometric mean of its sum and its Euclidean length:
    a member with a few frequent cells would else hardly show beside one with many. A cell that one
    member alone has weighs less: it tells more about this member than about the group.
    """
    users = len(groups.of_user)
    keys, index = np.unique(rows.user * len(numbers) + rows.cell, return_inverse=True)
    total = sum_by(index, weight, len(keys))
    user, cell = np.divmod(keys, len(numbers))
    norm = np.sqrt(sum_by(user, total, users) * np.sqrt(sum_by(user, total**2, users)))
    keys, index = np.unique(groups.of_user[user] * len(numbers) + cell, return_inverse=True)
    portion = sum_by(index, total / norm[user], len(keys))
    portion *= np.where(np.bincount(index) == 1, _SOLE_WEIGHT, 1.0)
    group, cell = np.divmod(keys, len(numbers))
    return _Profiles(group, cell, _to_length(group, portion, groups))


def _to_length(group: IntArray, portion: Floats, groups: Groups) -> Floats:
    sums = sum_by(group, portion, len(groups))
    factor = np.divide(groups.length, sums, out=np.zeros(len(groups)), where=sums > 0)
    return np.asarray(portion * factor[group])


def _move_to_pool(
    of: _Profiles, kind: BoolArray, pool: int, fraction: float, groups: int
) -> _Profiles:
    """Move a fraction of the cells of a kind to the pool of all texts of this kind."""
    is_kind = kind[of.cell]
    moved = fraction * sum_by(of.group[is_kind], of.portion[is_kind], groups)
    nonzero = np.flatnonzero(moved)
    return _Profiles(
        np.concatenate([of.group, nonzero]),
        np.concatenate([of.cell, np.full(len(nonzero), pool)]),
        np.concatenate(
            [np.where(is_kind, (1 - fraction) * of.portion, of.portion), moved[nonzero]]
        ),
    )


def _rake(of: _Profiles, goal: Floats, groups: Groups) -> _Profiles:
    """Calibrate the cells of the long logs, so that sums over all logs come near the goal."""
    is_long, size = groups.is_long[of.group], groups.sizes[of.group]
    factor, raked = np.ones(len(goal)), of.portion
    for _ in range(_RAKING_ROUNDS):
        now = sum_by(of.cell, raked * size, len(goal))
        step = np.divide(goal, now, out=np.ones(len(goal)), where=now > 0)
        factor = np.clip(factor * np.clip(step, 0.5, 2), 1 / _MAX_FACTOR, _MAX_FACTOR)
        raked = _to_length(of.group, of.portion * np.where(is_long, factor[of.cell], 1), groups)
    return replace(of, portion=raked)


def _topics_of_cells(taxonomy: Taxonomy, texts: Texts, numbers: CellNumbers) -> NDArray[np.int16]:
    """Return the topic of each cell; -2 for cells without a concept."""
    of_concept = default_topics(taxonomy).topic_of
    topic = np.full(len(numbers), -2, np.int16)
    topic[: numbers.concepts] = of_concept
    has_concept = texts.concept >= 0
    topic[numbers.concepts : numbers.pool][has_concept] = of_concept[texts.concept[has_concept]]
    return topic


def _apportion(
    of: _Profiles, topic: NDArray[np.int16], groups: Groups, rng: RandomSource
) -> IntArray:
    """Round the portions of every group, in random order; the errors are carried on by cell."""
    debt, count = np.zeros(len(topic)), np.zeros(len(of.portion), np.int64)
    topics = topic[of.cell]
    bounds = list(pairwise(np.searchsorted(of.group, np.arange(len(groups) + 1)).tolist()))
    for number in rng.permutation(len(groups)).tolist():
        begin, end = bounds[number]
        if begin == end:
            continue
        cell, size, length = of.cell[begin:end], groups.sizes[number], int(groups.length[number])
        goal = wanted = of.portion[begin:end]
        if groups.is_long[number]:
            wanted = np.maximum(goal + np.clip(debt[cell] / size, -1, 1), 0)
            total = float(wanted.sum())
            wanted = wanted * (length / total) if total > 0 else goal
        taken = _apportion_by_topic(wanted, topics[begin:end], length)
        debt[cell] += (goal - taken) * size
        count[begin:end] = taken
    return count


def _apportion_by_topic(portions: Floats, topic: NDArray[np.int16], total: int) -> IntArray:
    """Round by largest remainders, first the sums of topics, then the portions inside each."""
    topics, index = np.unique(topic, return_inverse=True)
    sums = sum_by(index, portions, len(topics))
    quota = largest_remainder(sums, total)
    scaled = portions * np.divide(quota, sums, out=np.zeros(len(topics)), where=sums > 0)[index]
    rounded = np.floor(scaled + 1e-9).astype(np.int64)
    missing = quota - np.bincount(index, rounded).astype(np.int64)
    order = np.lexsort((rounded - scaled, index))  # per topic, the largest remainder first
    first = np.searchsorted(index[order], np.arange(len(topics)))
    rank = np.arange(len(order)) - first[index[order]]
    rounded[order[rank < missing[index[order]]]] += 1
    return rounded
