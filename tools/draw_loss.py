"""Draw the loss of interests over epsilon, for the docs, from what `compare` wrote.

queryveil synth --topics A --out log.tsv
queryveil compare log.tsv --preset sanchez2018 --repeats 3 --out figures
python tools/draw_loss.py figures

Writes docs/img/loss.svg, and prints the tables of docs/explanation/published-curves.md.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import polars as pl

from queryveil.render.charts.line import ChartLine, ChartPoint, LineChart, line_chart
from queryveil.render.charts.picture import Chart

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
LINES = {  # what is drawn, with its name
    "concept-histogram": "concept-histogram",
    "nsqc nominal": "nsqc, as published",
    "sqc1 nominal": "sqc1, as published",
    "sqc2 nominal": "sqc2, as published",
    "nsqc exact": "nsqc, exact",
    "sqc2 exact": "sqc2, exact",
    "uniform": "uniform profile, no data",
    "population": "one profile for all",
    "auto": "profile-first",
}
WIDTH = 440  # of a panel


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


def panel(table: pl.DataFrame, title: str, x_title: str) -> LineChart | None:
    """Draw one setting at one budget."""
    lines = []
    for number, (name, label) in enumerate(LINES.items()):
        rows = (
            table.filter(pl.col("line") == name).sort("epsilon").select("epsilon", "value").rows()
        )
        points = [ChartPoint(e, v, v, v, f"{label} at {e:g}: {v:.3f}") for e, v in rows]
        if points:
            lines.append(ChartLine(label, tuple(points), number=number))
    y_title = "loss of interests; lower is better"
    return line_chart(
        lines, title=title, x_title=x_title, y_title=y_title, scale="log", width=WIDTH
    )


def picture(table: pl.DataFrame) -> str:
    """Draw all settings and budgets, with one legend."""
    panels = [
        panel(
            table.filter((pl.col("setting") == setting) & (pl.col("budget") == budget)),
            SETTINGS[setting],
            BUDGETS[budget],
        )
        for setting in SETTINGS
        for budget in BUDGETS
    ]
    drawn = tuple(one for one in panels if one is not None)
    return Chart("Loss of users' interests over epsilon", drawn, columns=2).svg


def markdown(table: pl.DataFrame, budget: str) -> str:
    """Give a table of all lines at one budget."""
    chosen = table.filter(pl.col("budget") == budget)
    values = sorted(chosen["epsilon"].unique())
    rows = ["| setting | line | " + " | ".join(f"{e:g}" for e in values) + " |"]
    rows.append("|---|---|" + "---:|" * len(values))
    for setting in SETTINGS:
        for name, label in LINES.items():
            mine = chosen.filter((pl.col("setting") == setting) & (pl.col("line") == name))
            if mine.height:
                cells = " | ".join(f"{value:.3f}" for value in mine.sort("epsilon")["value"])
                rows.append(f"| {setting} | {label} | {cells} |")
    return "\n".join(rows)


def main() -> None:
    table = table_of(Path(sys.argv[1]))
    IMAGE.write_text(picture(table), "utf-8")
    for budget, says in BUDGETS.items():
        print(f"{says}\n\n{markdown(table, budget)}\n")


if __name__ == "__main__":
    main()
