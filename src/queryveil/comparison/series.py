"""From the rows of a comparison to the lines of a figure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from typing import Any

from ..render.charts.line import ChartLine, ChartPoint
from ..render.charts.scales import Axis, choose_scale, is_drawable, nice_ticks

# What a value is read against, as measures tell it, and what that is called.
REFERENCES = {
    "chance": "by chance",
    "random_groups": "random groups",
    "worst_case": "worst case of the paper",
    "same_for_all": "the same for all",
    "original": "unprotected log",
    "popular": "always the most frequent",
}


@dataclass(frozen=True)
class ChartSeries:
    """One line of a figure: its label, and the values of all repeats at each x.

    `x` is nothing for a method that was not swept.
    """

    label: str
    values: dict[Any, list[float]]

    @property
    def level(self) -> bool:
        """Whether it is the same at all x."""
        return set(self.values) == {None}


def figure_series(figure: dict[str, Any], rows: Sequence[dict[str, Any]]) -> list[ChartSeries]:
    """Give the lines of a figure, in the order of its methods; what is no number is left out."""
    wanted = {(label, method) for label, method in figure["runs"]}
    short = short_labels(label for label, _ in figure["runs"])
    found: dict[str, dict[Any, list[float]]] = {}
    for row in rows:
        shown = (row["label"], row["method"]) in wanted and row["measure"] == figure["measure"]
        if not shown or not is_drawable(row["value"]):
            continue
        beside = (f"{name}={value}" for name, value in row["swept"].items() if name != figure["x"])
        label = " ".join([short[row["label"]], *beside])
        here = found.setdefault(label, {})
        here.setdefault(row["swept"].get(figure["x"]), []).append(row["value"])
    return [ChartSeries(label, values) for label, values in found.items()]


def reference_lines(figure: dict[str, Any], rows: Sequence[dict[str, Any]]) -> list[ChartSeries]:
    """Give the lines that the figure's values are read against: one for all, or one a method."""
    found = []
    for name, called in REFERENCES.items():
        own = [row | {"value": row["told"].get(name)} for row in rows]
        groups: list[list[ChartSeries]] = []
        for series in figure_series(figure, own):
            near = next((group for group in groups if _alike(group[0], series)), None)
            groups.append([series]) if near is None else near.append(series)
        found += [
            ChartSeries(_called(called, [one.label for one in group], len(groups)), group[0].values)
            for group in groups
        ]
    return found


def _alike(one: ChartSeries, other: ChartSeries) -> bool:
    """Tell whether two lines are one to the eye: nowhere further apart than a twentieth."""
    if one.values.keys() != other.values.keys():
        return False
    means = [(_mean(one.values[x]), _mean(other.values[x])) for x in one.values]
    return all(abs(a - b) <= 0.05 * max(abs(a), abs(b)) for a, b in means)


def _called(called: str, labels: Sequence[str], lines: int) -> str:
    return called if lines == 1 else f"{called} ({', '.join(labels)})"


def short_labels(labels: Iterable[str]) -> dict[str, str]:
    """Leave out of each line what all lines share, or all of the same method.

    >>> list(short_labels(["a:k=1:x=2:y=3", "a:k=2:x=2:y=3", "b:n=1:y=3"]).values())
    ['a k=1', 'a k=2', 'b n=1']
    """
    parts = {label: label.split(":") for label in labels}
    short = {}
    for label, (name, *own) in parts.items():
        same = [set(other[1:]) for other in parts.values() if other[0] == name]
        idle = _shared(same) | _shared([set(other[1:]) for other in parts.values()])
        short[label] = " ".join([name, *(part for part in own if part not in idle)])
    return short


def _shared(sets: Sequence[set[str]]) -> set[str]:
    return set.intersection(*sets) if len(sets) > 1 else set()


def chart_lines(
    series: Sequence[ChartSeries], scale: str, references: Sequence[ChartSeries] = ()
) -> tuple[list[ChartLine], str, list[str]]:
    """Give the lines, the scale of x, and the names along it if x has no numbers."""
    values = list(dict.fromkeys(x for one in series for x in one.values if x is not None))
    best = choose_scale(values)
    if scale == "auto" or best == "names" or (scale == "log" and min(values) <= 0):
        scale = best
    names = [str(value) for value in values] if scale == "names" else []
    places = {x: float(i) for i, x in enumerate(values)} if names else {x: x for x in values}
    lines = [_line(one, places) for one in series]
    beside = [replace(_line(one, places), faint=True) for one in references]
    return [*lines, *beside], scale, names


def _line(series: ChartSeries, places: dict[Any, float]) -> ChartLine:
    points = [
        ChartPoint(
            places.get(x), _mean(values), min(values), max(values), _says(series.label, x, values)
        )
        for x, values in series.values.items()
    ]
    return ChartLine(series.label, tuple(sorted(points, key=lambda point: point.x or 0.0)))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _says(label: str, x: Any, values: Sequence[float]) -> str:
    at = "" if x is None else f" at {x}"
    spread = f" ({min(values):.4g} to {max(values):.4g})" if len(values) > 1 else ""
    return f"{label}{at}: {_mean(values):.4g}{spread}"


@dataclass(frozen=True)
class Range:
    """What repeats gave: their mean, the least and the greatest."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        """Write it for people.

        >>> str(Range(2, 1.5, 2.5)), str(Range(2, 2, 2.00000001))
        ('2 (1.5 to 2.5)', '2')
        """
        mean, low, high = (f"{value:.4g}" for value in (self.mean, self.low, self.high))
        return mean if low == high else f"{mean} ({low} to {high})"


@dataclass
class RunSummary:
    """A method at its values: what each measure gave at each repeat, or why it gave nothing."""

    label: str
    short: str
    swept: Mapping[str, Any]
    values: dict[str, list[float]] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)

    @property
    def at(self) -> str:
        """The swept values in words."""
        return " ".join(format_param(name, value) for name, value in self.swept.items())

    @property
    def name(self) -> str:
        """The method and its swept values in words."""
        return f"{self.short} {self.at}".strip()

    def spread(self, measure: str) -> Range | None:
        """Sum up what a measure gave, if it gave numbers."""
        values = self.values.get(measure, [])
        if not values or not all(map(is_drawable, values)):
            return None
        return Range(sum(values) / len(values), min(values), max(values))


def summarize_runs(
    found: Mapping[str, Any], names: Mapping[str, str] | None = None
) -> list[RunSummary]:
    """Gather the rows of each run, in their order; `names` are other names for labels."""
    short = short_labels(dict.fromkeys(row["label"] for row in found["rows"])) | dict(names or {})
    runs: dict[tuple[str, str], RunSummary] = {}
    for row in found["rows"]:
        new = RunSummary(row["label"], short[row["label"]], row["swept"])
        run = runs.setdefault((row["label"], row["method"]), new)
        if row["value"] is not None:
            run.values.setdefault(row["measure"], []).append(row["value"])
        if not is_drawable(row["value"]):
            error = row["error"] or f"a value is {row['value']}"
            run.errors.setdefault(row["measure"], error)
    return list(runs.values())


def measures_of_kind(found: Mapping[str, Any], runs: Sequence[RunSummary], kind: str) -> list[str]:
    """List the measures of a kind, risk or use, that gave a number for any run."""
    about: Mapping[str, Mapping[str, Any]] = found["measures"]
    wanted = [line for line, one in about.items() if one.get("kind") == kind]
    return [line for line in wanted if any(run.spread(line) for run in runs)]


def format_param(name: str, value: Any) -> str:
    """Write a parameter and its value as a person would.

    >>> format_param("min_users", 5), format_param("epsilon", 10.0)
    ('min-users=5', 'epsilon=10')
    """
    shown = f"{value:g}" if isinstance(value, float) else value
    return f"{name.replace('_', '-')}={shown}"


def sort_runs(runs: Sequence[RunSummary]) -> list[RunSummary]:
    """Sort runs by their first swept value, if those are numbers."""
    firsts = [next(iter(run.swept.values()), None) for run in runs]
    numbers = [one for one in firsts if isinstance(one, (int, float))]
    if len(numbers) < len(runs):
        return list(runs)
    return [runs[i] for i in sorted(range(len(runs)), key=lambda i: numbers[i])]


WIDTH, HEIGHT = 640, 474
LEFT, RIGHT, TOP, BOTTOM = 66, 616, 64, 392


@dataclass(frozen=True)
class MeasureAxis:
    """The axis of a measure; `flip` if it has to run backwards for better to be on its side."""

    line: str
    title: str
    better: str
    upright: bool
    axis: Axis

    @property
    def flip(self) -> bool:
        """Whether it runs backwards: risk should be low on the left, use high at the top."""
        return self.better == ("lower" if self.upright else "higher")

    def place(self, value: float) -> float:
        """Tell where a value stands in the picture."""
        share = self.axis.place(value)
        share = 1 - share if self.flip else share
        here = BOTTOM - share * (BOTTOM - TOP) if self.upright else LEFT + share * (RIGHT - LEFT)
        return round(here, 1)

    def drawn(self) -> str:
        """Draw ticks and titles."""
        ticks = "".join(self._tick(value, text) for value, text in self.axis.ticks)
        arrow = "\N{UPWARDS ARROW}" if self.upright else "\N{LEFTWARDS ARROW}"
        below = f"{arrow} {self.better} is better"
        if self.upright:
            return f"{ticks}{_text(0, 20, self.title, '', 'name')}{_text(0, 43, below)}"
        ends = _text(RIGHT, HEIGHT - 30, self.title, "end", "name")
        return f"{ticks}{ends}{_text(RIGHT, HEIGHT - 7, below, 'end')}"

    def _tick(self, value: float, text: str) -> str:
        here = self.place(value)
        if self.upright:
            line = f'<line class="grid" x1="{LEFT}" x2="{RIGHT}" y1="{here}" y2="{here}"/>'
            return line + _text(LEFT - 8, here + 4.5, text, "end")
        line = f'<line class="grid" x1="{here}" x2="{here}" y1="{TOP}" y2="{BOTTOM}"/>'
        return line + _text(here, BOTTOM + 23, text, "middle")


def _text(x: float, y: float, text: str, anchor: str = "", kind: str = "") -> str:
    more = f' text-anchor="{anchor}"' if anchor else ""
    more += f' class="{kind}"' if kind else ""
    return f'<text x="{x}" y="{y}"{more}>{escape(text)}</text>'


def make_measure_axis(
    line: str, about: Mapping[str, Any], spreads: Sequence[Range], upright: bool
) -> MeasureAxis:
    """Make the axis of a measure from all that it gave; from 0 where that is not far away."""
    low, high = min(one.low for one in spreads), max(one.high for one in spreads)
    ticks = nice_ticks(0.0 if 0 < low <= high / 2 else low, high)
    axis = Axis(ticks[0], ticks[-1], tuple((value, f"{value:g}") for value in ticks))
    return MeasureAxis(line, about["title"], about["better"], upright, axis)
