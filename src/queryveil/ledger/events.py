"""Events as they are stored, and the entries and limits that they state.

The names and the fields of events are never changed either: an old ledger must open, with all that
was spent. A version that does not know an event, or a field of it, refuses the ledger.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction

from ..core.records import Json, Record
from ..dp.budget import stored_amount
from ..dp.losses import Loss, Relation
from ..errors import VerificationError
from .entries import EntryKind, LedgerEntry
from .limits import Composition, Limit

# The relations of the methods in versions that did not store a relation.
_OLD_RELATIONS: dict[str, Relation] = {
    "dp-statistics": "add-remove",
    "click-graph": "add-remove",
    "semantic-replacement": "replace-one",
    "concept-histogram": "replace-one",
    "profile-first": "replace-one",
}


@dataclass(frozen=True, repr=False)
class Event(Record):
    """A row of a ledger; amounts are exact texts."""

    time: datetime


@dataclass(frozen=True, repr=False)
class Opened(Event):
    """The first row."""

    format: int


@dataclass(frozen=True, repr=False)
class Reserved(Event):
    """A release without a cost; in old versions also with a cost, of which the relation is unknown.

    Attributes:
        log: The digest of the log.
    """

    entry: int
    kind: EntryKind
    method: str
    recipe: str
    log: str
    epsilon: str | None
    delta: str | None
    notes: tuple[str, ...]
    extra: Mapping[str, Json]


@dataclass(frozen=True, repr=False)
class Extended(Reserved):
    """A release that extends another, of an old version: its relation is unknown."""

    extends: int


@dataclass(frozen=True, repr=False)
class Charged(Reserved):
    """A release with a cost."""

    extends: int | None
    relation: Relation | None
    losses: tuple[Loss, ...]


@dataclass(frozen=True, repr=False)
class Confirmed(Event):
    """A reserved release was written: the digest of its public card, and its folder."""

    entry: int
    release: str
    place: str


@dataclass(frozen=True, repr=False)
class Copied(Event):
    """A byte-identical copy of an earlier release."""

    entry: int
    of: int
    place: str


@dataclass(frozen=True, repr=False)
class Rewritten(Copied):
    """An earlier release was written again from the same noise; its bytes may differ."""

    release: str


@dataclass(frozen=True, repr=False)
class Limited(Event):
    """A limit of an old version: plain sums in the relation `replace-one`."""

    epsilon: str
    delta: str


@dataclass(frozen=True, repr=False)
class Bounded(Limited):
    """A limit in a relation, with its composition rule."""

    relation: Relation
    composition: Composition
    order: str | None


_EVENTS: dict[str, type[Event]] = {
    "opened": Opened,
    "reserved": Reserved,
    "extended": Extended,
    "charged": Charged,
    "confirmed": Confirmed,
    "copied": Copied,
    "rewritten": Rewritten,
    "limited": Limited,
    "bounded": Bounded,
}
_NAMES = {kind: name for name, kind in _EVENTS.items()}


def to_row(event: Event) -> Json:
    """Return the stored form of an event."""
    return {"event": _NAMES[type(event)], **event.to_dict()}


def read_row(row: Json) -> Event:
    """Return the event of a stored row; raise VerificationError if it is of another version."""
    if not isinstance(row, Mapping) or row.get("event") not in _EVENTS:
        raise VerificationError("an event of no known name")
    fields = {name: value for name, value in row.items() if name != "event"}
    return _EVENTS[str(row["event"])].from_dict(fields)


def current_time() -> datetime:
    """Return the time of a new event, in full seconds."""
    return datetime.now(UTC).replace(microsecond=0)


def entry_of(event: Reserved) -> LedgerEntry:
    """Return the entry of a reservation; an event without a relation is of an old version."""
    relation, losses = _read_relation(event) if event.epsilon is not None else (None, ())
    return LedgerEntry(
        number=event.entry,
        time=event.time,
        kind=event.kind,
        method=event.method,
        method_spec=event.recipe,
        log_digest=event.log,
        epsilon=_read_amount(event.epsilon),
        delta=_read_amount(event.delta),
        relation=relation,
        losses=losses,
        extends=event.extends if isinstance(event, Extended | Charged) else None,
        notes=event.notes,
        extra=event.extra,
    )


def _read_relation(event: Reserved) -> tuple[Relation | None, tuple[Loss, ...]]:
    if isinstance(event, Charged):
        return event.relation, event.losses
    return _OLD_RELATIONS.get(event.method.split(":")[0]), ()


def limit_of(event: Limited) -> Limit:
    """Return the limit of an event; a limit without a relation is of an old version."""
    amounts = stored_amount(event.epsilon), stored_amount(event.delta)
    if not isinstance(event, Bounded):
        return Limit(*amounts, composition="sum")
    order = _read_amount(event.order)
    if order is not None and order <= 1:
        raise VerificationError("a limit at no Renyi order")
    return Limit(*amounts, event.relation, event.composition, order)


def bounded_event(limit: Limit) -> Bounded:
    """Return the event of a limit."""
    return Bounded(
        time=current_time(),
        epsilon=str(limit.epsilon),
        delta=str(limit.delta),
        relation=limit.relation,
        composition=limit.composition,
        order=None if limit.order is None else str(limit.order),
    )


def _read_amount(text: str | None) -> Fraction | None:
    return None if text is None else stored_amount(text)
