"""Show what would be released, before anything is written or spent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.progress import NoProgress, Progress
from ..core.randomness import RandomSource
from ..log.query_log import QueryLog
from ..log.screening import check_setting, screen
from ..methods.base import Method
from ..release.guarantee import standing_of
from .anonymization import anonymize, run_screened
from .budget import DATA_ACCESS_NOTE, is_differentially_private, note_look, record_data_access

_POPULATION = 100_000


def plan(
    log: QueryLog | Callable[[], QueryLog],
    method: Method,
    *,
    expected_users: int = _POPULATION,
    exact: bool = False,
    ledger: str | None = None,
    identifiers: str = "drop",
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Return the private card of a release without writing it, and the effect of other parameters.

    The figures are exact figures of the log: they are for the data owner only. For a
    differentially private method the log is not read: the forecast follows from the parameters,
    the population and a public distribution. With `exact` the log is read, and the ledger
    records this data access for all later releases.
    """
    check_setting(identifiers)
    private = is_differentially_private(method)
    if private and not exact:
        return _forecast(method, expected_users)
    read = log() if callable(log) else log
    shown = progress or NoProgress()
    if private:
        return _run_and_record(read, method, ledger, identifiers, shown) | _forecast(
            method, expected_users
        )
    notes = note_look(read, ledger, "plan")
    with shown.stage("compare"):
        alternatives = method.alternatives(screen(read, identifiers))
    card = anonymize(read, method, identifiers=identifiers, progress=shown).preview_card().to_dict()
    return card | {"alternatives": alternatives, "looked": notes}


def _forecast(method: Method, expected_users: int) -> dict[str, Any]:
    standing = standing_of(method.guarantee(), method.reasons_not_to_publish())
    return {
        "method": method.name,
        "parameters": method.params(),
        "guarantee": method.guarantee().to_dict(),
        "standing": standing.level.value,
        "not_release_grade_because": list(standing.because),
        "warnings": list(method.warnings()),
        "expected_users": expected_users,
        "forecast": method.forecast(expected_users),
    }


def _run_and_record(
    log: QueryLog, method: Method, ledger: str | None, identifiers: str, progress: Progress
) -> dict[str, Any]:
    """Record the data access in the ledger, then run the method for the data owner."""
    record_data_access(log, method, ledger)
    card = run_screened(method, log, RandomSource(), progress, identifiers).preview_card().to_dict()
    return card | {"peeked": DATA_ACCESS_NOTE}
