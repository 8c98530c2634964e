"""Three ways to spend a user's budget on her profile.

`Cells` counts how many users have each profile, told in a few points, and puts noise on these
counts. `Answers` lets each user give a randomised answer of her own. `Population` gives one mean
profile for everybody. All that follows uses the noisy figures alone.
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
    """Count the ways to hand out points.

    >>> count_apportionments(4, 10)
    286
    """
    return comb(points + topics - 1, points)


def apportion(profiles: NDArray[Any], points: int) -> Apportionments:
    """Hand out points in proportion to each profile: whole ones first, then largest remainders.

    Of equal remainders the first topic gets the point. A profile of nothing is taken as uniform.

    >>> apportion(np.array([[5, 3, 2], [0, 0, 0]]), 4).tolist()
    [[2, 1, 1], [2, 1, 1]]
    """
    shares = np.asarray(profiles, np.float64)
    sums = shares.sum(axis=1, keepdims=True)
    shares = np.where(sums > 0, shares / np.where(sums > 0, sums, 1), 1 / shares.shape[1])
    exact = shares * points
    whole = np.floor(np.round(exact, 9)).astype(np.int64)
    missing = points - whole.sum(axis=1)
    remainders = np.round(exact - whole, 9)  # so that equal ones are seen as equal
    order = np.argsort(-remainders, axis=1, kind="stable")
    rank = np.argsort(order, axis=1, kind="stable")
    return np.asarray(whole + (rank < missing[:, None]), np.int64)


def rank_apportionments(handed: Apportionments) -> Apportionments:
    """Give the number of each way to hand out.

    >>> rank_apportionments(np.array([[2, 0], [1, 1], [0, 2]])).tolist()
    [2, 1, 0]
    """
    topics, points = handed.shape[1], int(handed[0].sum()) if len(handed) else 0
    # Bars stand after the points of each topic but the last; ways below: bars further left.
    bars = np.cumsum(handed[:, :-1], axis=1) + np.arange(topics - 1)
    table = _binomials(points + topics, topics)
    return np.asarray(table[bars, np.arange(1, topics)].sum(axis=1), np.int64)


def unrank_apportionments(numbers: Apportionments, topics: int, points: int) -> Apportionments:
    """Give the ways that have these numbers.

    >>> unrank_apportionments(np.array([2, 1, 0]), 2, 2).tolist()
    [[2, 0], [1, 1], [0, 2]]
    """
    table = _binomials(points + topics, topics)
    rest, bars = numbers.copy(), np.empty((len(numbers), topics - 1), np.int64)
    for bar in range(topics - 2, -1, -1):  # the greatest place whose binomial fits
        column = table[:, bar + 1]
        bars[:, bar] = np.searchsorted(column, rest, side="right") - 1
        rest = rest - column[bars[:, bar]]
    edges = np.full((len(numbers), 1), -1), np.full((len(numbers), 1), points + topics - 1)
    return np.diff(np.concatenate([edges[0], bars, edges[1]], axis=1), axis=1) - 1


def _binomials(size: int, most: int) -> Apportionments:
    """Give C(n, j) for n below size and j up to most; what is too large is never asked for."""
    rows = [[min(comb(n, j), _TOO_LARGE) for j in range(most)] for n in range(size)]
    return np.array(rows, np.int64)


_PRIOR = 1.0  # points that a user is given for what was not told of her
_EXAMPLES = 400


def shrink_to_mean(told: Apportionments, mean: Floats, signal: float = 1.0) -> Floats:
    """Make profiles of points: what is told is drawn towards the mean of all.

    The fewer the points, and the less they signal, the more.
    """
    points = int(told[0].sum()) if len(told) else 1
    trust = signal * points / (points + _PRIOR)
    return np.asarray(trust * told / points + (1 - trust) * mean)


def expected_loss(topics: int, points: int, signal: float) -> float:
    """Tell the loss on made-up profiles: of points that are true, and of points at random."""
    profiles, mean = _examples(topics), np.full(topics, 1 / topics)
    told = apportion(profiles, points)
    truth = js_divergence(profiles, shrink_to_mean(told, mean, signal)).mean()
    chance = js_divergence(profiles, shrink_to_mean(told[::-1], mean, signal)).mean()
    return float(signal * truth + (1 - signal) * chance)


def uniform_loss(topics: int) -> float:
    """Tell the loss on made-up profiles of one that is the same for all topics."""
    profiles = _examples(topics)
    return float(js_divergence(profiles, np.full(profiles.shape, 1 / topics)).mean())


def shrink_to_uniform(mean: Floats, variance: float) -> Floats:
    """Draw an estimated profile towards the uniform one, by as much as it is noise."""
    uniform = 1 / len(mean)
    spread = float(((mean - uniform) ** 2).mean())
    share = max(0.0, 1 - 2 * variance / spread) if spread else 0.0
    found = np.maximum(uniform + share * (mean - uniform), 0)
    if not found.any():  # noise alone, all of it below 0
        return np.full(len(mean), uniform)
    return np.asarray(found / found.sum())


def js_divergence(one: Floats, two: Floats) -> Floats:
    """Give the Jensen-Shannon divergence of profiles, in bits.

    >>> js_divergence(np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]])).tolist()
    [1.0]
    """
    middle = (one + two) / 2
    return np.asarray(_relative(one, middle) / 2 + _relative(two, middle) / 2)


def _relative(one: Floats, two: Floats) -> Floats:
    ratio = np.where(one > 0, one, 1) / np.where(one > 0, two, 1)
    return np.asarray((one * np.log2(ratio)).sum(axis=1))


@cache
def _examples(topics: int) -> Floats:
    """Make up profiles with a few strong interests each; the same ones always."""
    drawn = RandomSource(seed=topics).uint64s(_EXAMPLES * topics).reshape(_EXAMPLES, topics)
    weights = np.log((drawn + 1.0) / 2.0**64) ** 4
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


_MOST_WAYS = 2**48
_MOST_POINTS = 100
_PARTS = 1000  # of which each user's profile has so many in the sum of the population
_WORTH = 0.98  # of the loss of a uniform profile: what saves less is not worth a risk


@dataclass(frozen=True)
class PopulationMean:
    """The mean profile of all users, with noise on the sum of their parts."""

    topics: int
    epsilon: Fraction

    @property
    def parts(self) -> int:
        """Into how many parts each user's profile is cut."""
        return _PARTS

    @property
    def scale(self) -> Fraction:
        """The noise of the sum of parts: another log of one user moves at most twice the parts."""
        return exact_scale(2 * _PARTS / self.epsilon)

    @property
    def loss(self) -> float:
        """The loss to expect where nothing is known of the mean."""
        return _WORTH * uniform_loss(self.topics)

    def profiles(self, counts: Apportionments, noise: NoiseSource) -> Floats:
        """Give all users the noisy mean; another log of one user moves at most twice her parts."""
        sums = apportion(counts, _PARTS).sum(axis=0) + noise.laplace(self.topics, self.scale)
        whole = _PARTS * len(counts)
        mean = shrink_to_uniform(sums / whole, 2 * float(self.scale / whole) ** 2)
        return np.tile(mean, (len(counts), 1))


@dataclass(frozen=True)
class ResponseProfiles:
    """Randomised response of each user on her profile in so many points."""

    topics: int
    points: int
    epsilon: Fraction

    @cached_property
    def response(self) -> RandomizedResponse:
        """What draws the answers."""
        return RandomizedResponse(count_apportionments(self.topics, self.points), self.epsilon)

    @cached_property
    def loss(self) -> float:
        """The loss to expect on made-up profiles."""
        return expected_loss(self.topics, self.points, self.response.signal_strength)

    def profiles(self, counts: Apportionments, noise: NoiseSource) -> Floats:
        """Give each user a profile made of her answer and of the mean of all answers."""
        answers = self.response.draw(rank_apportionments(apportion(counts, self.points)), noise)
        told = unrank_apportionments(answers, self.topics, self.points)
        return shrink_to_mean(told, self._mean(told), self.response.signal_strength)

    def _mean(self, told: Apportionments) -> Floats:
        """Estimate the mean profile of the population from the answers."""
        signal, shares = self.response.signal_strength, told / self.points
        estimate = (shares.mean(axis=0) - (1 - signal) / self.topics) / signal
        return shrink_to_uniform(
            estimate, float(shares.var(axis=0).mean()) / (len(told) * signal**2)
        )


@dataclass(frozen=True)
class HistogramProfiles:
    """Noisy counts of how many users have each profile in so many points.

    A cell is a way to hand out the points. Another log of one user moves two counts by one.
    """

    topics: int
    points: int
    epsilon: Fraction
    users: int

    @cached_property
    def noisy(self) -> PublicCounts:
        """What puts noise on the counts; cells that are empty are not visited one by one."""
        return PublicCounts(exact_scale(2 / self.epsilon), threshold=1, contribution_bound=2)

    @cached_property
    def loss(self) -> float:
        """The loss to expect on made-up profiles: noise moves users to other cells."""
        power = math.exp(-1 / float(self.noisy.scale))
        error = 2 * power / (1 - power**2)  # of one count, on average
        moved = count_apportionments(self.topics, self.points) * error / (2 * self.users)
        return expected_loss(self.topics, self.points, max(0.0, 1 - moved))

    def profiles(self, counts: Apportionments, noise: NoiseSource) -> Floats:
        """Give as many users each profile as its noisy count says."""
        cells = rank_apportionments(apportion(counts, self.points))
        places, sizes = np.unique(cells, return_counts=True)
        whole = count_apportionments(self.topics, self.points)
        shown, noisy = self.noisy.release(places, sizes.astype(np.int64), whole, noise)
        if not len(shown):
            return np.full(counts.shape, 1 / self.topics)
        given = apportion(noisy[None, :], len(counts))[0]
        told = unrank_apportionments(shown, self.topics, self.points)
        mean = (told * given[:, None]).sum(axis=0) / (self.points * len(counts))
        return shrink_to_mean(told, mean)[_standing_for(cells, shown, given)]


def _standing_for(
    cells: Apportionments, shown: Apportionments, given: Apportionments
) -> Apportionments:
    """Choose for each user the released cell that stands for her; the owner alone knows.

    Her own cell, as long as it has room. The others take what is left, in the order of cells.
    """
    order = np.argsort(cells, kind="stable")
    ordered = cells[order]
    rank = np.arange(len(cells)) - np.searchsorted(ordered, ordered)
    place = np.searchsorted(shown, ordered).clip(max=len(shown) - 1)
    stays = (shown[place] == ordered) & (rank < given[place])
    left = given - np.bincount(place[stays], minlength=len(shown))
    place[~stays] = np.repeat(np.arange(len(shown)), left)
    found = np.empty(len(cells), np.int64)
    found[order] = place
    return found


ProfileMechanism = PopulationMean | ResponseProfiles | HistogramProfiles


def choose_profile_mechanism(
    topics: int, epsilon: Fraction, users: int, kind: str = "auto"
) -> ProfileMechanism:
    """Choose the way with the least loss to expect, from public numbers alone."""
    ways_known: dict[str, Callable[[], list[ProfileMechanism]]] = {
        "population": lambda: [PopulationMean(topics, epsilon)],
        "answers": lambda: _growing(
            topics, lambda points: ResponseProfiles(topics, points, epsilon)
        ),
        "cells": lambda: _growing(
            topics, lambda points: HistogramProfiles(topics, points, epsilon, users)
        ),
    }
    chosen = list(ways_known) if kind == "auto" else [kind]
    return min((way for name in chosen for way in ways_known[name]()), key=lambda way: way.loss)


def _growing(
    topics: int, make: Callable[[int], ResponseProfiles | HistogramProfiles]
) -> list[ProfileMechanism]:
    """Try more and more points, as long as that helps."""
    found = [make(1)]
    for points in range(2, _MOST_POINTS + 1):
        if count_apportionments(topics, points) > _MOST_WAYS or found[-1].loss > 1.5 * min(
            w.loss for w in found
        ):
            break
        found.append(make(points))
    return list(found)
