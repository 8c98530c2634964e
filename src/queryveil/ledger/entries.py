"""The entries of a ledger, and the charge of an entry in each neighboring relation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from fractions import Fraction
from typing import Literal, get_args

from ..core.records import Json, Record, read_value
from ..dp.composition import Charge
from ..dp.losses import Loss, Relation, exp_above, rounded_up

# "look" is a data access without a release.
EntryKind = Literal["dp", "conditional-dp", "k-anonymity", "none", "look"]
EntryState = Literal["reserved", "confirmed", "copied"]

ENTRY_KINDS: tuple[EntryKind, ...] = get_args(EntryKind)


@dataclass(frozen=True)
class EntryDetails:
    """What a release needs to know of an earlier one besides its cost.

    Attributes:
        max_contributions: What a user may have contributed to a stream, with this release.
        identifiers: The setting of identifiers of an extension.
        since: The first day of the rows of an extension.
        groups_of: The digest of the release whose groups a k-anonymous release keeps.
    """

    max_contributions: int | None = None
    identifiers: str | None = None
    since: date | None = None
    groups_of: str | None = None

    @classmethod
    def from_extra(cls, extra: Mapping[str, Json]) -> EntryDetails:
        """Read the stored form; raise VerificationError for a value of another type."""
        return cls(
            read_value(int | None, extra.get("most"), "extra.most"),
            read_value(str | None, extra.get("identifiers"), "extra.identifiers"),
            read_value(date | None, extra.get("since"), "extra.since"),
            read_value(str | None, extra.get("groups_of"), "extra.groups_of"),
        )

    def to_extra(self) -> dict[str, Json]:
        """Return the stored form; its keys are never renamed."""
        values: dict[str, Json] = {
            "most": self.max_contributions,
            "identifiers": self.identifiers,
            "since": None if self.since is None else self.since.isoformat(),
            "groups_of": self.groups_of,
        }
        return {key: value for key, value in values.items() if value is not None}


@dataclass(frozen=True, repr=False)
class LedgerEntry(Record):
    """One release, or a reservation for one: a reserved entry counts as spent.

    Attributes:
        method: The spec of the method, as it is shown.
        method_spec: Everything that determines a release of one log; by default `method`.
        epsilon: The cost: None for kinds without a budget, 0 for a copy; for a release that
            extends another, what it adds to the cost of that one.
        delta: As `epsilon`.
        relation: The neighboring relation of epsilon and delta; None if it is unknown.
        losses: The privacy loss of its mechanisms, for each relation in which it is proved.
        extends: The entry of the earlier release that this one extends (see `streams.py`).
        extra: Further data, as JSON; the ledger does not count it.
        protection: The kind of guarantee as a word; it follows from `kind`.
    """

    shown = ("number", "kind", "method", "epsilon", "delta", "state")

    number: int
    time: datetime
    kind: EntryKind
    method: str
    method_spec: str
    log_digest: str
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
    extra: Mapping[str, Json] = field(default_factory=dict)

    protection: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        unprotected = {"none": "unprotected", "look": "no release"}
        object.__setattr__(self, "protection", unprotected.get(self.kind, self.kind))

    @property
    def details(self) -> EntryDetails:
        """The further data as later releases read it."""
        return EntryDetails.from_extra(self.extra)


def charge_in(entry: LedgerEntry, relation: Relation) -> Charge | None:
    """Return the charge of an entry in a relation; None if it has no guarantee there.

    An entry of unknown relation is counted at the highest cost that it can have.
    """
    if entry.epsilon is None or entry.delta is None:
        return Charge(Fraction(0), Fraction(0))
    own = {loss.relation: loss for loss in entry.losses}
    if entry.relation == relation:
        return _charge(entry.epsilon, entry.delta, own.get(relation))
    if relation == "add-remove":
        return None
    # To replace a user is to remove one and to add another: group privacy for two steps.
    loss = own.get("replace-one") or _double_loss(own.get("add-remove"))
    known = loss if entry.relation == "add-remove" else None
    return _charge(2 * entry.epsilon, replaced_delta(entry.epsilon, entry.delta), known)


def replaced_delta(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Bound (1 + e^epsilon) delta, which is delta of two steps; at most 1.

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


def _double_loss(loss: Loss | None) -> Loss | None:
    """Return the loss of two steps; it is proved for a delta of 0 only."""
    if loss is None or loss.delta:
        return None
    return Loss("replace-one", 4 * loss.rho)
