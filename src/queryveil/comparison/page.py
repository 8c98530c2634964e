"""The page of a comparison: one self-contained HTML file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from ..render.charts.line import STYLE as CHART
from ..render.charts.line import line_chart
from ..render.markup import SORTING, cell, document, listed, number, section, sortable, written
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

# A sign and words, so that the meaning does not depend on the color.
_VERDICTS = {
    True: ("good", "\N{CHECK MARK} holds"),
    False: ("warn", "\N{MULTIPLICATION X} does not hold"),
    None: ("soft", "? undecided"),
}


def claims_section(claims: Sequence[Mapping[str, Any]]) -> str:
    """Render a section of claims: claim, verdict, published value, our value, reason and paper."""
    if not claims:
        return ""
    heads = [("claim", "text"), ("holds?", ""), ("published", ""), ("ours", ""), ("why", "text"),
             ("paper", "")]  # fmt: skip
    rows = [_claim_row(claim) for claim in claims]
    return section("Published claims and our results", sortable(heads, rows))


def _claim_row(claim: Mapping[str, Any]) -> list[str]:
    kind, verdict = _VERDICTS[claim["holds"]]
    return [
        cell(str(claim["claim"]), "text"),
        f'<td class="{kind}"><b>{escape(verdict)}</b></td>',
        f"<td>{written(_or_empty(claim['published']))}</td>",
        f"<td>{written(_or_empty(claim['ours']))}</td>",
        cell(_or_empty(claim.get("why")), "text"),
        cell(str(claim["paper"])),
    ]


def _or_empty(value: Any) -> Any:
    return "" if value is None else value


_STYLE = "main { max-width: 60rem; }"


def render_comparison(comparison: dict[str, Any]) -> str:
    """Render the page of a comparison, as comparison.json has it."""
    parts = [
        _head(comparison),
        claims_section(comparison.get("claims") or ()),
        _deviations(comparison),
        frontier_section(comparison),
    ]
    parts += [_figure(figure, comparison) for figure in comparison["figures"]]
    parts += [
        _all_runs(comparison),
        _errors(comparison),
        _measures(comparison),
        _repetition(comparison),
        _foot(comparison),
    ]
    return document(
        _title(comparison),
        "".join(parts),
        style=CHART + FRONTIER_STYLE + _STYLE,
        scripts=(SORTING, SCRIPT),
    )


def _title(comparison: dict[str, Any]) -> str:
    papers = list(dict.fromkeys(claim["paper"] for claim in comparison.get("claims") or ()))
    return f"{', '.join(papers)}, replicated" if papers else "Methods compared"


_OWNERS = (
    '<p class="warn"><b>For the owner of the log only: these are figures of private data, not '
    "covered by any guarantee. Do not publish this page.</b></p>"
)


def _head(comparison: dict[str, Any]) -> str:
    log, repeat = comparison["log"], comparison["repeat"]
    synthetic = comparison.get("synthetic", False)
    kind = "A synthetic log without real users: " if synthetic else ""
    mean = f" Values are means of {repeat} runs, bands are from lowest to highest." * (repeat > 1)
    return (
        f"<h1>{escape(_title(comparison))}</h1>{'' if synthetic else _OWNERS}"
        f"<p>{kind}{log['rows']:,} rows of {log['users']:,} users, {log['queries']:,} distinct "
        f"queries.{mean}</p>{listed(comparison['notes']) if comparison['notes'] else ''}"
    )


def _deviations(comparison: dict[str, Any]) -> str:
    reasons = comparison.get("differs")
    return section("Why our results may differ", listed(reasons)) if reasons else ""


def _figure(figure: dict[str, Any], comparison: dict[str, Any]) -> str:
    series = figure_series(figure, comparison["rows"])
    measure = comparison["measures"][figure["measure"]]
    parts = [
        f'<p class="soft">{escape(figure["measure"])}: {escape(measure["description"])}. '
        f"{measure['better'].capitalize()} is better.</p>",
        _chart(figure, series, measure, reference_lines(figure, comparison["rows"])),
        _bases(figure, comparison["rows"]),
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
    """Render one value per method, if no parameter is swept."""
    if not series:
        return '<p class="soft">There is nothing to draw.</p>'
    maximum = max(max(line.values[None]) for line in series) or 1.0
    rows = [
        [
            cell(line.label),
            _number(line.values[None]),
            '<td style="width:45%">'
            f'<i style="width:{_percent(line.values[None], maximum)}%"></i></td>',
        ]
        for line in series
    ]
    return sortable([("method", ""), ("value", "number"), ("", "")], rows)


def _percent(values: Sequence[float], maximum: float) -> str:
    return f"{max(0.0, 100 * sum(values) / len(values) / maximum):.2f}"


def _table(x: str, series: Sequence[ChartSeries]) -> str:
    columns = list(dict.fromkeys(value for line in series for value in line.values))
    heads = [("at all" if value is None else format_param(x, value), "number") for value in columns]
    rows = [
        [cell(line.label), *(_number(line.values.get(v, [])) for v in columns)] for line in series
    ]
    return sortable([("method", ""), *heads], rows)


def _number(values: Sequence[float]) -> str:
    if not values:
        return number("", None)
    return _spread(Range(sum(values) / len(values), min(values), max(values)))


def _spread(values: Range) -> str:
    mean, *reach = str(values).split(" ", 1)
    spread = "".join(f' <span class="soft">{text}</span>' for text in reach)
    return number(f"{mean}{spread}", values.mean)


def _all_runs(comparison: dict[str, Any]) -> str:
    """Render every run with all its measures."""
    heads = [("method", ""), ("at", ""), *((line, "number") for line in comparison["measures"])]
    rows = [
        [cell(run.short), cell(run.at), *(_measured(run, line) for line in comparison["measures"])]
        for run in summarize_runs(comparison)
    ]
    return section("All runs", sortable(heads, rows))


def _measured(run: RunSummary, line: str) -> str:
    spread = run.spread(line)
    if spread is not None:
        return _spread(spread)
    error = run.errors.get(line, "")
    return number('<span class="warn">none</span>' if error else "", None, why=error)


def _bases(figure: dict[str, Any], rows: Sequence[dict[str, Any]]) -> str:
    """Render the bases of the values; methods may differ in how their releases are read."""
    shown = {label for label, _ in figure["runs"]}
    bases: dict[str, dict[str, None]] = {}
    for row in rows:
        here = row["measure"] == figure["measure"] and row["label"] in shown
        if here and "basis" in row["told"]:
            bases.setdefault(_format_basis(row["told"]), {})[row["label"].partition(":")[0]] = None
    return "".join(
        f'<p class="soft">Basis{" of " * (len(bases) > 1)}'
        f"{', '.join(map(escape, names)) * (len(bases) > 1)}: {escape(basis)}.</p>"
        for basis, names in bases.items()
    )


def _format_basis(result: dict[str, Any]) -> str:
    counts = result.get("counts", {})
    if "users" not in counts:
        return str(result["basis"])
    left_out = counts.get("left_out", 0)
    return f"{result['basis']}; {counts['users']:,} users measured, {left_out:,} left out"


def _errors(comparison: dict[str, Any]) -> str:
    failed = dict.fromkeys(
        f"{_format_spec(row)} ({row['measure']}): {row['error']}"
        for row in comparison["rows"]
        if row["error"] is not None
    )
    return section("Failed runs", listed(failed)) if failed else ""


def _measures(comparison: dict[str, Any]) -> str:
    items = [
        f"{line}: {about['title']}, {about['unit']}; {about['better']} is better. {about['paper']}."
        for line, about in comparison["measures"].items()
    ]
    return section("What was measured", listed(items))


def _repetition(comparison: dict[str, Any]) -> str:
    files = [f"{path} (SHA-256 {digest})" for path, digest in comparison["log"]["files"].items()]
    lines = dict.fromkeys(_format_spec(row) for row in comparison["rows"])
    runs = f"<details><summary>All {len(lines)} runs</summary>{listed(lines)}</details>"
    return section(
        "To repeat this comparison",
        f"<pre>{escape(comparison['command'])}</pre>{listed(files)}{runs}",
    )


def _format_spec(row: dict[str, Any]) -> str:
    """Return the spec of a run with all swept values, also if these are defaults."""
    return ":".join([row["label"], *(f"{name}={value}" for name, value in row["swept"].items())])


def _foot(comparison: dict[str, Any]) -> str:
    return f'<footer class="soft">Made by queryveil {escape(comparison["queryveil"])}.</footer>'
