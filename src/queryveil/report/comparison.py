"""The page of a comparison: one HTML file that needs nothing but itself."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from .lines import Series, drawn_lines, series_of
from .plot import STYLE, line_chart

__all__ = ["comparison_page"]

_STYLE = """
:root { color-scheme: light dark; --ink: #1c2733; --soft: #5b6b7b; --line: #dfe5ea;
  --back: #f6f8f9; --card: #fff; --warn: #a15c00; --fill: #cfe3f0; }
@media (prefers-color-scheme: dark) { :root { --ink: #e5ebf0; --soft: #9fb0bf; --line: #2c3945;
  --back: #12191f; --card: #1a232b; --warn: #e3a34d; --fill: #24485f; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--ink);
  font: 16px/1.55 system-ui, sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: 2rem 1.2rem 4rem; }
h1 { font-size: 1.6rem; margin: 0 0 .3rem; } h2 { font-size: 1.15rem; margin: 0 0 .3rem; }
p { margin: .4rem 0; } .soft { color: var(--soft); } .warn { color: var(--warn); }
section { background: var(--card); border: 1px solid var(--line); border-radius: .6rem;
  padding: 1rem 1.2rem; margin-top: 1rem; }
.wide { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-size: .9rem; }
td, th { text-align: left; padding: .3rem .9rem .3rem 0; border-top: 1px solid var(--line);
  vertical-align: top; } td.number, th.number { text-align: right; white-space: nowrap;
  font-variant-numeric: tabular-nums; }
td i { display: block; height: .8rem; margin-top: .35rem; border-radius: .2rem;
  background: var(--fill); min-width: 1px; }
summary { cursor: pointer; color: var(--soft); } ul { margin: .4rem 0; padding-left: 1.2rem; }
pre { overflow-x: auto; white-space: pre-wrap; overflow-wrap: anywhere; margin: .4rem 0; }
footer { margin-top: 2rem; font-size: .85rem; }
"""


def comparison_page(found: dict[str, Any]) -> str:
    """Draw what a comparison found, as it stands in comparison.json."""
    figures = "".join(_figure(figure, found) for figure in found["figures"])
    body = _head(found) + figures + _errors(found) + _measures(found) + _again(found)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Methods compared</title><style>{_STYLE}{STYLE}</style></head><body><main>{body}"
        f'<footer class="soft">Made by queryveil {escape(found["queryveil"])}.</footer>'
        "</main></body></html>\n"
    )


def _head(found: dict[str, Any]) -> str:
    log, repeat = found["log"], found["repeat"]
    mean = f" Values are means of {repeat} runs, bands from least to greatest." * (repeat > 1)
    return (
        '<h1>Methods compared</h1><p class="warn"><b>For the owner of the log only: these are '
        "figures of private data, not covered by any guarantee. Do not publish this page.</b></p>"
        f"<p>{log['rows']:,} rows of {log['users']:,} users, {log['queries']:,} distinct queries."
        f"{mean}</p>{_list(found['notes']) if found['notes'] else ''}"
    )


def _figure(figure: dict[str, Any], found: dict[str, Any]) -> str:
    series = series_of(figure, found["rows"])
    measure = found["measures"][figure["measure"]]
    parts = [
        f"<h2>{escape(figure['title'])}</h2>",
        f'<p class="soft">{escape(figure["measure"])}: {escape(measure["says"])}. '
        f"{measure['better'].capitalize()} is better.</p>",
        _chart(figure, series, measure),
        _rulers(figure, found["rows"]),
    ]
    return f"<section>{''.join(parts)}</section>"


def _chart(figure: dict[str, Any], series: Sequence[Series], measure: dict[str, Any]) -> str:
    if figure["x"] is None or all(one.level for one in series):
        return _bars(series)
    lines, scale, names = drawn_lines(series, figure["scale"])
    chart = line_chart(
        lines,
        title=f"{figure['title']}: {measure['title']}",
        x_title=figure["x"].replace("_", "-") + " (log scale)" * (scale == "log"),
        y_title=measure["unit"],
        scale=scale,
        names=names,
    )
    return f"{chart}<details><summary>As a table</summary>{_table(figure['x'], series)}</details>"


def _bars(series: Sequence[Series]) -> str:
    """Show one value a method, where nothing was swept."""
    if not series:
        return '<p class="soft">There is nothing to draw.</p>'
    most = max(max(one.values[None]) for one in series) or 1.0
    rows = "".join(
        f'<tr><td>{escape(one.label)}</td><td class="number">{_cell(one.values[None])}</td>'
        f'<td style="width:45%"><i style="width:{_percent(one.values[None], most)}%"></i></td></tr>'
        for one in series
    )
    return f'<div class="wide"><table>{rows}</table></div>'


def _percent(values: Sequence[float], most: float) -> str:
    return f"{max(0.0, 100 * sum(values) / len(values) / most):.2f}"


def _table(x: str, series: Sequence[Series]) -> str:
    columns = list(dict.fromkeys(value for one in series for value in one.values))
    heads = "".join(f'<th class="number">{_heading(x, value)}</th>' for value in columns)
    rows = "".join(
        f"<tr><td>{escape(one.label)}</td>"
        + "".join(f'<td class="number">{_cell(one.values.get(v, []))}</td>' for v in columns)
        + "</tr>"
        for one in series
    )
    return f'<div class="wide"><table><tr><th></th>{heads}</tr>{rows}</table></div>'


def _heading(x: str, value: Any) -> str:
    return "at all" if value is None else escape(f"{x.replace('_', '-')}={value}")


def _cell(values: Sequence[float]) -> str:
    if not values:
        return ""
    spread = f' <span class="soft">({min(values):.3g}–{max(values):.3g})</span>'  # noqa: RUF001
    return f"{sum(values) / len(values):.4g}{spread * (min(values) < max(values))}"


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
    return _section("What did not run", _list(failed)) if failed else ""


def _measures(found: dict[str, Any]) -> str:
    told = [
        f"{line}: {about['title']}, {about['unit']}; {about['better']} is better. {about['paper']}."
        for line, about in found["measures"].items()
    ]
    return _section("What was measured", _list(told))


def _again(found: dict[str, Any]) -> str:
    files = [f"{path} (SHA-256 {digest})" for path, digest in found["log"]["files"].items()]
    lines = dict.fromkeys(_named(row) for row in found["rows"])
    runs = f"<details><summary>All {len(lines)} runs</summary>{_list(lines)}</details>"
    return _section("To run it again", f"<pre>{escape(found['command'])}</pre>{_list(files)}{runs}")


def _named(row: dict[str, Any]) -> str:
    """Name a run by its line and all that was swept, also where that is the default."""
    return ":".join([row["label"], *(f"{name}={value}" for name, value in row["swept"].items())])


def _section(title: str, body: str) -> str:
    return f"<section><h2>{escape(title)}</h2>{body}</section>"


def _list(items: Any) -> str:
    return "<ul>" + "".join(f"<li>{escape(item)}</li>" for item in items) + "</ul>"
