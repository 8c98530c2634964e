"""A scatter chart of runs: two of several measures as its axes, and the front of each pair.

Everything is computed here, for every pair of measures. The page shows one pair; its script shows
the others, from the same numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import ClassVar

from .chart import AxisView, Frame, LegendEntry, join_points
from .labels import NARROW, WIDE, Box, LabelRequest, LetterSize, PlacedLabel, place_labels
from .measure_axis import FRAME, MeasureAxis
from .scales import shape, tint

Coordinates = tuple[float, float]


@dataclass(frozen=True)
class ScatterGroup:
    """The runs of one method; `role` is "own" for the release that a report is about.

    A "reference" is no method: it shows what a value means, and is on no front.
    """

    label: str
    number: int
    role: str = ""

    @property
    def tint(self) -> str:
        """The class with its color."""
        return {"own": "tint-ink", "reference": "tint-soft"}.get(self.role, tint(self.number))

    @property
    def shape(self) -> str:
        """Its marker."""
        return {"own": "star", "reference": "ring"}.get(self.role, shape(self.number))

    @property
    def legend(self) -> LegendEntry:
        """Its entry in the legend."""
        return LegendEntry(self.label, self.tint, self.shape)


@dataclass(frozen=True)
class ScatterRun:
    """A run: its name, its group, and its parameter values as the label beside its mark."""

    name: str
    group: ScatterGroup
    label: str = ""


@dataclass(frozen=True)
class Front:
    """Which runs dominate others in two measures.

    Attributes:
        order: The runs that have both values, by increasing risk; without references.
        dominated: For each run of `order`, the groups with a run that dominates it.
        over_own: The runs that dominate the run of the report.
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
    tooltip: str
    wide: PlacedLabel | None
    narrow: PlacedLabel | None


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
    preferred: tuple[int, int] = (0, 0)

    @property
    def frame(self) -> Frame:
        """The area of the chart."""
        return FRAME

    @property
    def own(self) -> int | None:
        """The run that a report is about, if there is one."""
        return next((i for i, run in enumerate(self.runs) if run.group.role == "own"), None)

    @property
    def first_pair(self) -> tuple[int, int]:
        """The preferred pair of measures, or the first for which a run has both values."""
        pairs = [self.preferred, *self.fronts]
        return next((pair for pair in pairs if self.fronts[pair].order), (0, 0))

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
        runs = enumerate(self.runs)
        return [run.name for i, run in runs if i not in shown and run.group.role != "reference"]

    def draw(self, pair: tuple[int, int]) -> ScatterDrawing:
        """Return the chart of two measures."""
        spots, best = self._spots(pair), self.fronts[pair].best
        wide, narrow = (
            {label.mark: label for label in self._labels(pair, size)} for size in _SIZES
        )
        marks = [
            self._mark(i, pair, i in best, (wide.get(i), narrow.get(i)))
            for i in range(len(self.runs))
        ]
        joins = [
            (self.runs[strand[0]].group.tint, join_points(spots[i] for i in strand if i in spots))
            for strand in self.strands
        ]
        return ScatterDrawing(tuple(marks), tuple(joins), _step([spots[i] for i in best]))

    def _spots(self, pair: tuple[int, int]) -> dict[int, Coordinates]:
        spots = {}
        for i in range(len(self.runs)):
            across, up = self.across[pair[0]].places[i], self.up[pair[1]].places[i]
            if across is not None and up is not None:
                spots[i] = (across.at, up.at)
        return spots

    def _labels(self, pair: tuple[int, int], size: LetterSize) -> tuple[PlacedLabel, ...]:
        spots = self._spots(pair)
        path = _step_boxes([spots[i] for i in self.fronts[pair].best])
        return place_labels(self._requests(pair), spots, FRAME, size, path)

    def _requests(self, pair: tuple[int, int]) -> list[LabelRequest]:
        """Return the labels: special runs, then each strand by name, then the ends of strands."""
        special = [i for i, run in enumerate(self.runs) if run.group.role]
        best = self.fronts[pair].best
        strands = [strand for strand in self.strands if not self.runs[strand[0]].group.role]
        strands.sort(key=lambda strand: not any(i in best for i in strand))
        names, ends = [], []
        for strand in strands:
            order = sorted(strand, key=lambda i: i not in best)
            texts = [(i, self.runs[i].name) for i in order]
            texts += [(i, self.runs[i].group.label) for i in order]
            names.append(LabelRequest(tuple(dict.fromkeys(texts))))
            ends += [
                LabelRequest(((i, self.runs[i].label),))
                for i in dict.fromkeys([*(j for j in order if j in best), strand[0], strand[-1]])
                if self.runs[i].label
            ]
        return [
            *(LabelRequest(((i, self._special_label(i, pair)),)) for i in special),
            *names,
            *ends,
        ]

    def _special_label(self, run: int, pair: tuple[int, int]) -> str:
        """Return the name of a reference or release, with its values if it is beyond an axis."""
        places = (self.across[pair[0]].places[run], self.up[pair[1]].places[run])
        texts = [place.text for place in places if place is not None]
        is_beyond = any(place is not None and place.clamped for place in places)
        name = self.runs[run].name
        return f"{name} (beyond the axis: {', '.join(texts)})" if is_beyond else name

    def _mark(
        self,
        number: int,
        pair: tuple[int, int],
        best: bool,
        labels: tuple[PlacedLabel | None, PlacedLabel | None],
    ) -> ScatterMark:
        run, across = self.runs[number], self.across[pair[0]].places[number]
        up = self.up[pair[1]].places[number]
        if across is None or up is None:
            return ScatterMark(run, False, False, 0.0, 0.0, "", "", None, None)
        left, right = (round(x - across.at, 1) for x in (across.low, across.high))
        low, high = (round(y - up.at, 1) for y in (up.low, up.high))
        reach = f"M{left} 0H{right}M0 {low}V{high}"
        text = self.describe(number, pair)
        return ScatterMark(run, True, best, across.at, up.at, reach, text, *labels)

    @property
    def data(self) -> dict[str, object]:
        """All that the script needs to show any pair of measures, ready for JSON."""
        return {
            "frame": {"right": FRAME.right, "bottom": FRAME.bottom},
            "across": [_axis_data(axis) for axis in self.across],
            "up": [_axis_data(axis) for axis in self.up],
            "runs": [
                {"name": run.name, "group": run.group.number, "role": run.group.role}
                for run in self.runs
            ],
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
            "labels": [
                [
                    [label.mark, label.text, label.x, label.y, label.anchor]
                    for label in self._labels(pair, size)
                ]
                for size in _SIZES
            ],
        }


@dataclass(frozen=True)
class ScatterPanel:
    """A scatter chart of one pair of measures, as a panel of a picture."""

    chart: ScatterChart
    pair: tuple[int, int]
    kind: ClassVar[str] = "scatter"

    @property
    def frame(self) -> Frame:
        """The area of the chart."""
        return self.chart.frame

    @property
    def title(self) -> str:
        """The titles of both measures."""
        return f"{self.x_axis.title} and {self.y_axis.title}"

    @property
    def x_axis(self) -> AxisView:
        """The axis below."""
        return self.chart.across[self.pair[0]].view

    @property
    def y_axis(self) -> AxisView:
        """The axis on the left."""
        return self.chart.up[self.pair[1]].view

    @cached_property
    def drawing(self) -> ScatterDrawing:
        """The marks, and the front."""
        return self.chart.draw(self.pair)

    @property
    def legend(self) -> tuple[LegendEntry, ...]:
        """The groups that have a mark."""
        shown = {mark.run.group.number for mark in self.drawing.marks if mark.shown}
        return tuple(group.legend for group in self.chart.groups if group.number in shown)


_SIZES = (WIDE, NARROW)


def _axis_data(axis: MeasureAxis) -> dict[str, object]:
    places = [place and [place.at, place.low, place.high, place.text] for place in axis.places]
    return {
        "name": axis.name,
        "title": axis.view.title,
        "places": places,
    }


def _step_boxes(places: Sequence[Coordinates]) -> list[Box]:
    """Return the pieces of the path of the Pareto front."""
    if not places:
        return []
    corners = [(places[0][0], float(FRAME.bottom)), places[0]]
    for x, y in places[1:]:
        corners += [(x, corners[-1][1]), (x, y)]
    corners.append((float(FRAME.right), corners[-1][1]))
    return [
        Box(min(a, c) - 1, min(b, d) - 1, max(a, c) + 1, max(b, d) + 1)
        for (a, b), (c, d) in pairwise(corners)
    ]


def _step(places: Sequence[Coordinates]) -> str:
    """Return the path of the Pareto front, from below the first point to the right edge."""
    if not places:
        return ""
    turns = "".join(f"H{x}V{y}" for x, y in places[1:])
    return f"M{places[0][0]} {FRAME.bottom}V{places[0][1]}{turns}H{FRAME.right}"
