"""A line chart as plain values: a template draws it as SVG, in the page's own colors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from .chart import (
    WIDTH,
    AxisView,
    Frame,
    LegendEntry,
    join_points,
    make_frame,
    view_x_axis,
    view_y_axis,
)
from .scales import Axis, dash, make_axis, make_value_axis, shape, tint

_FAINT = ("2 3", "9 3", "9 3 2 3", "1 6")
_LEVEL = "7 4"


@dataclass(frozen=True)
class ChartPoint:
    """A value with its minimum and maximum over repeats; `x` is None for a horizontal line."""

    x: float | None
    value: float
    low: float
    high: float
    tooltip: str


@dataclass(frozen=True)
class ChartLine:
    """A labeled line: points from left to right, or a single point for all x.

    A faint line is a baseline for the others; it has no markers. Lines of the same number look
    the same; by default they are numbered in their order.
    """

    label: str
    points: tuple[ChartPoint, ...]
    faint: bool = False
    number: int | None = None

    @property
    def is_level(self) -> bool:
        """Whether the line is horizontal: one value for all x."""
        return bool(self.points) and self.points[0].x is None

    @property
    def has_markers(self) -> bool:
        """Whether its points are marked."""
        return not self.is_level and not self.faint


@dataclass(frozen=True)
class PlacedMark:
    """The marker of a point."""

    shape: str
    x: float
    y: float
    tooltip: str


@dataclass(frozen=True)
class PlacedLine:
    """A line with its coordinates; `band` is the range over repeats, `reach` that of one point."""

    tint: str
    faint: bool
    dashes: str
    path: str
    tooltip: str
    band: str
    reach: tuple[float, float, float] | None
    marks: tuple[PlacedMark, ...]


@dataclass(frozen=True)
class LineChart:
    """A chart as it is drawn; the legend is in the order of the right ends, from the top."""

    title: str
    frame: Frame
    x_axis: AxisView
    y_axis: AxisView
    lines: tuple[PlacedLine, ...]
    legend: tuple[LegendEntry, ...]
    kind: ClassVar[str] = "lines"


def line_chart(
    lines: Sequence[ChartLine],
    *,
    title: str,
    x_title: str,
    y_title: str,
    scale: str = "linear",
    names: Sequence[str] = (),
    width: int = WIDTH,
) -> LineChart | None:
    """Return a chart, or None without any point; with `names`, x is an index into them."""
    points = [point for line in lines for point in line.points]
    if not points:
        return None
    height = 296 * width // WIDTH if width < WIDTH else 296
    frame, x_axis = make_frame(height, width=width), _make_x_axis(points, scale, names)
    y_axis = make_value_axis(min(0.0, *(p.low for p in points)), max(p.high for p in points))
    placed = [
        _place_line(line, _number(line, i), frame, x_axis, y_axis)
        for i, line in enumerate(lines)
        if line.points
    ]
    return LineChart(
        title,
        frame,
        view_x_axis(frame, x_axis, x_title),
        view_y_axis(frame, y_axis, y_title),
        tuple(placed),
        tuple(make_legend(lines)),
    )


def make_legend(lines: Sequence[ChartLine]) -> list[LegendEntry]:
    """Return the legend of lines, in the order of their right ends from the top."""
    order = sorted(range(len(lines)), key=lambda i: -_last_value(lines[i]))
    return [_legend_entry(lines[i], _number(lines[i], i)) for i in order]


def _number(line: ChartLine, index: int) -> int:
    return index if line.number is None else line.number


def _make_x_axis(points: Sequence[ChartPoint], scale: str, names: Sequence[str]) -> Axis:
    if names:
        return Axis(-0.4, len(names) - 0.6, tuple(enumerate(names)))
    return make_axis([p.x for p in points if p.x is not None] or [0.0], scale)


def _tint(line: ChartLine, number: int) -> str:
    return "tint-soft" if line.faint else tint(number)


def _dashes(line: ChartLine, number: int) -> str:
    """Return the dashes of a line; faint and horizontal lines differ by them, not by markers."""
    if line.faint:
        return _FAINT[number % len(_FAINT)]
    return _LEVEL if line.is_level else dash(number)


def _place_line(
    line: ChartLine, number: int, frame: Frame, x_axis: Axis, y_axis: Axis
) -> PlacedLine:
    if line.is_level:
        spots = [(float(x), line.points[0]) for x in (frame.left, frame.right)]
    else:
        spots = [(frame.x(x_axis, point.x or 0.0), point) for point in line.points]
    marks = [
        PlacedMark(shape(number), x, frame.y(y_axis, point.value), point.tooltip)
        for x, point in spots
    ]
    lower = [(x, frame.y(y_axis, point.low)) for x, point in spots]
    upper = [(x, frame.y(y_axis, point.high)) for x, point in spots]
    varies = any(point.low != point.high for point in line.points)
    is_band = varies and len(spots) > 1
    return PlacedLine(
        tint=_tint(line, number),
        faint=line.faint,
        dashes=_dashes(line, number),
        path=join_points((mark.x, mark.y) for mark in marks),
        tooltip=line.points[0].tooltip if line.is_level else "",
        band=join_points(lower + upper[::-1]) if is_band else "",
        reach=(*lower[0], upper[0][1]) if varies and not is_band else None,
        marks=tuple(marks) if line.has_markers else (),
    )


def _legend_entry(line: ChartLine, number: int) -> LegendEntry:
    marker = shape(number) if line.has_markers else ""
    return LegendEntry(line.label, _tint(line, number), marker, True, _dashes(line, number))


def _last_value(line: ChartLine) -> float:
    return line.points[-1].value if line.points else 0.0
