"""Shipped figures: what each proposal keeps and risks on synthetic logs of several shapes.

`tools/write_advice_figures.py` measures them. They stand beside the proposals of a data owner who
does not allow a look at the log.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ..measures.base import MEASURES, Measure, parse_measure
from .answers import Answers, Purpose
from .result import Figure
from .strength import Chosen

FILE = Path(__file__).parent / "figures.json"
# The measures that mean something for a purpose; the last one is the risk.
MEASURES_OF: Mapping[Purpose, tuple[str, ...]] = {
    "trends": ("query-frequency-error", "query-coverage:weighting=volume"),
    "ranking": ("retrieval-effectiveness", "query-coverage:weighting=volume"),
    "suggestion": ("query-frequency-error", "query-coverage:weighting=volume"),
    "user-modeling": ("profile-divergence",),
    "linguistics": ("word-frequency-error", "query-coverage:weighting=volume"),
    "benchmark": ("query-frequency-error", "profile-divergence"),
}
RISK = "record-linkage"
# What an empty release has, where that is not 0.
_EMPTY = {"query-frequency-error": 1.0, "word-frequency-error": 1.0, "profile-divergence": 1.0}


@dataclass(frozen=True)
class ShippedFigure:
    """One value: of a rule with its parameter, on one synthetic log."""

    rule: str
    strength: float
    users: int
    shape: str
    measure: str
    value: float


def measures_for(answers: Answers) -> tuple[Measure, ...]:
    """Return the measures for a purpose, in the language and the taxonomy of the answers."""
    specs = (*MEASURES_OF[answers.purpose], RISK)
    measures = (_with_language(parse_measure(spec), answers) for spec in specs)
    return tuple(measure for measure in measures if measure is not None)


def _with_language(measure: Measure, answers: Answers) -> Measure | None:
    """Return a measure for the queries' taxonomy; None if it needs one and there is none."""
    names = {declared.name for declared in measure.user_parameters()}
    if "taxonomy" not in names:
        return measure
    if answers.taxonomy is not None:
        values = measure.params() | {"taxonomy": answers.taxonomy}
        return MEASURES.find(measure.name).from_params(values)
    return measure if answers.has_taxonomy else None


def strength_of(chosen: Chosen) -> float:
    """Return the value of the parameter that the rule chooses."""
    return float(str(chosen.method.params()[chosen.rule.chosen.replace("-", "_")]))


def shipped_figures(chosen: Chosen, answers: Answers, users: int) -> tuple[Figure, ...]:
    """Return the shipped figures of a proposal, of the largest logs with at most so many users."""
    rows = [
        row
        for row in _read()
        if row.rule == chosen.rule.name
        and row.strength == strength_of(chosen)
        and row.users <= users
    ]
    size = max((row.users for row in rows), default=0)
    nearest = [row for row in rows if row.users == size]
    specs = {measure.name: str(measure) for measure in measures_for(answers)}
    shown = []
    for name in specs:
        values = [row.value for row in nearest if row.measure == name]
        if values:
            logs = f"{len(values)} synthetic logs of {size:,} users, in English"
            shown.append(make_figure(parse_measure(name), values, "shipped", logs))
    return tuple(shown)


def make_figure(measure: Measure, values: Sequence[float], origin: str, basis: str) -> Figure:
    """Return the figure of one or several values of a measure."""
    empty = _EMPTY.get(measure.name)
    scale = f"; {empty:g} is no better than an empty release" if empty is not None else ""
    return Figure(
        measure=str(measure),
        title=measure.title,
        unit=measure.unit + scale,
        better=measure.better,
        kind=measure.kind,
        low=min(values),
        high=max(values),
        origin="shipped" if origin == "shipped" else "measured",
        basis=basis,
    )


@cache
def _read() -> tuple[ShippedFigure, ...]:
    if not FILE.exists():
        return ()
    rows = json.loads(FILE.read_text("utf-8"))["figures"]
    return tuple(ShippedFigure(**row) for row in rows)
