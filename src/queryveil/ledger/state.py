"""The state of a ledger: entries, limit and totals, computed from its events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from ..dp.budget import format_amount
from ..dp.composition import AtOrder, Charge, composed
from ..dp.losses import RELATIONS, Relation
from .entries import ENTRY_KINDS, LedgerEntry, charge_in
from .events import Confirmed, Copied, Event, Limited, Reserved, Rewritten, entry_of, limit_of
from .limits import Budget, Limit, Room

_NOTHING = Budget(Fraction(0), Fraction(0))
_DEFAULT_RELATION: Relation = "replace-one"  # every entry can be counted in it


class Book:
    """The entries and the limit after a sequence of events.

    An event that makes no sense after the others raises LookupError or a QueryveilError; the
    ledger adds the number of the row.
    """

    def __init__(self) -> None:
        self.entries: list[LedgerEntry] = []
        self.limit: Limit | None = None
        self._charges: dict[Relation, list[Charge] | None] = {name: [] for name in RELATIONS}
        self._sums: dict[Relation, Budget] = dict.fromkeys(RELATIONS, _NOTHING)
        self._at_order = AtOrder(*_NOTHING)

    # --- read ------------------------------------------------------------------------------------

    @property
    def relation(self) -> Relation:
        """The relation in which costs are counted: that of the limit, else `replace-one`."""
        return self.limit.relation if self.limit else _DEFAULT_RELATION

    @property
    def spent(self) -> Budget:
        """The plain sums of epsilon and delta in `relation`."""
        return self._sums[self.relation]

    def entry(self, number: int) -> LedgerEntry:
        """Return an entry by its number."""
        if not 1 <= number <= len(self.entries):
            raise LookupError(number)
        return self.entries[number - 1]

    def sums(self, relation: Relation) -> Budget | None:
        """Return the plain sums in a relation; None if an entry cannot be counted in it."""
        return None if self._charges[relation] is None else self._sums[relation]

    def composed(self, relation: Relation) -> Budget | None:
        """Return the smallest epsilon that is proved for all entries together, with its delta.

        The delta is that of the limit, if it is in this relation, else the sum of all deltas.
        """
        charges, limit = self._charges[relation], self.limit
        if charges is None:
            return None
        delta = self._sums[relation].delta
        if limit is not None and limit.relation == relation:
            delta = limit.delta
        epsilon = composed(charges, delta)
        return None if epsilon is None else Budget(epsilon, delta)

    def rooms(self) -> list[Room]:
        """Return what is used and allowed by each composition rule; empty without a limit."""
        return [] if self.limit is None else self.limit.rooms(self.spent, self._at_order)

    def left(self) -> Budget | None:
        """Return the budget left for a release without losses; None without a limit."""
        return max((room.left for room in self.rooms()), default=None)

    # --- write -----------------------------------------------------------------------------------

    def apply(self, event: Event) -> None:
        """Apply the next event."""
        match event:
            case Reserved():
                self._reserve(event)
            case Confirmed():
                self._confirm(event)
            case Copied():
                self._copy(event)
            case Limited():
                self._set_limit(limit_of(event))

    def _reserve(self, event: Reserved) -> None:
        entry = entry_of(event)
        if entry.extends is not None:
            self.entry(entry.extends)  # raises if it does not exist
        self._add(entry)
        if entry.epsilon is not None:
            for relation in RELATIONS:
                self._count(entry, relation)

    def _count(self, entry: LedgerEntry, relation: Relation) -> None:
        charges, charge = self._charges[relation], charge_in(entry, relation)
        if charges is None or charge is None:
            if self.limit is not None and self.relation == relation:
                raise LookupError("an entry that the limit cannot count")
            self._charges[relation] = None
            return
        charges.append(charge)
        old = self._sums[relation]
        self._sums[relation] = Budget(old.epsilon + charge.epsilon, old.delta + charge.delta)
        if self.limit is not None and self.relation == relation and self.limit.order is not None:
            loss, before = charge.at(self.limit.order), self._at_order
            sums = before.divergence + loss.divergence, before.delta + loss.delta
            self._at_order = AtOrder(*sums)

    def _confirm(self, event: Confirmed) -> None:
        earlier = self.entry(event.entry)
        self.entries[earlier.number - 1] = replace(
            earlier, state="confirmed", release_digest=event.release, folder=event.place
        )

    def _copy(self, event: Copied) -> None:
        earlier = self.entry(event.of)
        digest = event.release if isinstance(event, Rewritten) else earlier.release_digest
        free = None if earlier.epsilon is None else Fraction(0)
        copy = replace(
            earlier,
            number=event.entry,
            time=event.time,
            epsilon=free,
            delta=free,
            losses=(),
            state="copied",
            release_digest=digest,
            folder=event.place,
            copy_of=earlier.number,
            extends=None,  # only the original extends another release
            extra={},  # it belongs to the original
        )
        self._add(copy)

    def _set_limit(self, limit: Limit) -> None:
        charges = self._charges[limit.relation]
        if charges is None:
            raise LookupError("a limit in which entries cannot be counted")
        self.limit, self._at_order = limit, limit.at_order(charges)

    def _add(self, entry: LedgerEntry) -> None:
        if entry.number != len(self.entries) + 1:
            raise LookupError(entry.number)
        self.entries.append(entry)


def warnings_of(
    entries: Sequence[LedgerEntry], spent: Budget, limit: Budget | None, left: Budget | None
) -> list[str]:
    """Return warnings: what the totals do not cover, and whether budget is left."""
    originals = [entry for entry in entries if entry.copy_of is None]
    numbers = {kind: sum(entry.kind == kind for entry in originals) for kind in ENTRY_KINDS}
    messages = []
    if numbers["k-anonymity"] > 1:
        messages.append(
            f"{numbers['k-anonymity']} k-anonymous releases: they do not compose; someone "
            "who combines them may distinguish users whom each release alone hides"
        )
    if numbers["none"]:
        messages.append(f"{_count(numbers['none'])} unprotected: no budget covers that")
    if numbers["conditional-dp"]:
        messages.append(
            f"{_count(numbers['conditional-dp'])} differentially private on conditions only: the "
            "totals hold where those hold"
        )
    unknown = sum(entry.epsilon is not None and entry.relation is None for entry in originals)
    if unknown:
        messages.append(
            f"{_count(unknown)} without a neighboring relation: counted twice, as if a user who "
            "is replaced were first removed and then added"
        )
    releases = (entry for entry in originals if entry.kind != "look")  # a look is never confirmed
    waiting = [str(entry.number) for entry in releases if entry.state == "reserved"]
    if waiting:
        messages.append(f"reserved and not confirmed, yet spent: {_list(waiting)}")
    if spent.delta >= 1:
        messages.append("the deltas add up to 1 or more: together these releases promise nothing")
    return [*messages, *_describe_limit(spent, limit, left)]


def _describe_limit(spent: Budget, limit: Budget | None, left: Budget | None) -> list[str]:
    if limit is None or left is None or left.epsilon:
        return []
    for name, used, allowed in zip(Budget._fields, spent, limit, strict=True):
        if used > allowed:
            amounts = (
                f"{name} {format_amount(used)} is spent and the limit is {format_amount(allowed)}"
            )
            return [f"{amounts}: nothing more can be spent"]
    return ["the limit is reached: nothing more can be spent"]


def _count(number: int) -> str:
    return "1 release is" if number == 1 else f"{number} releases are"


def _list(numbers: list[str]) -> str:
    first = ", ".join(numbers[:10])
    if len(numbers) == 1:
        return f"entry {first}"
    more = len(numbers) - 10
    return f"entries {first}{f' and {more} more' if more > 0 else ''}"
