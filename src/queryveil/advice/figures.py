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
from typing import Literal

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
    """Return a measure for the queries' language; None if it needs a taxonomy that is missing."""
    values, names = measure.params(), {declared.name for declared in measure.user_parameters()}
    if "taxonomy" in names and not answers.has_taxonomy:
        return None
    if "taxonomy" in names and answers.taxonomy is not None:
        values["taxonomy"] = answers.taxonomy
    if "language" in names:
        values["language"] = answers.language
    return MEASURES.find(measure.name).from_params(values)


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
    wanted = {measure.name for measure in measures_for(answers)}
    specs = dict.fromkeys(row.measure for row in rows)
    return tuple(
        _largest(parse_measure(spec), [row for row in rows if row.measure == spec])
        for spec in specs
        if parse_measure(spec).name in wanted
    )


def _largest(measure: Measure, rows: Sequence[ShippedFigure]) -> Figure:
    """Return the figure of the largest logs."""
    size = max(row.users for row in rows)
    values = [row.value for row in rows if row.users == size]
    basis = f"{len(values)} synthetic logs of {size:,} users, in English"
    return make_figure(measure, values, "shipped", basis)


def make_figure(
    measure: Measure, values: Sequence[float], origin: Literal["shipped", "measured"], basis: str
) -> Figure:
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
        origin=origin,
        basis=basis,
    )


@cache
def _read() -> tuple[ShippedFigure, ...]:
    if not FILE.exists():
        return ()
    rows = json.loads(FILE.read_text("utf-8"))["figures"]
    return tuple(ShippedFigure(**row) for row in rows)
