"""Show what would be released, before anything is written or spent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack, overload

from ..core.notebook import Cell, NotebookTable, NotebookView
from ..core.progress import NoProgress, Progress
from ..core.randomness import RandomSource
from ..core.records import Record, Scalar
from ..log.keywords import ReadingKeywords
from ..log.opening import LogLike, open_log
from ..methods.base import Method
from ..methods.forecast import Alternative, Forecast
from ..release.cards import PrivateCard
from ..release.explanations import explain_guarantee
from ..release.guarantee import DATA_ACCESS_NOTE, Guarantee, Level, Standing, standing_of
from .anonymization import anonymize
from .budget import is_differentially_private, note_look, record_data_access
from .method_arguments import MethodLike, take_method
from .screened_runs import Screening, run_screened, searched

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

    def notebook_view(self) -> NotebookView:
        """Return what a notebook shows: the guarantee, and a forecast or exact figures."""
        meaning, card = explain_guarantee(self.guarantee), self.preview
        facts: list[tuple[str, Cell]] = [
            ("method", self.method),
            ("guarantee", self.guarantee.statement),
            ("which means", meaning),
            ("standing", self.standing.value),
            ("expected users", self.expected_users),
        ]
        if self.forecast is not None:
            facts += [(fact.description, fact.value) for fact in self.forecast.facts]
            if (expected := self.forecast.expected) is not None:
                facts.append(("expected queries", expected.queries))
                facts.append(("usually", f"{expected.low:,} to {expected.high:,}"))
        if card is not None:
            facts += [("rows of the log", card.input.rows), ("released rows", card.output.rows)]
        kept = tuple(
            (f"{each.parameter}={each.value}", each.queries, each.rows, each.fraction)
            for each in self.alternatives
        )
        table = NotebookTable("Other values", ("value", "queries", "rows", "fraction"), kept)
        return NotebookView(
            "Plan",
            tuple((name, value) for name, value in facts if value is not None),
            (table,) * bool(kept),
            (*self.not_release_grade_because, *self.warnings),
            is_private=card is not None or bool(kept),
        )


@overload
def plan(
    log: LogLike,
    method: Method,
    *,
    expected_users: int = _POPULATION,
    exact: bool = False,
    ledger: str | None = None,
    identifiers: str = "drop",
    sensitive: str = "keep",
    detectors: str | Sequence[str] = (),
    progress: Progress | None = None,
    **more: Unpack[ReadingKeywords],
) -> Plan: ...


@overload
def plan(
    log: LogLike,
    method: str | type[Method],
    *,
    expected_users: int = _POPULATION,
    exact: bool = False,
    ledger: str | None = None,
    identifiers: str = "drop",
    sensitive: str = "keep",
    detectors: str | Sequence[str] = (),
    progress: Progress | None = None,
    **more: Any,
) -> Plan: ...


def plan(
    log: LogLike,
    method: MethodLike,
    *,
    expected_users: int = _POPULATION,
    exact: bool = False,
    ledger: str | None = None,
    identifiers: str = "drop",
    sensitive: str = "keep",
    detectors: str | Sequence[str] = (),
    progress: Progress | None = None,
    **more: Any,
) -> Plan:
    """Return what a method would release: a forecast, or the card of a run that is not written.

    For a differentially private method the log is not read: the forecast follows from the
    parameters, the population and a public distribution. Otherwise the figures are exact figures
    of the log: they are for the data owner only.

    Args:
        log: A log, or what `read_log` reads: files, or a frame of pandas, Polars or PyArrow.
        method: A method, its spec, or its name with parameters as keyword arguments.
        expected_users: About how many users the log has, as a public figure.
        exact: Whether the log is read for a private method too; the ledger records this data
            access for all later releases.
        ledger: Name of the population, or folder of its ledger.
        identifiers: As for `anonymize`.
        sensitive: As for `anonymize`.
        detectors: As for `anonymize`.
        progress: Receives the stages of the work.
        more: Options of `read_log`, such as `columns`; parameters of a method that is named.

    Returns:
        The guarantee and standing of the release, with a forecast or a preview of its figures.

    Raises:
        ParameterError: A parameter of the method is unknown or out of range.

    >>> plan("log.tsv", "dp-statistics", epsilon=1, expected_users=50_000).guarantee.epsilon
    1.0
    """
    chosen, reading = take_method(plan, method, more)
    screening = Screening.of(identifiers, sensitive, detectors)
    private = is_differentially_private(chosen)
    if private and not exact:
        return _forecast(chosen, expected_users)
    shown = progress or NoProgress()
    read = open_log(log, reading, progress=shown)
    screening.check_log(read)
    if private:
        record_data_access(read, chosen, ledger)
        release = run_screened(chosen, read, RandomSource(), shown, screening)
        forecast = _forecast(chosen, expected_users)
        return replace(forecast, preview=release.preview_card(), data_access=DATA_ACCESS_NOTE)
    notes = note_look(read, ledger, "plan")
    with shown.stage("compare"):
        alternatives = chosen.alternatives(searched(read, chosen, screening, NoProgress()))
    release = anonymize(
        read,
        chosen,
        identifiers=identifiers,
        sensitive=sensitive,
        detectors=screening.detectors,
        progress=shown,
    )
    card = release.preview_card()
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
