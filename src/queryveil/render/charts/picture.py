"""`Chart`: charts as one picture, for notebooks, files and the docs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ...core.extras import import_extra
from ...core.files import atomic_file
from ...errors import UsageError
from ..html import render_page, render_template
from .bars import BarChart
from .chart import LegendEntry, PlacedLegend, place_legend
from .line import LineChart
from .scatter import ScatterPanel
from .style import picture_style

Panel = LineChart | ScatterPanel | BarChart
_MARGIN, _HEAD, _GAP = 16, 34, 22


@dataclass(frozen=True)
class PlacedPanel:
    """A panel with its coordinates."""

    panel: Panel
    x: float
    y: float


@dataclass(frozen=True)
class Drawing:
    """A picture as it is drawn."""

    title: str
    width: float
    height: float
    panels: tuple[PlacedPanel, ...]
    has_heads: bool
    legend: PlacedLegend


@dataclass(frozen=True, repr=False)
class Chart:
    """One or several charts with one legend, as a picture.

    A notebook shows it. It has colors for light and for dark screens, and fetches nothing.

    Attributes:
        title: What the picture shows, for readers who cannot see it.
        panels: The charts, from left to right and from the top.
        columns: How many charts stand side by side.
        private: Whether it shows figures of private data: only its owner can read a saved file.
    """

    title: str
    panels: tuple[Panel, ...]
    columns: int = 1
    private: bool = True

    def __repr__(self) -> str:
        return f"Chart({self.title!r})"

    @property
    def svg(self) -> str:
        """The picture as the text of an .svg file."""
        return render_template("picture.svg.j2", style=picture_style(), drawing=self._draw())

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | Path) -> Path:
        """Write the picture as .svg, as a page (.html), or as .png.

        Raises:
            UsageError: The ending is another one, or no converter for .png is installed.
        """
        target = Path(path)
        writers = {".svg": self._to_svg, ".html": self._to_html, ".png": self._to_png}
        if target.suffix.lower() not in writers:
            raise UsageError(
                f'a chart cannot be saved as "{target.name}"',
                hint=f"use one of the endings {', '.join(writers)}",
            )
        content = writers[target.suffix.lower()]()
        with atomic_file(target, private=self.private) as part:
            part.write_bytes(content)
        return target

    def _to_svg(self) -> bytes:
        return self.svg.encode()

    def _to_html(self) -> bytes:
        page = render_page(
            "chart.html.j2",
            styles=("chart.css", "legend.css"),
            scripts=("charts.js",),
            title=self.title,
            drawing=self._draw(),
        )
        return page.encode()

    def _to_png(self) -> bytes:
        converter = import_extra("resvg_py", "a .png file", of="png")
        return bytes(converter.svg_to_bytes(svg_string=self.svg, zoom=2))

    def _draw(self) -> Drawing:
        has_heads = len(self.panels) > 1 or any(panel.kind == "bars" for panel in self.panels)
        head = _HEAD if has_heads else 0
        columns = min(self.columns, len(self.panels)) or 1
        step_x = max((panel.frame.width for panel in self.panels), default=0) + _GAP
        rows = [self.panels[i : i + columns] for i in range(0, len(self.panels), columns)]
        placed, top = [], float(_MARGIN)
        for row in rows:
            placed += [
                PlacedPanel(panel, _MARGIN + i * step_x, top + head) for i, panel in enumerate(row)
            ]
            top += head + max(panel.frame.height for panel in row) + _GAP
        width = 2 * _MARGIN + columns * step_x - _GAP
        legend = place_legend(
            merge_legends(self.panels), left=_MARGIN + 4, top=top, width=width - 2 * _MARGIN
        )
        height = top + legend.height - (0 if legend.entries else _GAP)
        return Drawing(self.title, width, height + 4, tuple(placed), has_heads, legend)


def merge_legends(panels: Sequence[Panel]) -> list[LegendEntry]:
    """Return the entries of all legends, each label once."""
    entries: dict[str, LegendEntry] = {}
    for panel in panels:
        for entry in panel.legend:
            entries.setdefault(entry.label, entry)
    return list(entries.values())
