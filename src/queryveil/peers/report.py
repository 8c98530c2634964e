"""The page of a sweep: exposure and its cost over the settings of the protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..comparison.series import ChartSeries, chart_lines
from ..core.records import Scalar
from ..render.charts.chart import WIDTH
from ..render.charts.line import LineChart, line_chart
from ..render.charts.picture import Chart
from ..render.charts.scales import format_number
from ..render.html import CHART_STYLES, render_page
from ..render.tables import Cell, Column, SortableTable, number_cell
from .simulation.results import PeerSweep, SimulationSummary

PACKAGE = "queryveil.peers"
_PANEL = 440  # width of a chart of the picture
_PICTURE_TITLE = "Exposure, guesses and hops over the settings of the protocol"
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


@dataclass(frozen=True)
class BestView:
    """The best setting, and its figures."""

    setting: str
    rule: str
    figures: Mapping[str, str]


@dataclass(frozen=True)
class SweepView:
    """A sweep, as the template draws it."""

    rows: int
    users: int
    repeats: int
    scenario: str
    best: BestView | None
    charts: tuple[LineChart, ...]
    table: SortableTable
    meanings: tuple[str, ...]


def render_sweep(sweep: PeerSweep) -> str:
    """Return the page of a sweep."""
    return render_page(
        "sweep.html.j2",
        package=PACKAGE,
        styles=CHART_STYLES,
        scripts=("sort.js", "charts.js"),
        view=_sweep_view(sweep),
    )


def _sweep_view(sweep: PeerSweep) -> SweepView:
    scenario = sweep.scenario.to_dict()
    charts = [*_setting_charts(sweep), _chart_by_friends(sweep)]
    return SweepView(
        rows=sweep.log.rows,
        users=sweep.log.users,
        repeats=sweep.repeats,
        scenario=", ".join(
            _describe_setting(name, value) for name, value in scenario.items() if value is not None
        ),
        best=_best(sweep),
        charts=tuple(chart for chart in charts if chart is not None),
        table=_table(sweep),
        meanings=_MEANS,
    )


def _describe_setting(name: str, value: object) -> str:
    """Return a setting in words.

    >>> _describe_setting("max_hops", 3), _describe_setting("random_hop_start", False)
    ('max-hops 3', 'random-hop-start no')
    """
    if isinstance(value, bool):
        value = "yes" if value else "no"
    return (
        f"{name.replace('_', '-')} {value:g}"
        if isinstance(value, float)
        else (f"{name.replace('_', '-')} {value}")
    )


def format_setting(params: Mapping[str, Scalar]) -> str:
    """Return the swept values of a setting as text.

    >>> format_setting({"submit_probability": 0.5, "max_hops": 3})
    'submit_probability=0.5 max_hops=3'
    """
    return " ".join(f"{name}={value}" for name, value in params.items()) or "as requested"


def _best(sweep: PeerSweep) -> BestView | None:
    best = sweep.best
    if best is None:
        return None
    figures = {label: _format(getattr(best.figures, name)) for name, label in _COLUMNS.items()}
    return BestView(format_setting(best.params), sweep.rule, figures)


def _format(value: float | None) -> str:
    return "none" if value is None else format_number(value)


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


def _setting_charts(sweep: PeerSweep, width: int = WIDTH) -> list[LineChart | None]:
    """Return a chart of each figure over the first swept parameter, or None if it has no values."""
    return [_setting_chart(sweep, *chart, width) for chart in CHARTS]


def _setting_chart(
    sweep: PeerSweep, figure: str, title: str, unit: str, width: int
) -> LineChart | None:
    series = settings_series(sweep, figure)
    if not series:
        return None
    lines, scale, names = chart_lines(series, "auto")
    return line_chart(
        lines,
        title=chart_title(sweep, figure, title),
        x_title=next(iter(sweep.sweep)),
        y_title=unit,
        scale=scale,
        names=names,
        width=width,
    )


def _chart_by_friends(sweep: PeerSweep) -> LineChart | None:
    """Return the exposure over the number of friends, of the settings on the front."""
    front = [setting for setting in sweep.settings if setting.front][:8]
    series = [ChartSeries(format_setting(row.params), _degrees(row.runs)) for row in front]
    if not any(line.values for line in series):
        return None
    lines, _, names = chart_lines(_in_one_order(series), "names")
    title = "Exposure by number of friends, of settings on the front"
    return line_chart(lines, title=title, x_title="friends", y_title="PEL in percent", names=names)


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


def _table(sweep: PeerSweep) -> SortableTable:
    numbers = (Column(label, "number") for label in _COLUMNS.values())
    rows = [
        (
            Cell(format_setting(setting.params), "text"),
            Cell("best" if setting.best else "on the front" if setting.front else "", "short"),
            *(
                number_cell(_format(value), value)
                for value in (getattr(setting.figures, name) for name in _COLUMNS)
            ),
        )
        for setting in sweep.settings
    ]
    return SortableTable((Column("setting", "text"), Column(""), *numbers), tuple(rows))


def sweep_svg(sweep: PeerSweep) -> str:
    """Return the charts of a sweep as an SVG file; it is empty if nothing was swept."""
    return sweep_chart(sweep).svg


def sweep_chart(sweep: PeerSweep) -> Chart:
    """Return the charts of a sweep over its first parameter as one picture."""
    charts = [chart for chart in _setting_charts(sweep, _PANEL) if chart is not None]
    return Chart(_PICTURE_TITLE, tuple(charts), columns=2)
