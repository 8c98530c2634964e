"""What would be released, before anything is written or spent."""

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
    population: int = _POPULATION,
    peek: bool = False,
    dataset: str | None = None,
    identifiers: str = "drop",
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Give the internal card as it would be, and what other parameters would give.

    Nothing is written. The figures are exact figures of the log: they are for its owner. Of a
    differentially private method the log is not looked at: what is told follows from the
    parameters, the size of the population and a public shape. With `peek` it is looked at, and
    the ledger notes that for all later releases.
    """
    check_setting(identifiers)
    private = is_differentially_private(method)
    if private and not peek:
        return _told(method, population)
    read = log() if callable(log) else log
    shown = progress or NoProgress()
    if private:
        return _peeked(read, method, dataset, identifiers, shown) | _told(method, population)
    looked = note_look(read, dataset, "plan")
    with shown.stage("compare"):
        alternatives = method.alternatives(screen(read, identifiers))
    card = anonymize(read, method, identifiers=identifiers, progress=shown).preview_card()
    return card | {"alternatives": alternatives, "looked": looked}


def _told(method: Method, population: int) -> dict[str, Any]:
    standing = standing_of(method.guarantee(), method.unfit())
    return {
        "method": method.name,
        "parameters": method.params(),
        "guarantee": method.guarantee().as_dict(),
        "standing": standing.level.value,
        "not_release_grade_because": list(standing.because),
        "warnings": list(method.warnings()),
        "population": population,
        "forecast": method.forecast(population),
    }


def _peeked(
    log: QueryLog, method: Method, dataset: str | None, identifiers: str, progress: Progress
) -> dict[str, Any]:
    """Run the method for the owner's eyes alone, after noting that in the ledger."""
    record_data_access(log, method, dataset)
    card = run_screened(method, log, RandomSource(), progress, identifiers).preview_card()
    return card | {"peeked": DATA_ACCESS_NOTE}
