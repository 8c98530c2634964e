"""Risk against use as a picture that stands alone: an .svg file with its own key and colours."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from ..comparison.scatter import STYLE, ScatterChart, build_scatter, draw_marker, draw_scatter
from ..errors import UsageError
from ..render.charts.line import STYLE as CHART
from ..render.html import COLOURS as SHEET
from .scales import HEIGHT, LEFT, RIGHT, WIDTH, MeasureAxis

__all__ = ["frontier_svg"]

_ALONE = ".chart { margin: 0; max-width: none; }"
_ROW, _LONG = 24, 36  # height of a row of the key; a name too long for half a row


def frontier_svg(
    found: Mapping[str, Any],
    x_measure: str,
    y_measure: str,
    labels: Mapping[str, str] | None = None,
) -> str:
    """Draw two measures of a comparison as the text of an .svg file.

    `labels` are names for the lines of methods; without, what all have in common is left out.
    """
    scatter = build_scatter(found, labels)
    x = next((one for one in (scatter.across if scatter else ()) if one.line == x_measure), None)
    y = next((one for one in (scatter.up if scatter else ()) if one.line == y_measure), None)
    if scatter is None or x is None or y is None:
        raise UsageError(
            f'"{x_measure}" and "{y_measure}" are no risk and no use of this comparison',
            hint="see the measures of comparison.json",
        )
    key, rows = _picture_key(scatter, x, y)
    height = HEIGHT + _ROW * rows + 40
    title = escape(f"{x.title} against {y.title}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="chart scatter" '
        f'viewBox="-12 -10 {WIDTH + 20} {height}" role="img" aria-label="{title}">'
        f"<title>{title}</title><style>{SHEET}{CHART}{STYLE}{_ALONE}</style>"
        f'<rect x="-12" y="-10" width="{WIDTH + 20}" height="{height}" rx="8" fill="var(--card)"/>'
        f"{draw_scatter(scatter, x, y, x.drawn() + y.drawn())}{key}</svg>\n"
    )


def _picture_key(scatter: ScatterChart, x: MeasureAxis, y: MeasureAxis) -> tuple[str, int]:
    """Write the key below the picture, in two columns if the names are short."""
    short = {run.label: run.short for run in scatter.runs if scatter.has(run, x, y)}
    columns = 1 if any(len(name) > _LONG for name in short.values()) else 2
    width, top = (RIGHT - LEFT) / columns, HEIGHT + 14
    entries = [
        _picture_entry(
            scatter, label, name, LEFT + width * (i % columns), top + _ROW * (i // columns)
        )
        for i, (label, name) in enumerate(short.items())
    ]
    return "".join(entries), -(-len(entries) // columns)


def _picture_entry(scatter: ScatterChart, label: str, name: str, x: float, y: float) -> str:
    return (
        f'<g style="--c:{scatter.tint(label)}">{draw_marker(scatter, label, x + 6, y + 10)}'
        f'<text x="{x + 18}" y="{y + 14.5}">{escape(name)}</text></g>'
    )
