"""Chart series, run summaries and axes from the rows of a comparison."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..core.records import Scalar
from ..measures.result import baseline_title, sort_baselines
from ..render.charts.line import ChartLine, ChartPoint
from ..render.charts.scales import Range, choose_scale, is_drawable, summarize
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
        other_values = (
            format_param(name, value) for name, value in row.params.items() if name != figure.x
        )
        label = " ".join([short[row.label], *other_values])
        points = series.setdefault(label, {})
        at = None if figure.x is None else row.params.get(figure.x)
        points.setdefault(at, []).append(row.value)
    return [ChartSeries(label, values) for label, values in series.items()]


def split_figure(figure: Figure, rows: Sequence[ComparisonRow]) -> list[Figure]:
    """Return a figure for each swept parameter: methods of one have the same parameter as x.

    A method without any swept parameter is in all of them.
    """
    params = {(row.label, row.method): row.params for row in rows}
    axes = {run: _own_axis(figure, params.get(run, {})) for run in figure.runs}
    names = [name for name in dict.fromkeys(axes.values()) if name is not None]
    if figure.x is None or len(names) < 2:
        return [figure]
    return [
        replace(
            figure,
            x=name,
            scale=figure.scale if name == figure.x else "auto",
            runs=tuple(run for run in figure.runs if axes[run] in (name, None)),
        )
        for name in names
    ]


def _own_axis(figure: Figure, params: Mapping[str, Scalar]) -> str | None:
    return figure.x if figure.x in params else next(iter(params), None)


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
    means = [(summarize(one.values[x]).mean, summarize(other.values[x]).mean) for x in one.values]
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
    series: Sequence[ChartSeries],
    scale: str,
    references: Sequence[ChartSeries] = (),
    numbers: Mapping[str, int] | None = None,
) -> tuple[list[ChartLine], str, list[str]]:
    """Return the lines, the scale of x, and the names of x values that are not numbers.

    `numbers` are those of lines by label, if the chart is one of several with one legend.
    """
    values = list(dict.fromkeys(x for item in series for x in item.values if x is not None))
    best = choose_scale(values)
    if scale == "auto" or best == "names" or (scale == "log" and min(values) <= 0):
        scale = best
    names = [format_scalar(value) for value in values] if scale == "names" else []
    positions = {x: float(i) for i, x in enumerate(values)} if names else {x: x for x in values}
    known = numbers or {}
    lines = [replace(_line(item, positions), number=known.get(item.label)) for item in series]
    faint_lines = [replace(_line(item, positions), faint=True) for item in references]
    return [*lines, *faint_lines], scale, names


def _line(series: ChartSeries, positions: dict[Any, float]) -> ChartLine:
    points = [
        ChartPoint(
            positions.get(x),
            (spread := summarize(values)).mean,
            spread.low,
            spread.high,
            f"{series.label}{'' if x is None else f' at {format_scalar(x)}'}: {spread}",
        )
        for x, values in series.values.items()
    ]
    return ChartLine(series.label, tuple(sorted(points, key=lambda point: point.x or 0.0)))


@dataclass
class RunSummary:
    """A method at its parameter values: the values of each measure over repeats, or its error."""

    label: str
    short: str
    swept: Mapping[str, Scalar]
    values: dict[str, list[float]] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    is_reference: bool = False
    method: str = ""

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
        return summarize(values)


def summarize_runs(
    comparison: Comparison, names: Mapping[str, str] | None = None
) -> list[RunSummary]:
    """Group the rows by run, in their order; `names` replaces labels."""
    short = short_labels(dict.fromkeys(row.label for row in comparison.rows)) | dict(names or {})
    return _summarize(comparison.rows, short)


def summarize_references(comparison: Comparison) -> list[RunSummary]:
    """Group the rows of the references by reference."""
    runs = _summarize(
        comparison.references, {row.label: row.label for row in comparison.references}
    )
    return [replace(run, is_reference=True) for run in runs]


def _summarize(rows: Sequence[ComparisonRow], short: Mapping[str, str]) -> list[RunSummary]:
    runs: dict[tuple[str, str], RunSummary] = {}
    for row in rows:
        new = RunSummary(row.label, short[row.label], row.params, method=row.method)
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
    return f"{name.replace('_', '-')}={format_scalar(value)}"


def format_scalar(value: Any) -> str:
    """Return a parameter value as text.

    >>> format_scalar(10.0), format_scalar(True), format_scalar(None)
    ('10', 'true', 'none')
    """
    if value is None or isinstance(value, bool):
        return {True: "true", False: "false", None: "none"}[value]
    return f"{value:g}" if isinstance(value, float) else str(value)


def sort_runs(runs: Sequence[RunSummary]) -> list[RunSummary]:
    """Sort runs by their first swept value, if all of these are numbers."""
    firsts = [next(iter(run.swept.values()), None) for run in runs]
    numbers = [value for value in firsts if isinstance(value, (int, float))]
    if len(numbers) < len(runs):
        return list(runs)
    return [runs[i] for i in sorted(range(len(runs)), key=lambda i: numbers[i])]
