"""Reserve the cost of a release before noise is drawn, and confirm it once it is written."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import date
from fractions import Fraction
from pathlib import Path

from ..core.records import Record, json_field
from ..dp.losses import Loss, Relation
from ..errors import QueryveilError
from .entries import EntryDetails, EntryKind
from .groups import OTHER_GROUPS_NOTE, has_other_groups
from .ledger import Ledger


@dataclass(frozen=True, repr=False)
class LedgerReference(Record):
    """The entry of a release in a ledger, or the reason why it has none.

    Attributes:
        file: The path of the ledger.
        entry: The number of the entry; None for a release without a budget, which is recorded
            once it is written.
        extends: The entry of the release that this one extends.
        max_contributions: What a user may have contributed to it and to all that it extends.
        since: The first day of the rows by which it extends the other.
    """

    shown = ("entry",)

    file: str | None = None
    entry: int | None = None
    notes: tuple[str, ...] = ()
    extends: int | None = json_field(default=None, optional=True)
    max_contributions: int | None = json_field(default=None, optional=True)
    identifiers: str | None = json_field(default=None, optional=True)
    since: date | None = json_field(default=None, optional=True)
    not_recorded_because: str | None = json_field(default=None, optional=True)


@dataclass
class _Record:
    """The entry of a release as far as it was written; shared by all copies of a reservation."""

    number: int | None = None
    is_confirmed: bool = False


@dataclass(frozen=True)
class Reservation:
    """The cost of one release, and its entry in a ledger if there is one.

    A release that spends a budget is recorded by `reserve`, before noise is drawn. A k-anonymous
    one is recorded by `record_writing`, any other one by `confirm`.

    Attributes:
        path: The ledger; None if the release has none, and `why_not` is the reason.
        number: Its entry, once the cost is reserved.
        extends: Entry of the release that this one extends.
        lost: Entries of earlier attempts at the same extension, which count as released.
    """

    path: Path | None
    kind: EntryKind
    method: str
    recipe: str
    digest: str = field(repr=False)
    cost: tuple[Fraction | None, Fraction | None]
    relation: Relation | None = None
    losses: tuple[Loss, ...] = ()
    notes: tuple[str, ...] = ()
    why_not: str = ""
    number: int | None = None
    extends: int | None = None
    lost: tuple[int, ...] = ()
    details: EntryDetails = field(default=EntryDetails(), repr=False)
    _record: _Record = field(default_factory=_Record, compare=False, repr=False)

    @property
    def spends_budget(self) -> bool:
        """Whether the release spends a privacy budget."""
        return self.kind in ("dp", "conditional-dp")

    def reserve(self) -> Reservation:
        """Reserve the cost of a private release; others are recorded when they are written."""
        if self.path is None or not self.spends_budget:
            return self
        with Ledger.open(self.path) as ledger:
            number = self._reserve_in(ledger)
        return replace(self, number=number, _record=_Record(number))

    def record_writing(self) -> tuple[str, ...]:
        """Record a k-anonymous release before it is written; return notes for its public card.

        Two releases that are written at the same time have two numbers, so that the later one
        sees the earlier one.
        """
        if self.kind != "k-anonymity" or self.path is None:
            return ()
        try:
            with Ledger.open(self.path) as ledger:
                number = self._record.number or self._reserve_in(ledger)
                self._record.number = number
                entries = ledger.entries()
        except (QueryveilError, OSError):
            if self.path.exists():
                raise
            return ()  # a read-only folder has no ledger; the private card says so
        is_repeated = has_other_groups(entries, number, self.details.groups_of)
        return (OTHER_GROUPS_NOTE,) * is_repeated

    def confirm(self, release_digest: str, folder: Path) -> None:
        """Record the folder of a written release; to write it again costs nothing."""
        if self.path is None:
            return
        try:
            with Ledger.open(self.path) as ledger:
                self._confirm_in(ledger, release_digest, folder.absolute())
        except (QueryveilError, OSError):
            # The cost is recorded already; without this record the release could not be copied
            # or extended.
            if self.spends_budget:
                raise

    def _confirm_in(self, ledger: Ledger, release_digest: str, folder: Path) -> None:
        record = self._record
        if record.is_confirmed and record.number is not None:
            ledger.rewritten(record.number, release_digest, folder)
            return
        record.number = record.number or self._reserve_in(ledger)
        ledger.confirm(record.number, release_digest, folder)
        record.is_confirmed = True

    def _reserve_in(self, ledger: Ledger) -> int:
        epsilon, delta = self.cost
        return ledger.reserve(
            kind=self.kind,
            method=self.method,
            recipe=self.recipe,
            log_digest=self.digest,
            epsilon=epsilon,
            delta=delta,
            relation=self.relation,
            losses=self.losses,
            notes=self.notes,
            extra=self.details.to_extra(),
            extends=self.extends,
            lost=self.lost,
        )

    def reference(self) -> LedgerReference:
        """Return the ledger section of the private card."""
        if self.path is None:
            return LedgerReference(not_recorded_because=self.why_not)
        reference = LedgerReference(str(self.path), self.number, self.notes)
        if self.extends is None:
            return reference
        return replace(
            reference,
            extends=self.extends,
            max_contributions=self.details.max_contributions,
            identifiers=self.details.identifiers,
            since=self.details.since,
        )
