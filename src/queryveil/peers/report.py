"""The page of simulated peers: exposure and its cost over the protocol's settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from ..comparison.series import ChartSeries, chart_lines
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

# What is drawn over the first swept parameter: figure, title, and what its axis tells.
CHARTS = (
    ("pel_fewest", "Exposure of those with the fewest friends", "PEL in percent"),
    ("pel_most", "Exposure of those with the most friends", "PEL in percent"),
    ("guess_rate", "How often the engine finds the user", "share of submissions"),
    ("mean_hops", "What it costs: how often a query is handed on", "hops on average"),
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
    "PEL (profile exposure level): how much of what there is to know about a user's queries the "
    "engine learns under her account, in percent; uncertainty is 100 less that.",
    "Honest users relay for others; selfish ones refuse. Figures by friends are of honest users.",
    "Engine is right: it knows the whole graph and the protocol, and guesses who is behind each "
    "submission in its best way.",
    "Engine learns: the worse of that share, in percent, and PEL.",
    "Known to dishonest friends: the share of queries that one of them has from its user herself.",
    "Profile lost: Jensen-Shannon divergence between the words a user searched for and those the "
    "engine sees under her account; at 1 her service fits her no more.",
    "On the front: from no other setting does the engine learn less at fewer hops.",
)


def render_sweep(found: Mapping[str, Any]) -> str:
    """Draw what a sweep of simulations found, as it stands in sweep.json."""
    parts = [_head(found), _best(found), *(_chart(found, *one) for one in CHARTS)]
    parts += [_by_friends(found), _table(found), section("What the figures mean", listed(_MEANS))]
    style = STYLE + "main { max-width: 60rem; }"
    return document("Peers simulated", "".join(parts), style=style, scripts=(SORTING,))


def _head(found: Mapping[str, Any]) -> str:
    log, asked = found["log"], found["scenario"]
    how = ", ".join(f"{name} {value}" for name, value in asked.items() if value is not None)
    return (
        '<h1>Peers simulated</h1><p class="warn"><b>For the owner of the log only: these are '
        f"figures of private data.</b></p><p>{log['rows']:,} rows of {log['users']:,} users, "
        f"{found['repeat']} runs of each setting. Unless swept: {escape(how)}.</p>"
    )


def format_setting(swept: Mapping[str, Any]) -> str:
    """Name a setting by what was swept.

    >>> format_setting({"submit": 0.5, "hops": 3})
    'submit=0.5 hops=3'
    """
    return " ".join(f"{name}={value}" for name, value in swept.items()) or "as asked"


def _best(found: Mapping[str, Any]) -> str:
    best = found["best"]
    if best is None:
        return ""
    shown = {says: _written(best[name]) for name, says in _COLUMNS.items()}
    rule = f'<p class="soft">Rule: {escape(found["rule"])}.</p>'
    return section(f"Best: {format_setting(best['swept'])}", rule + pairs(shown))


def _written(value: float | None) -> str:
    return "none" if value is None else f"{value:.4g}"


def settings_series(found: Mapping[str, Any], figure: str) -> list[ChartSeries]:
    """Return a line for each combination of the other swept values, over the first one."""
    x = next(iter(found["swept"]), None)
    lines: dict[str, dict[Any, list[float]]] = {}
    for row in found["settings"]:
        if x is not None and row[figure] is not None:
            others = {name: value for name, value in row["swept"].items() if name != x}
            line = lines.setdefault(format_setting(others) if others else x, {})
            line[row["swept"][x]] = [row[figure]]
    return [ChartSeries(label, values) for label, values in lines.items()]


def chart_title(found: Mapping[str, Any], figure: str, title: str) -> str:
    """Return a title that states how many friends the fewest and the most are."""
    end = (found["classes"] or {}).get(figure.removeprefix("pel_"))
    return f"{title} ({end})" if end else title


def _chart(found: Mapping[str, Any], figure: str, title: str, unit: str) -> str:
    series = settings_series(found, figure)
    if not series:
        return ""
    title = chart_title(found, figure, title)
    lines, scale, names = chart_lines(series, "auto")
    x = next(iter(found["swept"]))
    chart = line_chart(lines, title=title, x_title=x, y_title=unit, scale=scale, names=names)
    return section(title, chart)


def _by_friends(found: Mapping[str, Any]) -> str:
    """Draw exposure over the number of friends, of the settings on the front."""
    shown = [row for row in found["settings"] if row["front"]][:8]
    series = [ChartSeries(format_setting(row["swept"]), _degrees(row["runs"])) for row in shown]
    if not any(one.values for one in series):
        return ""
    lines, _, names = chart_lines(_in_one_order(series), "names")
    title = "Exposure by number of friends, of settings on the front"
    chart = line_chart(lines, title=title, x_title="friends", y_title="PEL in percent", names=names)
    return section(title, chart)


def _degrees(runs: Sequence[Mapping[str, Any]]) -> dict[Any, list[float]]:
    found: dict[Any, list[float]] = {}
    for run in runs:
        for degree, value in run["pel"]["by_degree"].items():
            found.setdefault(degree, []).append(value)
    return found


def _in_one_order(series: Sequence[ChartSeries]) -> list[ChartSeries]:
    """Keep the numbers of friends that all lines have, in their order."""
    common = set.intersection(*(set(one.values) for one in series))
    known = sorted(common, key=_low)
    return [
        ChartSeries(one.label, {degree: one.values[degree] for degree in known}) for one in series
    ]


def _low(degree: str) -> int:
    return int(degree.partition("-")[0].rstrip("+"))


def _table(found: Mapping[str, Any]) -> str:
    heads = [("setting", "text"), ("", ""), *((says, "number") for says in _COLUMNS.values())]
    rows = [
        [
            cell(format_setting(row["swept"]), "text"),
            cell("best" if row["best"] else "on the front" if row["front"] else ""),
            *(number(_written(row[name]), row[name]) for name in _COLUMNS),
        ]
        for row in found["settings"]
    ]
    return section("All settings", sortable(heads, rows))


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
    for index, line in enumerate(lines):
        x, y = _GAP + step * (index % _PICTURE_COLUMNS), top + _ROW * (index // _PICTURE_COLUMNS)
        entries.append(
            f'<g style="--c:{color(index)}"><line class="path" x1="{x}" x2="{x + 34}" y1="{y}" '
            f'y2="{y}"{dash(index)}/>{marker(index, x + 17, y)}'
            f'<text x="{x + 42}" y="{y + 4.5}">{escape(line.label)}</text></g>'
        )
    return "".join(entries), -(-len(entries) // _PICTURE_COLUMNS)
