"""The frontier of risk and utility: the runs that no other run dominates, drawn and listed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..errors import UsageError
from ..render.charts.chart import LegendEntry, place_legend
from ..render.charts.scatter import ScatterChart, ScatterDrawing
from ..render.html import CHART_STYLES, load_styles, render_template
from .result import Comparison
from .scatter import build_scatter

FRONTIER_STYLES = ("chart.css", "frontier.css")
FRONTIER_SCRIPTS = ("sort.js", "frontier.js")


@dataclass(frozen=True)
class FrontierView:
    """The section of a page: without the script it shows the first two measures.

    Attributes:
        repeated: Whether values are means over repeats.
        best: The runs of the Pareto front in words.
        own: A sentence on the reported release, if there is one.
        missing: The names of runs without both values.
    """

    chart: ScatterChart
    pair: tuple[int, int]
    drawing: ScatterDrawing
    legend: tuple[LegendEntry, ...]
    repeated: bool
    best: tuple[str, ...]
    own: str
    missing: str


def frontier_view(comparison: Comparison) -> FrontierView | None:
    """Return the section of a comparison, or None if it lacks a risk or a utility."""
    chart = build_scatter(comparison)
    if chart is None:
        return None
    pair = chart.first_pair
    return FrontierView(
        chart=chart,
        pair=pair,
        drawing=chart.draw(pair),
        legend=tuple(group.legend for group in chart.groups),
        repeated=comparison.options.repeats > 1,
        best=tuple(chart.describe(i, pair) for i in chart.fronts[pair].best),
        own=_describe_own(chart, pair),
        missing="; ".join(chart.missing(pair)),
    )


def _describe_own(chart: ScatterChart, pair: tuple[int, int]) -> str:
    """Return a sentence on the runs that dominate this release, if the report is on one."""
    front = chart.fronts[pair]
    if chart.own is None or chart.own not in front.order:
        return ""
    better = [chart.runs[i].name for i in front.best if i in front.over_own]
    if not better:
        return "No other run dominates this release."
    return f"This release is dominated by {'; '.join(better)}."


_MARGIN, _ROW, _MAX_NAME = 20, 24, 36  # of the picture; longest name for two columns


def frontier_svg(
    comparison: Comparison,
    x_measure: str,
    y_measure: str,
    labels: Mapping[str, str] | None = None,
) -> str:
    """Render two measures of a comparison as the text of an .svg file.

    `labels` are names for method specs; without them, parameters common to all are left out.
    """
    chart = build_scatter(comparison, labels)
    pair = _find_pair(chart, x_measure, y_measure)
    if chart is None or pair is None:
        raise UsageError(
            f'"{x_measure}" and "{y_measure}" are no risk and no utility of this comparison',
            hint="comparison.json has the names of the measures",
        )
    x, y, frame = chart.across[pair[0]], chart.up[pair[1]], chart.frame
    shown = dict.fromkeys(chart.runs[i].group for i in sorted(chart.fronts[pair].order))
    is_long = any(len(group.label) > _MAX_NAME for group in shown)
    legend = place_legend(
        (group.legend for group in shown),
        left=frame.left,
        top=frame.height + 24,
        width=frame.right - frame.left,
        columns=1 if is_long else 2,
        row_height=_ROW,
    )
    return render_template(
        "frontier.svg.j2",
        style=load_styles(CHART_STYLES),
        title=f"{x.view.title} and {y.view.title}",
        width=frame.width + _MARGIN,
        height=frame.height + legend.height + 40,
        chart=chart,
        x=x,
        y=y,
        drawing=chart.draw(pair),
        legend=legend,
    )


def _find_pair(chart: ScatterChart | None, x: str, y: str) -> tuple[int, int] | None:
    if chart is None:
        return None
    pairs = (
        pair
        for pair in chart.fronts
        if (chart.across[pair[0]].name, chart.up[pair[1]].name) == (x, y)
    )
    return next(pairs, None)
