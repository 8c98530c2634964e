"""Describe the effect of noise on the rows of replacement methods, from public numbers alone."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...dp.public_counts import PublicCounts
from ...release.noise import CountNoise
from .profile_mechanisms import (
    HistogramProfiles,
    PopulationMean,
    ProfileMechanism,
    ResponseProfiles,
    count_apportionments,
)


def describe_replacement_noise(
    *, stays: float, blindly: float, concepts: int, rows: int, filled: bool
) -> tuple[str, ...]:
    """Describe how often a phrase stays unchanged."""
    text = (
        f"A phrase stays unchanged in {_percent(stays)} of cases; with uniformly random concepts "
        f"it would in {_percent(blindly)}. So of {rows:,} rows of a user about {rows * stays:.3g} "
        f"stay unchanged, at best. This is a mean over the {concepts:,} concepts of the domain, "
        "and not a figure of the log."
    )
    more = "A user with fewer phrases has rows that are drawn uniformly; nobody can see which."
    return (text, more) if filled else (text,)


@dataclass(frozen=True)
class OwnShare:
    """The effect of noise on a concept that all phrases of a user have.

    `shown` is the probability that it is above the threshold, `rows` the fraction of the rows that
    then have it, `by_noise` the number of concepts above the threshold by noise alone.
    """

    shown: float
    rows: float
    by_noise: float

    @property
    def mean_rows(self) -> float:
        """The mean fraction of rows with the concept, at best."""
        return self.shown * self.rows


def own_share(mechanism: PublicCounts, cells: int, phrases: int) -> OwnShare:
    """Compute the effect of noise on one concept that all phrases of a user have."""
    scale, threshold = float(mechanism.scale), mechanism.threshold
    by_noise = cells * _tail_probability(threshold, scale)
    shown = _tail_probability(threshold - phrases, scale)
    own = _mean_above(phrases, threshold, scale) / shown
    others = by_noise * (threshold + scale)  # the mean above the threshold is one scale higher
    return OwnShare(shown, own / (own + others), by_noise)


def describe_histogram_noise(mechanism: PublicCounts, cells: int, phrases: int) -> tuple[str, ...]:
    """Describe the effect of noise on the concept counts of a user."""
    best, scale = own_share(mechanism, cells, phrases), float(mechanism.scale)
    return (
        f"Each concept count has noise of scale {scale:,.4g}, and the threshold is "
        f"{mechanism.threshold:,}. A concept of one phrase of a user reaches it in "
        f"{_percent(_tail_probability(mechanism.threshold - 1, scale))} of cases, a concept of no "
        f"phrase in {_percent(_tail_probability(mechanism.threshold, scale))}: of {cells:,} "
        f"concepts about {best.by_noise:.3g} of each user are there by noise alone.",
        f"If all {phrases:,} phrases of a user have one concept, about "
        f"{_percent(best.mean_rows)}, at best, of their rows have it; of other users "
        "fewer rows have their concepts.",
    )


def describe_profile_noise(
    mechanism: ProfileMechanism | None, users: int, topics: int
) -> tuple[str, ...]:
    """Describe the effect of noise on profiles."""
    rows = (
        "Queries are drawn at random from the concepts of a topic: a row reveals at most the "
        "topic of a user's query, and never a phrase.",
    )
    return (_describe_profiles(mechanism, users, topics), *rows)


def _describe_profiles(mechanism: ProfileMechanism | None, users: int, topics: int) -> str:
    if mechanism is None:
        return "No profile is released: all topics are equally probable for every user."
    if isinstance(mechanism, PopulationMean):
        scale = float(mechanism.scale)
        off = CountNoise("", "laplace", scale, "", "").interval / (mechanism.parts * users)
        return (
            "All users have one profile, the mean of all: in 95 of 100 cases noise changes the "
            f"fraction of a topic by at most {100 * off:.3g} percentage points, before fractions "
            "are shrunk towards equal ones. No profile of a single user is released."
        )
    if isinstance(mechanism, ResponseProfiles):
        return (
            f"The profile of a user, in {mechanism.points} points, is their own in "
            f"{_percent(mechanism.response.truth_probability)} of cases; otherwise it is another "
            f"of {count_apportionments(topics, mechanism.points):,} possible ones, drawn at random."
        )
    return _describe_cells(mechanism)


def _describe_cells(mechanism: HistogramProfiles) -> str:
    scale = float(mechanism.noisy.scale)
    off = CountNoise("", "laplace", scale, "", "").interval
    return (
        f"Each of {count_apportionments(mechanism.topics, mechanism.points):,} possible profiles, "
        f"in {mechanism.points} points, is assigned to as many users as its noisy count: the noise "
        f"has scale {scale:,.4g}, and is at most {off:,} users in 95 of 100 cases."
    )


def _tail_probability(value: int, scale: float) -> float:
    """Return the probability that discrete Laplace noise is at least `value`."""
    ratio = math.exp(-1 / scale)
    if value >= 1:
        return math.exp(-value / scale) / (1 + ratio)
    return 1 - math.exp((value - 1) / scale) / (1 + ratio)


def _mean_above(count: int, threshold: int, scale: float) -> float:
    """Return the mean of a noisy count that is set to 0 below the threshold."""
    distance = threshold - count
    if distance >= 0:
        return (threshold + scale) * math.exp(-distance / scale) / 2
    return count - (threshold - scale) * math.exp(distance / scale) / 2


def _percent(fraction: float) -> str:
    return f"{100 * fraction:.3g}%"
