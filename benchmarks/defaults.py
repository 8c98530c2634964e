"""Compare the defaults of methods with other values, on logs of several shapes.

A default is kept if it is the best value on every shape, or within 5% of the best. Parameters that
set the strength of a guarantee (epsilon, k, min-users) are no defaults that a log can choose, and
are not here.

Usage: defaults.py [--only dp-statistics] [--page]
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pages import put_table
from queryveil.core.progress import NoProgress
from queryveil.core.randomness import RandomSource
from queryveil.measures.base import parse_measure
from queryveil.measures.context import MeasureContext
from queryveil.methods.base import Method, parse_method
from queryveil.methods.runner import run_method
from queryveil.synthetic import make_log
from queryveil.workflows.measurement import run_for_measurement

PAGE = Path(__file__).parents[1] / "docs" / "explanation" / "defaults.md"
SHAPES = {
    "classic": "classic",
    "web": "web",
    "light": "web:median-lines=15:mean-lines=30",
    "heavy": "web:median-lines=70:mean-lines=140",
    "topics": "web:navigational=0.1:new-words=0.7",
    "sites": "web:navigational=0.55:new-words=0.05",
}
NEAR = 0.05  # a default may be this much worse than the best value
MANY, FEW = 10_000, 500  # users
LOG_SEED = 7


@dataclass(frozen=True)
class Question:
    """One parameter of a method, and the values that are compared; the first is the default."""

    method: str
    parameter: str
    values: tuple[str, ...]
    score: Callable[[Method, MeasureContext, int], float]
    users: int
    repeats: int
    lower_is_better: bool = False

    def spec(self, value: str) -> str:
        """Return the spec of the method with a value."""
        return f"{self.method}:{self.parameter}={value}"


def tables_of(method: Method, context: MeasureContext, seed: int) -> dict[str, int]:
    """Return the sizes of the released tables."""
    output = run_method(method, context.log, RandomSource(seed), NoProgress())
    return {name: table.height for name, table in output.tables.items()}


def count_queries(method: Method, context: MeasureContext, seed: int) -> float:
    """Return the number of released queries."""
    return tables_of(method, context, seed)["queries"]


def count_clicks(method: Method, context: MeasureContext, seed: int) -> float:
    """Return the number of released clicks."""
    return tables_of(method, context, seed)["clicks"]


def count_all(method: Method, context: MeasureContext, seed: int) -> float:
    """Return the geometric mean of the sizes of the tables; an empty one counts as one row."""
    sizes = [max(1, size) for size in tables_of(method, context, seed).values()]
    return math.prod(sizes) ** (1 / len(sizes))


def lost_interests(method: Method, context: MeasureContext, seed: int) -> float:
    """Return the divergence of users' profiles: 0 if their interests are kept, at most 1."""
    release = run_for_measurement(method, context.log, RandomSource(seed))
    kind = parse_measure("profile-divergence")
    kind.prepare(context)
    value = kind.compute(context, release).value
    return math.nan if value is None else value


_TABLES = "dp-statistics:delta=1e-6"
_QUERIES = f"{_TABLES}:budget-split=1/0/0"
# At this contribution bound `auto` is `guided`.
_SELECTIONS = ("auto", "laplace", "gaussian", "weighted", "sips")
_BOUNDS = ("20", "5", "10", "40", "80")
_INTERESTS = {"score": lost_interests, "users": FEW, "repeats": 1, "lower_is_better": True}
QUESTIONS = (
    *(
        Question(f"{_QUERIES}:epsilon={epsilon}", parameter, values, count_queries, MANY, 3)
        for epsilon in (2, 8)
        for parameter, values in (
            ("selection", _SELECTIONS),
            ("max-queries-per-user", _BOUNDS),
            ("contribution-order", ("short", "random")),
        )
    ),
    *(
        Question(f"{_TABLES}:epsilon={epsilon}", "max-clicks-per-user",
                 ("5", "2", "3", "7", "10", "20"), count_clicks, MANY, 3)
        for epsilon in (2, 8)
    ),
    Question(f"{_TABLES}:epsilon=4", "budget-split",
             ("2/1/1", "1/1/1", "4/1/1", "2/2/1"), count_all, MANY, 3),
    *(
        Question(f"click-graph:delta=1e-6:epsilon={epsilon}", "max-queries-per-user",
                 ("1", "2", "5", "20"), count_queries, MANY, 3)
        for epsilon in (4, 10)
    ),
    # At so many users `auto` compares all of them, and `blocked` makes two blocks.
    Question("semantic-microaggregation", "blocking", ("auto", "blocked"), lost_interests,
             4 * FEW, 1, lower_is_better=True),
    Question("category-microaggregation", "levels", ("5", "3", "8"), **_INTERESTS),
    Question("category-microaggregation", "categories-per-term", ("1", "5"), **_INTERESTS),
    Question("syntactic-microaggregation", "max-rows-per-user", ("50", "150"), **_INTERESTS),
    Question("profile-first", "max-phrases-per-user", ("100", "50", "200"), **_INTERESTS),
    Question("profile-first", "mechanism", ("auto", "cells", "answers"), **_INTERESTS),
    Question("semantic-replacement:epsilon=10", "criterion", ("sqc2", "sqc1"), **_INTERESTS),
    Question("semantic-replacement:epsilon=10", "topics", ("auto", "lexicographer"),
             **_INTERESTS),
    Question("concept-histogram:epsilon=10", "threshold", ("auto", "1"), **_INTERESTS),
)  # fmt: skip


@cache
def context_of(shape: str, users: int) -> MeasureContext:
    """Return a log of a shape, with what measures remember of it."""
    return MeasureContext(make_log(users, seed=LOG_SEED, shape=SHAPES[shape]))


def score(question: Question, value: str, shape: str) -> float:
    """Return the mean score of a value on one shape."""
    spec = str(parse_method(question.spec(value)))  # the same for all that have the defaults
    seeds = range(1, question.repeats + 1)
    return sum(score_run(question.score, spec, shape, question.users, seed) for seed in seeds) / (
        question.repeats
    )


@cache
def score_run(
    measure: Callable[[Method, MeasureContext, int], float],
    spec: str,
    shape: str,
    users: int,
    seed: int,
) -> float:
    """Return the score of one run."""
    return measure(parse_method(spec), context_of(shape, users), seed)


def distance_from_best(question: Question, own: float, scores: list[float]) -> float:
    """Return how much worse a score is than the best one, as a fraction of the best."""
    best = min(scores) if question.lower_is_better else max(scores)
    worse = own - best if question.lower_is_better else best - own
    return 0.0 if best == own else worse / best if best else math.inf


def answer(question: Question) -> Iterator[str]:
    """Yield the rows of the table for one parameter."""
    scores = {
        value: {shape: score(question, value, shape) for shape in SHAPES}
        for value in question.values
    }
    for number, (value, own) in enumerate(scores.items()):
        worst = max(
            distance_from_best(question, own[shape], [other[shape] for other in scores.values()])
            for shape in SHAPES
        )
        verdict = f"{worst:.0%}" if worst < math.inf else "–"  # noqa: RUF001
        verdict = f"**{verdict}**" if worst <= NEAR else verdict
        name = f"`{question.method}`, {question.parameter}" if not number else ""
        cells = " | ".join(f"{own[shape]:.3g}" for shape in SHAPES)
        yield f"| {name} | {value}{' (default)' * (not number)} | {cells} | {verdict} |"


def main() -> None:
    """Measure all values, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="questions whose method begins so")
    parser.add_argument("--page", action="store_true")
    given = parser.parse_args()
    lines = [
        "| parameter | value | " + " | ".join(SHAPES) + " | worst |",
        "|---|---|" + "---:|" * (len(SHAPES) + 1),
    ]
    print("\n".join(lines))
    for question in QUESTIONS:
        if question.method.startswith(given.only):
            start = time.perf_counter()
            rows = list(answer(question))
            lines += rows
            print("\n".join(rows), f"({time.perf_counter() - start:.0f} s)", flush=True)
    if given.page:
        put_table("defaults", "\n".join(lines), PAGE)


if __name__ == "__main__":
    main()
