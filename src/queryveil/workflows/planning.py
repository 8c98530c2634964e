"""Show what would be released, before anything is written or spent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from ..core.progress import NoProgress, Progress
from ..core.randomness import RandomSource
from ..core.records import Record, Scalar
from ..log.query_log import QueryLog
from ..log.screening import check_setting, screen
from ..methods.base import Method
from ..methods.forecast import Alternative, Forecast
from ..release.cards import PrivateCard
from ..release.guarantee import Guarantee, Level, Standing, standing_of
from .anonymization import anonymize, run_screened
from .budget import DATA_ACCESS_NOTE, is_differentially_private, note_look, record_data_access

_POPULATION = 100_000


@dataclass(frozen=True, repr=False, kw_only=True)
class Plan(Record):
    """What a method would release and guarantee, before anything is written or spent.

    Attributes:
        expected_users: The public number of users that the forecast assumes.
        forecast: From public figures alone; None for a method that is not private.
        preview: The private card of a run, with exact figures of the log; None if it was not read.
        alternatives: What other values of the main parameter would keep.
        data_access: Whether the ledger recorded that the log was read.
    """

    shown = ("method",)
    schema_number = 1

    method: str
    parameters: Mapping[str, Scalar]
    guarantee: Guarantee
    standing: Level
    not_release_grade_because: tuple[str, ...]
    warnings: tuple[str, ...]
    expected_users: int | None = None
    forecast: Forecast | None = None
    preview: PrivateCard | None = None
    alternatives: tuple[Alternative, ...] = ()
    data_access: str | None = None


def plan(
    log: QueryLog | Callable[[], QueryLog],
    method: Method,
    *,
    expected_users: int = _POPULATION,
    exact: bool = False,
    ledger: str | None = None,
    identifiers: str = "drop",
    progress: Progress | None = None,
) -> Plan:
    """Return what a method would release: a forecast, or the card of a run that is not written.

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
        record_data_access(read, method, ledger)
        release = run_screened(method, read, RandomSource(), shown, identifiers)
        forecast = _forecast(method, expected_users)
        return replace(forecast, preview=release.preview_card(), data_access=DATA_ACCESS_NOTE)
    notes = note_look(read, ledger, "plan")
    with shown.stage("compare"):
        alternatives = method.alternatives(screen(read, identifiers))
    card = anonymize(read, method, identifiers=identifiers, progress=shown).preview_card()
    return Plan(
        method=card.method,
        parameters=card.public.parameters,
        guarantee=card.guarantee,
        standing=card.public.standing,
        not_release_grade_because=card.public.not_release_grade_because,
        warnings=card.public.warnings,
        preview=card,
        alternatives=alternatives,
        data_access=notes[0] if notes else None,
    )


def _forecast(method: Method, expected_users: int) -> Plan:
    standing: Standing = standing_of(method.guarantee(), method.reasons_not_to_publish())
    return Plan(
        method=method.name,
        parameters=method.params(),
        guarantee=method.guarantee(),
        standing=standing.level,
        not_release_grade_because=standing.because,
        warnings=method.warnings(),
        expected_users=expected_users,
        forecast=method.forecast(expected_users),
    )
