"""Simulated peers as a picture that stands alone: an .svg file of four charts and one key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from ..comparison.series import chart_lines
from ..peers.report import CHARTS, chart_title, settings_series
from ..render.charts.line import HEIGHT, STYLE, WIDTH, ChartLine, draw_lines
from ..render.html import COLOURS
from .marks import color, dash, marker

__all__ = ["sweep_svg"]

_GAP, _HEAD, _ROW, _PICTURE_COLUMNS = 40, 40, 26, 4
_ALONE = """
.chart { margin: 0; max-width: none; } .chart .head { fill: var(--ink); font-weight: 600;
  font-size: 16px; }
"""


def sweep_svg(found: Mapping[str, Any]) -> str:
    """Draw what a sweep found as the text of an .svg file; where nothing was swept it is empty."""
    panels = [_panel(found, *one, place) for place, one in enumerate(CHARTS)]
    key, rows = _key(_lines(found, CHARTS[-1][0]))
    width = 2 * WIDTH + 3 * _GAP
    height = 2 * (HEIGHT + _HEAD) + _GAP + _ROW * rows + _GAP
    title = "Exposure, guesses and hops over the settings of the protocol"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" viewBox="0 0 {width} {height}" '
        f'role="img" aria-label="{title}"><title>{title}</title>'
        f"<style>{COLOURS}{STYLE}{_ALONE}</style>"
        f'<rect width="{width}" height="{height}" rx="8" fill="var(--card)"/>'
        f"{''.join(panels)}{key}</svg>\n"
    )


def _lines(found: Mapping[str, Any], figure: str) -> list[ChartLine]:
    return chart_lines(series, "auto")[0] if (series := settings_series(found, figure)) else []


def _panel(found: Mapping[str, Any], figure: str, title: str, unit: str, place: int) -> str:
    series = settings_series(found, figure)
    if not series:
        return ""
    lines, scale, names = chart_lines(series, "auto")
    x = next(iter(found["swept"]))
    left = _GAP + place % 2 * (WIDTH + _GAP)
    top = _GAP + place // 2 * (HEIGHT + _HEAD)
    head = escape(chart_title(found, figure, title))
    inside = draw_lines(lines, x_title=x, y_title=unit, scale=scale, names=names)
    return (
        f'<g transform="translate({left} {top})"><text class="head" y="-4">{head}</text>'
        f'<g transform="translate(0 8)">{inside}</g></g>'
    )


def _key(lines: Sequence[ChartLine]) -> tuple[str, int]:
    """Write the key below the charts, in rows of a few."""
    step, top = (2 * WIDTH + _GAP) / _PICTURE_COLUMNS, 2 * (HEIGHT + _HEAD) + _GAP + 12
    entries = []
    for number, line in enumerate(lines):
        x, y = _GAP + step * (number % _PICTURE_COLUMNS), top + _ROW * (number // _PICTURE_COLUMNS)
        entries.append(
            f'<g style="--c:{color(number)}"><line class="path" x1="{x}" x2="{x + 34}" y1="{y}" '
            f'y2="{y}"{dash(number)}/>{marker(number, x + 17, y)}'
            f'<text x="{x + 42}" y="{y + 4.5}">{escape(line.label)}</text></g>'
        )
    return "".join(entries), -(-len(entries) // _PICTURE_COLUMNS)
