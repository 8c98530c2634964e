"""What stands in a ledger: entries, made of events, and what they add up to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from fractions import Fraction
from typing import Any, Literal, NamedTuple, get_args

from ..amounts import exact_text, show_amount

__all__ = ["KINDS", "Book", "Budget", "Entry", "Kind", "State", "warnings_of"]

Kind = Literal["dp", "conditional-dp", "k-anonymity", "none", "look"]  # a look is no release
State = Literal["reserved", "confirmed", "copied"]

KINDS: tuple[Kind, ...] = get_args(Kind)
# What each event has. A field more would be something that this version does not know.
_RESERVED = {
    "entry", "time", "kind", "method", "recipe", "log", "epsilon", "delta", "notes", "extra",
}  # fmt: skip
_FIELDS = {
    "opened": {"format", "time"},
    "reserved": _RESERVED,
    "extended": _RESERVED | {"extends"},
    "confirmed": {"entry", "time", "release", "place"},
    "copied": {"entry", "time", "of", "place"},
    "limited": {"time", "epsilon", "delta"},
}


class Budget(NamedTuple):
    """An epsilon and a delta, both exact."""

    epsilon: Fraction
    delta: Fraction

    def as_dict(self) -> dict[str, str]:
        """Give the form that is stored and printed for machines."""
        return {"epsilon": exact_text(self.epsilon), "delta": exact_text(self.delta)}


@dataclass(frozen=True)
class Entry:
    """One release, or one that may have been made: a reserved entry counts as spent.

    method
        the method's one line
    recipe
        all that decides what a release of one log looks like; the method's line if not given
    epsilon, delta
        what it cost: nothing for kinds without a budget, 0 for a copy; for a release that
        extends another, what it adds to what that one cost
    extends
        the entry of the earlier release that this one goes on with (see `streams.py`)
    extra
        anything else, as JSON; not counted by the ledger
    """

    number: int
    time: datetime
    kind: Kind
    method: str
    recipe: str
    log_digest: str
    epsilon: Fraction | None
    delta: Fraction | None
    state: State = "reserved"
    release_digest: str | None = None
    place: str | None = None
    copy_of: int | None = None
    extends: int | None = None
    notes: tuple[str, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def protection(self) -> str:
        """Name the kind of promise; `none` is unprotected."""
        return {"none": "unprotected", "look": "no release"}.get(self.kind, self.kind)

    def as_dict(self) -> dict[str, Any]:
        """Give the form that is printed for machines."""
        return {
            **vars(self),
            "time": self.time.isoformat(),
            "protection": self.protection,
            "epsilon": None if self.epsilon is None else exact_text(self.epsilon),
            "delta": None if self.delta is None else exact_text(self.delta),
            "notes": list(self.notes),
        }


class Book:
    """The entries and the limit that a row of events adds up to.

    Whatever an event lacks or has wrong leaves as KeyError, TypeError, ValueError or
    LookupError; the ledger says in which row.
    """

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.limit: Budget | None = None
        self.spent = Budget(Fraction(0), Fraction(0))

    def entry(self, number: int) -> Entry:
        """Give an entry by its number."""
        if not 1 <= number <= len(self.entries):
            raise LookupError(number)
        return self.entries[number - 1]

    def apply(self, event: dict[str, Any]) -> None:
        """Take in the next event."""
        if event.keys() - {"event"} != _FIELDS[event["event"]]:
            raise LookupError("an event with other fields")
        {
            "opened": lambda _: None,
            "reserved": self._reserved,
            "extended": self._extended,
            "confirmed": self._confirmed,
            "copied": self._copied,
            "limited": self._limited,
        }[event["event"]](event)

    def _reserved(self, event: dict[str, Any]) -> None:
        cost = _cost(event)
        self._add(
            Entry(
                number=event["entry"],
                time=datetime.fromisoformat(event["time"]),
                kind=event["kind"],
                method=event["method"],
                recipe=event["recipe"],
                log_digest=event["log"],
                epsilon=cost and cost.epsilon,
                delta=cost and cost.delta,
                extends=event.get("extends"),
                notes=tuple(event["notes"]),
                extra=event["extra"],
            )
        )
        if cost:
            sums = self.spent.epsilon + cost.epsilon, self.spent.delta + cost.delta
            self.spent = Budget(*sums)

    def _extended(self, event: dict[str, Any]) -> None:
        self.entry(event["extends"])  # it must be there already
        self._reserved(event)

    def left(self) -> Budget | None:
        """Give what the limit leaves, at least 0; nothing without a limit."""
        if self.limit is None:
            return None
        nothing, limit, spent = Fraction(0), self.limit, self.spent
        return Budget(
            max(nothing, limit.epsilon - spent.epsilon), max(nothing, limit.delta - spent.delta)
        )

    def _confirmed(self, event: dict[str, Any]) -> None:
        earlier = self.entry(event["entry"])
        self.entries[earlier.number - 1] = replace(
            earlier, state="confirmed", release_digest=event["release"], place=event["place"]
        )

    def _copied(self, event: dict[str, Any]) -> None:
        earlier = self.entry(event["of"])
        free = None if earlier.epsilon is None else Fraction(0)
        copy = replace(
            earlier,
            number=event["entry"],
            time=datetime.fromisoformat(event["time"]),
            epsilon=free,
            delta=free,
            state="copied",
            place=event["place"],
            copy_of=earlier.number,
            extends=None,  # the first one does
            extra={},  # what it holds was spent once
        )
        self._add(copy)

    def _limited(self, event: dict[str, Any]) -> None:
        self.limit = Budget(Fraction(event["epsilon"]), Fraction(event["delta"]))

    def _add(self, entry: Entry) -> None:
        if entry.number != len(self.entries) + 1:
            raise LookupError(entry.number)
        self.entries.append(entry)


def _cost(event: dict[str, Any]) -> Budget | None:
    if event["epsilon"] is None:
        return None
    return Budget(Fraction(event["epsilon"]), Fraction(event["delta"]))


def warnings_of(entries: Sequence[Entry], spent: Budget, limit: Budget | None) -> list[str]:
    """Say what the totals do not cover, and whether anything is left."""
    first = [entry for entry in entries if entry.copy_of is None]
    numbers = {kind: sum(entry.kind == kind for entry in first) for kind in KINDS}
    said = []
    if numbers["k-anonymity"] > 1:
        said.append(
            f"{numbers['k-anonymity']} k-anonymous releases: they do not compose; whoever joins "
            "them may tell people apart whom each one alone hides"
        )
    if numbers["none"]:
        said.append(f"{_count(numbers['none'])} unprotected: no budget covers that")
    if numbers["conditional-dp"]:
        said.append(
            f"{_count(numbers['conditional-dp'])} differentially private on conditions only: the "
            "totals hold where those hold"
        )
    made = (entry for entry in first if entry.kind != "look")  # there is nothing to confirm
    waiting = [str(entry.number) for entry in made if entry.state == "reserved"]
    if waiting:
        said.append(f"reserved and not confirmed, yet spent: {_list(waiting)}")
    if spent.delta >= 1:
        said.append("the deltas add up to 1 or more: together these releases promise nothing")
    return [*said, *_about_limit(spent, limit)]


def _about_limit(spent: Budget, limit: Budget | None) -> list[str]:
    if limit is None:
        return []
    for name, used, most in zip(Budget._fields, spent, limit, strict=True):
        if used > most:
            amounts = f"{name} {show_amount(used)} is spent and the limit is {show_amount(most)}"
            return [f"{amounts}: nothing more can be spent"]
    if spent.epsilon == limit.epsilon:
        return ["the limit is reached: nothing more can be spent"]
    return []


def _count(number: int) -> str:
    return "1 release is" if number == 1 else f"{number} releases are"


def _list(numbers: list[str]) -> str:
    more = len(numbers) - 10
    shown = ", ".join(numbers[:10])
    return f"entry {shown}" if len(numbers) == 1 else (
        f"entries {shown}{f' and {more} more' if more > 0 else ''}"
    )  # fmt: skip
