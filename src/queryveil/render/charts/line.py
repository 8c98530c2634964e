"""A line chart as SVG inside a page: no library, no script, in the page's own colours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from .scales import PALETTE, Axis, color, dash, make_axis, marker, nice_ticks

WIDTH, HEIGHT = 640, 400
_FAINT = ("2 3", "9 3", "9 3 2 3", "1 6")
_LEFT, _RIGHT, _TOP, _BOTTOM = 62, 620, 44, 340

# On a phone the drawing shrinks, so its letters grow.
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
    """A value with its least and greatest over repeats; `x` is nothing for a level line."""

    x: float | None
    value: float
    low: float
    high: float
    tooltip: str


@dataclass(frozen=True)
class ChartLine:
    """A labelled line: points from left to right, or a single one for all x.

    A faint one is what others are read against; it has no marks.
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
    """Draw lines and a key to them. With `names`, x counts them from 0."""
    if not any(line.points for line in lines):
        return '<p class="soft">There is nothing to draw.</p>'
    inside = draw_lines(lines, x_title=x_title, y_title=y_title, scale=scale, names=names)
    return (
        f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{escape(title)}">{inside}</svg>{_key(lines)}'
    )


def draw_lines(
    lines: Sequence[ChartLine],
    *,
    x_title: str,
    y_title: str,
    scale: str = "linear",
    names: Sequence[str] = (),
) -> str:
    """Draw lines, at least one of them with a point, without the frame and the key of a page."""
    points = [point for line in lines for point in line.points]
    frame = _Frame(_across(points, scale, names), _up(points))
    drawn = "".join(_line(line, number, frame) for number, line in enumerate(lines))
    return _scales(frame, x_title, y_title) + drawn


def _across(points: Sequence[ChartPoint], scale: str, names: Sequence[str]) -> Axis:
    if names:
        return Axis(-0.4, len(names) - 0.6, tuple(enumerate(names)))
    return make_axis([p.x for p in points if p.x is not None] or [0.0], scale)


def _up(points: Sequence[ChartPoint]) -> Axis:
    low, high = min(p.low for p in points), max(p.high for p in points)
    ticks = nice_ticks(min(low, 0.0), high)
    return Axis(ticks[0], ticks[-1], tuple((value, f"{value:g}") for value in ticks))


def _scales(frame: _Frame, x_title: str, y_title: str) -> str:
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


def _line(line: ChartLine, number: int, frame: _Frame) -> str:
    if not line.points:
        return ""
    if line.points[0].x is None:
        body = _level(line, number, frame)
    else:
        body = _band(line.points, frame) + _path(line, number, frame)
        body += "".join(_mark(point, number, frame) for point in line.points if not line.faint)
    return f"<g {_tint(line, number)}>{body}</g>"


def _tint(line: ChartLine, number: int) -> str:
    return 'class="faint"' if line.faint else f'style="--c:{color(number)}"'


def _dashes(line: ChartLine, number: int) -> str:
    """Tell lines apart that have no colour: those to read others against, and level ones."""
    level = bool(line.points) and line.points[0].x is None
    if line.faint:
        return f' stroke-dasharray="{_FAINT[number % len(_FAINT)]}"'
    return ' stroke-dasharray="7 4"' if level else dash(number)


def _level(line: ChartLine, number: int, frame: _Frame) -> str:
    point = line.points[0]
    y, low, high = frame.y(point.value), frame.y(point.low), frame.y(point.high)
    return (
        f'<rect class="band" x="{_LEFT}" y="{high}" width="{_RIGHT - _LEFT}" '
        f'height="{round(low - high, 1)}"/><line class="path" x1="{_LEFT}" x2="{_RIGHT}" '
        f'y1="{y}" y2="{y}"{_dashes(line, number)}><title>{escape(point.tooltip)}</title></line>'
    )


def _band(points: Sequence[ChartPoint], frame: _Frame) -> str:
    """Show what repeats gave: a band along the line, or a stroke at a single point."""
    if all(point.low == point.high for point in points):
        return ""
    places = [(frame.x(p.x or 0.0), frame.y(p.low), frame.y(p.high)) for p in points]
    if len(places) == 1:
        x, low, high = places[0]
        return f'<line class="reach" x1="{x}" x2="{x}" y1="{low}" y2="{high}"/>'
    there, back = [(x, low) for x, low, _ in places], [(x, high) for x, _, high in places]
    corners = " ".join(f"{x},{y}" for x, y in there + back[::-1])
    return f'<polygon class="band" points="{corners}"/>'


def _path(line: ChartLine, number: int, frame: _Frame) -> str:
    places = " ".join(f"{frame.x(p.x or 0.0)},{frame.y(p.value)}" for p in line.points)
    return f'<polyline class="path" points="{places}"{_dashes(line, number)}/>'


def _mark(point: ChartPoint, number: int, frame: _Frame) -> str:
    drawn = marker(number, frame.x(point.x or 0.0), frame.y(point.value))
    return f"<g>{drawn}<title>{escape(point.tooltip)}</title></g>"


def _key(lines: Sequence[ChartLine]) -> str:
    """List the lines from top to bottom as they end on the right."""
    order = sorted(range(len(lines)), key=lambda i: -_last(lines[i]))
    return f'<ul class="key">{"".join(_entry(lines[i], i) for i in order)}</ul>'


def _entry(line: ChartLine, number: int) -> str:
    level = bool(line.points) and line.points[0].x is None
    dashes = _dashes(line, number)
    mark = "" if level or line.faint else marker(number, 17, 7)
    return (
        f'<li {_tint(line, number)}><svg viewBox="0 0 34 14" aria-hidden="true">'
        f'<line class="path" x1="0" x2="34" y1="7" y2="7"{dashes}/>{mark}</svg>'
        f"{escape(line.label)}</li>"
    )


def _last(line: ChartLine) -> float:
    return line.points[-1].value if line.points else 0.0
