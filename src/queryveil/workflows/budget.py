"""Record the cost of a release in the ledger of its population, before noise is drawn."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from .._version import __version__
from ..core.arguments import guided
from ..dp.budget import parse_delta, parse_epsilon
from ..dp.losses import Relation
from ..errors import QueryveilError, UsageError, VerificationError
from ..ledger.entries import EntryKind
from ..ledger.ledger import Ledger
from ..ledger.limits import Composition
from ..ledger.location import locate_ledger
from ..ledger.reservation import Reservation
from ..ledger.summary import LedgerCheck, LedgerSummary, summarize_ledger
from ..log.inputs import STANDARD_INPUT, resolve_paths
from ..log.query_log import QueryLog
from ..methods.base import Method
from ..release.guarantee import DATA_ACCESS_NOTE, Guarantee
from ..release.release import Release
from ..release.untrusted import file_digest

# These texts are stored in ledgers and cards, and compared with them: do not reword them.
NOT_REPEATABLE = "not to be repeated"
_KINDS: dict[str, EntryKind] = {
    "pure-dp": "dp",
    "approx-dp": "dp",
    "conditional-dp": "conditional-dp",
    "k-anonymity": "k-anonymity",
    "none": "none",
}
_SEEDED = "noise was drawn with a fixed seed"


def plan_reservation(
    log: QueryLog, method: Method, promise: Guarantee, *, ledger: str | None, seeded: bool
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
        path = ledger_of(log, ledger)
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


def attach_reservation(release: Release, reservation: Reservation) -> Release:
    """Return the release with its reservation, which is confirmed once the release is written."""
    notes = reservation.notes if reservation.spends_budget else ()
    return replace(release, notes=(*release.notes, *notes), reservation=reservation)


def ledger_of(log: QueryLog, ledger: str | None) -> Path:
    """Return the path of the ledger of a log's population; raise UsageError if it has none."""
    if not log.sources and ledger is None:
        raise UsageError(
            "this log was not read from a file, so there is no folder for its ledger",
            hint="name the people whose budget is spent, by the same name for all their data: "
            '`ledger="NAME"`',
        )
    if ledger is None and any(source.path == STANDARD_INPUT for source in log.sources):
        raise UsageError(
            "this log comes from standard input, so it has no folder for a ledger",
            hint="name the population: `ledger=NAME`",
        )
    if ledger is None and any("://" in source.path for source in log.sources):
        raise UsageError(
            "this log is on a cluster, so it has no folder for a ledger",
            hint="name the population: `ledger=NAME`",
        )
    return locate_ledger(ledger, [Path(source.path) for source in log.sources])


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
    log: QueryLog, method: Method, ledger: str | None, what: str | None = None
) -> None:
    """Record in the ledger, before the log is read, a data access for a method or for `what`."""
    reservation = plan_reservation(log, method, method.guarantee(), ledger=ledger, seeded=False)
    if reservation.path is None:
        return
    with Ledger.open(reservation.path) as opened:
        opened.reserve(
            kind="look",
            method=what or str(method),
            log_digest=reservation.digest,
            notes=(DATA_ACCESS_NOTE,),
        )


def note_look(log: QueryLog, ledger: str | None, what: str) -> list[str]:
    """Record in the ledger that exact figures of a log are shown; return notes for the data owner.

    The figures are shown even if the ledger cannot be written; the note then says so. Each kind
    of access is recorded once. A log that comes from no file has no ledger, unless `ledger`
    names the population.
    """
    if not log.sources and ledger is None:
        return [_UNRECORDED] if log.options_fingerprint else []  # else it is synthetic
    try:
        with Ledger.open(ledger_of(log, ledger)) as opened:
            accesses = {entry.method for entry in opened.entries() if entry.kind == "look"}
            if what not in accesses:
                opened.reserve(
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


_UNRECORDED = (
    "This data access is not recorded: the log was not read from a file, and no ledger was named "
    f'(`ledger="NAME"`). {_DISCLOSE}'
)


@guided
def show_ledger(
    logs: str | Path | Sequence[str | Path] = (), ledger: str | None = None
) -> LedgerSummary:
    """Return the releases, the budget they spent, and what is left.

    Args:
        logs: Files of a log, whose folder has the ledger.
        ledger: Name of the population, or folder of its ledger.

    Returns:
        The entries and sums of the ledger.

    Raises:
        InputError: There is no such ledger.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> _ = set_ledger_limit("10", "1e-6", ledger=folder)
    >>> len(show_ledger(ledger=folder).entries)
    0
    """
    with Ledger.open(_locate(logs, ledger), create=False) as opened:
        return summarize_ledger(opened, with_entries=True)


@guided
def check_ledger(
    logs: str | Path | Sequence[str | Path] = (), ledger: str | None = None
) -> LedgerCheck:
    """Check the hash chain of a ledger, and return the outcome.

    Args:
        logs: Files of a log, whose folder has the ledger.
        ledger: Name of the population, or folder of its ledger.

    Returns:
        Whether the chain holds; it is falsy if not.

    Raises:
        InputError: There is no such ledger.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> _ = set_ledger_limit("10", "1e-6", ledger=folder)
    >>> bool(check_ledger(ledger=folder))
    True
    """
    path = _locate(logs, ledger)
    try:
        with Ledger.open(path, create=False) as opened:
            head = opened.check()
    except VerificationError as error:
        return LedgerCheck(str(path), False, error.what, hint=error.hint)
    message = f"{head.number} rows, each chained to the row before"
    return LedgerCheck(str(path), True, message, rows=head.number, head=head.hash)


@guided
def set_ledger_limit(
    epsilon: str,
    delta: str,
    logs: str | Path | Sequence[str | Path] = (),
    ledger: str | None = None,
    *,
    relation: Relation = "replace-one",
    composition: Composition = "either",
) -> LedgerSummary:
    """Set the total budget of a population; create the ledger if there is none.

    Args:
        epsilon: The total epsilon, as an exact text: "10" or "0.5".
        delta: The total delta, as an exact text: "1e-6".
        logs: Files of a log, whose folder has the ledger.
        ledger: Name of the population, or folder of its ledger.
        relation: The neighboring relation of the limit.
        composition: How the costs of releases are added up.

    Returns:
        The sums of the ledger, and what is left.

    Raises:
        BudgetError: More than the limit is spent already.

    >>> import tempfile
    >>> str(set_ledger_limit("10", "1e-6", ledger=tempfile.mkdtemp()).limit.epsilon)
    '10'
    """
    limit = parse_epsilon(epsilon), parse_delta(delta)
    with Ledger.open(_locate(logs, ledger)) as opened:
        opened.set_limit(*limit, relation=relation, composition=composition)
        return summarize_ledger(opened, with_entries=False)


def _locate(logs: str | Path | Sequence[str | Path], ledger: str | None) -> Path:
    if ledger is not None or not logs:
        return locate_ledger(ledger, [])
    if isinstance(logs, str | Path):
        logs = [logs]
    folders = [Path(name) for name in logs if Path(name).is_dir()]  # of one file per user
    files = [name for name in logs if not Path(name).is_dir()]
    return locate_ledger(None, [*folders, *(resolve_paths(files) if files else [])])
