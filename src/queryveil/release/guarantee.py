"""What a release promises, in words and as checks that anyone can run on its files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Literal

from ..dp.losses import Loss, Relation

Model = Literal["k-anonymity", "pure-dp", "approx-dp", "conditional-dp", "none"]


@dataclass(frozen=True)
class Check:
    """One testable part of a promise, as data: the name of a check and what it is given.

    >>> Check("min-ids", {"columns": ["query"], "at_least": 30}).as_dict()
    {'check': 'min-ids', 'columns': ['query'], 'at_least': 30}
    """

    name: str
    arguments: dict[str, Any]

    def as_dict(self) -> dict[str, Any]:
        """Give the form that stands on the card."""
        return {"check": self.name, **self.arguments}

    @classmethod
    def from_dict(cls, card: dict[str, Any]) -> Check:
        """Read the form that stands on the card."""
        return cls(card["check"], {key: value for key, value in card.items() if key != "check"})


@dataclass(frozen=True)
class Guarantee:
    """A promise with its unit, its neighbours, its assumptions and its limits.

    `model` is `none` where nothing is promised about a person; `says` is then still the
    rule that was kept. `given` is what must be public already for a conditional promise to hold.
    `relation` is the kind of neighbours, by which the ledger counts, and `losses` is what the
    mechanisms are proved to lose beside (epsilon, delta).
    """

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

    def as_dict(self) -> dict[str, Any]:
        """Give the form that stands on the card."""
        card = asdict(self)
        card["assumptions"], card["not_covered"] = list(self.assumptions), list(self.not_covered)
        card["losses"] = [loss.as_dict() for loss in self.losses]
        card["checks"] = [check.as_dict() for check in self.checks]
        return card


# Beyond this, e^epsilon is over 22,000: the promise allows near certainty about a person.
MOST_EPSILON = 10.0
SEEDED = "a fixed seed was used: whoever knows it can draw the same order, names and sample"


class Level(StrEnum):
    """The three standings, as they stand on the card."""

    FORMAL = "formal"
    RULE_ONLY = "rule-only"
    NOT_FOR_PUBLICATION = "not-for-publication"


@dataclass(frozen=True)
class Standing:
    """A level, and why it is the lowest one where it is."""

    level: Level
    because: tuple[str, ...] = ()

    @property
    def release_grade(self) -> bool:
        """Whether nothing speaks against publication; no promise about a person is implied."""
        return self.level is not Level.NOT_FOR_PUBLICATION


def standing_of(guarantee: Guarantee, against: Iterable[str] = ()) -> Standing:
    """Return the standing of a guarantee, given what else speaks against publication.

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
    """Return what the numbers of a guarantee say against publication."""
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


def words_of(guarantee: Mapping[str, Any], level: str) -> str:
    """Return in words what a standing says, from the guarantee as it stands on a card.

    >>> words_of({"model": "k-anonymity", "k": 5}, "formal")
    "k-anonymity with k = 5: each user's released log is that of at least 5 users"
    """
    if level == Level.NOT_FOR_PUBLICATION:
        return "not for publication"
    if level == Level.RULE_ONLY:
        return "a rule only: nothing is promised about a person"
    if guarantee["model"] == "k-anonymity":
        k = guarantee["k"]
        return f"k-anonymity with k = {k}: each user's released log is that of at least {k} users"
    delta = guarantee.get("delta")
    words = f"differential privacy for a user's whole log, epsilon {guarantee['epsilon']:g}"
    words += f", delta {delta:g}" if delta else ""
    # A promise under a condition is a theorem too; it is never named without its condition.
    given = guarantee.get("given")
    return f"{words}, only given that public is: {given}" if given else words
