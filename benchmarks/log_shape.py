"""Compare the shapes of synthetic logs with real ones, in the figures that mislead if they differ.

The figures of AOL's log are those of published samples. The log of Excite (1997) is measured if
its file is there; it covers one day, so that its users have few lines and no clicks. It is no part
of the project.

Usage: log_shape.py [--users 2000] [--shapes classic web shop] [--excite FILE] [--page]
"""

from __future__ import annotations

import argparse
from pathlib import Path

from pages import put_table
from queryveil.concepts.loaders.registry import open_taxonomy
from queryveil.concepts.mapping.mapper import Mapper
from queryveil.log.reading import read_log
from queryveil.synthetic import LogFigures, make_log, measure_log

PAGE = Path(__file__).parents[1] / "docs" / "explanation" / "synthetic-log.md"
EXCITE = Path(__file__).parents[2] / "shared" / "data" / "excite" / "excite-small.log"
# Name, label, figure of samples of AOL's log, whether it is a percentage.
FIGURES = (
    ("addresses", "events that are addresses", "12-21%", True),
    ("most_frequent", "events of the ten most frequent queries", "6-7%", True),
    ("repeats", "own-query repeats among clicked events", "35%", True),
    ("locations", "concepts that are locations", "11%", True),
    ("persons", "concepts that are persons", "14%", True),
    ("words_per_query", "distinct words per distinct query", ".72", False),
    ("pairs_with_common_query", "user pairs that share a query", "6-11%", True),
    ("one_event_sessions", "one-event sessions", "50%", True),
    ("phrases_per_query", "phrases per query", "1.29", False),
    ("median_lines", "median lines per user", "37-70", False),
    ("longest_query", "longest query (characters)", "341", False),
    ("single_user_queries", "queries sent by one user only", "93-97%", True),
    ("clicks_per_event", "clicks per event", "as classic", False),
    ("rank_1", "clicks at rank 1", "as classic", True),
)


def measure_all(users: int, shapes: list[str], excite: Path) -> dict[str, LogFigures]:
    """Measure the real log, if it is there, and a log of each shape."""
    mapper = Mapper(open_taxonomy("wordnet"))
    logs = {"Excite 1997": read_log(excite, format="excite")} if excite.exists() else {}
    logs |= {shape: make_log(users, seed=1, shape=shape) for shape in shapes}
    return {name: measure_log(log, mapper) for name, log in logs.items()}


def format_figure(value: float | None, is_percentage: bool) -> str:
    """Return a figure as it is written in a table."""
    if value is None:
        return "-"
    if is_percentage:
        return f"{value:.1%}"
    return f"{value:.2f}" if value < 10 else f"{value:.0f}"


def table(found: dict[str, LogFigures]) -> list[list[str]]:
    """Return the rows of the table, the header first."""
    header = ["", "AOL samples", *found]
    return [header] + [
        [label, real, *(format_figure(getattr(one, name), percent) for one in found.values())]
        for name, label, real, percent in FIGURES
    ]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=2_000)
    parser.add_argument("--shapes", nargs="+", default=["classic", "web", "shop"])
    parser.add_argument("--excite", type=Path, default=EXCITE)
    parser.add_argument("--page", action="store_true")
    given = parser.parse_args()
    found = measure_all(given.users, given.shapes, given.excite)
    rows = table(found)
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    lines.insert(1, "|" + "---|" * len(rows[0]))
    print("\n".join(lines))
    if given.page:
        put_table("log-shape", "\n".join(lines), PAGE)


if __name__ == "__main__":
    main()
