"""The limit of the total budget of a population, and its composition rule.

A limit fixes everything beforehand: epsilon, delta, the relation, and the order at which losses
are added up. That makes it a privacy filter: it holds whatever later releases are, also if they
are chosen depending on the outputs of earlier ones. docs/explanation/ledger.md has the proof.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, NamedTuple, get_args

from ..core.records import Record
from ..dp.budget import format_amount
from ..dp.composition import AtOrder, Charge, added, best_order, price_of_delta
from ..dp.losses import Relation
from ..errors import BudgetError

Composition = Literal["either", "sum", "renyi"]
COMPOSITIONS: tuple[Composition, ...] = get_args(Composition)
_HALF = Fraction(1, 2)  # of a limit's delta is for the Renyi order, the other half for the losses


class Budget(NamedTuple):
    """An epsilon and a delta, both exact."""

    epsilon: Fraction
    delta: Fraction


class Room(NamedTuple):
    """What is used and what is allowed by one composition rule: plain sums, or at a Renyi order."""

    used: Budget
    limit: Budget
    order: Fraction | None = None

    @property
    def left(self) -> Budget:
        """The budget left: 0 for both once epsilon or delta is above its limit."""
        left = Budget(*(limit - used for used, limit in zip(self.used, self.limit, strict=True)))
        return left if min(left) >= 0 else Budget(Fraction(0), Fraction(0))

    def refusal(self, charge: Charge, counted: str) -> tuple[str, str] | None:
        """Return the amount that a release would exceed, and a message; None if it fits."""
        plain = AtOrder(charge.epsilon, charge.delta)
        needs = plain if self.order is None else charge.at(self.order)
        for name, used, need, limit, left in zip(
            Budget._fields, self.used, needs, self.limit, self.left, strict=True
        ):
            if used + need > limit:
                beyond = (
                    f", and the limit of {format_amount(limit)} is passed" if used > limit else ""
                )
                amount = f"{name} {_short(need)}{counted}"
                return name, f"this release needs {amount}, but {_short(left)} is left{beyond}"
        return None


@dataclass(frozen=True, repr=False)
class Limit(Record):
    """The limit of a ledger.

    Attributes:
        relation: The neighboring relation of epsilon and delta.
        composition: Plain sums, sums at one Renyi order, or whichever of the two has budget left.
        order: The Renyi order, fixed when the limit was set; None if no order fits this delta.
    """

    shown = ("epsilon", "delta", "relation", "composition")

    epsilon: Fraction
    delta: Fraction
    relation: Relation = "replace-one"
    composition: Composition = "either"
    order: Fraction | None = None

    @classmethod
    def of(cls, budget: Budget, relation: Relation, composition: Composition) -> Limit:
        """Return a limit with the Renyi order that allows the largest rho."""
        order = None if composition == "sum" else best_order(budget.epsilon, budget.delta * _HALF)
        return cls(*budget, relation, composition, order)

    @property
    def budget(self) -> Budget:
        """Epsilon and delta."""
        return Budget(self.epsilon, self.delta)

    def rooms(self, spent: Budget, at_order: AtOrder) -> list[Room]:
        """Return what is used and what is allowed, by each composition rule of this limit."""
        rooms = [] if self.composition == "renyi" else [Room(spent, self.budget)]
        if self.order is not None:
            price = max(Fraction(0), price_of_delta(self.order, self.delta * _HALF))
            used = Budget(at_order.divergence + price, at_order.delta)
            rooms.append(Room(used, Budget(self.epsilon, self.delta * _HALF), self.order))
        return rooms

    def at_order(self, charges: list[Charge]) -> AtOrder:
        """Return the sum of charges at the order of this limit."""
        if self.order is None:
            return AtOrder(Fraction(0), Fraction(0))
        return added(charges, self.order)

    def check(
        self, relation: Relation | None, charge: Charge | None, rooms: list[Room], where: object
    ) -> None:
        """Raise BudgetError for a release without a guarantee here, or that no rule allows."""
        if charge is None:
            raise BudgetError(
                f"the limit is one for {self.relation}, and this release promises nothing "
                f"there: it is {relation or 'of unknown relation'}",
                where=where,
                hint="weigh a limit for replace-one: `set_ledger_limit()`",
            )
        counted = "" if relation == self.relation else f" counted for {self.relation}"
        refusals = []
        for room in rooms:
            refusal = room.refusal(charge, counted)
            if refusal is None:
                return
            refusals.append((room.left, *refusal))
        # The rule with the largest budget left explains best; of two equal ones, the plain sum.
        _, name, message = max(refusals, key=lambda refusal: refusal[0])
        hint = f"ask for a smaller {name}, or weigh a higher limit: `set_ledger_limit()`"
        raise BudgetError(message, where=where, hint=hint)


def _short(value: Fraction) -> str:
    """Return a short form of an amount: sums at an order have too many digits to be read."""
    text = format_amount(value)
    return f"about {float(value):.6g}" if len(text) > 20 else text
