"""The guarantee of a release, as text and as checks that anyone can run on its files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Literal

from ..dp.losses import Loss, Relation

Model = Literal["k-anonymity", "pure-dp", "approx-dp", "conditional-dp", "none"]


@dataclass(frozen=True)
class Check:
    """One testable part of a guarantee, as data: the name of a check and its arguments.

    >>> Check("min-ids", {"columns": ["query"], "at_least": 30}).as_dict()
    {'check': 'min-ids', 'columns': ['query'], 'at_least': 30}
    """

    name: str
    arguments: dict[str, Any]

    def as_dict(self) -> dict[str, Any]:
        """Return the form on the card."""
        return {"check": self.name, **self.arguments}

    @classmethod
    def from_dict(cls, card: dict[str, Any]) -> Check:
        """Read the form on the card."""
        return cls(card["check"], {key: value for key, value in card.items() if key != "check"})


@dataclass(frozen=True)
class Guarantee:
    """A guarantee with its unit, its neighboring relation, its assumptions and its limits.

    Attributes:
        model: `none` where nothing is guaranteed about a user.
        statement: The guarantee as text; for the model `none`, the rule that was kept.
        neighbours: The neighboring logs, as text.
        relation: The neighboring relation, in which the ledger counts.
        given: What must be public already for a conditional guarantee to hold.
        losses: The privacy losses that are proved for the mechanisms besides (epsilon, delta).
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
        """Return the form on the card."""
        card = asdict(self)
        card["assumptions"], card["not_covered"] = list(self.assumptions), list(self.not_covered)
        card["losses"] = [loss.as_dict() for loss in self.losses]
        card["checks"] = [check.as_dict() for check in self.checks]
        return card


# Above this, e^epsilon is over 22,000: the guarantee allows near certainty about a user.
MOST_EPSILON = 10.0
SEEDED = "a fixed seed was used: whoever knows it can draw the same order, names and sample"


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


def words_of(guarantee: Mapping[str, Any], level: str) -> str:
    """Return one sentence on a standing, from the guarantee as on a card.

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
    # A conditional guarantee is a theorem too, but is never named without its condition.
    given = guarantee.get("given")
    return f"{words}, only given that public is: {given}" if given else words
