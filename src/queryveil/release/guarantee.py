"""What a release promises, in words and as checks that anyone can run on its files."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from ..dp.losses import Loss, Relation

__all__ = ["Check", "Guarantee", "Model"]

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
