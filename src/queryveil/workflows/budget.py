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


DATA_ACCESS_RECORDED = f"Noted in the ledger, for all later releases: {DATA_ACCESS_NOTE}."

_PRIVATE = ("pure-dp", "approx-dp", "conditional-dp")


def is_differentially_private(method: Method) -> bool:
    """Tell whether a method promises differential privacy, of any kind."""
    return method.guarantee().model in _PRIVATE


def record_data_access(
    log: QueryLog, method: Method, dataset: str | None, what: str | None = None
) -> None:
    """Note in the ledger that the log is looked at for a method, or for `what`, before it is."""
    account = plan_reservation(log, method, method.guarantee(), dataset=dataset, seeded=False)
    if account.path is None:
        return
    with Ledger.open(account.path) as ledger:
        ledger.reserve(
            kind="look",
            method=what or str(method),
            log_digest=account.digest,
            notes=(DATA_ACCESS_NOTE,),
        )


def note_look(log: QueryLog, dataset: str | None, what: str) -> list[str]:
    """Note in the ledger that exact figures of a log are looked at; return what its owner is told.

    Nobody is kept from looking: if the ledger cannot be written, that is told instead. One note of
    a kind is enough. A log that comes from no file has no ledger, unless the population is named.
    """
    if not log.sources and dataset is None:
        return []
    try:
        with Ledger.open(ledger_of(log, dataset)) as ledger:
            if not any((e.kind, e.method) == ("look", what) for e in ledger.entries()):
                ledger.reserve(
                    kind="look",
                    method=what,
                    log_digest=log_fingerprint(log),
                    notes=(DATA_ACCESS_NOTE,),
                )
    except (QueryveilError, OSError) as error:
        return [f"Not noted in a ledger, though it should be ({error}). {_KNOW}"]
    return [DATA_ACCESS_RECORDED]


_KNOW = "Say it yourself where a private release is published: parameters were chosen after looking"


def show_ledger(logs: Sequence[str | Path] = (), dataset: str | None = None) -> dict[str, Any]:
    """Tell what was released and spent, and what is left."""
    with Ledger.open(_place(logs, dataset), create=False) as ledger:
        return {
            "ledger": str(ledger.path),
            "entries": [entry.as_dict() for entry in ledger.entries()],
            **_totals(ledger),
        }


def check_ledger(logs: Sequence[str | Path] = (), dataset: str | None = None) -> dict[str, Any]:
    """Walk the chain of a ledger, and tell whether it is whole."""
    path = _place(logs, dataset)
    try:
        with Ledger.open(path, create=False) as ledger:
            head = ledger.check()
    except VerificationError as error:
        return {"ledger": str(path), "holds": False, "message": error.what, "hint": error.hint}
    says = f"{head.number} rows, each chained to the one before"
    return {
        "ledger": str(path),
        "holds": True,
        "message": says,
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
    """Set what may be spent in all on a population; the ledger is created if there is none."""
    limit = parse_epsilon(epsilon), parse_delta(delta)
    with Ledger.open(_place(logs, dataset)) as ledger:
        ledger.set_limit(*limit, relation=relation, composition=composition)
        return {"ledger": str(ledger.path), **_totals(ledger)}


def _place(logs: Sequence[str | Path], dataset: str | None) -> Path:
    return locate_ledger(dataset, resolve_paths(logs) if logs and dataset is None else [])


def _totals(ledger: Ledger) -> dict[str, Any]:
    limit, left = ledger.limit(), ledger.remaining()
    return {
        "relation": limit.relation if limit else "replace-one",
        "spent": ledger.spent().as_dict(),
        "totals": {name: _total(ledger, name) for name in RELATIONS},
        "limit": limit and limit.as_dict(),
        "left": left and left.as_dict(),
        "warnings": ledger.warnings(),
    }


def _total(ledger: Ledger, relation: Relation) -> dict[str, dict[str, str] | None]:
    """Return what all releases cost in one relation: plainly added, and the least that is proved.

    Both are none if a release promises nothing in this relation.
    """
    plain, least = ledger.spent_in(relation), ledger.composed_in(relation)
    return {"sum": _as_dict(plain), "composed": _as_dict(least)}


def _as_dict(budget: Budget | None) -> dict[str, str] | None:
    return None if budget is None else budget.as_dict()
