"""What stands in a ledger: entries, made of events, and what they add up to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction
from typing import Any, Literal, get_args

from ..dp.budget import format_exact, stored_amount
from ..dp.composition import Charge
from ..dp.losses import RELATIONS, Loss, Relation, exp_above, rounded_up

EntryKind = Literal["dp", "conditional-dp", "k-anonymity", "none", "look"]  # a look is no release
EntryState = Literal["reserved", "confirmed", "copied"]

ENTRY_KINDS: tuple[EntryKind, ...] = get_args(EntryKind)
# Between which logs the methods of versions without a stored relation promised.
_BEFORE: dict[str, Relation] = {
    "dp-statistics": "add-remove",
    "click-graph": "add-remove",
    "semantic-replacement": "replace-one",
    "concept-histogram": "replace-one",
    "profile-first": "replace-one",
}


@dataclass(frozen=True)
class LedgerEntry:
    """One release, or one that may have been made: a reserved entry counts as spent.

    method
        the method's one line
    recipe
        all that decides what a release of one log looks like; the method's line if not given
    epsilon, delta
        what it cost: nothing for kinds without a budget, 0 for a copy; for a release that
        extends another, what it adds to what that one cost
    relation
        between which logs epsilon and delta are said; none if nobody knows
    losses
        the privacy loss of its mechanisms, for each relation in which it is proved
    extends
        the entry of the earlier release that this one goes on with (see `streams.py`)
    extra
        anything else, as JSON; not counted by the ledger
    """

    number: int
    time: datetime
    kind: EntryKind
    method: str
    recipe: str
    log_digest: str = field(repr=False)
    epsilon: Fraction | None
    delta: Fraction | None
    relation: Relation | None = None
    losses: tuple[Loss, ...] = ()
    state: EntryState = "reserved"
    release_digest: str | None = None
    folder: str | None = None
    copy_of: int | None = None
    extends: int | None = None
    notes: tuple[str, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def guarantee(self) -> str:
        """Name the kind of promise; `none` is unprotected."""
        return {"none": "unprotected", "look": "no release"}.get(self.kind, self.kind)

    def as_dict(self) -> dict[str, Any]:
        """Give the form that is printed for machines."""
        return {
            **vars(self),
            "time": self.time.isoformat(),
            "protection": self.guarantee,
            "epsilon": None if self.epsilon is None else format_exact(self.epsilon),
            "delta": None if self.delta is None else format_exact(self.delta),
            "losses": [loss.as_dict() for loss in self.losses],
            "notes": list(self.notes),
        }


def entry_of(event: dict[str, Any]) -> LedgerEntry:
    """Make the entry of an event; one without a relation is from before there was one."""
    cost = event["epsilon"] is not None
    epsilon, delta = (stored_amount(event[name]) if cost else None for name in ("epsilon", "delta"))
    relation, losses = _loss(event) if cost else (None, ())
    return LedgerEntry(
        number=event["entry"],
        time=datetime.fromisoformat(event["time"]),
        kind=event["kind"],
        method=event["method"],
        recipe=event["recipe"],
        log_digest=event["log"],
        epsilon=epsilon,
        delta=delta,
        relation=relation,
        losses=losses,
        extends=event.get("extends"),
        notes=tuple(event["notes"]),
        extra=event["extra"],
    )


def _loss(event: dict[str, Any]) -> tuple[Relation | None, tuple[Loss, ...]]:
    if "relation" not in event:
        return _BEFORE.get(event["method"].split(":")[0]), ()
    relation = event["relation"]
    if relation is not None and relation not in RELATIONS:
        raise LookupError(relation)
    return relation, tuple(Loss.from_dict(one) for one in event["losses"])


def charge_in(entry: LedgerEntry, relation: Relation) -> Charge | None:
    """Return what an entry costs in a relation; none if it promises nothing there.

    An entry of which nobody knows the relation is counted as the dearest that it can be.
    """
    if entry.epsilon is None or entry.delta is None:
        return Charge(Fraction(0), Fraction(0))
    own = {loss.relation: loss for loss in entry.losses}
    if entry.relation == relation:
        return _charge(entry.epsilon, entry.delta, own.get(relation))
    if relation == "add-remove":
        return None
    loss = own.get("replace-one") or _twice(own.get("add-remove"))
    known = loss if entry.relation == "add-remove" else None
    return _charge(2 * entry.epsilon, replaced_delta(entry.epsilon, entry.delta), known)


def replaced_delta(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Bound (1 + e^epsilon) delta; more than 1 is as good as 1.

    >>> float(replaced_delta(Fraction(1), Fraction(1, 10**9)))
    3.71828182846e-09
    """
    if not delta:
        return Fraction(0)
    try:
        return min(Fraction(1), rounded_up((1 + exp_above(epsilon)) * delta))
    except OverflowError:
        return Fraction(1)


def _charge(epsilon: Fraction, delta: Fraction, loss: Loss | None) -> Charge:
    return Charge(epsilon, delta, *((loss.rho, loss.delta) if loss else ()))


def _twice(loss: Loss | None) -> Loss | None:
    """Return the loss of two steps; with a chance aside that is not known to be one."""
    if loss is None or loss.delta:
        return None
    return Loss("replace-one", 4 * loss.rho)
