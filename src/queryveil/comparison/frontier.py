"""Risk against use: which runs no other run beats, as a picture and in words."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from ..render.html import listed, section
from ..report.runs import RunSummary
from ..report.scales import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, MeasureAxis
from .scatter import (
    FAR,
    GONE,
    LETTER,
    TALL,
    THIS,
    ScatterChart,
    build_scatter,
    draw_marker,
    draw_scatter,
)
from .scatter import STYLE as PICTURE

FRONTIER_STYLE = (
    PICTURE
    + """
.frontier { position: relative; } [hidden] { display: none; }
.choice { display: flex; flex-wrap: wrap; gap: .4rem 1.4rem; }
.choice select { font: inherit; color: inherit; background: var(--back); max-width: 100%;
  border: 1px solid var(--line); border-radius: .3rem; padding: .15rem .3rem; }
.key button { display: flex; align-items: center; gap: .45rem; padding: .1rem 0; }
.key button[aria-pressed=false] { opacity: .45; text-decoration: line-through; }
.frontier .key svg { width: 22px; height: 20px; }
.tip { position: absolute; z-index: 1; max-width: min(22rem, 90%); background: var(--ink);
  color: var(--card); border-radius: .3rem; padding: .25rem .6rem; font-size: .85rem;
  pointer-events: none; overflow-wrap: anywhere; }
.told { font-size: .95rem; }
@media print { .choice, .tip { display: none; } }
"""
)


def frontier_section(found: Mapping[str, Any]) -> str:
    """Draw the section of a comparison, or nothing where it has no risk or no use.

    The page needs `STYLE` and `SCRIPT`; without the script it shows the first two measures.
    """
    scatter = build_scatter(found)
    if scatter is None:
        return ""
    x, y = scatter.first()
    body = (
        "<p>Each mark is a run: the further left, the less risk; the further up, the more use. "
        f"{_reach(found)}The dotted line joins the runs that no other run beats: none is at least "
        f"as good in both, and better in one.</p>{_choice(scatter, x, y)}{_picture(scatter, x, y)}"
        f"{_key(scatter)}{_words(scatter, x, y)}{_data(scatter)}"
        '<div class="tip" role="status" hidden></div>'
    )
    return section("Risk against use", f'<div class="frontier">{body}</div>')


def _reach(found: Mapping[str, Any]) -> str:
    told = "Strokes reach from the least repeat to the greatest. "
    return told if found["repeat"] > 1 else ""


def _choice(scatter: ScatterChart, x: MeasureAxis, y: MeasureAxis) -> str:
    both = (("Risk", scatter.across, x), ("Use", scatter.up, y))
    return f'<p class="choice" hidden>{"".join(_select(*one) for one in both)}</p>'


def _select(name: str, scales: Sequence[MeasureAxis], chosen: MeasureAxis) -> str:
    options = "".join(
        f'<option value="{i}"{" selected" * (scale is chosen)}>{escape(scale.line)}</option>'
        for i, scale in enumerate(scales)
    )
    return f"<label>{name} <select>{options}</select></label>"


def _picture(scatter: ScatterChart, x: MeasureAxis, y: MeasureAxis) -> str:
    scales = "".join(_scale("across", scale, scale is x) for scale in scatter.across)
    scales += "".join(_scale("up", scale, scale is y) for scale in scatter.up)
    return (
        f'<svg class="chart scatter" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="Risk against use of each run">{draw_scatter(scatter, x, y, scales)}</svg>'
    )


def _scale(kind: str, scale: MeasureAxis, shown: bool) -> str:
    return f'<g class="{kind}"{"" if shown else GONE}>{scale.drawn()}</g>'


def _key(scatter: ScatterChart) -> str:
    return f'<ul class="key">{"".join(_entry(scatter, label) for label in scatter.groups)}</ul>'


def _entry(scatter: ScatterChart, label: str) -> str:
    short = next(run.short for run in scatter.runs if run.label == label)
    return (
        f'<li style="--c:{scatter.tint(label)}"><svg viewBox="0 0 22 20" aria-hidden="true">'
        f"{draw_marker(scatter, label, 11, 10)}</svg><span>{escape(short)}</span></li>"
    )


def _words(scatter: ScatterChart, x: MeasureAxis, y: MeasureAxis) -> str:
    best = [scatter.says(scatter.runs[i], x, y) for i in scatter.best(x, y)]
    missing = [run.name for run in scatter.runs if not scatter.has(run, x, y)]
    told = listed(best).replace("<ul>", '<ul class="told">', 1)
    return (
        f"<p><b>No other run beats these</b>, from the least risk to the most use:</p>{told}"
        f'<p class="own"><b>{escape(_own(scatter, x, y))}</b></p>'
        f'<p class="soft missing"{"" if missing else " hidden"}>Not in the picture, as they lack '
        f"one of the two values: <span>{escape('; '.join(missing))}</span>.</p>"
    )


def _own(scatter: ScatterChart, x: MeasureAxis, y: MeasureAxis) -> str:
    """Say where the release stands that the report is about, if it is about one."""
    own = next((i for i, run in enumerate(scatter.runs) if run.label == THIS), None)
    if own is None or not scatter.has(scatter.runs[own], x, y):
        return ""
    over = [scatter.runs[i].name for i in scatter.over(own, x, y)]
    return f"This release is beaten by {'; '.join(over)}." if over else _UNBEATEN


_UNBEATEN = "No other run beats this release."


def _data(scatter: ScatterChart) -> str:
    """Hand all values to the script, in a form that can hold no end of the element."""
    told = {
        "frame": {
            "left": LEFT,
            "right": RIGHT,
            "top": TOP,
            "bottom": BOTTOM,
            "far": FAR,
            "letter": LETTER,
            "tall": TALL,
        },
        "across": [_axis(scale) for scale in scatter.across],
        "up": [_axis(scale) for scale in scatter.up],
        "strands": scatter.strands,
        "own": next((i for i, run in enumerate(scatter.runs) if run.label == THIS), None),
        "runs": [_told(scatter, run) for run in scatter.runs],
    }
    text = json.dumps(told, separators=(",", ":"))
    safe = text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return f'<script type="application/json" class="data">{safe}</script>'


def _axis(scale: MeasureAxis) -> dict[str, Any]:
    axis = scale.axis
    return {"line": scale.line, "low": axis.low, "high": axis.high, "flip": scale.flip}


def _told(scatter: ScatterChart, run: RunSummary) -> dict[str, Any]:
    lines = [scale.line for scale in (*scatter.across, *scatter.up)]
    spreads = {line: spread for line in lines if (spread := run.spread(line)) is not None}
    values = {
        line: {"mean": one.mean, "low": one.low, "high": one.high, "text": str(one)}
        for line, one in spreads.items()
    }
    return {"name": run.name, "group": scatter.group(run), "values": values}
