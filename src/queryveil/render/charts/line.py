"""A line chart as SVG inside a page: no library, no script, in the page's own colors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from .scales import PALETTE, Axis, color, dash, make_axis, marker, nice_ticks

WIDTH, HEIGHT = 640, 400
_FAINT = ("2 3", "9 3", "9 3 2 3", "1 6")
_LEFT, _RIGHT, _TOP, _BOTTOM = 62, 620, 44, 340

# On a phone the drawing is scaled down, so its font size is larger there.
STYLE = (
    PALETTE
    + """
.chart { display: block; width: 100%; max-width: 46rem; height: auto; margin: .8rem 0; }
.chart text { fill: var(--soft); font: 13px system-ui, sans-serif; }
.chart .grid { stroke: var(--line); } .chart .axis { stroke: var(--soft); }
.chart .path { fill: none; stroke: var(--c); stroke-width: 2.2; stroke-linejoin: round; }
.faint { --c: var(--soft); }
.chart .faint .path, .key .faint .path { stroke-width: 1.4; }
.chart .band { fill: var(--c); opacity: .13; }
.chart .reach { stroke: var(--c); stroke-width: 1.4; opacity: .6; }
.chart .mark, .key .mark { fill: var(--c); stroke: var(--card); stroke-width: 1; }
.key { list-style: none; padding: 0; margin: .6rem 0; display: flex; flex-wrap: wrap;
  gap: .2rem 1.2rem; font-size: .9rem; }
.key li { display: flex; align-items: center; gap: .45rem; overflow-wrap: anywhere; }
.key svg { flex: none; width: 34px; height: 14px; }
.key .path { stroke: var(--c); stroke-width: 2.2; }
@media (max-width: 34rem) { .chart text { font-size: 21px; } }
"""
)


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

    A faint line is a baseline for the others; it has no markers.
    """

    label: str
    points: tuple[ChartPoint, ...]
    faint: bool = False


@dataclass(frozen=True)
class _Frame:
    across: Axis
    up: Axis

    def x(self, value: float) -> float:
        return round(_LEFT + self.across.place(value) * (_RIGHT - _LEFT), 1)

    def y(self, value: float) -> float:
        return round(_BOTTOM - self.up.place(value) * (_BOTTOM - _TOP), 1)


def line_chart(
    lines: Sequence[ChartLine],
    *,
    title: str,
    x_title: str,
    y_title: str,
    scale: str = "linear",
    names: Sequence[str] = (),
) -> str:
    """Return a chart with its legend; with `names`, x is an index into them."""
    if not any(line.points for line in lines):
        return '<p class="soft">There is nothing to draw.</p>'
    drawing = draw_lines(lines, x_title=x_title, y_title=y_title, scale=scale, names=names)
    return (
        f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{escape(title)}">{drawing}</svg>{_draw_legend(lines)}'
    )


def draw_lines(
    lines: Sequence[ChartLine],
    *,
    x_title: str,
    y_title: str,
    scale: str = "linear",
    names: Sequence[str] = (),
) -> str:
    """Return axes and lines, at least one of them with a point, without `svg` tag and legend."""
    points = [point for line in lines for point in line.points]
    frame = _Frame(_make_x_axis(points, scale, names), _make_y_axis(points))
    drawn = "".join(_draw_line(line, number, frame) for number, line in enumerate(lines))
    return _draw_axes(frame, x_title, y_title) + drawn


def _make_x_axis(points: Sequence[ChartPoint], scale: str, names: Sequence[str]) -> Axis:
    if names:
        return Axis(-0.4, len(names) - 0.6, tuple(enumerate(names)))
    return make_axis([p.x for p in points if p.x is not None] or [0.0], scale)


def _make_y_axis(points: Sequence[ChartPoint]) -> Axis:
    low, high = min(p.low for p in points), max(p.high for p in points)
    ticks = nice_ticks(min(low, 0.0), high)
    return Axis(ticks[0], ticks[-1], tuple((value, f"{value:g}") for value in ticks))


def _draw_axes(frame: _Frame, x_title: str, y_title: str) -> str:
    rows = "".join(
        f'<line class="grid" x1="{_LEFT}" x2="{_RIGHT}" y1="{frame.y(v)}" y2="{frame.y(v)}"/>'
        f'<text x="{_LEFT - 8}" y="{frame.y(v)}" dy=".35em" text-anchor="end">{escape(text)}</text>'
        for v, text in frame.up.ticks
    )
    columns = "".join(
        f'<line class="axis" x1="{frame.x(v)}" x2="{frame.x(v)}" y1="{_BOTTOM}" '
        f'y2="{_BOTTOM + 5}"/><text x="{frame.x(v)}" y="{_BOTTOM + 24}" '
        f'text-anchor="middle">{escape(text)}</text>'
        for v, text in frame.across.ticks
    )
    return (
        f'{rows}<line class="axis" x1="{_LEFT}" x2="{_RIGHT}" y1="{_BOTTOM}" y2="{_BOTTOM}"/>'
        f'{columns}<text x="0" y="18">{escape(y_title)}</text>'
        f'<text x="{_RIGHT}" y="{HEIGHT - 8}" text-anchor="end">{escape(x_title)}</text>'
    )


def _draw_line(line: ChartLine, number: int, frame: _Frame) -> str:
    if not line.points:
        return ""
    if _is_level(line):
        body = _draw_level(line, number, frame)
    else:
        body = _draw_band(line.points, frame) + _draw_path(line, number, frame)
        if not line.faint:
            body += "".join(_draw_marker(point, number, frame) for point in line.points)
    return f"<g {_color_attribute(line, number)}>{body}</g>"


def _is_level(line: ChartLine) -> bool:
    """Return whether a line is horizontal: one value for all x."""
    return bool(line.points) and line.points[0].x is None


def _color_attribute(line: ChartLine, number: int) -> str:
    return 'class="faint"' if line.faint else f'style="--c:{color(number)}"'


def _dash_attribute(line: ChartLine, number: int) -> str:
    """Return the dashes of a line; faint and horizontal lines differ by them, not by markers."""
    if line.faint:
        return f' stroke-dasharray="{_FAINT[number % len(_FAINT)]}"'
    return ' stroke-dasharray="7 4"' if _is_level(line) else dash(number)


def _draw_level(line: ChartLine, number: int, frame: _Frame) -> str:
    point = line.points[0]
    y, low, high = frame.y(point.value), frame.y(point.low), frame.y(point.high)
    dashes = _dash_attribute(line, number)
    return (
        f'<rect class="band" x="{_LEFT}" y="{high}" width="{_RIGHT - _LEFT}" '
        f'height="{round(low - high, 1)}"/><line class="path" x1="{_LEFT}" x2="{_RIGHT}" '
        f'y1="{y}" y2="{y}"{dashes}><title>{escape(point.tooltip)}</title></line>'
    )


def _draw_band(points: Sequence[ChartPoint], frame: _Frame) -> str:
    """Return the range over repeats: a band along the line, or a stroke at a single point."""
    if all(point.low == point.high for point in points):
        return ""
    ranges = [(frame.x(p.x or 0.0), frame.y(p.low), frame.y(p.high)) for p in points]
    if len(ranges) == 1:
        x, low, high = ranges[0]
        return f'<line class="reach" x1="{x}" x2="{x}" y1="{low}" y2="{high}"/>'
    lower, upper = [(x, low) for x, low, _ in ranges], [(x, high) for x, _, high in ranges]
    corners = " ".join(f"{x},{y}" for x, y in lower + upper[::-1])
    return f'<polygon class="band" points="{corners}"/>'


def _draw_path(line: ChartLine, number: int, frame: _Frame) -> str:
    corners = " ".join(f"{frame.x(p.x or 0.0)},{frame.y(p.value)}" for p in line.points)
    return f'<polyline class="path" points="{corners}"{_dash_attribute(line, number)}/>'


def _draw_marker(point: ChartPoint, number: int, frame: _Frame) -> str:
    drawn = marker(number, frame.x(point.x or 0.0), frame.y(point.value))
    return f"<g>{drawn}<title>{escape(point.tooltip)}</title></g>"


def _draw_legend(lines: Sequence[ChartLine]) -> str:
    """Return the legend; its lines are in the order of their right ends, from top to bottom."""
    order = sorted(range(len(lines)), key=lambda i: -_last_value(lines[i]))
    return f'<ul class="key">{"".join(_draw_legend_entry(lines[i], i) for i in order)}</ul>'


def _draw_legend_entry(line: ChartLine, number: int) -> str:
    dashes = _dash_attribute(line, number)
    mark = "" if _is_level(line) or line.faint else marker(number, 17, 7)
    return (
        f'<li {_color_attribute(line, number)}><svg viewBox="0 0 34 14" aria-hidden="true">'
        f'<line class="path" x1="0" x2="34" y1="7" y2="7"{dashes}/>{mark}</svg>'
        f"{escape(line.label)}</li>"
    )


def _last_value(line: ChartLine) -> float:
    return line.points[-1].value if line.points else 0.0
