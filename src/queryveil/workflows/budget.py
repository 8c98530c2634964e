"""Record the cost of a release in the ledger of its population, before noise is drawn."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from .._version import __version__
from ..dp.budget import parse_delta, parse_epsilon
from ..dp.losses import RELATIONS, Loss, Relation
from ..errors import QueryveilError, UsageError, VerificationError
from ..ledger.entries import EntryKind
from ..ledger.ledger import Ledger, locate_ledger
from ..ledger.limits import Budget, Composition
from ..log.query_log import QueryLog
from ..log.reading import resolve_paths
from ..methods.base import Method
from ..release.guarantee import Guarantee
from ..release.release import Release
from ..release.untrusted import file_digest
from .repeated_releases import AGAIN, GROUPS_OF, has_other_groups

# These texts are stored in ledgers and cards, and compared with them: do not reword them.
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
    """The cost of one release, and its entry in a ledger if there is one.

    Attributes:
        path: The ledger; None if the release has none, and `why_not` is the reason.
        number: Its entry, once the cost is reserved.
        extends: Entry of the release that this one extends.
        lost: Entries of earlier attempts at the same extension, which count as released.
        written: Its entry, once the release is written.
        announced: Its entry if it is k-anonymous and is being written.
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
        """Whether the release spends a privacy budget."""
        return self.kind in ("dp", "conditional-dp")

    def reserve(self) -> Reservation:
        """Reserve the cost of a private release; others are recorded once they are written."""
        if self.path is None or not self.spends_budget:
            return self
        with Ledger.open(self.path) as ledger:
            number = self._reserve_in(ledger)
        return replace(self, number=number)

    def announce(self, release: Release) -> Release:
        """Record a k-anonymous release as it is written; add a note if others have other groups.

        Two releases that are written at the same time have two numbers, so that the later one
        sees the earlier one.
        """
        if self.kind != "k-anonymity" or self.path is None:
            return release
        try:
            with Ledger.open(self.path) as ledger:
                if not self.announced:
                    self.announced.append(self._reserve_in(ledger))
                entries = ledger.entries()
        except (QueryveilError, OSError):
            if self.path.exists():
                raise
            return release  # a read-only folder has no ledger; the private card says so
        is_repeated = has_other_groups(entries, self.announced[0], self.extra.get(GROUPS_OF))
        return replace(release, notes=(*release.notes, *((AGAIN,) * is_repeated)))

    def confirm(self, folder: Path) -> None:
        """Record the folder of a written release; to write it again costs nothing."""
        if self.path is None:
            return
        digest = file_digest(folder / "public" / "release.json")
        try:
            with Ledger.open(self.path) as ledger:
                if self.written:
                    ledger.rewritten(self.written[0], digest, folder.absolute())
                    return
                numbers = [self.number] if self.number is not None else self.announced
                number = numbers[0] if numbers else self._reserve_in(ledger)
                ledger.confirm(number, digest, folder.absolute())
                self.written.append(number)
        except (QueryveilError, OSError):
            # The cost is recorded already; without this record the release could not be copied
            # or extended.
            if self.spends_budget:
                raise

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
            extra=self.extra,
            extends=self.extends,
            lost=self.lost,
        )

    def on(self, release: Release) -> Release:
        """Return the release with its ledger entry; it is confirmed once it is written."""
        notes = (*release.notes, *(self.notes if self.spends_budget else ()))
        return replace(
            release, notes=notes, ledger=self.to_dict(), announce=self.announce, settle=self.confirm
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the ledger section of the private card."""
        if self.path is None:
            return {"not recorded": self.why_not}
        section = {"file": str(self.path), "entry": self.number, "notes": list(self.notes)}
        if self.extends is None:
            return section
        return section | {"extends": self.extends, **self.extra}


def plan_reservation(
    log: QueryLog, method: Method, promise: Guarantee, *, dataset: str | None, seeded: bool
) -> Reservation:
    """Return the reservation of a release; raise an error if a private one has no ledger."""
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
        notes += _read_data_access_notes(path)
    except QueryveilError as error:
        if spends:
            raise
        unrecorded = Reservation(None, kind, str(method), recipe, digest, cost, notes=notes)
        return replace(unrecorded, why_not=str(error))
    reservation = Reservation(path, kind, str(method), recipe, digest, cost, notes=notes)
    if not spends:
        return reservation
    return replace(reservation, relation=promise.relation, losses=promise.losses)


def ledger_of(log: QueryLog, dataset: str | None) -> Path:
    """Return the path of the ledger of a log's population; raise UsageError if it has none."""
    if not log.sources and dataset is None:
        raise UsageError(
            "this log comes from no file, so it has no folder for a ledger",
            hint='name the population: dataset="NAME"',
        )
    if dataset is None and any("://" in source.path for source in log.sources):
        raise UsageError(
            "this log is on a cluster, so it has no folder for a ledger",
            hint="name the population: --dataset NAME",
        )
    return locate_ledger(dataset, [Path(source.path) for source in log.sources])


def _read_data_access_notes(path: Path) -> tuple[str, ...]:
    """Return the note of a data access if the ledger records one."""
    if not path.exists():
        return ()
    with Ledger.open(path, create=False) as ledger:
        accessed = any(DATA_ACCESS_NOTE in entry.notes for entry in ledger.entries())
    return (DATA_ACCESS_NOTE,) if accessed else ()


def release_fingerprint(method: Method) -> str:
    """Return what determines a release of a log: the spec of the method and its files."""
    digests = [file_digest(path) for path in method.input_files()]
    return json.dumps([str(method), __version__, *digests])


def log_fingerprint(log: QueryLog) -> str:
    """Return a digest of the files of a log and how they were read.

    A sample has none, because another sample of the same files is another log.
    """
    if log.sampled or not log.sources:
        return NOT_REPEATABLE
    files: Sequence[str] = [source.sha256 for source in log.sources]
    return hashlib.sha256(json.dumps([files, log.options_fingerprint]).encode()).hexdigest()


def exact_fraction(value: float | None) -> Fraction | None:
    """Return a parameter as the exact decimal that was typed, instead of the nearest float."""
    return None if value is None else Fraction(repr(value))


DATA_ACCESS_RECORDED = f"Recorded in the ledger, for all later releases: {DATA_ACCESS_NOTE}."

_PRIVATE_MODELS = ("pure-dp", "approx-dp", "conditional-dp")


def is_differentially_private(method: Method) -> bool:
    """Return whether a method is differentially private: pure, approximate or conditional."""
    return method.guarantee().model in _PRIVATE_MODELS


def record_data_access(
    log: QueryLog, method: Method, dataset: str | None, what: str | None = None
) -> None:
    """Record in the ledger, before the log is read, a data access for a method or for `what`."""
    reservation = plan_reservation(log, method, method.guarantee(), dataset=dataset, seeded=False)
    if reservation.path is None:
        return
    with Ledger.open(reservation.path) as ledger:
        ledger.reserve(
            kind="look",
            method=what or str(method),
            log_digest=reservation.digest,
            notes=(DATA_ACCESS_NOTE,),
        )


def note_look(log: QueryLog, dataset: str | None, what: str) -> list[str]:
    """Record in the ledger that exact figures of a log are shown; return notes for the data owner.

    The figures are shown even if the ledger cannot be written; the note then says so. Each kind
    of access is recorded once. A log that comes from no file has no ledger, unless `dataset`
    names the population.
    """
    if not log.sources and dataset is None:
        return []
    try:
        with Ledger.open(ledger_of(log, dataset)) as ledger:
            accesses = {entry.method for entry in ledger.entries() if entry.kind == "look"}
            if what not in accesses:
                ledger.reserve(
                    kind="look",
                    method=what,
                    log_digest=log_fingerprint(log),
                    notes=(DATA_ACCESS_NOTE,),
                )
    except (QueryveilError, OSError) as error:
        return [f"This data access could not be recorded in a ledger ({error}). {_DISCLOSE}"]
    return [DATA_ACCESS_RECORDED]


_DISCLOSE = (
    "If you publish a private release, state with it that its parameters were chosen after seeing "
    "the data."
)


def show_ledger(logs: Sequence[str | Path] = (), dataset: str | None = None) -> dict[str, Any]:
    """Return the releases, the budget they spent, and what is left."""
    with Ledger.open(_locate(logs, dataset), create=False) as ledger:
        return {
            "ledger": str(ledger.path),
            "entries": [entry.as_dict() for entry in ledger.entries()],
            **_compute_totals(ledger),
        }


def check_ledger(logs: Sequence[str | Path] = (), dataset: str | None = None) -> dict[str, Any]:
    """Check the hash chain of a ledger, and return the outcome."""
    path = _locate(logs, dataset)
    try:
        with Ledger.open(path, create=False) as ledger:
            head = ledger.check()
    except VerificationError as error:
        return {"ledger": str(path), "holds": False, "message": error.what, "hint": error.hint}
    message = f"{head.number} rows, each chained to the row before"
    return {
        "ledger": str(path),
        "holds": True,
        "message": message,
        "rows": head.number,
        "head": head.hash,
    }


def set_ledger_limit(
    epsilon: str,
    delta: str,
    logs: Sequence[str | Path] = (),
    dataset: str | None = None,
    *,
    relation: Relation = "replace-one",
    composition: Composition = "either",
) -> dict[str, Any]:
    """Set the total budget of a population; create the ledger if there is none."""
    limit = parse_epsilon(epsilon), parse_delta(delta)
    with Ledger.open(_locate(logs, dataset)) as ledger:
        ledger.set_limit(*limit, relation=relation, composition=composition)
        return {"ledger": str(ledger.path), **_compute_totals(ledger)}


def _locate(logs: Sequence[str | Path], dataset: str | None) -> Path:
    return locate_ledger(dataset, resolve_paths(logs) if logs and dataset is None else [])


def _compute_totals(ledger: Ledger) -> dict[str, Any]:
    limit, left = ledger.limit(), ledger.remaining()
    return {
        "relation": limit.relation if limit else "replace-one",
        "spent": ledger.spent().as_dict(),
        "totals": {name: _compute_total(ledger, name) for name in RELATIONS},
        "limit": limit and limit.as_dict(),
        "left": left and left.as_dict(),
        "warnings": ledger.warnings(),
    }


def _compute_total(ledger: Ledger, relation: Relation) -> dict[str, dict[str, str] | None]:
    """Return the cost of all releases in one relation: plain sum, and best composition bound.

    Both are None if a release has no guarantee in this relation.
    """
    plain, composed = ledger.spent_in(relation), ledger.composed_in(relation)
    return {"sum": _as_dict(plain), "composed": _as_dict(composed)}


def _as_dict(budget: Budget | None) -> dict[str, str] | None:
    return None if budget is None else budget.as_dict()
