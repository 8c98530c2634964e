"""Risk and utility of all methods on one synthetic log: the picture and its table.

Every method at a few values of its main parameter, each measured by attacks and by uses that make
sense for it. The comparison itself is written to benchmarks/data/frontier, with its page.

Usage: frontier.py [--users 1000] [--repeats 1] [--page]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

from microaggregation import log_of
from pages import put_table
from queryveil import comparison
from queryveil.comparison.frontier import frontier_svg

ROOT = Path(__file__).parents[1]
OUT = ROOT / "benchmarks" / "data" / "frontier"
METHODS = (  # `min_users` of microaggregation is set, so that it is not swept
    "frequent-queries", "disconnected-graph", "semantic-microaggregation:min-users=0",
    "semantic-microaggregation:as-published=yes:min-users=0",
    "category-microaggregation:min-users=0", "string-microaggregation:min-users=0",
    "syntactic-microaggregation:min-users=0",
    "semantic-replacement", "profile-first", "concept-histogram", "dp-statistics:delta=0.000001",
    "click-graph:delta=0.000001",
)  # fmt: skip
SWEEP = {
    "min_users": ("5", "20", "80"),
    "min_sites": ("2", "5"),
    "k": ("2", "5", "10"),
    "epsilon": ("1", "10", "100"),
}
RISK = (
    "membership-inference",
    "partial-knowledge-linkage",
    "record-linkage",
    "rare-query-exposure",
)
USE = ("word-frequency-error", "query-coverage", "profile-divergence", "profile-similarity")
ACROSS, UP = "partial-knowledge-linkage", "profile-divergence"


def found(users: int, repeats: int) -> comparison.Comparison:
    journal = comparison.open_journal(
        OUT, resume=False
    )  # code may have changed under the same version
    asked = comparison.request_figures(METHODS, (*RISK, *USE), SWEEP)
    how = comparison.RunOptions(repeats=repeats, seed=1, workers=0, ledger=str(OUT.parent))
    made = comparison.compare_figures(log_of(users, "web"), asked, how, journal=journal)
    comparison.write_comparison(made, OUT, overwrite=True, journal=journal)
    return made


def name_of(spec: str) -> str:
    """Return the method of a spec, and whether it is the one of its paper."""
    method, _, rest = spec.partition(":")
    return f"{method}, as published" if "as-published" in rest else method


def table(rows: Sequence[comparison.ComparisonRow]) -> str:
    """A row a run: what was swept, and the mean of each measure, or a dash where it has none."""
    measures = (*RISK, *USE)
    runs: dict[tuple[str, str], dict[str, list[float]]] = {}
    for row in rows:
        swept = ", ".join(f"{name}={value:g}" for name, value in row.params.items())
        cells = runs.setdefault((name_of(row.label), swept), {})
        if row.value is not None:
            cells.setdefault(row.measure, []).append(row.value)
    head = "| method | at | " + " | ".join(measures) + " |"
    body = [
        f"| {method} | {swept} | " + " | ".join(_cell(cells.get(one)) for one in measures) + " |"
        for (method, swept), cells in runs.items()
    ]
    return "\n".join([head, "|---|---|" + "---:|" * len(measures), *body])


def _cell(values: list[float] | None) -> str:
    return "–" if not values else f"{sum(values) / len(values):.3g}"  # noqa: RUF001


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--users", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--page", action="store_true")
    asked = parser.parse_args()
    start = time.perf_counter()
    made = found(asked.users, asked.repeats)
    print(f"{len(made.rows)} figures, {made.known_before} of them known before, in "
          f"{time.perf_counter() - start:.0f} s: {OUT / 'report.html'}")  # fmt: skip
    written = table(made.rows)
    print(written)
    if asked.page:
        put_table("frontier", written)
        picture = frontier_svg(made, ACROSS, UP, {m: name_of(m) for m in METHODS})
        (ROOT / "docs" / "img" / "frontier.svg").write_text(picture, "utf-8")


if __name__ == "__main__":
    main()
