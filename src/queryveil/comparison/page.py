"""The page of a comparison: one HTML file that needs nothing but itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from ..render.charts.line import STYLE as CHART
from ..render.charts.line import line_chart
from ..render.html import SORTING, cell, document, listed, number, section, sortable, written
from .frontier import FRONTIER_STYLE, SCRIPT, frontier_section
from .series import (
    ChartSeries,
    Range,
    RunSummary,
    chart_lines,
    figure_series,
    format_param,
    reference_lines,
    summarize_runs,
)

# Words and a sign, so that nothing hangs on the colour.
_VERDICTS = {
    True: ("good", "\N{CHECK MARK} holds"),
    False: ("warn", "\N{MULTIPLICATION X} does not hold"),
    None: ("soft", "? cannot be told"),
}


def claims_section(told: Sequence[Mapping[str, Any]]) -> str:
    """Make a section of claims: paper, claim, published, ours, holds (or not, or none), why."""
    if not told:
        return ""
    heads = [("claim", "text"), ("holds?", ""), ("published", ""), ("ours", ""), ("why", "text"),
             ("paper", "")]  # fmt: skip
    rows = [_row(one) for one in told]
    return section("What the paper says, and what we find", sortable(heads, rows))


def _row(one: Mapping[str, Any]) -> list[str]:
    kind, verdict = _VERDICTS[one["holds"]]
    return [
        cell(str(one["claim"]), "text"),
        f'<td class="{kind}"><b>{escape(verdict)}</b></td>',
        f"<td>{written(_or_nothing(one['published']))}</td>",
        f"<td>{written(_or_nothing(one['ours']))}</td>",
        cell(_or_nothing(one.get("why")), "text"),
        cell(str(one["paper"])),
    ]


def _or_nothing(value: Any) -> Any:
    return "" if value is None else value


_STYLE = "main { max-width: 60rem; }"


def render_comparison(found: dict[str, Any]) -> str:
    """Draw what a comparison found, as it stands in comparison.json."""
    parts = [
        _head(found),
        claims_section(found.get("claims") or ()),
        _differs(found),
        frontier_section(found),
    ]
    parts += [_figure(figure, found) for figure in found["figures"]]
    parts += [_all_runs(found), _errors(found), _measures(found), _again(found), _foot(found)]
    return document(
        _title(found),
        "".join(parts),
        style=CHART + FRONTIER_STYLE + _STYLE,
        scripts=(SORTING, SCRIPT),
    )


def _title(found: dict[str, Any]) -> str:
    papers = list(dict.fromkeys(claim["paper"] for claim in found.get("claims") or ()))
    return f"{', '.join(papers)}, done again" if papers else "Methods compared"


_OWNERS = (
    '<p class="warn"><b>For the owner of the log only: these are figures of private data, not '
    "covered by any guarantee. Do not publish this page.</b></p>"
)


def _head(found: dict[str, Any]) -> str:
    log, repeat = found["log"], found["repeat"]
    synthetic = found.get("synthetic", False)
    kind = "A synthetic log, which is nobody's: " if synthetic else ""
    mean = f" Values are means of {repeat} runs, bands from least to greatest." * (repeat > 1)
    return (
        f"<h1>{escape(_title(found))}</h1>{'' if synthetic else _OWNERS}"
        f"<p>{kind}{log['rows']:,} rows of {log['users']:,} users, {log['queries']:,} distinct "
        f"queries.{mean}</p>{listed(found['notes']) if found['notes'] else ''}"
    )


def _differs(found: dict[str, Any]) -> str:
    why = found.get("differs")
    return section("Why ours may differ", listed(why)) if why else ""


def _figure(figure: dict[str, Any], found: dict[str, Any]) -> str:
    series = figure_series(figure, found["rows"])
    measure = found["measures"][figure["measure"]]
    parts = [
        f'<p class="soft">{escape(figure["measure"])}: {escape(measure["description"])}. '
        f"{measure['better'].capitalize()} is better.</p>",
        _chart(figure, series, measure, reference_lines(figure, found["rows"])),
        _rulers(figure, found["rows"]),
    ]
    return section(figure["title"], "".join(parts))


def _chart(
    figure: dict[str, Any],
    series: Sequence[ChartSeries],
    measure: dict[str, Any],
    beside: Sequence[ChartSeries],
) -> str:
    if figure["x"] is None or all(one.level for one in series):
        return _bars(series)
    lines, scale, names = chart_lines(series, figure["scale"], beside)
    chart = line_chart(
        lines,
        title=f"{figure['title']}: {measure['title']}",
        x_title=figure["x"].replace("_", "-") + " (log scale)" * (scale == "log"),
        y_title=measure["unit"],
        scale=scale,
        names=names,
    )
    table = _table(figure["x"], [*series, *beside])
    return f"{chart}<details><summary>As a table</summary>{table}</details>"


def _bars(series: Sequence[ChartSeries]) -> str:
    """Show one value a method, where nothing was swept."""
    if not series:
        return '<p class="soft">There is nothing to draw.</p>'
    most = max(max(one.values[None]) for one in series) or 1.0
    rows = [
        [
            cell(one.label),
            _number(one.values[None]),
            f'<td style="width:45%"><i style="width:{_percent(one.values[None], most)}%"></i></td>',
        ]
        for one in series
    ]
    return sortable([("method", ""), ("value", "number"), ("", "")], rows)


def _percent(values: Sequence[float], most: float) -> str:
    return f"{max(0.0, 100 * sum(values) / len(values) / most):.2f}"


def _table(x: str, series: Sequence[ChartSeries]) -> str:
    columns = list(dict.fromkeys(value for one in series for value in one.values))
    heads = [("at all" if value is None else format_param(x, value), "number") for value in columns]
    rows = [[cell(one.label), *(_number(one.values.get(v, [])) for v in columns)] for one in series]
    return sortable([("method", ""), *heads], rows)


def _number(values: Sequence[float]) -> str:
    if not values:
        return number("", None)
    return _spread(Range(sum(values) / len(values), min(values), max(values)))


def _spread(found: Range) -> str:
    mean, *reach = str(found).split(" ", 1)
    spread = "".join(f' <span class="soft">{one}</span>' for one in reach)
    return number(f"{mean}{spread}", found.mean)


def _all_runs(found: dict[str, Any]) -> str:
    """Show every run with all that was measured of it."""
    heads = [("method", ""), ("at", ""), *((line, "number") for line in found["measures"])]
    rows = [
        [cell(run.short), cell(run.at), *(_measured(run, line) for line in found["measures"])]
        for run in summarize_runs(found)
    ]
    return section("All runs", sortable(heads, rows))


def _measured(run: RunSummary, line: str) -> str:
    spread = run.spread(line)
    if spread is not None:
        return _spread(spread)
    why = run.errors.get(line, "")
    return number('<span class="warn">none</span>' if why else "", None, why=why)


def _rulers(figure: dict[str, Any], rows: Sequence[dict[str, Any]]) -> str:
    """Say with which ruler the values were taken; methods may differ in how they are read."""
    shown = {label for label, _ in figure["runs"]}
    found: dict[str, dict[str, None]] = {}
    for row in rows:
        here = row["measure"] == figure["measure"] and row["label"] in shown
        if here and "ruler" in row["told"]:
            found.setdefault(_ruler(row["told"]), {})[row["label"].partition(":")[0]] = None
    return "".join(
        f'<p class="soft">Ruler{" of " * (len(found) > 1)}'
        f"{', '.join(map(escape, names)) * (len(found) > 1)}: {escape(ruler)}.</p>"
        for ruler, names in found.items()
    )


def _ruler(told: dict[str, Any]) -> str:
    if "users" not in told:
        return str(told["ruler"])
    return (
        f"{told['ruler']}; {told['users']:,} users measured, {told.get('left_out', 0):,} left out"
    )


def _errors(found: dict[str, Any]) -> str:
    failed = dict.fromkeys(
        f"{_named(row)} ({row['measure']}): {row['error']}"
        for row in found["rows"]
        if row["error"] is not None
    )
    return section("What did not run", listed(failed)) if failed else ""


def _measures(found: dict[str, Any]) -> str:
    told = [
        f"{line}: {about['title']}, {about['unit']}; {about['better']} is better. {about['paper']}."
        for line, about in found["measures"].items()
    ]
    return section("What was measured", listed(told))


def _again(found: dict[str, Any]) -> str:
    files = [f"{path} (SHA-256 {digest})" for path, digest in found["log"]["files"].items()]
    lines = dict.fromkeys(_named(row) for row in found["rows"])
    runs = f"<details><summary>All {len(lines)} runs</summary>{listed(lines)}</details>"
    return section("To run it again", f"<pre>{escape(found['command'])}</pre>{listed(files)}{runs}")


def _named(row: dict[str, Any]) -> str:
    """Name a run by its line and all that was swept, also where that is the default."""
    return ":".join([row["label"], *(f"{name}={value}" for name, value in row["swept"].items())])


def _foot(found: dict[str, Any]) -> str:
    return f'<footer class="soft">Made by queryveil {escape(found["queryveil"])}.</footer>'
