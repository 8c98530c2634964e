"""Chart series, run summaries and axes from the rows of a comparison."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..core.records import Scalar
from ..measures.result import baseline_title, sort_baselines
from ..render.charts.line import ChartLine, ChartPoint
from ..render.charts.scales import Range, choose_scale, is_drawable
from .result import Comparison, ComparisonRow, Figure


@dataclass(frozen=True)
class ChartSeries:
    """One line of a figure: its label, and the values of all repeats at each x.

    `x` is None for a method without the swept parameter.
    """

    label: str
    values: dict[Any, list[float]]

    @property
    def level(self) -> bool:
        """Whether the series is constant in x."""
        return set(self.values) == {None}


def figure_series(figure: Figure, rows: Sequence[ComparisonRow]) -> list[ChartSeries]:
    """Return the series of a figure, in the order of its methods, without missing values."""
    wanted = set(figure.runs)
    short = short_labels(label for label, _ in figure.runs)
    series: dict[str, dict[Any, list[float]]] = {}
    for row in rows:
        is_shown = (row.label, row.method) in wanted and row.measure == figure.measure
        if not is_shown or row.value is None or not is_drawable(row.value):
            continue
        other_values = (f"{name}={value}" for name, value in row.params.items() if name != figure.x)
        label = " ".join([short[row.label], *other_values])
        points = series.setdefault(label, {})
        at = None if figure.x is None else row.params.get(figure.x)
        points.setdefault(at, []).append(row.value)
    return [ChartSeries(label, values) for label, values in series.items()]


def reference_lines(figure: Figure, rows: Sequence[ComparisonRow]) -> list[ChartSeries]:
    """Return the reference series of a figure: one for all methods, or one per method."""
    references = []
    for name in sort_baselines(name for row in rows for name in row.baselines):
        reference_rows = [replace(row, value=row.baselines.get(name)) for row in rows]
        groups: list[list[ChartSeries]] = []
        for series in figure_series(figure, reference_rows):
            match = next((group for group in groups if _look_equal(group[0], series)), None)
            groups.append([series]) if match is None else match.append(series)
        references += [
            ChartSeries(
                _reference_label(
                    baseline_title(name), [member.label for member in group], len(groups)
                ),
                group[0].values,
            )
            for group in groups
        ]
    return references


def _look_equal(one: ChartSeries, other: ChartSeries) -> bool:
    """Return whether two series look the same: they differ by at most 5% everywhere."""
    if one.values.keys() != other.values.keys():
        return False
    means = [(_mean(one.values[x]), _mean(other.values[x])) for x in one.values]
    return all(abs(a - b) <= 0.05 * max(abs(a), abs(b)) for a, b in means)


def _reference_label(title: str, labels: Sequence[str], lines: int) -> str:
    return title if lines == 1 else f"{title} ({', '.join(labels)})"


def short_labels(labels: Iterable[str]) -> dict[str, str]:
    """Shorten specs: omit the parameters common to all specs, or to all of the same method.

    >>> list(short_labels(["a:k=1:x=2:y=3", "a:k=2:x=2:y=3", "b:n=1:y=3"]).values())
    ['a k=1', 'a k=2', 'b n=1']
    """
    parts = {label: label.split(":") for label in labels}
    short = {}
    for label, (name, *own) in parts.items():
        same_method = [set(other[1:]) for other in parts.values() if other[0] == name]
        common = _shared(same_method) | _shared([set(other[1:]) for other in parts.values()])
        short[label] = " ".join([name, *(part for part in own if part not in common)])
    return short


def _shared(sets: Sequence[set[str]]) -> set[str]:
    return set.intersection(*sets) if len(sets) > 1 else set()


def chart_lines(
    series: Sequence[ChartSeries], scale: str, references: Sequence[ChartSeries] = ()
) -> tuple[list[ChartLine], str, list[str]]:
    """Return the lines, the scale of x, and the names of x values that are not numbers."""
    values = list(dict.fromkeys(x for item in series for x in item.values if x is not None))
    best = choose_scale(values)
    if scale == "auto" or best == "names" or (scale == "log" and min(values) <= 0):
        scale = best
    names = [str(value) for value in values] if scale == "names" else []
    positions = {x: float(i) for i, x in enumerate(values)} if names else {x: x for x in values}
    lines = [_line(item, positions) for item in series]
    faint_lines = [replace(_line(item, positions), faint=True) for item in references]
    return [*lines, *faint_lines], scale, names


def _line(series: ChartSeries, positions: dict[Any, float]) -> ChartLine:
    points = [
        ChartPoint(
            positions.get(x),
            _mean(values),
            min(values),
            max(values),
            _describe_point(series.label, x, values),
        )
        for x, values in series.values.items()
    ]
    return ChartLine(series.label, tuple(sorted(points, key=lambda point: point.x or 0.0)))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _describe_point(label: str, x: Any, values: Sequence[float]) -> str:
    at = "" if x is None else f" at {x}"
    spread = f" ({min(values):.4g} to {max(values):.4g})" if len(values) > 1 else ""
    return f"{label}{at}: {_mean(values):.4g}{spread}"


@dataclass
class RunSummary:
    """A method at its parameter values: the values of each measure over repeats, or its error."""

    label: str
    short: str
    swept: Mapping[str, Scalar]
    values: dict[str, list[float]] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)

    @property
    def at(self) -> str:
        """The swept values as text."""
        return " ".join(format_param(name, value) for name, value in self.swept.items())

    @property
    def name(self) -> str:
        """The method and its swept values as text."""
        return f"{self.short} {self.at}".strip()

    def spread(self, measure: str) -> Range | None:
        """Return mean and range of a measure, or None if a value is missing."""
        values = self.values.get(measure, [])
        if not values or not all(map(is_drawable, values)):
            return None
        return Range(sum(values) / len(values), min(values), max(values))


def summarize_runs(
    comparison: Comparison, names: Mapping[str, str] | None = None
) -> list[RunSummary]:
    """Group the rows by run, in their order; `names` replaces labels."""
    short = short_labels(dict.fromkeys(row.label for row in comparison.rows)) | dict(names or {})
    runs: dict[tuple[str, str], RunSummary] = {}
    for row in comparison.rows:
        new = RunSummary(row.label, short[row.label], row.params)
        run = runs.setdefault((row.label, row.method), new)
        if row.value is not None:
            run.values.setdefault(row.measure, []).append(row.value)
        if not is_drawable(row.value):
            run.errors.setdefault(row.measure, row.error or f"a value is {row.value}")
    return list(runs.values())


def measures_of_kind(comparison: Comparison, runs: Sequence[RunSummary], kind: str) -> list[str]:
    """Return the measures of a kind, "risk" or "utility", that have a value for any run."""
    lines = [line for line, measure in comparison.measures.items() if measure.kind == kind]
    return [line for line in lines if any(run.spread(line) for run in runs)]


def format_param(name: str, value: Any) -> str:
    """Format a parameter and its value.

    >>> format_param("min_users", 5), format_param("epsilon", 10.0)
    ('min-users=5', 'epsilon=10')
    """
    shown = f"{value:g}" if isinstance(value, float) else value
    return f"{name.replace('_', '-')}={shown}"


def sort_runs(runs: Sequence[RunSummary]) -> list[RunSummary]:
    """Sort runs by their first swept value, if all of these are numbers."""
    firsts = [next(iter(run.swept.values()), None) for run in runs]
    numbers = [value for value in firsts if isinstance(value, (int, float))]
    if len(numbers) < len(runs):
        return list(runs)
    return [runs[i] for i in sorted(range(len(runs)), key=lambda i: numbers[i])]
