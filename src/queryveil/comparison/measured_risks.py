"""Measured risks as figures about people, for the private report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from ..measures.result import MeasureResult
from ..release.risk_figures import (
    GUESSES,
    UNIQUE,
    RiskFigure,
    Severity,
    count_people,
    people_figure,
)


def measured_figures(results: Mapping[str, MeasureResult]) -> list[RiskFigure]:
    """Return the risks that can be stated in people; the table of the report has all values."""
    return [
        figure
        for spec, result in results.items()
        if result.value is not None and result.kind == "risk"
        for figure in _FIGURES.get(spec.partition(":")[0], _no_figure)(spec, result)
    ]


def _no_figure(_: str, __: MeasureResult) -> Iterable[RiskFigure]:
    return ()


def _unique(spec: str, result: MeasureResult) -> Iterable[RiskFigure]:
    users = result.counts.get("users", 0)
    yield people_figure(
        result.value or 0.0, users, "released users", UNIQUE, f"measured: {spec}", "uniqueness"
    )


def _linked(spec: str, result: MeasureResult) -> Iterable[RiskFigure]:
    meaning = "are linked to their released log by an attacker who has the whole original log"
    users = result.counts.get("users", 0)
    yield people_figure((result.value or 0.0) / 100, users, "users", meaning, _source(result), spec)


def _linked_by_meaning(spec: str, result: MeasureResult) -> Iterable[RiskFigure]:
    meaning = (
        "are linked to their released log by an attacker who has the whole original log and "
        "compares the meaning of queries"
    )
    users = result.counts.get("users", 0)
    yield people_figure((result.value or 0.0) / 100, users, "users", meaning, _source(result), spec)


def _partly_known(spec: str, result: MeasureResult) -> Iterable[RiskFigure]:
    tries = result.counts.get("tries", 0)
    # The summary has a mean over tries, such as 1.6, where the figure has 2 people.
    is_whole = f"{(result.value or 0.0) / 100 * tries:.1f}".endswith(".0")
    rounded = "" if is_whole else ", rounded"
    meaning = f"are linked to their released log{rounded}: {result.summary}"
    yield people_figure(
        (result.value or 0.0) / 100, tries, "target users", meaning, _source(result), spec
    )


def _rare(spec: str, result: MeasureResult) -> Iterable[RiskFigure]:
    queries = result.counts.get("queries", 0)
    exposed = result.counts.get("rare", 0) + result.counts.get("identifiers", 0)
    fraction = min(exposed / max(queries, 1), 1.0)
    meaning = "had been sent by one user only, or look like personal identifiers"
    yield people_figure(
        fraction, queries, "distinct released queries", meaning, _source(result), spec
    )


def _homogeneous(spec: str, result: MeasureResult) -> Iterable[RiskFigure]:
    users = result.counts.get("users", 0)
    meaning = (
        f"are in {result.counts.get('groups_of_one_topic', 0):,} groups whose shared log is mostly "
        "about one sensitive topic"
    )
    yield people_figure(
        result.value or 0.0, users, "released users", meaning, _source(result), spec
    )


def _member(spec: str, result: MeasureResult) -> Iterable[RiskFigure]:
    advantage = result.value or 0.0
    yield RiskFigure(
        f"{count_people(0.5 + advantage / 2, 1000)} guesses",
        "whether a person is in the log are right, where guessing alone has 500 right",
        GUESSES.grade(advantage),
        GUESSES.bounds,
        advantage,
        _source(result),
        spec,
    )


def _audited(spec: str, result: MeasureResult) -> Iterable[RiskFigure]:
    """Yield a figure only if the audit disproves the guarantee; else it shows nothing."""
    if result.details.get("holds") is False:
        yield RiskFigure(
            f"{result.counts.get('right', 0):,} of {result.counts.get('guesses', 0):,} guesses",
            f"of an audit were right, more than the guarantee allows: epsilon is at least "
            f"{result.value:.3g}",
            Severity.HIGH,
            "High: an audit disproves the guarantee.",
            float("inf"),
            _source(result),
            spec,
            breaks_guarantee=True,
        )


def _source(result: MeasureResult) -> str:
    basis = f"; {result.basis}" if result.basis else ""
    return f"measured: {result.measure}{basis}"


_FIGURES: Mapping[str, Callable[[str, MeasureResult], Iterable[RiskFigure]]] = {
    "uniqueness": _unique,
    "record-linkage": _linked,
    "concept-linkage": _linked_by_meaning,
    "partial-knowledge-linkage": _partly_known,
    "rare-query-exposure": _rare,
    "sensitive-homogeneity": _homogeneous,
    "membership-inference": _member,
    "epsilon-audit": _audited,
}
