"""What may be spent in all on a population, and by which way of adding up.

A limit names everything beforehand: epsilon, delta, the relation, and the order at which losses
are added up. That makes it a privacy filter: it holds whatever later releases are, also if they
are chosen in view of what earlier ones gave. docs/ledger.md has the proof.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, NamedTuple, get_args

from ..dp.budget import format_amount, format_exact, stored_amount
from ..dp.composition import AtOrder, Charge, added, best_order, price_of_delta
from ..dp.losses import RELATIONS, Relation
from ..errors import BudgetError

Composition = Literal["either", "sum", "renyi"]
COMPOSITIONS: tuple[Composition, ...] = get_args(Composition)
_HALF = Fraction(1, 2)  # of a limit's delta pays for the order, and the other half for chances


class Budget(NamedTuple):
    """An epsilon and a delta, both exact."""

    epsilon: Fraction
    delta: Fraction

    def as_dict(self) -> dict[str, str]:
        """Give the form that is stored and printed for machines."""
        return {"epsilon": format_exact(self.epsilon), "delta": format_exact(self.delta)}


class Room(NamedTuple):
    """By one way of adding up, plainly or at an order: what is used, and the most that may be."""

    used: Budget
    most: Budget
    order: Fraction | None = None

    @property
    def left(self) -> Budget:
        """What is left: nothing at all once epsilon or delta has passed its limit."""
        left = Budget(*(most - used for used, most in zip(self.used, self.most, strict=True)))
        return left if min(left) >= 0 else Budget(Fraction(0), Fraction(0))

    def refusal(self, charge: Charge, counted: str) -> tuple[str, str] | None:
        """Return which amount a release would pass, and that in words; none if it fits."""
        plain = AtOrder(charge.epsilon, charge.delta)
        needs = plain if self.order is None else charge.at(self.order)
        for name, used, need, most, left in zip(
            Budget._fields, self.used, needs, self.most, self.left, strict=True
        ):
            if used + need > most:
                beyond = (
                    f", and the limit of {format_amount(most)} is passed" if used > most else ""
                )
                amount = f"{name} {_short(need)}{counted}"
                return name, f"this release needs {amount}, but {_short(left)} is left{beyond}"
        return None


@dataclass(frozen=True)
class Limit:
    """The limit of a ledger.

    relation
        between which logs epsilon and delta are said
    composition
        plain sums, sums at one Renyi order, or whichever of the two has room
    order
        the Renyi order, fixed when the limit was set; none if there is none for this delta
    """

    epsilon: Fraction
    delta: Fraction
    relation: Relation = "replace-one"
    composition: Composition = "either"
    order: Fraction | None = None

    @classmethod
    def of(cls, budget: Budget, relation: Relation, composition: Composition) -> Limit:
        """Make a limit, with the order at which most noise fits into it."""
        order = None if composition == "sum" else best_order(budget.epsilon, budget.delta * _HALF)
        return cls(*budget, relation, composition, order)

    @classmethod
    def from_event(cls, event: dict[str, Any]) -> Limit:
        """Read what is stored; a limit without a relation is from before there was one."""
        amounts = stored_amount(event["epsilon"]), stored_amount(event["delta"])
        if "relation" not in event:
            return cls(*amounts, composition="sum")
        if event["composition"] not in COMPOSITIONS or event["relation"] not in RELATIONS:
            raise LookupError("a limit of no known kind")
        order = None if event["order"] is None else stored_amount(event["order"])
        if order is not None and order <= 1:
            raise LookupError(order)
        return cls(*amounts, event["relation"], event["composition"], order)

    @property
    def budget(self) -> Budget:
        """Epsilon and delta."""
        return Budget(self.epsilon, self.delta)

    def as_dict(self) -> dict[str, str | None]:
        """Return the form that is stored and printed for machines."""
        order = None if self.order is None else format_exact(self.order)
        about = {"relation": self.relation, "composition": self.composition, "order": order}
        return self.budget.as_dict() | about

    def rooms(self, spent: Budget, at_order: AtOrder) -> list[Room]:
        """Return what is used and what may be, by each way of adding up that counts."""
        found = [] if self.composition == "renyi" else [Room(spent, self.budget)]
        if self.order is not None:
            price = max(Fraction(0), price_of_delta(self.order, self.delta * _HALF))
            used = Budget(at_order.divergence + price, at_order.delta)
            found.append(Room(used, Budget(self.epsilon, self.delta * _HALF), self.order))
        return found

    def at_order(self, charges: list[Charge]) -> AtOrder:
        """Add up charges at the order of this limit."""
        if self.order is None:
            return AtOrder(Fraction(0), Fraction(0))
        return added(charges, self.order)

    def check(
        self, relation: Relation | None, charge: Charge | None, rooms: list[Room], where: object
    ) -> None:
        """Refuse a release that cannot be counted, or has no room by any way of adding up."""
        if charge is None:
            raise BudgetError(
                f"the limit is one for {self.relation}, and this release promises nothing "
                f"there: it is {relation or 'of unknown relation'}",
                where=where,
                hint="weigh a limit for replace-one: `queryveil ledger limit`",
            )
        counted = "" if relation == self.relation else f" counted for {self.relation}"
        refusals = []
        for room in rooms:
            found = room.refusal(charge, counted)
            if found is None:
                return
            refusals.append((room.left, *found))
        _, name, says = max(refusals, key=lambda one: one[0])  # the plain sum, if both are alike
        hint = f"ask for a smaller {name}, or weigh a higher limit: `queryveil ledger limit`"
        raise BudgetError(says, where=where, hint=hint)


def _short(value: Fraction) -> str:
    """Return an amount as people read it: sums at an order have digits that say nothing."""
    shown = format_amount(value)
    return f"about {float(value):.6g}" if len(shown) > 20 else shown
