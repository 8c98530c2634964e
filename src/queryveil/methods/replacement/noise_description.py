"""What noise does to the rows of this shelf's methods, in words, from public numbers alone."""

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


def replaced_says(
    *, stays: float, blindly: float, concepts: int, rows: int, filled: bool
) -> tuple[str, ...]:
    """Say how often a phrase stays what it is."""
    text = (
        f"A phrase stays what it is in {_percent(stays)} of cases; if concepts were drawn blindly "
        f"it would in {_percent(blindly)}. So of {rows:,} rows of a person about "
        f"{rows * stays:.3g} stay what they asked, at best. This is a mean over the {concepts:,} "
        "concepts that may stand in, and no figure of the log."
    )
    more = "Who asked less than that has rows that are drawn blindly, and nobody can see which."
    return (text, more) if filled else (text,)


@dataclass(frozen=True)
class OwnShare:
    """What is left of a concept that fills all of a person's phrases.

    `shown` is the chance that it counts, `rows` the share of their rows that then carry it,
    `by_noise` how many concepts count by noise alone.
    """

    shown: float
    rows: float
    by_noise: float

    def as_text(self) -> str:
        """Give the mean share of rows, at best."""
        return f"about {_percent(self.shown * self.rows)}, at best"


def own_share(counted: PublicCounts, cells: int, most: int) -> OwnShare:
    """Work out what is left of one concept that a person asked about in all phrases."""
    scale, least = float(counted.scale), counted.threshold
    by_noise = cells * _above(least, scale)
    shown = _above(least - most, scale)
    own = _mean_above(most, least, scale) / shown
    others = by_noise * (least + scale)  # what is above the threshold has a mean of one scale more
    return OwnShare(shown, own / (own + others), by_noise)


def counted_says(counted: PublicCounts, cells: int, most: int) -> tuple[str, ...]:
    """Say what noise leaves of a person's counts."""
    best, scale = own_share(counted, cells, most), float(counted.scale)
    return (
        f"Each count of a concept has noise of scale {scale:,.4g}, and a concept counts from "
        f"{counted.threshold:,} on. One that a person asked about once counts in "
        f"{_percent(_above(counted.threshold - 1, scale))} of cases, one that they never asked "
        f"about in {_percent(_above(counted.threshold, scale))}: of {cells:,} concepts about "
        f"{best.by_noise:.3g} of each person are there by noise alone.",
        f"Of somebody who asked about one thing in all of {most:,} phrases {best.as_text()}, of "
        "the rows carry it; of anybody else fewer do.",
    )


def told_says(way: ProfileMechanism | None, users: int, topics: int) -> tuple[str, ...]:
    """Say what noise leaves of profiles."""
    rows = (
        "Queries are drawn at random from the concepts of a topic: a row tells at most the topic "
        "of what a person asked, and never a phrase.",
    )
    return (_profiles(way, users, topics), *rows)


def _profiles(way: ProfileMechanism | None, users: int, topics: int) -> str:
    if way is None:
        return "No profile is told: all topics are equally likely for everybody."
    if isinstance(way, PopulationMean):
        scale = float(way.scale)
        off = CountNoise("", "laplace", scale, "", "").interval / (way.parts * users)
        return (
            "All people have one profile, the mean of all: in 95 of 100 cases noise moves the "
            f"share of a topic by {100 * off:.3g} percentage points at most, before the shares "
            "are drawn towards equal ones. Nothing of a single person is told."
        )
    if isinstance(way, ResponseProfiles):
        return (
            f"A person's profile, in {way.points} points, is their own in "
            f"{_percent(way.response.truth_probability)} of cases; otherwise it is another of "
            f"{count_apportionments(topics, way.points):,} possible ones, drawn at random."
        )
    return _cells(way)


def _cells(way: HistogramProfiles) -> str:
    scale = float(way.noisy.scale)
    off = CountNoise("", "laplace", scale, "", "").interval
    return (
        f"Each of {count_apportionments(way.topics, way.points):,} possible profiles, in {way.points} points, is "
        f"given to as many people as a noisy count says: the noise has scale {scale:,.4g}, and is "
        f"at most {off:,} people in 95 of 100 cases."
    )


def _above(least: int, scale: float) -> float:
    """Give the chance that discrete Laplace noise is at least so much."""
    ratio = math.exp(-1 / scale)
    if least >= 1:
        return math.exp(-least / scale) / (1 + ratio)
    return 1 - math.exp((least - 1) / scale) / (1 + ratio)


def _mean_above(count: int, least: int, scale: float) -> float:
    """Give the mean of a count with noise where it is at least so much, and 0 elsewhere."""
    reach = least - count
    if reach >= 0:
        return (least + scale) * math.exp(-reach / scale) / 2
    return count - (least - scale) * math.exp(reach / scale) / 2


def _percent(share: float) -> str:
    return f"{100 * share:.3g}%"
