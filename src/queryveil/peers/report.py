"""The page of a sweep: exposure and its cost over the settings of the protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from ..comparison.series import ChartSeries, chart_lines
from ..core.records import Scalar
from ..render.charts.line import HEIGHT, STYLE, WIDTH, ChartLine, draw_lines, line_chart
from ..render.charts.scales import color, dash, marker
from ..render.markup import (
    COLOURS,
    SORTING,
    cell,
    document,
    listed,
    number,
    pairs,
    section,
    sortable,
)
from .simulation.results import PeerSweep, SimulationSummary

# The charts over the first swept parameter: figure, title and label of the axis.
CHARTS = (
    ("pel_fewest", "Exposure of those with the fewest friends", "PEL in percent"),
    ("pel_most", "Exposure of those with the most friends", "PEL in percent"),
    ("guess_rate", "How often the engine guesses the user", "fraction of submissions"),
    ("mean_hops", "The cost: how often a query is relayed", "mean hops"),
)
_COLUMNS = {
    "learned": "engine learns",
    "pel": "PEL, honest",
    "pel_selfish": "PEL, selfish",
    "pel_fewest": "PEL, fewest friends",
    "pel_most": "PEL, most friends",
    "above_70": "uncertainty > 70%",
    "above_80": "uncertainty > 80%",
    "guess_rate": "engine is right",
    "friends_know": "known to dishonest friends",
    "mean_hops": "hops",
    "refusals": "refusals a query",
    "duplicates": "duplicates a query",
    "service": "profile lost (words)",
    "busiest": "busiest / mean load",
}
_MEANS = (
    "PEL (profile exposure level): the percentage of the information in a user's queries that the "
    "engine learns from the queries under their account; uncertainty is 100 minus PEL.",
    "Honest users relay for others; selfish ones refuse. Figures by friends are of honest users.",
    "Engine is right: it knows the whole graph and the protocol, and guesses the user behind each "
    "submission by its best attack.",
    "Engine learns: the larger of that fraction, in percent, and PEL.",
    "Known to dishonest friends: the fraction of queries that such a friend received from the user "
    "who searched.",
    "Profile lost: Jensen-Shannon divergence between the words a user searched for and those the "
    "engine sees under their account; at 1 nothing is left for personalization.",
    "On the front: in no other setting the engine learns less at fewer hops.",
)


def render_sweep(sweep: PeerSweep) -> str:
    """Return the page of a sweep."""
    parts = [_head(sweep), _best(sweep), *(_chart(sweep, *chart) for chart in CHARTS)]
    parts += [_by_friends(sweep), _table(sweep), section("What the figures mean", listed(_MEANS))]
    style = STYLE + "main { max-width: 60rem; }"
    return document("Peers simulated", "".join(parts), style=style, scripts=(SORTING,))


def _head(sweep: PeerSweep) -> str:
    log, scenario = sweep.log, sweep.scenario.to_dict()
    how = ", ".join(f"{name} {value}" for name, value in scenario.items() if value is not None)
    return (
        '<h1>Peers simulated</h1><p class="warn"><b>For the owner of the log only: these are '
        f"figures of private data.</b></p><p>{log.rows:,} rows of {log.users:,} users, "
        f"{sweep.repeats} runs of each setting. Unless swept: {escape(how)}.</p>"
    )


def format_setting(params: Mapping[str, Scalar]) -> str:
    """Return the swept values of a setting as text.

    >>> format_setting({"submit": 0.5, "hops": 3})
    'submit=0.5 hops=3'
    """
    return " ".join(f"{name}={value}" for name, value in params.items()) or "as requested"


def _best(sweep: PeerSweep) -> str:
    best = sweep.best
    if best is None:
        return ""
    figures = {label: _format(getattr(best.figures, name)) for name, label in _COLUMNS.items()}
    rule = f'<p class="soft">Rule: {escape(sweep.rule)}.</p>'
    return section(f"Best: {format_setting(best.params)}", rule + pairs(figures))


def _format(value: float | None) -> str:
    return "none" if value is None else f"{value:.4g}"


def settings_series(sweep: PeerSweep, figure: str) -> list[ChartSeries]:
    """Return a line for each combination of the other swept values, over the first one."""
    x = next(iter(sweep.sweep), None)
    lines: dict[str, dict[Any, list[float]]] = {}
    for setting in sweep.settings:
        value = getattr(setting.figures, figure)
        if x is not None and value is not None:
            others = {name: value for name, value in setting.params.items() if name != x}
            line = lines.setdefault(format_setting(others) if others else x, {})
            line[setting.params[x]] = [value]
    return [ChartSeries(label, values) for label, values in lines.items()]


def chart_title(sweep: PeerSweep, figure: str, title: str) -> str:
    """Return a title with the fewest or the most number of friends, if it is about them."""
    degree = getattr(sweep.classes, figure.removeprefix("pel_"), None)
    return f"{title} ({degree})" if degree else title


def _chart(sweep: PeerSweep, figure: str, title: str, unit: str) -> str:
    series = settings_series(sweep, figure)
    if not series:
        return ""
    title = chart_title(sweep, figure, title)
    lines, scale, names = chart_lines(series, "auto")
    x = next(iter(sweep.sweep))
    chart = line_chart(lines, title=title, x_title=x, y_title=unit, scale=scale, names=names)
    return section(title, chart)


def _by_friends(sweep: PeerSweep) -> str:
    """Draw the exposure over the number of friends, of the settings on the front."""
    front = [setting for setting in sweep.settings if setting.front][:8]
    series = [ChartSeries(format_setting(row.params), _degrees(row.runs)) for row in front]
    if not any(line.values for line in series):
        return ""
    lines, _, names = chart_lines(_in_one_order(series), "names")
    title = "Exposure by number of friends, of settings on the front"
    chart = line_chart(lines, title=title, x_title="friends", y_title="PEL in percent", names=names)
    return section(title, chart)


def _degrees(runs: Sequence[SimulationSummary]) -> dict[Any, list[float]]:
    values: dict[Any, list[float]] = {}
    for run in runs:
        for degree, level in run.pel.by_degree.items():
            if level is not None:
                values.setdefault(degree, []).append(level)
    return values


def _in_one_order(series: Sequence[ChartSeries]) -> list[ChartSeries]:
    """Keep the classes of degrees that all lines have, in their order."""
    common = sorted(set.intersection(*(set(line.values) for line in series)), key=_lowest)
    return [
        ChartSeries(line.label, {degree: line.values[degree] for degree in common})
        for line in series
    ]


def _lowest(degree: str) -> int:
    return int(degree.partition("-")[0].rstrip("+"))


def _table(sweep: PeerSweep) -> str:
    heads = [("setting", "text"), ("", ""), *((label, "number") for label in _COLUMNS.values())]
    rows = [
        [
            cell(format_setting(setting.params), "text"),
            cell("best" if setting.best else "on the front" if setting.front else ""),
            *(
                number(_format(value), value)
                for value in (getattr(setting.figures, name) for name in _COLUMNS)
            ),
        ]
        for setting in sweep.settings
    ]
    return section("All settings", sortable(heads, rows))


_GAP, _HEAD, _ROW, _PICTURE_COLUMNS = 40, 40, 26, 4
_ALONE = """
.chart { margin: 0; max-width: none; } .chart .head { fill: var(--ink); font-weight: 600;
  font-size: 16px; }
"""


def sweep_svg(sweep: PeerSweep) -> str:
    """Return the charts of a sweep as an SVG file; it is empty if nothing was swept."""
    panels = [_panel(sweep, *chart, place) for place, chart in enumerate(CHARTS)]
    key, rows = _key(_lines(sweep, CHARTS[-1][0]))
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


def _lines(sweep: PeerSweep, figure: str) -> list[ChartLine]:
    return chart_lines(series, "auto")[0] if (series := settings_series(sweep, figure)) else []


def _panel(sweep: PeerSweep, figure: str, title: str, unit: str, place: int) -> str:
    series = settings_series(sweep, figure)
    if not series:
        return ""
    lines, scale, names = chart_lines(series, "auto")
    x = next(iter(sweep.sweep))
    left = _GAP + place % 2 * (WIDTH + _GAP)
    top = _GAP + place // 2 * (HEIGHT + _HEAD)
    head = escape(chart_title(sweep, figure, title))
    inside = draw_lines(lines, x_title=x, y_title=unit, scale=scale, names=names)
    return (
        f'<g transform="translate({left} {top})"><text class="head" y="-4">{head}</text>'
        f'<g transform="translate(0 8)">{inside}</g></g>'
    )


def _key(lines: Sequence[ChartLine]) -> tuple[str, int]:
    """Return the legend below the charts, and its number of rows."""
    step, top = (2 * WIDTH + _GAP) / _PICTURE_COLUMNS, 2 * (HEIGHT + _HEAD) + _GAP + 12
    entries = []
    for index, line in enumerate(lines):
        x, y = _GAP + step * (index % _PICTURE_COLUMNS), top + _ROW * (index // _PICTURE_COLUMNS)
        entries.append(
            f'<g style="--c:{color(index)}"><line class="path" x1="{x}" x2="{x + 34}" y1="{y}" '
            f'y2="{y}"{dash(index)}/>{marker(index, x + 17, y)}'
            f'<text x="{x + 42}" y="{y + 4.5}">{escape(line.label)}</text></g>'
        )
    return "".join(entries), -(-len(entries) // _PICTURE_COLUMNS)
