"""Charts of a comparison for notebooks and files."""

from __future__ import annotations

from dataclasses import replace

from ..errors import UsageError, did_you_mean
from ..render.charts.picture import Chart
from .page import draw_figure
from .result import Comparison, Figure


def lines_chart(comparison: Comparison, measure: str | None = None, x: str | None = None) -> Chart:
    """Return a chart of a measure over a swept parameter, or as bars if nothing was swept.

    Raises:
        UsageError: The comparison has no such measure, parameter or value.
    """
    figure = _find_figure(comparison, measure)
    if x is not None:
        figure = _over(figure, _find_parameter(comparison, x), comparison)
    charts = [part.chart for part in draw_figure(figure, comparison)]
    panels = tuple(chart for chart in charts if chart is not None)
    if not panels:
        raise UsageError(f"{figure.measure} has no value for any run")
    return Chart(comparison.measures[figure.measure].title, panels)


def _over(figure: Figure, x: str, comparison: Comparison) -> Figure:
    """Return the figure over one parameter, without the methods that have only others."""
    params = {(row.label, row.method): row.params for row in comparison.rows}
    runs = tuple(run for run in figure.runs if x in params.get(run, ()) or not params.get(run))
    return replace(figure, x=x, scale="auto", runs=runs)


def _find_figure(comparison: Comparison, measure: str | None) -> Figure:
    figures = {figure.measure: figure for figure in reversed(comparison.figures)}
    if measure is None and figures:
        return comparison.figures[0]
    if measure not in figures:
        raise UsageError(
            f'this comparison has no measure "{measure}"', hint=did_you_mean(measure or "", figures)
        )
    return figures[measure]


def _find_parameter(comparison: Comparison, name: str) -> str:
    known = {swept for row in comparison.rows for swept in row.params}
    parameter = name.replace("-", "_")
    if parameter not in known:
        raise UsageError(
            f'"{name}" was not swept in this comparison', hint=did_you_mean(parameter, known, "`")
        )
    return parameter
