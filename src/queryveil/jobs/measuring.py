"""One measure of one release, whether it looks at the release or runs its method again."""

from __future__ import annotations

from typing import Any

import polars as pl

from ..engine import Chance, Silent
from ..errors import NothingLeftError
from ..log import QueryLog
from ..measures import Again, Measure, Original, Rerunning
from ..methods import Method, method_named, parse_method
from ..release import Release
from ..release.formats import LOG_KINDS
from .screened import run_screened

__all__ = ["made_by", "ran", "runs_again", "taken"]


def taken(one: Measure, before: Original, after: Release, again: Again | None) -> dict[str, Any]:
    """Give what a measure says; only one that has to is handed `again`."""
    if isinstance(one, Rerunning) and again is not None:
        return one.of_method(before, after, again)
    return one.of(before, after)


def made_by(release: Release) -> Method:
    """Give the method of a release: as its owner wrote it, else as its public card has it.

    The public card names files without their folders.
    """
    if release.recipe is not None:
        return parse_method(release.recipe)
    return method_named(release.method).make(dict(release.parameters))


def ran(method: Method, log: QueryLog, chance: Chance, identifiers: str = "drop") -> Release:
    """Run a method to measure it: in memory, nothing is spent.

    Where it would release nothing, which `anonymize` refuses, that is what is measured.
    """
    try:
        return run_screened(method, log, chance, Silent(), identifiers)
    except NothingLeftError as error:
        return _nothing(method, log, error.what)


def _nothing(method: Method, log: QueryLog, why: str) -> Release:
    return Release(
        method=method.name,
        parameters=method.values(),
        guarantee=method.guarantee(),
        source=log,
        log=pl.LazyFrame(schema=LOG_KINDS),
        mapping=pl.DataFrame(schema={"user": pl.String, "pseudonym": pl.String}),
        dropped={why: log.tally.kept},
        notes=(why,),
    )


def runs_again(method: Method, seed: int | None, identifiers: str = "drop") -> Again:
    """Make the function that runs a method on other logs."""

    def again(log: QueryLog, turn: int) -> Release:
        # A turn's stream is its own, and none that a run of the whole log would use.
        chance = Chance(None if seed is None else (seed + 1) * 1_000_003 + turn)
        return ran(method, log, chance, identifiers)

    return again
