"""What each step of `semantic-microaggregation` gains: the same release without one of its steps.

Every variant switches one thing off inside this script; the method has no options for that. Means
of three seeds, each with a synthetic log of its own.

Usage: groups.py [--users 1000] [--shape classic web] [--page]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from types import ModuleType
from typing import Any

import numpy as np

from pages import put_table
from queryveil.core.randomness import RandomSource
from queryveil.measures.base import parse_measure
from queryveil.measures.context import MeasureContext
from queryveil.methods.base import parse_method
from queryveil.methods.microaggregation import distances, semantic
from queryveil.methods.microaggregation.shared_logs import assignment, cells, rows
from queryveil.synthetic import make_log
from queryveil.workflows.measurement import run_for_measurement

PAGE = Path(__file__).parents[1] / "docs" / "explanation" / "groups.md"
SEEDS = (1, 2, 3)
SPEC = "semantic-microaggregation:k=5:min-users=5"
MEASURES = {
    "loss, Ward": "information-loss",
    "loss, average": "information-loss:linkage=average",
    "word error": "word-frequency-error",
    "query error": "query-frequency-error",
    "profile divergence": "profile-divergence",
    "profile similarity": "profile-similarity",
    "known-5": "partial-knowledge-linkage",
    "record linkage": "record-linkage",
    "concept linkage": "concept-linkage",
}


@dataclass(frozen=True)
class Switch:
    """A name in a module, and the value that it has in one variant."""

    module: ModuleType
    name: str
    value: Any


def _no_left_over(*_: object) -> tuple[Any, Any]:
    return np.zeros(0, np.int64), np.zeros(0, np.int64)


def _keep_groups(_: object, group: Any) -> Any:
    return group


_WEIGHTS = ("_COSINE", "_TOPICS", "_NEIGHBORHOOD")
VARIANTS: dict[str, tuple[Switch, ...]] = {
    "full design": (),
    "as published": (),
    "without refinement": (Switch(semantic, "refine_groups", _keep_groups),),
    "Ds alone as distance": tuple(Switch(distances, name, 0.0) for name in _WEIGHTS),
    "without calibration of cells": (Switch(cells, "_RAKING_ROUNDS", 0),),
    "without calibration of words": (Switch(assignment, "_RAKING_ROUNDS", 0),),
    "without the lower weight of sole cells": (Switch(cells, "_SOLE_WEIGHT", 1.0),),
    "without left-over words": (Switch(rows, "_left_over_rows", _no_left_over),),
}


@contextmanager
def switched(switches: tuple[Switch, ...]) -> Iterator[None]:
    """Set the values of a variant, and restore them."""
    before = [getattr(switch.module, switch.name) for switch in switches]
    for switch in switches:
        setattr(switch.module, switch.name, switch.value)
    try:
        yield
    finally:
        for switch, value in zip(switches, before, strict=True):
            setattr(switch.module, switch.name, value)


def measure_variant(variant: str, context: MeasureContext, seed: int) -> list[float]:
    """Return the values of all measures for one release."""
    spec = f"{SPEC}:as-published=yes" if variant == "as published" else SPEC
    with switched(VARIANTS[variant]):
        release = run_for_measurement(parse_method(spec), context.log, RandomSource(seed))
    values = []
    for name in MEASURES.values():
        measure = parse_measure(name)
        measure.prepare(context)
        value = measure.compute(context, release).value
        if value is None:
            raise SystemExit(f"{name} has no value for {variant}")
        values.append(value)
    return values


def table(shape: str, users: int) -> str:
    """Measure all variants on logs of a shape, and return the table."""
    found: dict[str, list[list[float]]] = {variant: [] for variant in VARIANTS}
    for seed in SEEDS:
        context = MeasureContext(make_log(users, seed=seed, shape=shape))
        for variant, values in found.items():
            start = time.perf_counter()
            values.append(measure_variant(variant, context, seed))
            print(f"{shape} {seed} {variant}: {time.perf_counter() - start:.0f} s", flush=True)
    lines = [f"| {shape} | " + " | ".join(MEASURES) + " |", "|---|" + "---:|" * len(MEASURES)]
    for variant, values in found.items():
        means = " | ".join(f"{fmean(column):.3g}" for column in zip(*values, strict=True))
        lines.append(f"| {variant} | {means} |")
    columns = zip(*found["full design"], strict=True)
    ranges = " | ".join(f"{max(column) - min(column):.2g}" for column in columns)
    lines.append(f"| *range of the full design over seeds* | {ranges} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=1000)
    parser.add_argument("--shape", nargs="+", default=["classic", "web"])
    parser.add_argument("--page", action="store_true")
    given = parser.parse_args()
    for shape in given.shape:
        made = table(shape, given.users)
        print(made)
        if given.page:
            put_table(f"groups {shape}", made, PAGE)


if __name__ == "__main__":
    main()
