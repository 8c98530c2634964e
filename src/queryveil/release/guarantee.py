"""The guarantee of a release, as text and as checks that anyone can run on its files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from ..core.records import Json, Record, json_field
from ..dp.losses import Loss, Relation

Model = Literal["k-anonymity", "pure-dp", "approx-dp", "conditional-dp", "none"]


@dataclass(frozen=True, repr=False)
class Check(Record):
    """One testable part of a guarantee, as data: the name of a check and its arguments.

    >>> Check("min-ids", {"columns": ["query"], "at_least": 30}).to_dict()
    {'check': 'min-ids', 'columns': ['query'], 'at_least': 30}
    """

    shown = ("check",)

    check: str
    arguments: Mapping[str, Json] = json_field(flat=True, default_factory=dict)


@dataclass(frozen=True, repr=False)
class Guarantee(Record):
    """A guarantee with its unit, its neighboring relation, its assumptions and its limits.

    Attributes:
        model: `none` where nothing is guaranteed about a user.
        statement: The guarantee as text; for the model `none`, the rule that was kept.
        neighbours: The neighboring logs, as text.
        relation: The neighboring relation, in which the ledger counts.
        given: What must be public already for a conditional guarantee to hold.
        losses: The privacy losses that are proved for the mechanisms besides (epsilon, delta).
    """

    shown = ("model", "k", "epsilon", "delta")

    model: Model
    statement: str
    unit: str = "user"
    neighbours: str | None = None
    relation: Relation | None = None
    given: str | None = None
    k: int | None = None
    epsilon: float | None = None
    delta: float | None = None
    per_query_epsilon: float | None = None
    losses: tuple[Loss, ...] = ()
    assumptions: tuple[str, ...] = ()
    not_covered: tuple[str, ...] = ()
    checks: tuple[Check, ...] = ()


# Above this, e^epsilon is over 22,000: the guarantee allows near certainty about a user.
MOST_EPSILON = 10.0
# Notes of cards, which are stored and compared: do not reword them. Epsilon is not all that such a
# release can show about a person.
DATA_ACCESS_NOTE = "parameters chosen after seeing the data; epsilon does not cover that"
COULD_STOP_NOTE = (
    "the log was read with a limit on rows that cannot be read, above which there would be no "
    "release; whether there is one can therefore depend on one person's rows"
)
LIMITING_NOTES = (DATA_ACCESS_NOTE, COULD_STOP_NOTE)
SEEDED = "a fixed seed was used: someone who knows it can draw the same order, names and sample"


class Level(StrEnum):
    """The three standings of a release, as on the card."""

    FORMAL = "formal"
    RULE_ONLY = "rule-only"
    NOT_FOR_PUBLICATION = "not-for-publication"


@dataclass(frozen=True)
class Standing:
    """A level, and the reasons against publication if there are any."""

    level: Level
    because: tuple[str, ...] = ()

    @property
    def release_grade(self) -> bool:
        """Whether there is no reason against publication; this implies no guarantee by itself."""
        return self.level is not Level.NOT_FOR_PUBLICATION


def standing_of(guarantee: Guarantee, against: Iterable[str] = ()) -> Standing:
    """Return the standing of a guarantee, given further reasons against publication.

    >>> standing_of(Guarantee("k-anonymity", "", k=5)).level.value
    'formal'
    >>> standing_of(Guarantee("none", "")).level.value
    'rule-only'
    >>> standing_of(Guarantee("pure-dp", "", epsilon=11.0)).because
    ('epsilon is 11, above 10: the promise allows near certainty about a person',)
    """
    reasons = tuple(dict.fromkeys((*against, *reasons_of(guarantee))))
    if reasons:
        return Standing(Level.NOT_FOR_PUBLICATION, reasons)
    return Standing(Level.RULE_ONLY if guarantee.model == "none" else Level.FORMAL)


def reasons_of(guarantee: Guarantee) -> tuple[str, ...]:
    """Return the reasons against publication that follow from the guarantee itself."""
    epsilon, unit = guarantee.epsilon, guarantee.unit
    reasons = []
    if epsilon is not None and not epsilon <= MOST_EPSILON:
        reasons.append(
            f"epsilon is {epsilon:g}, above {MOST_EPSILON:g}: the promise allows near certainty "
            "about a person"
        )
    if unit != "user":
        reasons.append(f"the promise is about one {unit}, which is less than a user's whole log")
    return tuple(reasons)


def summarize_standing(guarantee: Guarantee, level: Level) -> str:
    """Return one sentence on the standing of a release.

    >>> summarize_standing(Guarantee("k-anonymity", "", k=5), Level.FORMAL)
    "k-anonymity with k = 5: each user's released log is that of at least 5 users"
    """
    if level is Level.NOT_FOR_PUBLICATION:
        return "not for publication"
    if level is Level.RULE_ONLY:
        return "a rule only: nothing is promised about a person"
    k, epsilon, delta = guarantee.k, guarantee.epsilon, guarantee.delta
    if guarantee.model == "k-anonymity":
        return f"k-anonymity with k = {k}: each user's released log is that of at least {k} users"
    if epsilon is None:  # on a forged card alone
        return "nothing: the card contradicts itself"
    summary = f"differential privacy for a user's whole log, epsilon {epsilon:g}"
    summary += f", delta {delta:g}" if delta else ""
    # A conditional guarantee is a theorem too, but is never named without its condition.
    if guarantee.given:
        summary += f", only given that public is: {guarantee.given}"
    return summary
