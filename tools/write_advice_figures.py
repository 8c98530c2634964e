"""Measure the shipped figures of `advise` on synthetic logs: tools/write_advice_figures.py.

Every rule runs with every parameter that the table can choose, on logs of three shapes and several
sizes, and is measured by the measures of its purposes. It takes about a quarter of an hour.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict

from queryveil.advice.answers import Answers
from queryveil.advice.figures import FILE, MEASURES_OF, RISK, ShippedFigure, strength_of
from queryveil.advice.rules import RULES
from queryveil.advice.strength import Chosen, choose
from queryveil.core.randomness import RandomSource
from queryveil.errors import QueryveilError
from queryveil.log.query_log import QueryLog
from queryveil.measures.base import RerunMeasure, parse_measure
from queryveil.measures.context import MeasureContext
from queryveil.release.release import Release
from queryveil.synthetic.generator import make_log
from queryveil.workflows.measurement import compute_measure, make_rerun, run_for_measurement

SIZES = (1_000, 10_000, 50_000)
MAX_GROUPED = 10_000  # users; more take too long to group, and to run again for a measure
SEED = 11
# Long and short histories, and few different queries.
SHAPES = ("web", "shop", "web:navigational=0.6:new-words=0.05")


def candidates(users: int) -> Iterator[Chosen]:
    """Yield every method that the table can propose for so many users, once."""
    seen = set[tuple[str, str]]()
    for rule in RULES:
        for recipient in rule.recipients:
            answers = Answers.of(recipient=recipient, users=users)
            chosen = choose(rule, answers, users)
            key = (rule.name, str(chosen.method))
            if chosen.is_enough and key not in seen:
                seen.add(key)
                if rule.chosen != "k" or users <= MAX_GROUPED:
                    yield chosen


def measure(
    chosen: Chosen, log: QueryLog, context: MeasureContext, shape: str, users: int
) -> Iterator[ShippedFigure]:
    """Yield the figures of a method on one log; a measure that does not apply has none."""
    release: Release = run_for_measurement(chosen.method, log, RandomSource(SEED))
    specs = {spec for purpose in chosen.rule.purposes for spec in MEASURES_OF[purpose]}
    for spec in sorted({*specs, RISK}):
        kind = parse_measure(spec)
        if isinstance(kind, RerunMeasure) and users > MAX_GROUPED:
            continue
        try:
            kind.prepare(context)
            value = compute_measure(kind, context, release, make_rerun(chosen.method, SEED)).value
        except QueryveilError:
            continue
        if value is not None:
            yield ShippedFigure(
                chosen.rule.name, strength_of(chosen), users, shape, spec, round(value, 4)
            )


def main() -> None:
    """Measure everything, and write the file after each size."""
    figures = list[ShippedFigure]()
    for users in SIZES:
        for shape in SHAPES:
            log = make_log(users, seed=SEED, shape=shape)
            context = MeasureContext(log)
            for chosen in candidates(users):
                sys.stderr.write(f"{users} {shape}: {chosen.method}\n")
                figures += measure(chosen, log, context, shape, users)
        rows = ",\n".join(json.dumps(asdict(figure)) for figure in figures)
        FILE.write_text(f'{{"figures": [\n{rows}\n]}}\n', "utf-8")


if __name__ == "__main__":
    main()
