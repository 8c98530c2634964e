"""The frontier of risk and utility: the runs that no other run dominates, drawn and listed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from ..errors import UsageError
from ..render.charts.line import STYLE as CHART
from ..render.markup import COLOURS as SHEET
from ..render.markup import listed, section
from .scatter import (
    FAR,
    GONE,
    LETTER,
    STYLE,
    TALL,
    THIS,
    ScatterChart,
    build_scatter,
    draw_marker,
    draw_scatter,
)
from .scatter import STYLE as PICTURE
from .series import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, MeasureAxis, RunSummary

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


def frontier_section(comparison: Mapping[str, Any]) -> str:
    """Render the section of a comparison, or an empty text if it lacks a risk or a utility.

    The page needs `FRONTIER_STYLE` and `SCRIPT`; without the script it shows the first two
    measures.
    """
    scatter = build_scatter(comparison)
    if scatter is None:
        return ""
    x, y = scatter.first()
    body = (
        "<p>Each mark is a run: the further left, the less risk; the further up, the more utility. "
        f"{_describe_strokes(comparison)}The dotted line joins the runs that no other run beats: "
        f"none is at least as good in both, and better in one.</p>"
        f"{_choice(scatter, x, y)}{_picture(scatter, x, y)}"
        f"{_key(scatter)}{_describe_best(scatter, x, y)}{_data(scatter)}"
        '<div class="tip" role="status" hidden></div>'
    )
    return section("Risk against utility", f'<div class="frontier">{body}</div>')


def _describe_strokes(comparison: Mapping[str, Any]) -> str:
    note = "Strokes reach from the lowest to the highest repeat. "
    return note if comparison["repeat"] > 1 else ""


def _choice(scatter: ScatterChart, x: MeasureAxis, y: MeasureAxis) -> str:
    selects = (("Risk", scatter.across, x), ("Utility", scatter.up, y))
    return f'<p class="choice" hidden>{"".join(_select(*select) for select in selects)}</p>'


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
        f'aria-label="Risk against utility of each run">{draw_scatter(scatter, x, y, scales)}</svg>'
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


def _describe_best(scatter: ScatterChart, x: MeasureAxis, y: MeasureAxis) -> str:
    best = [scatter.describe(scatter.runs[i], x, y) for i in scatter.best(x, y)]
    missing = [run.name for run in scatter.runs if not scatter.has(run, x, y)]
    items = listed(best).replace("<ul>", '<ul class="told">', 1)
    return (
        "<p><b>No other run beats these</b>, from the lowest risk to the highest utility:</p>"
        f"{items}"
        f'<p class="own"><b>{escape(_describe_own(scatter, x, y))}</b></p>'
        f'<p class="soft missing"{"" if missing else " hidden"}>Not in the picture, as they lack '
        f"one of the two values: <span>{escape('; '.join(missing))}</span>.</p>"
    )


def _describe_own(scatter: ScatterChart, x: MeasureAxis, y: MeasureAxis) -> str:
    """Return a sentence on the runs that beat this release, if the report is on one."""
    own = next((i for i, run in enumerate(scatter.runs) if run.label == THIS), None)
    if own is None or not scatter.has(scatter.runs[own], x, y):
        return ""
    better = [scatter.runs[i].name for i in scatter.dominating(own, x, y)]
    return f"This release is beaten by {'; '.join(better)}." if better else _UNBEATEN


_UNBEATEN = "No other run beats this release."


def _data(scatter: ScatterChart) -> str:
    """Embed all values for the script, escaped so that they cannot close the element."""
    data = {
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
        "runs": [_run_data(scatter, run) for run in scatter.runs],
    }
    text = json.dumps(data, separators=(",", ":"))
    safe = text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return f'<script type="application/json" class="data">{safe}</script>'


def _axis(scale: MeasureAxis) -> dict[str, Any]:
    axis = scale.axis
    return {"line": scale.line, "low": axis.low, "high": axis.high, "flip": scale.flip}


def _run_data(scatter: ScatterChart, run: RunSummary) -> dict[str, Any]:
    lines = [scale.line for scale in (*scatter.across, *scatter.up)]
    spreads = {line: spread for line in lines if (spread := run.spread(line)) is not None}
    values = {
        line: {"mean": one.mean, "low": one.low, "high": one.high, "text": str(one)}
        for line, one in spreads.items()
    }
    return {"name": run.name, "group": scatter.group(run), "values": values}


_ALONE = ".chart { margin: 0; max-width: none; }"
_ROW, _MAX_NAME = 24, 36  # height of a row of the key; longest name for two columns


def frontier_svg(
    comparison: Mapping[str, Any],
    x_measure: str,
    y_measure: str,
    labels: Mapping[str, str] | None = None,
) -> str:
    """Render two measures of a comparison as the text of an .svg file.

    `labels` are names for method specs; without them, parameters common to all are left out.
    """
    scatter = build_scatter(comparison, labels)
    x = next(
        (scale for scale in (scatter.across if scatter else ()) if scale.line == x_measure), None
    )
    y = next((scale for scale in (scatter.up if scatter else ()) if scale.line == y_measure), None)
    if scatter is None or x is None or y is None:
        raise UsageError(
            f'"{x_measure}" and "{y_measure}" are no risk and no utility of this comparison',
            hint="comparison.json has the names of the measures",
        )
    key, rows = _picture_key(scatter, x, y)
    height = HEIGHT + _ROW * rows + 40
    title = escape(f"{x.title} against {y.title}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="chart scatter" '
        f'viewBox="-12 -10 {WIDTH + 20} {height}" role="img" aria-label="{title}">'
        f"<title>{title}</title><style>{SHEET}{CHART}{STYLE}{_ALONE}</style>"
        f'<rect x="-12" y="-10" width="{WIDTH + 20}" height="{height}" rx="8" fill="var(--card)"/>'
        f"{draw_scatter(scatter, x, y, x.drawn() + y.drawn())}{key}</svg>\n"
    )


def _picture_key(scatter: ScatterChart, x: MeasureAxis, y: MeasureAxis) -> tuple[str, int]:
    """Render the key below the picture, in two columns if the names are short."""
    short = {run.label: run.short for run in scatter.runs if scatter.has(run, x, y)}
    columns = 1 if any(len(name) > _MAX_NAME for name in short.values()) else 2
    width, top = (RIGHT - LEFT) / columns, HEIGHT + 14
    entries = [
        _picture_entry(
            scatter, label, name, LEFT + width * (i % columns), top + _ROW * (i // columns)
        )
        for i, (label, name) in enumerate(short.items())
    ]
    return "".join(entries), -(-len(entries) // columns)


def _picture_entry(scatter: ScatterChart, label: str, name: str, x: float, y: float) -> str:
    return (
        f'<g style="--c:{scatter.tint(label)}">{draw_marker(scatter, label, x + 6, y + 10)}'
        f'<text x="{x + 18}" y="{y + 14.5}">{escape(name)}</text></g>'
    )


# The script moves elements of the page. The page has all axes; the script shows two of them.
SCRIPT = """
"use strict";
for (const box of document.querySelectorAll(".frontier")) {
  const data = JSON.parse(box.querySelector(".data").textContent);
  const { left, right, top, bottom, far, letter, tall } = data.frame;
  const svg = box.querySelector(".scatter"), step = svg.querySelector(".step");
  const marks = [...svg.querySelectorAll(".run")], joins = svg.querySelectorAll(".join");
  const [across, up] = box.querySelectorAll("select"), tip = box.querySelector(".tip");
  const hidden = new Set();
  const show = (one, shown) => shown ? one.removeAttribute("display")
    : one.setAttribute("display", "none");
  const share = (scale, v) => {
    const p = (v - scale.low) / (scale.high - scale.low);
    return scale.flip ? 1 - p : p;
  };
  const round = (v) => Math.round(v * 10) / 10;
  const toX = (scale, v) => round(left + share(scale, v) * (right - left));
  const toY = (scale, v) => round(bottom - share(scale, v) * (bottom - top));
  const worth = (scale, v) => scale.flip ? -v : v;

  const unbeaten = (points) => {
    const front = [];
    let bestUse = -Infinity, last = null;
    for (const p of [...points].sort((a, b) => a.risk - b.risk || b.use - a.use)) {
      if (p.use > bestUse || (last && p.risk === last.risk && p.use === last.use)) {
        front.push(p);
        [bestUse, last] = [p.use, p];
      }
    }
    return front;
  };

  const placed = (x, y) => data.runs.map((run, i) => {
    const a = run.values[x.line], b = run.values[y.line];
    if (!a || !b) return null;
    const [h, v] = [toX(x, a.mean), toY(y, b.mean)];
    return { i, h, v, group: run.group, risk: worth(x, a.mean), use: worth(y, b.mean),
      text: `${run.name}: ${x.line} ${a.text}, ${y.line} ${b.text}`,
      reach: `M${round(toX(x, a.low) - h)} 0H${round(toX(x, a.high) - h)}` +
        `M0 ${round(toY(y, b.low) - v)}V${round(toY(y, b.high) - v)}` };
  });

  const draw = () => {
    const x = data.across[across.value], y = data.up[up.value];
    const all = placed(x, y), seen = all.filter((p) => p && !hidden.has(p.group));
    const best = unbeaten(seen);
    marks.forEach((g, i) => {
      const p = all[i];
      show(g, seen.includes(p));
      g.classList.toggle("best", best.includes(p));
      if (!p) return;
      g.setAttribute("transform", `translate(${p.h} ${p.v})`);
      g.setAttribute("aria-label", p.text);
      g.querySelector(".reach").setAttribute("d", p.reach);
      const text = g.querySelector(".at");
      text?.setAttribute("x", p.h > far ? -9 : 9);
      text?.setAttribute("text-anchor", p.h > far ? "end" : "start");
    });
    legible([...best, ...seen]);
    joins.forEach((line, i) => line.setAttribute("points", data.strands[i]
      .map((n) => all[n]).filter((p) => seen.includes(p)).map((p) => `${p.h},${p.v}`).join(" ")));
    step.setAttribute("d", best.length ? `M${best[0].h} ${bottom}V${best[0].v}` +
      best.slice(1).map((p) => `H${p.h}V${p.v}`).join("") + `H${right}` : "");
    svg.querySelectorAll(".across").forEach((g, i) => show(g, i === Number(across.value)));
    svg.querySelectorAll(".up").forEach((g, i) => show(g, i === Number(up.value)));
    tell(best, all);
  };

  const legible = (order) => {
    const boxes = [], shown = new Set();
    svg.querySelectorAll(".at").forEach((text) => text.setAttribute("visibility", "hidden"));
    for (const p of order) {
      const text = marks[p.i].querySelector(".at");
      if (!text || shown.has(p)) continue;
      const width = letter * [...text.textContent].length;
      const left = p.h > far ? p.h - 9 - width : p.h + 9;
      const clear = boxes.every(([other, wide, high]) =>
        left + width < other || other + wide < left || Math.abs(p.v - high) >= tall);
      if (!clear) continue;
      boxes.push([left, width, p.v]);
      shown.add(p);
      text.setAttribute("visibility", "visible");
    }
  };

  const tell = (best, all) => {
    box.querySelector(".told").replaceChildren(...best.map((p) => {
      const item = document.createElement("li");
      item.textContent = p.text;
      return item;
    }));
    const own = all[data.own], over = own && !best.includes(own)
      ? best.filter((p) => p.risk <= own.risk && p.use >= own.use) : [];
    box.querySelector(".own b").textContent = !own ? "" : !over.length
      ? "No other run beats this release."
      : `This release is beaten by ${over.map((p) => data.runs[p.i].name).join("; ")}.`;
    const missing = data.runs.filter((run, i) => !all[i]).map((run) => run.name);
    const note = box.querySelector(".missing");
    note.hidden = !missing.length;
    note.querySelector("span").textContent = missing.join("; ");
  };

  const point = (g) => {
    tip.textContent = g.getAttribute("aria-label");
    tip.hidden = false;
    const at = g.querySelector(".mark").getBoundingClientRect(), area = box.getBoundingClientRect();
    const maxLeft = area.width - tip.offsetWidth;
    tip.style.left = `${Math.max(0, Math.min(maxLeft, at.left - area.left + 14))}px`;
    tip.style.top = `${at.top - area.top - tip.offsetHeight - 6}px`;
  };
  const away = () => { tip.hidden = true; };
  for (const g of marks) {
    g.querySelector("title").remove();
    g.setAttribute("tabindex", "0");
    g.setAttribute("role", "img");
    for (const name of ["pointerenter", "focus"]) g.addEventListener(name, () => point(g));
    for (const name of ["pointerleave", "blur"]) g.addEventListener(name, away);
  }
  box.querySelectorAll(".key li").forEach((item, group) => {
    const button = document.createElement("button");
    button.type = "button";
    button.setAttribute("aria-pressed", "true");
    button.append(...item.childNodes);
    item.append(button);
    button.addEventListener("click", () => {
      const gone = !hidden.delete(group);
      if (gone) hidden.add(group);
      button.setAttribute("aria-pressed", String(!gone));
      draw();
    });
  });
  for (const one of [across, up]) one.addEventListener("change", draw);
  box.querySelectorAll(".choice").forEach((one) => { one.hidden = false; });
  svg.setAttribute("role", "group");
  draw();
}
"""
