"""The building blocks of all pages: style, sections, lists, and sortable tables.

A page is one file that fetches nothing; its content security policy forbids it. Only the scripts
that the page is built with may run, named by their digests, so that injected text cannot run as a
script. Without scripts, and on paper, a page shows the same content.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from html import escape
from typing import Any

COLOURS = """
:root { color-scheme: light dark; --ink: #1c2733; --soft: #5b6b7b; --line: #dfe5ea;
  --back: #f6f8f9; --card: #fff; --good: #1b7f5c; --warn: #a15c00; --fill: #cfe3f0; }
@media screen and (prefers-color-scheme: dark) { :root { --ink: #e5ebf0; --soft: #9fb0bf;
  --line: #2c3945; --back: #12191f; --card: #1a232b; --good: #5cc9a0; --warn: #e3a34d;
  --fill: #24485f; } }
"""

STYLE = (
    COLOURS
    + """
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--ink);
  font: 16px/1.55 system-ui, sans-serif; }
main { max-width: 46rem; margin: 0 auto; padding: 2rem 1.2rem 4rem; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .4rem; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; line-height: 1.3; margin: 0 0 .4rem; }
p { margin: .4rem 0; } ul, ol { margin: .4rem 0; padding-left: 1.3rem; }
li { overflow-wrap: anywhere; }
.soft { color: var(--soft); } .good { color: var(--good); } .warn { color: var(--warn); }
section { background: var(--card); border: 1px solid var(--line); border-radius: .6rem;
  padding: 1rem 1.2rem; margin-top: 1rem; }
.statement { font-size: 1.1rem; }
.badge { display: inline-block; border-radius: 1rem; padding: .1rem .7rem; font-size: .85rem;
  font-weight: 600; border: 1.5px solid; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
td, th { text-align: left; padding: .35rem .9rem .35rem 0; border-top: 1px solid var(--line);
  vertical-align: top; overflow-wrap: anywhere; }
td:last-child, th:last-child { padding-right: 0; } tr:first-child > * { border-top: 0; }
.sorts { font-size: .9rem; } .sorts tbody tr:first-child > * { border-top: 1px solid var(--line); }
.wide td, .wide th { overflow-wrap: normal; } .text { min-width: 11rem; }
.right { text-align: right; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
td.number { white-space: nowrap; } .sorts .number .soft { display: block;
  font-size: .85em; }
th { vertical-align: bottom; font-weight: 600; }
th button, .key button { font: inherit; color: inherit; background: none; border: 0; margin: 0;
  padding: 0; cursor: pointer; text-align: inherit; }
th.number button { text-align: right; }
th button::after { content: "\\2195"; margin-left: .3rem; font-size: .8em; opacity: .45; }
th[aria-sort=ascending] button::after { content: "\\2191"; opacity: 1; }
th[aria-sort=descending] button::after { content: "\\2193"; opacity: 1; }
:focus-visible { outline: 2px solid currentColor; outline-offset: 2px; border-radius: .2rem; }
td > i { display: block; height: .8rem; margin-top: .35rem; border-radius: .2rem;
  background: var(--fill); min-width: 1px; }
.bar { display: flex; height: 1.1rem; border-radius: .3rem; overflow: hidden; }
.bar i { display: block; } .legend b { display: inline-block; width: .8rem; height: .8rem;
  border-radius: .2rem; margin-right: .4rem; vertical-align: -.05rem; }
pre { overflow-x: auto; white-space: pre-wrap; overflow-wrap: anywhere; margin: .4rem 0;
  font: .9rem/1.5 ui-monospace, monospace; }
summary { cursor: pointer; color: var(--soft); }
footer { margin-top: 2rem; font-size: .85rem; }
@media (max-width: 34rem) { main { padding: 1.2rem .7rem 3rem; } section { padding: .9rem .8rem; }
  h1 { font-size: 1.35rem; } .folds tr { display: grid; border-top: 1px solid var(--line);
    grid-template-columns: 2.8rem 1fr 4.4rem 3.6rem; } .folds tr > * { border: 0 !important; }
  .folds tr > :last-child { grid-column: 2 / -1; padding-top: 0; } .folds .text { min-width: 0; } }
@media print { :root { --back: #fff; } body { font-size: 10.5pt; } main { max-width: none;
  padding: 0; } section { break-inside: auto; } h1, h2 { break-after: avoid; }
  tr, svg, li, pre { break-inside: avoid; } .wide { overflow: visible; } .text { min-width: 0; }
  .wide td, .wide th { overflow-wrap: break-word; } td.number { white-space: normal; }
  .sorts { font-size: 8pt; } .wide td { padding-right: .5rem; }
  th button::after { content: ""; } summary { list-style: none; }
  details::details-content { content-visibility: visible; block-size: auto; display: block; }
  .bar, td > i, .legend b, svg { print-color-adjust: exact; -webkit-print-color-adjust: exact; } }
"""
)


def document(title: str, body: str, *, style: str = "", scripts: Sequence[str] = ()) -> str:
    """Return a whole page; `body` is HTML, the title is text."""
    script_tags = "".join(f"<script>{script}</script>" for script in scripts)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_policy(scripts)}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}{style}</style></head>"
        f"<body><main>{body}</main>{script_tags}</body></html>\n"
    )


def _policy(scripts: Sequence[str]) -> str:
    digests = [b64encode(sha256(script.encode()).digest()).decode() for script in scripts]
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    return (
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
        "form-action 'none'" + f"; script-src {allowed}" * bool(scripts)
    )


def section(title: str, body: str) -> str:
    """Return a section of a page; the title is text, the body HTML."""
    return f"<section><h2>{escape(title)}</h2>{body}</section>"


def listed(items: Iterable[str]) -> str:
    """Return a bulleted list of texts."""
    return "<ul>" + "".join(f"<li>{escape(item)}</li>" for item in items) + "</ul>"


def pairs(rows: Mapping[str, Any]) -> str:
    """Return a table of names and their values."""
    cells = "".join(
        f"<tr><td>{escape(str(name))}</td><td{_align(value)}>{written(value)}</td></tr>"
        for name, value in rows.items()
    )
    return f"<table>{cells}</table>"


def _align(value: Any) -> str:
    """Return the class attribute of a value; only numbers stay on one line."""
    return ' class="number"' if isinstance(value, (int, float)) else ' class="right"'


def written(value: Any) -> str:
    """Return a value as HTML.

    >>> written(True), written(12345), written("a<b")
    ('yes', '12,345', 'a&lt;b')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, (int, float)) else escape(str(value))


def sortable(
    heads: Sequence[tuple[str, str]], rows: Iterable[Sequence[str]], *, folds: bool = False
) -> str:
    """Return a table that a click on a column head sorts; the page needs the script `SORTING`.

    Args:
        heads: Text and class of each column; the class is `number`, `text` (long) or empty.
        rows: Cells as HTML, built with `cell` and `number`.
        folds: For a table of five columns: on a phone the last one goes below the others.
    """
    classes = "sorts folds" if folds else "sorts"
    top = "".join(
        f'<th scope="col"{_class_attribute(kind)}>{escape(text)}</th>' for text, kind in heads
    )
    body = "".join(f"<tr>{''.join(cells)}</tr>" for cells in rows)
    return (
        f'<div class="wide"><table class="{classes}"><thead><tr>{top}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _class_attribute(kind: str) -> str:
    return f' class="{kind}"' if kind else ""


def cell(text: str, kind: str = "") -> str:
    """Return a cell of text; it sorts as text."""
    return f"<td{_class_attribute(kind)}>{escape(text)}</td>"


def number(html: str, value: float | None, *, why: str = "") -> str:
    """Return a cell that sorts by a value, None always last; `why` is its tooltip."""
    key = "" if value is None else repr(float(value))
    title = f' title="{escape(why)}"' if why else ""
    return f'<td class="number" data-value="{key}"{title}>{html}</td>'


# Column heads become buttons in the script, not in the page: without it they would do nothing.
SORTING = """
"use strict";
for (const table of document.querySelectorAll("table.sorts")) {
  const heads = [...table.tHead.rows[0].cells];
  const key = (row, i) => {
    const cell = row.cells[i], text = cell.dataset.value ?? cell.textContent.trim();
    return text === "" ? null : isNaN(text) ? text : Number(text);
  };
  const order = (a, b) => {
    if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
    return typeof a === "number" ? a - b : a.localeCompare(b, "en", { numeric: true });
  };
  const sort = (i) => {
    const up = heads[i].getAttribute("aria-sort") !== "ascending", body = table.tBodies[0];
    const rows = [...body.rows].map((row) => [key(row, i), row]);
    rows.sort(([a], [b]) => {
      if (a === null || b === null) return (a === null) - (b === null);
      return up ? order(a, b) : order(b, a);
    });
    body.append(...rows.map(([, row]) => row));
    heads.forEach((head) => head.removeAttribute("aria-sort"));
    heads[i].setAttribute("aria-sort", up ? "ascending" : "descending");
  };
  heads.forEach((head, i) => {
    if (!head.textContent.trim()) return;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    button.addEventListener("click", () => sort(i));
    head.append(button);
  });
}
const folded = () => document.querySelectorAll("details:not([open])");
let opened = [];
addEventListener("beforeprint", () => {
  opened = [...folded()];
  opened.forEach((details) => { details.open = true; });
});
addEventListener("afterprint", () => opened.forEach((details) => { details.open = false; }));
"""
