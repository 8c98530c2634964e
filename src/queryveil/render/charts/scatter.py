"""A scatter chart of runs: two of several measures as its axes, and the front of each pair.

Everything is computed here, for every pair of measures. The page shows one pair; its script shows
the others, from the same numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .chart import AxisView, Frame, LegendEntry, join_points, make_frame, view_x_axis, view_y_axis
from .scales import Range, make_value_axis, shape, tint

FRAME = make_frame(328, notes=True)
_FAR = 540  # marks further right have their label on the left
_GAP = 9  # between a mark and its label
_LETTER, _LINE = 7, 14  # approximate width and height of a letter of a label
Coordinates = tuple[float, float]


@dataclass(frozen=True)
class Place:
    """The value of a run on an axis: coordinates of its mean, minimum and maximum, and its text."""

    at: float
    low: float
    high: float
    text: str


@dataclass(frozen=True)
class MeasureAxis:
    """A measure as an axis: better is left, or up. Each run has a place, or lacks the value."""

    name: str
    view: AxisView
    places: tuple[Place | None, ...]


def make_measure_axis(
    name: str, title: str, better: str, ranges: Sequence[Range | None], *, upright: bool
) -> MeasureAxis:
    """Build the axis of a measure; it starts at 0 if the values are near 0.

    Args:
        name: The spec of the measure.
        title: The title of the axis.
        better: Which values are better, "lower" or "higher".
        ranges: The value of each run, at least one.
        upright: Whether it is the axis on the left, not the one below.
    """
    known = [one for one in ranges if one is not None]
    low, high = min(one.low for one in known), max(one.high for one in known)
    is_reversed = better == ("lower" if upright else "higher")
    axis = make_value_axis(0.0 if 0 < low <= high / 2 else low, high, is_reversed=is_reversed)
    arrow = "\N{UPWARDS ARROW}" if upright else "\N{LEFTWARDS ARROW}"
    view, place = (view_y_axis, FRAME.y) if upright else (view_x_axis, FRAME.x)
    places = [
        None
        if one is None
        else Place(place(axis, one.mean), place(axis, one.low), place(axis, one.high), str(one))
        for one in ranges
    ]
    return MeasureAxis(name, view(FRAME, axis, title, f"{arrow} {better} is better"), tuple(places))


@dataclass(frozen=True)
class ScatterGroup:
    """The runs of one method; the one that a report is about is highlighted."""

    label: str
    number: int
    highlighted: bool = False

    @property
    def tint(self) -> str:
        """The class with its color."""
        return "tint-ink" if self.highlighted else tint(self.number)

    @property
    def shape(self) -> str:
        """Its marker."""
        return "star" if self.highlighted else shape(self.number)

    @property
    def legend(self) -> LegendEntry:
        """Its entry in the legend."""
        return LegendEntry(self.label, self.tint, self.shape)


@dataclass(frozen=True)
class ScatterRun:
    """A run: its name, its group, and the label beside its mark, which may be empty."""

    name: str
    group: ScatterGroup
    label: str = ""


@dataclass(frozen=True)
class Front:
    """Which runs dominate others in two measures.

    Attributes:
        order: The runs that have both values, by increasing risk.
        dominated: For each run of `order`, the groups with a run that dominates it.
        over_own: The runs that dominate the highlighted one.
    """

    order: tuple[int, ...]
    dominated: tuple[tuple[int, ...], ...]
    over_own: tuple[int, ...] = ()

    @property
    def best(self) -> list[int]:
        """The runs that no other run dominates: the Pareto front, by increasing risk."""
        return [i for i, groups in zip(self.order, self.dominated, strict=True) if not groups]


@dataclass(frozen=True)
class ScatterMark:
    """A run as it is drawn; one that lacks a value is not shown."""

    run: ScatterRun
    shown: bool
    best: bool
    x: float
    y: float
    reach: str
    legible: bool
    on_left: bool
    tooltip: str


@dataclass(frozen=True)
class ScatterDrawing:
    """The chart of two of the measures, as it is drawn."""

    marks: tuple[ScatterMark, ...]
    joins: tuple[tuple[str, str], ...]
    step: str


@dataclass(frozen=True)
class ScatterChart:
    """Runs, joined by strands, with the axes to choose from and the fronts of all pairs."""

    groups: tuple[ScatterGroup, ...]
    runs: tuple[ScatterRun, ...]
    strands: tuple[tuple[int, ...], ...]
    across: tuple[MeasureAxis, ...]
    up: tuple[MeasureAxis, ...]
    fronts: Mapping[tuple[int, int], Front]

    @property
    def frame(self) -> Frame:
        """The area of the chart."""
        return FRAME

    @property
    def own(self) -> int | None:
        """The highlighted run, if there is one."""
        return next((i for i, run in enumerate(self.runs) if run.group.highlighted), None)

    @property
    def first_pair(self) -> tuple[int, int]:
        """The first pair of measures for which a run has both values."""
        return next((pair for pair, front in self.fronts.items() if front.order), (0, 0))

    def describe(self, run: int, pair: tuple[int, int]) -> str:
        """Return a text with the name and both values of a run."""
        x, y = self.across[pair[0]], self.up[pair[1]]
        across, up = x.places[run], y.places[run]
        if across is None or up is None:
            return ""
        return f"{self.runs[run].name}: {x.name} {across.text}, {y.name} {up.text}"

    def missing(self, pair: tuple[int, int]) -> list[str]:
        """Return the names of runs that lack one of two values."""
        shown = self.fronts[pair].order
        return [run.name for i, run in enumerate(self.runs) if i not in shown]

    def draw(self, pair: tuple[int, int]) -> ScatterDrawing:
        """Return the chart of two measures."""
        front, spots = self.fronts[pair], self._spots(pair)
        legible, best = self._legible(pair), front.best
        marks = [self._mark(i, pair, i in best, i in legible) for i in range(len(self.runs))]
        joins = [
            (self.runs[strand[0]].group.tint, join_points(spots[i] for i in strand if i in spots))
            for strand in self.strands
        ]
        return ScatterDrawing(tuple(marks), tuple(joins), _step([spots[i] for i in best]))

    def conflicts(self, pair: tuple[int, int]) -> list[tuple[int, int]]:
        """Return the pairs of labels that overlap, and would be illegible."""
        spots = self._spots(pair)
        boxes = {i: self._box(i, spot) for i, spot in spots.items() if self.runs[i].label}
        return [(i, j) for i in boxes for j in boxes if i < j and _overlap(boxes[i], boxes[j])]

    def _spots(self, pair: tuple[int, int]) -> dict[int, Coordinates]:
        spots = {}
        for i in sorted(self.fronts[pair].order):
            across, up = self.across[pair[0]].places[i], self.up[pair[1]].places[i]
            if across is not None and up is not None:
                spots[i] = (across.at, up.at)
        return spots

    def _legible(self, pair: tuple[int, int]) -> set[int]:
        """Return the labels that are shown: none overlaps an earlier one, and the best go first."""
        conflicts = set(self.conflicts(pair))
        shown: list[int] = []
        for i in dict.fromkeys([*self.fronts[pair].best, *self._spots(pair)]):
            clear = not any((min(i, j), max(i, j)) in conflicts for j in shown)
            if self.runs[i].label and clear:
                shown.append(i)
        return set(shown)

    def _box(self, run: int, spot: Coordinates) -> tuple[float, float, float]:
        width = _LETTER * len(self.runs[run].label)
        left = spot[0] - _GAP - width if spot[0] > _FAR else spot[0] + _GAP
        return left, left + width, spot[1]

    def _mark(self, number: int, pair: tuple[int, int], best: bool, legible: bool) -> ScatterMark:
        run, across = self.runs[number], self.across[pair[0]].places[number]
        up = self.up[pair[1]].places[number]
        if across is None or up is None:
            return ScatterMark(run, False, False, 0.0, 0.0, "", False, False, "")
        left, right = (round(x - across.at, 1) for x in (across.low, across.high))
        low, high = (round(y - up.at, 1) for y in (up.low, up.high))
        reach = f"M{left} 0H{right}M0 {low}V{high}"
        text = self.describe(number, pair)
        far = across.at > _FAR
        return ScatterMark(run, True, best, across.at, up.at, reach, legible, far, text)

    @property
    def data(self) -> dict[str, object]:
        """All that the script needs to show any pair of measures, ready for JSON."""
        return {
            "frame": {"right": FRAME.right, "bottom": FRAME.bottom, "far": _FAR, "gap": _GAP},
            "across": [_axis_data(axis) for axis in self.across],
            "up": [_axis_data(axis) for axis in self.up],
            "runs": [{"name": run.name, "group": run.group.number} for run in self.runs],
            "strands": self.strands,
            "own": self.own,
            "pairs": [
                [self._pair_data((x, y)) for y in range(len(self.up))]
                for x in range(len(self.across))
            ],
        }

    def _pair_data(self, pair: tuple[int, int]) -> dict[str, object]:
        front = self.fronts[pair]
        return {
            "order": front.order,
            "dominated": front.dominated,
            "over_own": front.over_own,
            "conflicts": self.conflicts(pair),
        }


def _axis_data(axis: MeasureAxis) -> dict[str, object]:
    places = [one and [one.at, one.low, one.high, one.text] for one in axis.places]
    return {"name": axis.name, "places": places}


def _overlap(one: tuple[float, float, float], other: tuple[float, float, float]) -> bool:
    return one[0] <= other[1] and other[0] <= one[1] and abs(one[2] - other[2]) < _LINE


def _step(places: Sequence[Coordinates]) -> str:
    """Return the path of the Pareto front, from below the first point to the right edge."""
    if not places:
        return ""
    turns = "".join(f"H{x}V{y}" for x, y in places[1:])
    return f"M{places[0][0]} {FRAME.bottom}V{places[0][1]}{turns}H{FRAME.right}"
