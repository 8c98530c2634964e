"""Draw the loss of interests over epsilon, for the docs, from what `compare` wrote.

queryveil synth --topics A --out log.tsv
queryveil compare log.tsv --preset sanchez2018 --repeats 3 --out figures
python tools/draw_loss.py figures

Writes docs/img/loss.svg, and prints the tables of docs/explanation/published-curves.md.
"""

from __future__ import annotations

import math
import re
import sys
from pathlib import Path

import polars as pl

IMAGE = Path(__file__).parents[1] / "docs" / "img" / "loss.svg"
SETTINGS = {
    "A": "A: within one of 4 domains, 19 topics",
    "B": "B: among all abstractions, 19 topics",
    "C": "C: among all abstractions, 4 topics",
}
BUDGETS = {
    "user": "epsilon for a user's whole log",
    "query": "epsilon for each of their 100 queries",
}
LINES = {  # what is drawn, with its colour and dashes
    "concept-histogram": ("concept-histogram", "#5c6670", "2 3"),
    "nsqc nominal": ("nsqc, as published", "#2e8b57", "6 3"),
    "sqc1 nominal": ("sqc1, as published", "#b8720a", "6 3"),
    "sqc2 nominal": ("sqc2, as published", "#d1495b", "6 3"),
    "nsqc exact": ("nsqc, exact", "#2e8b57", ""),
    "sqc2 exact": ("sqc2, exact", "#d1495b", ""),
    "uniform": ("uniform profile, no data", "#111111", "1 3"),
    "population": ("one profile for all", "#7a4fb5", "6 3"),
    "auto": ("profile-first", "#0067a5", ""),
}
WIDTH, HEIGHT, GAP, LEFT, TOP = 330, 210, 34, 46, 70


def table_of(folder: Path) -> pl.DataFrame:
    """Give setting, budget, line, epsilon and the mean value."""
    rows = pl.read_csv(folder / "results.csv").drop_nulls("value")
    found = [
        (_part(m, "domain"), _part(m, "budget-unit", "user"), _line(m), epsilon, value)
        for m, epsilon, value in rows.select("method", "epsilon", "value").rows()
    ]
    names = ["setting", "budget", "line", "epsilon", "value"]
    table = pl.DataFrame(found, schema=names, orient="row")
    return table.group_by(names[:-1]).agg(pl.col("value").mean()).sort(names[:-1])


def _part(method: str, name: str, default: str = "") -> str:
    found = re.search(rf"{name}=([^:]+)", method)
    return found[1] if found else default


def _line(method: str) -> str:
    if method.startswith("semantic-replacement"):
        return f"{_part(method, 'criterion', 'sqc2')} {_part(method, 'calibration', 'exact')}"
    if method.startswith("profile-first"):
        return _part(method, "mechanism", "auto")
    return "concept-histogram"


def panel(table: pl.DataFrame, left: float, top: float, title: str) -> str:
    """Draw one setting at one budget."""

    def x(epsilon: float) -> float:
        return left + (math.log10(epsilon) + 1) / 2 * WIDTH

    def y(value: float) -> float:
        return top + (1 - value) * HEIGHT

    parts = [f'<text x="{left}" y="{top - 8}" class="title">{title}</text>']
    for value in (0, 0.25, 0.5, 0.75, 1):
        parts.append(f'<path class="grid" d="M{left} {y(value):.1f}h{WIDTH}"/>')
        parts.append(f'<text x="{left - 6}" y="{y(value) + 4:.1f}" class="end">{value:g}</text>')
    for epsilon in (0.1, 0.3, 1, 3, 10):
        where = f'x="{x(epsilon):.1f}" y="{top + HEIGHT + 16}"'
        parts.append(f'<text {where} class="middle">{epsilon:g}</text>')
    for name, (_, colour, dashes) in LINES.items():
        points = table.filter(pl.col("line") == name).sort("epsilon").select("epsilon", "value")
        if points.height:
            way = " ".join(f"{x(e):.1f},{y(v):.1f}" for e, v in points.rows())
            width = 3 if name == "auto" else 1.8
            stroke = f'stroke="{colour}" stroke-width="{width}" stroke-dasharray="{dashes}"'
            parts.append(f'<polyline fill="none" {stroke} points="{way}"/>')
    return "".join(parts)


def picture(table: pl.DataFrame) -> str:
    """Draw all settings and budgets, with a key."""
    step_x, step_y = WIDTH + GAP + LEFT, HEIGHT + 88
    width, height = 3 * step_x + GAP, TOP + 2 * step_y + 46
    parts = [
        panel(
            table.filter((pl.col("setting") == setting) & (pl.col("budget") == budget)),
            LEFT + GAP / 2 + column * step_x,
            TOP + row * step_y,
            SETTINGS[setting],
        )
        for row, budget in enumerate(BUDGETS)
        for column, setting in enumerate(SETTINGS)
    ]
    for row, says in enumerate(BUDGETS.values()):
        below = f"Loss of users' interests (0: none), {says}"
        parts.append(f'<text x="20" y="{TOP + row * step_y - 34}" class="head">{below}</text>')
    for place, (name, colour, dashes) in enumerate(LINES.values()):
        left, top = 20 + place % 5 * 232, height - 40 + place // 5 * 22
        stroke = f'stroke="{colour}" stroke-width="2.4" stroke-dasharray="{dashes}"'
        parts.append(f'<path {stroke} d="M{left} {top}h34"/>')
        parts.append(f'<text x="{left + 42}" y="{top + 5}">{name}</text>')
    style = (
        "text{font:13px system-ui,sans-serif;fill:#24313f}.head{font-weight:600;font-size:16px}"
        ".title{font-weight:600}.end{text-anchor:end}.middle{text-anchor:middle}"
        ".grid{stroke:#d8dee6}"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}">'
        f'<style>{style}</style><rect width="100%" height="100%" fill="#fff"/>'
        f"{''.join(parts)}</svg>"
    )


def markdown(table: pl.DataFrame, budget: str) -> str:
    """Give a table of all lines at one budget."""
    chosen = table.filter(pl.col("budget") == budget)
    values = sorted(chosen["epsilon"].unique())
    rows = ["| setting | line | " + " | ".join(f"{e:g}" for e in values) + " |"]
    rows.append("|---|---|" + "---:|" * len(values))
    for setting in SETTINGS:
        for name, (says, _, _) in LINES.items():
            mine = chosen.filter((pl.col("setting") == setting) & (pl.col("line") == name))
            if mine.height:
                cells = " | ".join(f"{value:.3f}" for value in mine.sort("epsilon")["value"])
                rows.append(f"| {setting} | {says} | {cells} |")
    return "\n".join(rows)


def main() -> None:
    table = table_of(Path(sys.argv[1]))
    IMAGE.write_text(picture(table), "utf-8")
    for budget, says in BUDGETS.items():
        print(f"{says}\n\n{markdown(table, budget)}\n")


if __name__ == "__main__":
    main()
