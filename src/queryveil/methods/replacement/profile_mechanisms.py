"""Three mechanisms that spend the budget of a user on their profile of topics.

A profile is approximated by an apportionment of a few points to topics. `HistogramProfiles` adds
noise to the number of users of each apportionment. `ResponseProfiles` draws a randomized response
for each user. `PopulationMean` releases one mean profile for all users. All further steps use the
noisy figures alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.randomness import RandomSource
from ...dp.noise import NoiseSource, exact_scale
from ...dp.public_counts import PublicCounts
from ...dp.randomized_response import RandomizedResponse

Apportionments = NDArray[np.int64]
Floats = NDArray[np.float64]

_TOO_LARGE = 2**62


def count_apportionments(topics: int, points: int) -> int:
    """Return the number of apportionments of points to topics.

    >>> count_apportionments(4, 10)
    286
    """
    return comb(points + topics - 1, points)


def apportion(profiles: NDArray[Any], points: int) -> Apportionments:
    """Apportion points in proportion to each profile, by largest remainders.

    For equal remainders the first topic gets the point. An empty profile counts as uniform.

    >>> apportion(np.array([[5, 3, 2], [0, 0, 0]]), 4).tolist()
    [[2, 1, 1], [2, 1, 1]]
    """
    weights = np.asarray(profiles, np.float64)
    sums = weights.sum(axis=1, keepdims=True)
    fractions = np.where(sums > 0, weights / np.where(sums > 0, sums, 1), 1 / weights.shape[1])
    exact = fractions * points
    whole = np.floor(np.round(exact, 9)).astype(np.int64)
    missing = points - whole.sum(axis=1)
    remainders = np.round(exact - whole, 9)  # rounded, so that ties are recognized
    order = np.argsort(-remainders, axis=1, kind="stable")
    rank = np.argsort(order, axis=1, kind="stable")
    return np.asarray(whole + (rank < missing[:, None]), np.int64)


def rank_apportionments(apportionments: Apportionments) -> Apportionments:
    """Return the rank of each apportionment in a fixed enumeration.

    >>> rank_apportionments(np.array([[2, 0], [1, 1], [0, 2]])).tolist()
    [2, 1, 0]
    """
    topics = apportionments.shape[1]
    points = int(apportionments[0].sum()) if len(apportionments) else 0
    # Stars and bars: a bar follows the points of each topic except the last. The rank counts the
    # apportionments whose bars are further left.
    bars = np.cumsum(apportionments[:, :-1], axis=1) + np.arange(topics - 1)
    table = _binomials(points + topics, topics)
    return np.asarray(table[bars, np.arange(1, topics)].sum(axis=1), np.int64)


def unrank_apportionments(ranks: Apportionments, topics: int, points: int) -> Apportionments:
    """Return the apportionments with these ranks; the inverse of `rank_apportionments`.

    >>> unrank_apportionments(np.array([2, 1, 0]), 2, 2).tolist()
    [[2, 0], [1, 1], [0, 2]]
    """
    table = _binomials(points + topics, topics)
    rest, bars = ranks.copy(), np.empty((len(ranks), topics - 1), np.int64)
    for bar in range(topics - 2, -1, -1):  # the rightmost position whose binomial fits
        column = table[:, bar + 1]
        bars[:, bar] = np.searchsorted(column, rest, side="right") - 1
        rest = rest - column[bars[:, bar]]
    edges = np.full((len(ranks), 1), -1), np.full((len(ranks), 1), points + topics - 1)
    return np.diff(np.concatenate([edges[0], bars, edges[1]], axis=1), axis=1) - 1


def _binomials(size: int, columns: int) -> Apportionments:
    """Return C(n, j) for n below `size` and j below `columns`; too large ones are never used."""
    rows = [[min(comb(n, j), _TOO_LARGE) for j in range(columns)] for n in range(size)]
    return np.array(rows, np.int64)


_PRIOR = 1.0  # pseudo-points of the mean in each profile
_EXAMPLES = 400


def shrink_to_mean(released: Apportionments, mean: Floats, signal: float = 1.0) -> Floats:
    """Return profiles of released apportionments, shrunk towards the mean profile.

    Fewer points and a weaker signal shrink more.
    """
    points = int(released[0].sum()) if len(released) else 1
    trust = signal * points / (points + _PRIOR)
    return np.asarray(trust * released / points + (1 - trust) * mean)


def expected_loss(topics: int, points: int, signal: float) -> float:
    """Return the expected loss on example profiles, for true and for random apportionments."""
    profiles, mean = _examples(topics), np.full(topics, 1 / topics)
    released = apportion(profiles, points)
    true_loss = js_divergence(profiles, shrink_to_mean(released, mean, signal)).mean()
    random_loss = js_divergence(profiles, shrink_to_mean(released[::-1], mean, signal)).mean()
    return float(signal * true_loss + (1 - signal) * random_loss)


def uniform_loss(topics: int) -> float:
    """Return the loss of the uniform profile on example profiles."""
    profiles = _examples(topics)
    return float(js_divergence(profiles, np.full(profiles.shape, 1 / topics)).mean())


def shrink_to_uniform(mean: Floats, variance: float) -> Floats:
    """Shrink an estimated profile towards the uniform one, according to its noise variance."""
    uniform = 1 / len(mean)
    spread = float(((mean - uniform) ** 2).mean())
    weight = max(0.0, 1 - 2 * variance / spread) if spread else 0.0
    shrunk = np.maximum(uniform + weight * (mean - uniform), 0)
    if not shrunk.any():  # only noise, and all of it negative
        return np.full(len(mean), uniform)
    return np.asarray(shrunk / shrunk.sum())


def js_divergence(first: Floats, second: Floats) -> Floats:
    """Return the Jensen-Shannon divergence of profiles, in bits.

    >>> js_divergence(np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]])).tolist()
    [1.0]
    """
    middle = (first + second) / 2
    return np.asarray(_kl_divergence(first, middle) / 2 + _kl_divergence(second, middle) / 2)


def _kl_divergence(first: Floats, second: Floats) -> Floats:
    ratio = np.where(first > 0, first, 1) / np.where(first > 0, second, 1)
    return np.asarray((first * np.log2(ratio)).sum(axis=1))


@cache
def _examples(topics: int) -> Floats:
    """Return fixed example profiles with a few strong interests each."""
    drawn = RandomSource(seed=topics).uint64s(_EXAMPLES * topics).reshape(_EXAMPLES, topics)
    weights = np.log((drawn + 1.0) / 2.0**64) ** 4
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


_MAX_APPORTIONMENTS = 2**48
_MAX_POINTS = 100
_PARTS = 1000  # points of each user in the sum of the population
_MAX_LOSS = 0.98  # of the loss of a uniform profile: a smaller saving is not worth the risk


@dataclass(frozen=True)
class PopulationMean:
    """The mean profile of all users, with noise on the sum of their points."""

    topics: int
    epsilon: Fraction

    @property
    def parts(self) -> int:
        """The number of points of each user's profile."""
        return _PARTS

    @property
    def scale(self) -> Fraction:
        """The scale of the noise: another log of one user changes the sum by at most 2 * parts."""
        return exact_scale(2 * _PARTS / self.epsilon)

    @property
    def loss(self) -> float:
        """The expected loss if nothing is known about the mean."""
        return _MAX_LOSS * uniform_loss(self.topics)

    def profiles(self, counts: Apportionments, noise: NoiseSource) -> Floats:
        """Return the noisy mean for all users.

        Another log of one user changes the sums by at most twice the parts (L1).
        """
        sums = apportion(counts, _PARTS).sum(axis=0) + noise.laplace(self.topics, self.scale)
        total = _PARTS * len(counts)
        mean = shrink_to_uniform(sums / total, 2 * float(self.scale / total) ** 2)
        return np.tile(mean, (len(counts), 1))


@dataclass(frozen=True)
class ResponseProfiles:
    """Randomized response of each user on the apportionment of their profile."""

    topics: int
    points: int
    epsilon: Fraction

    @cached_property
    def response(self) -> RandomizedResponse:
        """The mechanism that draws the responses."""
        return RandomizedResponse(count_apportionments(self.topics, self.points), self.epsilon)

    @cached_property
    def loss(self) -> float:
        """The expected loss on example profiles."""
        return expected_loss(self.topics, self.points, self.response.signal_strength)

    def profiles(self, counts: Apportionments, noise: NoiseSource) -> Floats:
        """Return profiles that combine each user's response and the mean of all responses."""
        responses = self.response.draw(rank_apportionments(apportion(counts, self.points)), noise)
        released = unrank_apportionments(responses, self.topics, self.points)
        return shrink_to_mean(
            released, self._estimate_mean(released), self.response.signal_strength
        )

    def _estimate_mean(self, released: Apportionments) -> Floats:
        """Estimate the mean profile of the population from the responses."""
        signal, fractions = self.response.signal_strength, released / self.points
        estimate = (fractions.mean(axis=0) - (1 - signal) / self.topics) / signal
        variance = float(fractions.var(axis=0).mean()) / (len(released) * signal**2)
        return shrink_to_uniform(estimate, variance)


@dataclass(frozen=True)
class HistogramProfiles:
    """Noisy counts of the users of each apportionment.

    A cell is an apportionment. Another log of one user changes two counts by one each.
    """

    topics: int
    points: int
    epsilon: Fraction
    users: int

    @cached_property
    def noisy(self) -> PublicCounts:
        """The mechanism of the counts; empty cells are not visited one by one."""
        return PublicCounts(exact_scale(2 / self.epsilon), threshold=1, contribution_bound=2)

    @cached_property
    def loss(self) -> float:
        """The expected loss on example profiles: noise moves users to other cells."""
        power = math.exp(-1 / float(self.noisy.scale))
        error = 2 * power / (1 - power**2)  # of one count, on average
        moved = count_apportionments(self.topics, self.points) * error / (2 * self.users)
        return expected_loss(self.topics, self.points, max(0.0, 1 - moved))

    def profiles(self, counts: Apportionments, noise: NoiseSource) -> Floats:
        """Return profiles such that each occurs as often as its noisy count."""
        cells = rank_apportionments(apportion(counts, self.points))
        occupied, sizes = np.unique(cells, return_counts=True)
        total = count_apportionments(self.topics, self.points)
        selected, noisy = self.noisy.release(occupied, sizes.astype(np.int64), total, noise)
        if not len(selected):
            return np.full(counts.shape, 1 / self.topics)
        capacity = apportion(noisy[None, :], len(counts))[0]
        released = unrank_apportionments(selected, self.topics, self.points)
        mean = (released * capacity[:, None]).sum(axis=0) / (self.points * len(counts))
        return shrink_to_mean(released, mean)[_assign_cells(cells, selected, capacity)]


def _assign_cells(
    cells: Apportionments, selected: Apportionments, capacity: Apportionments
) -> Apportionments:
    """Return the index of the released cell for each user; only the data owner knows it.

    Users get their own cell while it has capacity. The others get the remaining cells in order.
    """
    order = np.argsort(cells, kind="stable")
    ordered = cells[order]
    rank = np.arange(len(cells)) - np.searchsorted(ordered, ordered)
    index = np.searchsorted(selected, ordered).clip(max=len(selected) - 1)
    stays = (selected[index] == ordered) & (rank < capacity[index])
    remaining = capacity - np.bincount(index[stays], minlength=len(selected))
    index[~stays] = np.repeat(np.arange(len(selected)), remaining)
    assigned = np.empty(len(cells), np.int64)
    assigned[order] = index
    return assigned


ProfileMechanism = PopulationMean | ResponseProfiles | HistogramProfiles


def choose_profile_mechanism(
    topics: int, epsilon: Fraction, users: int, kind: str = "auto"
) -> ProfileMechanism:
    """Return the mechanism with the lowest expected loss, from public numbers alone."""
    candidates: dict[str, Callable[[], list[ProfileMechanism]]] = {
        "population": lambda: [PopulationMean(topics, epsilon)],
        "answers": lambda: _try_points(
            topics, lambda points: ResponseProfiles(topics, points, epsilon)
        ),
        "cells": lambda: _try_points(
            topics, lambda points: HistogramProfiles(topics, points, epsilon, users)
        ),
    }
    names = list(candidates) if kind == "auto" else [kind]
    mechanisms = (mechanism for name in names for mechanism in candidates[name]())
    return min(mechanisms, key=lambda mechanism: mechanism.loss)


def _try_points(
    topics: int, build: Callable[[int], ResponseProfiles | HistogramProfiles]
) -> list[ProfileMechanism]:
    """Return mechanisms with more and more points, while the loss does not grow much."""
    tried = [build(1)]
    for points in range(2, _MAX_POINTS + 1):
        if count_apportionments(topics, points) > _MAX_APPORTIONMENTS or tried[-1].loss > 1.5 * min(
            mechanism.loss for mechanism in tried
        ):
            break
        tried.append(build(points))
    return list(tried)
