"""One measure of one release, whether it looks at the release or runs its method again."""

from __future__ import annotations

from typing import Any

import polars as pl

from ..core.progress import NoProgress
from ..core.randomness import RandomSource
from ..errors import EmptyReleaseError
from ..log.query_log import QueryLog
from ..measures.base import Measure
from ..measures.original import MeasureContext
from ..measures.rerunning import Rerun, RerunMeasure
from ..methods.base import Method
from ..methods.registry import get_method, parse_method
from ..release.formats import PUBLIC_SCHEMA
from ..release.release import Release
from .screened import run_screened

__all__ = ["compute_measure", "make_rerun", "method_of_release", "run_for_measurement"]


def compute_measure(
    one: Measure, before: MeasureContext, after: Release, again: Rerun | None
) -> dict[str, Any]:
    """Give what a measure says; only one that has to is handed `again`."""
    if isinstance(one, RerunMeasure) and again is not None:
        return one.compute_rerun(before, after, again)
    return one.compute(before, after)


def method_of_release(release: Release) -> Method:
    """Give the method of a release: as its owner wrote it, else as its public card has it.

    The public card names files without their folders.
    """
    if release.method_spec is not None:
        return parse_method(release.method_spec)
    return get_method(release.method).from_params(dict(release.parameters))


def run_for_measurement(
    method: Method, log: QueryLog, chance: RandomSource, identifiers: str = "drop"
) -> Release:
    """Run a method to measure it: in memory, nothing is spent.

    Where it would release nothing, which `anonymize` refuses, that is what is measured.
    """
    try:
        return run_screened(method, log, chance, NoProgress(), identifiers)
    except EmptyReleaseError as error:
        return _nothing(method, log, error.what)


def _nothing(method: Method, log: QueryLog, why: str) -> Release:
    return Release(
        method=method.name,
        parameters=method.params(),
        guarantee=method.guarantee(),
        source=log,
        log=pl.LazyFrame(schema=PUBLIC_SCHEMA),
        mapping=pl.DataFrame(schema={"user": pl.String, "pseudonym": pl.String}),
        dropped={why: log.accounting.kept},
        notes=(why,),
    )


def make_rerun(method: Method, seed: int | None, identifiers: str = "drop") -> Rerun:
    """Make the function that runs a method on other logs."""

    def again(log: QueryLog, turn: int) -> Release:
        # A turn's stream is its own, and none that a run of the whole log would use.
        chance = RandomSource(None if seed is None else (seed + 1) * 1_000_003 + turn)
        return run_for_measurement(method, log, chance, identifiers)

    return again
