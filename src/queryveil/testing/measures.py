"""The kit for measures: what every measure must do, and cases that were computed by hand."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cached_property, partial

import polars as pl

from ..errors import QueryveilError
from ..log.query_log import QueryLog
from ..measures.base import MEASURES, Measure, RerunMeasure
from ..measures.context import MeasureContext
from ..measures.result import MeasureResult
from ..release.guarantee import Guarantee
from ..release.release import Release
from .checks import KitCheck, require, run_checks
from .logs import Row, example_rows

Logs = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class MeasureCase:
    """A log, a release of it, and the value that was computed by hand.

    Attributes:
        original: The queries of each user, or whole rows.
        released: The same of the released log; the users have their own names, and the kit gives
            them pseudonyms.
        value: The expected value.
        details: Expected entries of `MeasureResult.details` and `counts`, where they matter.
        measure: The measure with other parameters than the one that is checked.
    """

    name: str
    original: Logs | Sequence[Row]
    released: Logs | Sequence[Row]
    value: float
    details: Mapping[str, object] | None = None
    measure: Measure | None = None
    tolerance: float = 1e-5


def check_measure(
    measure: Measure,
    cases: Sequence[MeasureCase],
    *,
    log: QueryLog | None = None,
    identity_is_best: bool = True,
    empty_is_safest: bool = True,
) -> None:
    """Check a measure; raise KitFailure with every check that it fails.

    Args:
        cases: At least one case that was computed by hand.
        log: A log to which the measure applies; else a synthetic one of 40 users.
        identity_is_best: Whether an unchanged log has the best utility (measures of utility).
        empty_is_safest: Whether an empty release has the lowest risk (measures of risk).
    """
    checks = measure_checks(
        measure,
        cases,
        log=log,
        identity_is_best=identity_is_best,
        empty_is_safest=empty_is_safest,
    )
    run_checks(measure, checks)


def measure_checks(
    measure: Measure,
    cases: Sequence[MeasureCase],
    *,
    log: QueryLog | None = None,
    identity_is_best: bool = True,
    empty_is_safest: bool = True,
) -> list[KitCheck]:
    """Return the checks of `check_measure`, for `pytest.mark.parametrize`."""
    tried = _Tried(measure, QueryLog.from_rows(list(example_rows(40))) if log is None else log)
    checks: dict[str, Callable[[], None]] = {
        "is described": lambda: _is_described(measure),
        "parses its own spec": lambda: _parses_its_spec(measure),
        "has a case computed by hand": lambda: require(
            cases, "pass at least one MeasureCase with a value that you computed by hand"
        ),
        "is finite or says why not": lambda: _is_finite(tried),
        "gives the same result again": lambda: _repeats(tried),
    }
    if measure.kind == "utility" and identity_is_best:
        checks["rates the unchanged log best"] = lambda: _rates_identity_best(tried)
    if measure.kind == "risk" and empty_is_safest:
        checks["rates the empty release safest"] = lambda: _rates_empty_safest(tried)
    for case in cases:
        checks[f"is right by hand: {case.name}"] = partial(_is_right, measure, case)
    return [KitCheck(name, run) for name, run in checks.items()]


def identity_release(log: QueryLog, released: QueryLog | None = None) -> Release:
    """Return a release that has all rows of a log, or those of another one, under pseudonyms."""
    rows = (log if released is None else released).local_frame.with_columns(
        pl.col("user").cast(pl.String)
    )
    users = rows.select("user").unique(maintain_order=True)
    return Release(
        method="identity",
        parameters={},
        guarantee=Guarantee(model="none", statement="Nothing is changed."),
        source=log,
        log=rows.with_columns(user="p-" + pl.col("user")),
        mapping=users.select("user", pseudonym="p-" + pl.col("user")).collect(),
    )


def compute(measure: Measure, log: QueryLog, release: Release) -> MeasureResult:
    """Return the result of a measure, or why it does not apply; the method is the identity."""
    context = MeasureContext(log)
    try:
        measure.prepare(context)
        if isinstance(measure, RerunMeasure):
            return measure.compute_rerun(context, release, lambda rows, _: _rerun(release, rows))
        return measure.compute(context, release)
    except QueryveilError as error:
        require(str(error).strip(), f"it raises {type(error).__name__} without a message")
        return measure.skip(str(error))


def _rerun(release: Release, log: QueryLog) -> Release:
    """Run the method of a release again: it keeps everything, or nothing."""
    is_empty = release.log is not None and release.log.limit(1).collect().is_empty()
    return identity_release(log, QueryLog.from_rows([]) if is_empty else None)


def _as_log(rows: Logs | Sequence[Row]) -> QueryLog:
    if isinstance(rows, Mapping):
        return QueryLog.from_rows(
            [(user, query, None, None, None) for user, queries in rows.items() for query in queries]
        )
    return QueryLog.from_rows(list(rows))


def _is_described(measure: Measure) -> None:
    for name in ("name", "title", "description", "paper", "unit"):
        text = getattr(type(measure), name, "")
        require(text and text == text.strip(), f'set the class variable "{name}" to a text')
    require(measure.better in ("lower", "higher"), '"better" must be "lower" or "higher"')
    require(measure.kind in ("risk", "utility"), '"kind" must be "risk" or "utility"')
    for declared in measure.parameters():
        require(declared.help, f"the parameter {declared.name} has no help text")


def _registered(measure: Measure) -> AbstractContextManager[None]:
    if MEASURES.get(measure.name) is type(measure):
        return nullcontext()
    return MEASURES.adding(measure.name, type(measure))


def _parses_its_spec(measure: Measure) -> None:
    with _registered(measure):
        parsed = MEASURES.parse(str(measure))
    require(parsed == measure, f'"{measure}" parses to another measure, "{parsed}"')


@dataclass(frozen=True)
class _Tried:
    """A measure on the unchanged log and on an empty release; each is computed once."""

    measure: Measure
    log: QueryLog

    @cached_property
    def whole(self) -> MeasureResult:
        return compute(self.measure, self.log, identity_release(self.log))

    @cached_property
    def empty(self) -> MeasureResult:
        nothing = identity_release(self.log, QueryLog.from_rows([]))
        return compute(self.measure, self.log, nothing)


def _is_finite(tried: _Tried) -> None:
    for name, result in {"the unchanged log": tried.whole, "nothing": tried.empty}.items():
        if result.value is None:
            require(result.skipped_because, f"{name}: there is no value, and no reason why")
            continue
        require(math.isfinite(result.value), f"{name}: the value is {result.value}")
        if result.interval is not None:
            low, high = result.interval.low, result.interval.high
            require(low <= high, f"{name}: the interval is from {low} to {high}")
    require(
        tried.whole.value is not None,
        "it does not even apply to the unchanged log: pass a log to which it applies "
        f"({tried.whole.skipped_because})",
    )


def _repeats(tried: _Tried) -> None:
    again = compute(tried.measure, tried.log, identity_release(tried.log))
    require(
        again == tried.whole,
        f"two computations differ, {tried.whole.value} and {again.value}: seed what it draws",
    )


def _rates_identity_best(tried: _Tried) -> None:
    whole, empty, better = tried.whole.value, tried.empty.value, tried.measure.better
    if whole is None or empty is None:
        return
    require(
        whole >= empty if better == "higher" else whole <= empty,
        f"the empty release ({empty:g}) is more useful than the unchanged log ({whole:g}): is "
        f'"better" rightly "{better}"? If it is meant so, pass identity_is_best=False',
    )


def _rates_empty_safest(tried: _Tried) -> None:
    whole, empty, better = tried.whole.value, tried.empty.value, tried.measure.better
    if whole is None or empty is None:
        return
    require(
        empty <= whole if better == "lower" else empty >= whole,
        f"the empty release ({empty:g}) is riskier than the unchanged log ({whole:g}): is "
        f'"better" rightly "{better}"? If it is meant so, pass empty_is_safest=False',
    )


def _is_right(measure: Measure, case: MeasureCase) -> None:
    log = _as_log(case.original)
    result = compute(case.measure or measure, log, identity_release(log, _as_log(case.released)))
    require(result.value is not None, f"it has no value: {result.skipped_because}")
    value = float(result.value or 0)
    require(
        math.isclose(value, case.value, abs_tol=case.tolerance),
        f"the value is {value:g}, and by hand it is {case.value:g}",
    )
    results = {**result.details, **result.counts}
    for name, expected in (case.details or {}).items():
        require(
            results.get(name) == expected,
            f'"{name}" is {results.get(name)!r}, and by hand it is {expected!r}',
        )
