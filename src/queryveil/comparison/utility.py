"""The means of the runs of a comparison, and one figure of utility over all utility measures.

The score of a utility measure is linear between two references: 0 is the value of a release
without any row, or that of guessing if it is better; 1 is the value of the original log. Values
beyond the references have the scores 0 and 1. The figure is the mean of the scores of all utility
measures of the comparison. There is none if any of them has no score.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..measures._shared.thresholds import BEST_WITH_THRESHOLD
from ..render.charts.scales import is_drawable
from .means import MeanValue, RunMeans, average
from .references import EMPTY, ORIGINAL
from .result import Comparison, ComparisonRow, MeasureInfo

_NO_DIFFERENCE = 1e-9


class _NoScoreError(Exception):
    """There is no score; the text is the reason."""


@dataclass(frozen=True)
class _References:
    """The values of a measure for the original log and for an empty release."""

    original: float
    empty: float


def add_means(comparison: Comparison) -> Comparison:
    """Return a comparison with the means of its runs and their figures of utility."""
    runs: dict[tuple[str, str], list[ComparisonRow]] = {}
    for row in comparison.rows:
        runs.setdefault((row.label, row.method), []).append(row)
    return replace(
        comparison, means=tuple(_average_run(rows, comparison) for rows in runs.values())
    )


def _average_run(rows: Sequence[ComparisonRow], comparison: Comparison) -> RunMeans:
    by_measure: dict[str, list[ComparisonRow]] = defaultdict(list)
    for row in rows:
        by_measure[row.measure].append(row)
    values = {
        name: mean for name, own in by_measure.items() if (mean := _average_rows(own)) is not None
    }
    means = RunMeans(rows[0].label, rows[0].method, rows[0].params, values)
    utilities = [name for name, about in comparison.measures.items() if about.kind == "utility"]
    if not utilities:
        return replace(means, no_utility_because="no utility was measured")
    try:
        scores = {name: _score_rows(name, by_measure[name], comparison) for name in utilities}
    except _NoScoreError as error:
        return replace(means, no_utility_because=str(error))
    repeats = zip(*(scores[name] for name in utilities), strict=True)
    return replace(
        means,
        utility=average([sum(repeat) / len(utilities) for repeat in repeats]),
        scores={name: average(of).mean for name, of in scores.items()},
    )


def _average_rows(rows: Sequence[ComparisonRow]) -> MeanValue | None:
    values = [row.value for row in rows if row.value is not None and is_drawable(row.value)]
    if len(values) < len(rows):
        return None
    return average(values, rows[0].baselines.get(BEST_WITH_THRESHOLD))


def _score_rows(name: str, rows: Sequence[ComparisonRow], comparison: Comparison) -> list[float]:
    """Return the score of each repeat; raise if one has none."""
    if not rows:
        raise _NoScoreError(f"{name} was not measured for this run")
    references = _find_references(name, comparison.references)
    return [_score(row, references, comparison.measures[name]) for row in rows]


def _find_references(name: str, rows: Sequence[ComparisonRow]) -> _References:
    values = {row.label: row for row in rows if row.measure == name}
    if not {ORIGINAL, EMPTY} <= values.keys():
        raise _NoScoreError(
            f"{name} was not measured for the original log and an empty release: name another "
            "measure too"
        )
    return _References(_value_of(values[ORIGINAL]), _value_of(values[EMPTY]))


def _score(row: ComparisonRow, references: _References, about: MeasureInfo) -> float:
    """Return the score of a value.

    Guessing is the zero if it is better than an empty release. If the measure states the value of
    the unprotected log itself, that is the one.
    """
    sign = 1.0 if about.better == "higher" else -1.0
    value, original = (
        sign * _value_of(row),
        sign * row.baselines.get("original", references.original),
    )
    guess = row.baselines.get("chance", references.empty)
    zero = max(sign * references.empty, sign * guess)
    if original - zero < _NO_DIFFERENCE:
        raise _NoScoreError(
            f"{row.measure} is not better for the original log than for an empty release"
        )
    return min(max((value - zero) / (original - zero), 0.0), 1.0)


def _value_of(row: ComparisonRow) -> float:
    if row.value is None or not is_drawable(row.value):
        reason = row.error or row.details.get("skipped_because") or f"its value is {row.value}"
        raise _NoScoreError(
            f"{row.measure} has no value for {row.label.partition(':')[0]}: {reason}"
        )
    return row.value
