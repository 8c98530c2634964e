"""From the rows of a comparison to the lines of a figure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..render.charts.line import ChartLine, ChartPoint
from ..render.charts.scales import choose_scale, is_drawable

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
