"""Figures of the private report, in people, each with a severity by bounds that are stated.

`docs/reference/release.md` explains the bounds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from .cards import PrivateCard, SensitiveGroups
from .explanations import explain_condition
from .guarantee import MOST_EPSILON, Guarantee
from .parameter_texts import describe_value


class Severity(IntEnum):
    """How severe a figure is, by its stated bounds."""

    LOW = 0
    MEDIUM = 1
    HIGH = 2


@dataclass(frozen=True)
class Scale:
    """The bounds of a figure.

    Attributes:
        low: A lower fraction is of low severity; with `includes_low`, this fraction too.
        high: A higher fraction is of high severity.
        bounds: The bounds in words, for the page.
    """

    low: float
    high: float
    bounds: str
    includes_low: bool = False

    def grade(self, fraction: float) -> Severity:
        """Return the severity of a fraction."""
        if fraction < self.low or (self.includes_low and fraction <= self.low):
            return Severity.LOW
        return Severity.HIGH if fraction > self.high else Severity.MEDIUM


# 1 of 11 is the threshold of 0.09 for published clinical reports (European Medicines Agency).
PEOPLE = Scale(
    1 / 1000, 1 / 11, "Low: fewer than 1 of 1,000. Medium: up to 1 of 11. High: more than 1 of 11."
)
GROUPS = Scale(
    1 / 11, 1 / 5, "Low: 1 of 11 or fewer. Medium: up to 1 of 5. High: more than 1 of 5.", True
)
EPSILON = Scale(
    1.0,
    MOST_EPSILON,
    f"Low: epsilon up to 1. Medium: up to {MOST_EPSILON:g}. High: more than {MOST_EPSILON:g}.",
    True,
)
GUESSES = Scale(
    0.05,
    0.5,
    "Low: fewer than 525 of 1,000 guesses are right. Medium: up to 750. High: more than 750.",
)


UNIQUE = "have a released log that nobody else has"


@dataclass(frozen=True)
class RiskFigure:
    """One figure about people.

    Attributes:
        count: The figure itself: "3 of 1,000 users".
        meaning: What these people or guesses are; continues `count` to a sentence.
        rank: The value by which figures of one severity are ordered.
        source: How the figure was obtained.
        key: A measurement with the same key replaces the figure.
        breaks_guarantee: Whether the figure shows that a guarantee does not hold.
    """

    count: str
    meaning: str
    severity: Severity
    bounds: str
    rank: float
    source: str
    key: str = ""
    is_measured: bool = True
    breaks_guarantee: bool = False

    @property
    def sentence(self) -> str:
        """The figure as a sentence without its period."""
        return f"{self.count} {self.meaning}"


def collect_figures(
    card: PrivateCard, measured: Sequence[RiskFigure] = ()
) -> tuple[RiskFigure, ...]:
    """Return all figures of a release, the worst first; measured ones before guaranteed bounds.

    Args:
        measured: Figures that were measured after the release was made; they replace those of the
            card that have the same key.
    """
    replaced = {figure.key for figure in measured if figure.key}
    known = [figure for figure in figures_of_card(card) if figure.key not in replaced]
    figures = [*measured, *known]
    return tuple(sorted(figures, key=lambda of: (-of.severity, not of.is_measured, -of.rank)))


def people_figure(
    fraction: float, total: int, noun: str, meaning: str, source: str, key: str
) -> RiskFigure:
    """Return a measured fraction of people, or of other things, as a figure."""
    return RiskFigure(
        f"{count_people(fraction, total)} {noun}",
        meaning,
        PEOPLE.grade(fraction),
        PEOPLE.bounds,
        fraction,
        source,
        key,
    )


def count_people(fraction: float, total: int) -> str:
    """Return a fraction as a number of people.

    >>> count_people(0.003, 1000), count_people(0.0002, 1000), count_people(0, 300)
    ('3 of 1,000', 'fewer than 1 of 1,000', '0 of 300')
    """
    number = fraction * total
    text = "fewer than 1" if 0 < number < 0.95 else f"{number:,.0f}"
    return f"{text} of {total:,}"


def figures_of_card(card: PrivateCard) -> tuple[RiskFigure, ...]:
    """Return the figures that are known as soon as a release is made."""
    return (
        *_unique_users(card),
        *sensitive_figures(card.sensitive_groups),
        *_guaranteed_bounds(card.guarantee),
    )


def _unique_users(card: PrivateCard) -> list[RiskFigure]:
    source = "counted in the released log when the release was made"
    figures = []
    for name, counted in card.measured.items():
        users = max(counted.users, 1)
        figures += [
            people_figure(
                counted.singled_out / users, counted.users, "released users", UNIQUE, source, name
            ),
            people_figure(
                counted.singled_out_by_queries_alone / users, counted.users, "released users",
                "are alone by the set of their queries, without dates and clicks", source,
                f"{name} by queries",
            ),
        ]  # fmt: skip
    return figures


def sensitive_figures(
    groups: SensitiveGroups | None,
    source: str = "counted in the released log when the release was made, by lists of words",
    key: str = "sensitive-homogeneity",
) -> list[RiskFigure]:
    """Return how many users are in groups that are mostly about one sensitive topic."""
    if groups is None or not groups.users:
        return []
    noun, meaning = "released users", groups.meaning
    return [people_figure(groups.fraction, groups.users, noun, meaning, source, key)]


def _guaranteed_bounds(guarantee: Guarantee) -> list[RiskFigure]:
    """Return the most that the guarantee leaves to an attacker."""
    if guarantee.k:
        return [_bound_of_groups(guarantee.k)]
    if guarantee.epsilon is None:
        return []
    return [_bound_of_guesses(guarantee, guarantee.epsilon)]


def _bound_of_groups(k: int) -> RiskFigure:
    return RiskFigure(
        f"At most 1 of {k:,}",
        "attempts to pick a person's pseudonym succeeds: at least as many users share each log. "
        "What all users of a group have in common is known of each of them",
        GROUPS.grade(1 / k),
        GROUPS.bounds,
        1 / k,
        "follows from k-anonymity",
        is_measured=False,
    )


def _bound_of_guesses(guarantee: Guarantee, epsilon: float) -> RiskFigure:
    """Return how many guesses about a person can be right, if both answers are equally likely.

    By the definition of differential privacy at most (e^epsilon + delta) / (e^epsilon + 1) are.
    """
    right = (1 + (guarantee.delta or 0.0) * math.exp(-epsilon)) / (1 + math.exp(-epsilon))
    question = (
        "whether a person is in the log"
        if guarantee.relation == "add-remove"
        else "which of two logs a person has"
    )
    return RiskFigure(
        f"At most {math.ceil(min(right, 1.0) * 1000 - 1e-9):,} of 1,000 guesses",
        f"{question} are right, where guessing alone has 500 right "
        f"(epsilon {describe_value(epsilon)}){explain_condition(guarantee)}",
        EPSILON.grade(epsilon),
        EPSILON.bounds,
        right,
        "follows from differential privacy",
        is_measured=False,
    )
