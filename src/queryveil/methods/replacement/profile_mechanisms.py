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
from functools import cached_property

import numpy as np

from ...dp.noise import NoiseSource, exact_scale
from ...dp.public_counts import PublicCounts
from ...dp.randomized_response import RandomizedResponse
from .judging import expected_loss, shrink_to_mean, shrink_to_uniform, uniform_loss
from .points import (
    Apportionments,
    Floats,
    apportion,
    count_apportionments,
    rank_apportionments,
    unrank_apportionments,
)

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
