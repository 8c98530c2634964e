"""What a release costs is written into the ledger of its population, before noise is drawn."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from .._version import __version__
from ..dp.ledger.place import locate_ledger
from ..dp.losses import Loss, Relation
from ..errors import QueryveilError, UsageError
from ..jobs.several import AGAIN, GROUPS_OF, has_other_groups
from ..ledger.entries import EntryKind
from ..ledger.ledger import Ledger
from ..log.query_log import QueryLog
from ..methods.base import Method
from ..release.guarantee import Guarantee
from ..release.release import Release
from ..release.untrusted import file_digest

DATA_ACCESS_NOTE = "parameters chosen after seeing the data; epsilon does not cover that"
NOT_REPEATABLE = "not to be repeated"
_KINDS: dict[str, EntryKind] = {
    "pure-dp": "dp",
    "approx-dp": "dp",
    "conditional-dp": "conditional-dp",
    "k-anonymity": "k-anonymity",
    "none": "none",
}
_SEEDED = "noise was drawn with a fixed seed"


@dataclass(frozen=True)
class Reservation:
    """One release and its place in a ledger, if there is one.

    `extends` is the entry of the release that it goes on with, `lost` are earlier attempts at
    that which it counts as made. `written` is its entry once the release stands somewhere,
    `announced` that of a k-anonymous one which is being written.
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
    extra: Mapping[str, Any] = field(default_factory=dict, repr=False)
    written: list[int] = field(default_factory=list, compare=False, repr=False)
    announced: list[int] = field(default_factory=list, compare=False, repr=False)

    @property
    def spends_budget(self) -> bool:
        """Whether a budget is spent."""
        return self.kind in ("dp", "conditional-dp")

    def reserve(self) -> Reservation:
        """Write down the cost of a private release; others are noted once they stand."""
        if self.path is None or not self.spends_budget:
            return self
        with Ledger.open(self.path) as ledger:
            number = self._reserved(ledger)
        return replace(self, number=number)

    def announce(self, release: Release) -> Release:
        """Enter a k-anonymous release in the ledger as it is written, and tell of earlier ones.

        Two that are written at the same time have two numbers: the later one meets the earlier.
        """
        if self.kind != "k-anonymity" or self.path is None:
            return release
        try:
            with Ledger.open(self.path) as ledger:
                if not self.announced:
                    self.announced.append(self._reserved(ledger))
                entries = ledger.entries()
        except (QueryveilError, OSError):
            if self.path.exists():
                raise
            return release  # a folder that cannot be written has no ledger; the card says so
        again = has_other_groups(entries, self.announced[0], self.extra.get(GROUPS_OF))
        return replace(release, notes=(*release.notes, *((AGAIN,) * again)))

    def confirm(self, folder: Path) -> None:
        """Note where the release stands; it may be written several times, and is paid for once."""
        if self.path is None:
            return
        digest = file_digest(folder / "public" / "release.json")
        try:
            with Ledger.open(self.path) as ledger:
                if self.written:
                    ledger.rewritten(self.written[0], digest, folder.absolute())
                    return
                known = [self.number] if self.number is not None else self.announced
                number = known[0] if known else self._reserved(ledger)
                ledger.confirm(number, digest, folder.absolute())
                self.written.append(number)
        except (QueryveilError, OSError):
            if (
                self.spends_budget
            ):  # the cost is written; without this note nobody could copy or extend it
                raise

    def _reserved(self, ledger: Ledger) -> int:
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
            extra=self.extra,
            extends=self.extends,
            lost=self.lost,
        )

    def on(self, release: Release) -> Release:
        """Put on a release what the ledger says of it, and let it be confirmed once it stands."""
        notes = (*release.notes, *(self.notes if self.spends_budget else ()))
        return replace(
            release, notes=notes, ledger=self.to_dict(), announce=self.announce, settle=self.confirm
        )

    def to_dict(self) -> dict[str, Any]:
        """Give what stands on the internal card."""
        if self.path is None:
            return {"not recorded": self.why_not}
        told = {"file": str(self.path), "entry": self.number, "notes": list(self.notes)}
        return told if self.extends is None else told | {"extends": self.extends, **self.extra}


def plan_reservation(
    log: QueryLog, method: Method, promise: Guarantee, *, dataset: str | None, seeded: bool
) -> Reservation:
    """Find the ledger of a log's population; refuse a private release that has none."""
    kind: EntryKind = "none" if seeded else _KINDS[promise.model]
    spends = kind in ("dp", "conditional-dp")
    cost = (
        (exact_fraction(promise.epsilon), exact_fraction(promise.delta or 0))
        if spends
        else (None, None)
    )
    notes: tuple[str, ...] = (_SEEDED,) if seeded else ()
    digest, recipe = log_fingerprint(log), release_fingerprint(method)
    try:
        path = ledger_of(log, dataset)
        notes += _peeks(path)
    except QueryveilError as error:
        if spends:
            raise
        nowhere = Reservation(None, kind, str(method), recipe, digest, cost, notes=notes)
        return replace(nowhere, why_not=str(error))
    found = Reservation(path, kind, str(method), recipe, digest, cost, notes=notes)
    return replace(found, relation=promise.relation, losses=promise.losses) if spends else found


def ledger_of(log: QueryLog, dataset: str | None) -> Path:
    """Return the ledger of a log's population; raise UsageError if it has no place."""
    if not log.sources and dataset is None:
        raise UsageError(
            "this log comes from no file, so its ledger has no place",
            hint='name the population: dataset="NAME"',
        )
    if dataset is None and any("://" in source.path for source in log.sources):
        raise UsageError(
            "this log lies on a cluster, so its ledger has no place",
            hint="name the population: --dataset NAME",
        )
    return locate_ledger(dataset, [Path(source.path) for source in log.sources])


def _peeks(path: Path) -> tuple[str, ...]:
    """Tell whether anybody looked at the data to choose parameters."""
    if not path.exists():
        return ()
    with Ledger.open(path, create=False) as ledger:
        peeked = any(DATA_ACCESS_NOTE in entry.notes for entry in ledger.entries())
    return (DATA_ACCESS_NOTE,) if peeked else ()


def release_fingerprint(method: Method) -> str:
    """Tell all that decides a release of one log: the method's line, and what its files hold."""
    digests = [file_digest(path) for path in method.input_files()]
    return json.dumps([str(method), __version__, *digests])


def log_fingerprint(log: QueryLog) -> str:
    """Name a log by its files and how they were read; a sample is never the same again."""
    if log.sampled or not log.sources:
        return NOT_REPEATABLE
    files: Sequence[str] = [source.sha256 for source in log.sources]
    return hashlib.sha256(json.dumps([files, log.options_fingerprint]).encode()).hexdigest()


def exact_fraction(value: float | None) -> Fraction | None:
    """Take a parameter as the decimal that a person wrote."""
    return None if value is None else Fraction(repr(value))
