"""The frontier of risk and utility: the runs that no other run dominates, drawn and listed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..errors import UsageError, did_you_mean
from ..render.charts.chart import LegendEntry
from ..render.charts.measure_axis import MeasureAxis
from ..render.charts.picture import Chart
from ..render.charts.scatter import ScatterChart, ScatterDrawing, ScatterPanel
from ..render.html import CHART_STYLES
from .result import Comparison
from .scatter import build_scatter

FRONTIER_STYLES = (*CHART_STYLES, "frontier.css")
FRONTIER_SCRIPTS = ("sort.js", "charts.js", "frontier.js")


@dataclass(frozen=True)
class FrontierView:
    """The section of a page: without the script it shows the first two measures.

    Attributes:
        repeated: Whether values are means over repeats.
        references: Whether the chart has references.
        verdict: A sentence on the Pareto front.
        best: The runs of the Pareto front in words.
        own: A sentence on the reported release, if there is one.
        missing: The names of runs without both values.
    """

    chart: ScatterChart
    pair: tuple[int, int]
    drawing: ScatterDrawing
    legend: tuple[LegendEntry, ...]
    repeated: bool
    references: bool
    verdict: str
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
        references=bool(comparison.references),
        verdict=describe_front(chart, pair),
        best=tuple(chart.describe(i, pair) for i in chart.fronts[pair].best),
        own=_describe_own(chart, pair),
        missing="; ".join(chart.missing(pair)),
    )


def describe_front(chart: ScatterChart, pair: tuple[int, int]) -> str:
    """Return a sentence that introduces the runs that no other run beats."""
    front, x, y = chart.fronts[pair], chart.across[pair[0]].view, chart.up[pair[1]].view
    count, runs = len(front.best), len(front.order)
    these = "this one" if count == 1 else f"these {count}"
    order = ", from the lowest risk to the highest utility" if count > 1 else ""
    noun = "run" if runs == 1 else "runs"
    return f"For {x.title} against {y.title}, no other run beats {these} of {runs} {noun}{order}:"


def _describe_own(chart: ScatterChart, pair: tuple[int, int]) -> str:
    """Return a sentence on the runs that beat this release, if the report is on one."""
    front = chart.fronts[pair]
    if chart.own is None or chart.own not in front.order:
        return ""
    better = [chart.runs[i].name for i in front.best if i in front.over_own]
    if not better:
        return "No other run beats this release."
    return f"This release is beaten by {'; '.join(better)}."


def frontier_svg(
    comparison: Comparison,
    x_measure: str | None = None,
    y_measure: str | None = None,
    labels: Mapping[str, str] | None = None,
) -> str:
    """Render a risk and a utility of a comparison as the text of an .svg file.

    Without measures it shows those that the page shows first. `labels` are names for method specs;
    without them, parameters common to all are left out.
    """
    return frontier_chart(comparison, x_measure, y_measure, labels).svg


def frontier_chart(
    comparison: Comparison,
    x: str | None = None,
    y: str | None = None,
    labels: Mapping[str, str] | None = None,
) -> Chart:
    """Return the chart of a risk and a utility; by default those that the page shows first.

    Raises:
        UsageError: The comparison has no such risk or utility.
    """
    chart = build_scatter(comparison, labels)
    if chart is None:
        raise UsageError(
            "this comparison has no risk and utility to draw",
            hint="name at least one measure of each kind in `measures`; `plot_lines` draws one "
            "measure",
        )
    first = chart.first_pair
    pair = (
        first[0] if x is None else _find_axis("risk", x, chart.across),
        first[1] if y is None else _find_axis("utility", y, chart.up),
    )
    panel = ScatterPanel(chart, pair)
    return Chart(panel.title, (panel,))


def _find_axis(kind: str, name: str, axes: Sequence[MeasureAxis]) -> int:
    names = [axis.name for axis in axes]
    if name not in names:
        raise UsageError(
            f'this comparison has no {kind} measure "{name}"', hint=did_you_mean(name, names)
        )
    return names.index(name)
