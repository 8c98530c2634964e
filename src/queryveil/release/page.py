"""The card for people: one HTML page that needs nothing but itself."""

from __future__ import annotations

from html import escape
from typing import Any

__all__ = ["page"]

_STYLE = """
:root { color-scheme: light dark; --ink: #1c2733; --soft: #5b6b7b; --line: #dfe5ea;
  --back: #f6f8f9; --card: #fff; --good: #1b7f5c; --warn: #a15c00; }
@media (prefers-color-scheme: dark) { :root { --ink: #e5ebf0; --soft: #9fb0bf; --line: #2c3945;
  --back: #12191f; --card: #1a232b; --good: #5cc9a0; --warn: #e3a34d; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--ink);
  font: 16px/1.55 system-ui, sans-serif; }
main { max-width: 46rem; margin: 0 auto; padding: 2rem 1.2rem 4rem; }
h1 { font-size: 1.6rem; margin: 0 0 .3rem; } h2 { font-size: 1.1rem; margin: 2rem 0 .6rem; }
p { margin: .4rem 0; } .soft { color: var(--soft); }
section { background: var(--card); border: 1px solid var(--line); border-radius: .6rem;
  padding: 1rem 1.2rem; margin-top: 1rem; } section h2 { margin-top: 0; }
.says { font-size: 1.1rem; } .badge { display: inline-block; border-radius: 1rem;
  padding: .1rem .7rem; font-size: .85rem; font-weight: 600; border: 1.5px solid; }
.good { color: var(--good); } .warn { color: var(--warn); }
table { border-collapse: collapse; width: 100%; }
td, th { text-align: left; padding: .3rem .6rem .3rem 0; border-top: 1px solid var(--line);
  vertical-align: top; overflow-wrap: anywhere; }
tr:first-child td { border-top: 0; } td.number { text-align: right; white-space: nowrap;
  font-variant-numeric: tabular-nums; }
.bar { display: flex; height: 1.1rem; border-radius: .3rem; overflow: hidden; }
.bar i { display: block; } ul { margin: .4rem 0; padding-left: 1.2rem; }
.legend span { margin-right: 1.2rem; white-space: nowrap; }
.legend b { display: inline-block; width: .8rem; height: .8rem; border-radius: .2rem;
  margin-right: .3rem; vertical-align: -.05rem; }
footer { margin-top: 2rem; font-size: .85rem; }
"""

_COLOURS = ("#1b7f5c", "#d9a441", "#b3543e", "#6a7fb0", "#8a6aa8", "#7a8791", "#4f9bb5")
_MODELS = {
    "none": "No formal guarantee: a rule was kept",
    "k-anonymity": "k-anonymity",
    "pure-dp": "Differential privacy",
    "approx-dp": "Approximate differential privacy",
    "conditional-dp": "Differential privacy, under a condition",
}


def page(card: dict[str, Any]) -> str:
    """Draw a card, public or internal, as a page."""
    internal = "input" in card
    parts = [_head(card, internal), _promise(card["guarantee"]), _limits(card["guarantee"])]
    parts += [_notes(card)]
    if internal:
        parts += [_way_of_the_rows(card)]
    parts += [_figures(card, internal), _parameters(card), _checks(card)]
    if internal:
        parts += [_run(card)]
    edition = "internal" if internal else "public"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(card['method'])}: {edition} card</title><style>{_STYLE}</style></head>"
        f"<body><main>{''.join(parts)}{_foot(card, internal)}</main></body></html>\n"
    )


def _head(card: dict[str, Any], internal: bool) -> str:
    grade = (
        '<span class="badge good">release grade</span>'
        if card["release_grade"]
        else '<span class="badge warn">not for publication</span>'
    )
    if card["guarantee"]["model"] == "none":
        grade += ' <span class="badge warn">no formal guarantee</span>'
    why = _list(card["not_release_grade_because"]) if card["not_release_grade_because"] else ""
    secret = '<p class="warn"><b>Internal: do not publish this page.</b></p>' if internal else ""
    return (
        f"<h1>A query log, released with {escape(card['method'])}</h1>{secret}<p>{grade}</p>{why}"
    )


_NUMBERS = {
    "k": "k",
    "epsilon": "epsilon",
    "delta": "delta",
    "per_query_epsilon": "epsilon of one query",
}


def _promise(guarantee: dict[str, Any]) -> str:
    numbers = {says: guarantee[name] for name, says in _NUMBERS.items()}
    rows = {name: value for name, value in numbers.items() if value is not None}
    rows["unit"] = f"one {guarantee['unit']}: a person's whole log"
    if guarantee.get("given"):
        rows["only given that public is"] = guarantee["given"]
    if guarantee["neighbours"]:
        rows["neighbours"] = guarantee["neighbours"]
    return _section(
        "What is promised",
        f"<p><b>{_MODELS[guarantee['model']]}</b></p>"
        f'<p class="says">{escape(guarantee["says"])}</p>{_table(rows)}',
    )


def _limits(guarantee: dict[str, Any]) -> str:
    return _section("What is not covered", _list(guarantee["not_covered"])) + _section(
        "What is assumed", _list(guarantee["assumptions"])
    )


def _notes(card: dict[str, Any]) -> str:
    return _section("What else to know", _list(card["notes"])) if card.get("notes") else ""


def _way_of_the_rows(card: dict[str, Any]) -> str:
    made = sum(card["made"].values())
    released = "released" if not made else "released as a row of the log"
    shares = {released: card["output"]["rows"] - made} | card["dropped"]
    shares |= {f"rejected: {reason}": n for reason, n in card["input"]["rejected"].items()}
    total = max(card["input"]["rows"], 1)
    colours = [_COLOURS[i % len(_COLOURS)] for i in range(len(shares))]
    bar = "".join(
        f'<i style="width:{100 * n / total:.3f}%;background:{colour}"></i>'
        for n, colour in zip(shares.values(), colours, strict=True)
    )
    legend = "".join(
        f'<tr><td><span class="legend"><b style="background:{colour}"></b></span>'
        f'{escape(name)}</td><td class="number">{n:,}</td>'
        f'<td class="number">{n / total:.2%}</td></tr>'
        for (name, n), colour in zip(shares.items(), colours, strict=True)
    )
    blanked = _table(card["blanked"]) if card["blanked"] else "<p>None.</p>"
    return _section(
        "What became of every row",
        f"<p>{card['input']['rows']:,} rows went in.</p>"
        f'<div class="bar" role="img" aria-label="shares of the rows">{bar}</div>'
        f"<table>{legend}</table>{_made_rows(card)}"
        f"<p><b>Clicks blanked in released rows</b></p>{blanked}",
    )


def _made_rows(card: dict[str, Any]) -> str:
    """Show the rows that were no rows of the log; they are no share of it."""
    if not card["made"]:
        return ""
    rows = card["made"] | {"released in all": card["output"]["rows"]}
    return f"<p><b>Rows made by the method</b></p>{_table(rows)}"


def _figures(card: dict[str, Any], internal: bool) -> str:
    names = {"rows": "rows", "ids": "pseudonyms", "queries": "queries", "urls": "URLs"}
    figures = {names.get(name, name): n for name, n in card["figures"].items()}
    if internal:
        figures |= {f"{name}, in the log": card["input"][name] for name in ("users", "queries")}
    return _section("In numbers", _table(figures))


def _parameters(card: dict[str, Any]) -> str:
    return _section("Parameters", _table(card["parameters"]))


def _checks(card: dict[str, Any]) -> str:
    checks = [
        ", ".join(f"{key}: {value}" for key, value in check.items())
        for check in card["guarantee"]["checks"]
    ]
    text = "<p>Anyone can repeat these on the public files: <code>queryveil verify DIR</code>.</p>"
    return _section("How it can be checked", text + _list(checks))


def _run(card: dict[str, Any]) -> str:
    seconds = {f"{stage}, seconds": value for stage, value in card["seconds"].items()}
    return _section("The run", _table(seconds | {"peak memory, MB": card["peak_mb"]}))


def _foot(card: dict[str, Any], internal: bool) -> str:
    text = "" if internal else " This page holds nothing that the other public files do not tell."
    version = escape(str(card["queryveil"]))
    return f'<footer class="soft">Made by queryveil {version}.{text}</footer>'


def _section(title: str, body: str) -> str:
    return f"<section><h2>{escape(title)}</h2>{body}</section>"


def _list(items: list[str]) -> str:
    return "<ul>" + "".join(f"<li>{escape(item)}</li>" for item in items) + "</ul>"


def _table(rows: dict[str, Any]) -> str:
    cells = "".join(
        f'<tr><td>{escape(str(name))}</td><td class="number">{_value(value)}</td></tr>'
        for name, value in rows.items()
    )
    return f"<table>{cells}</table>"


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, (int, float)) else escape(str(value))
