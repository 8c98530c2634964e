"""Risk and use of a release: what the measures say of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from ..core.progress import NoProgress, Progress
from ..core.randomness import RandomSource
from ..errors import EmptyReleaseError, QueryveilError, UsageError
from ..log.query_log import QueryLog
from ..measures.base import Measure, Rerun, RerunMeasure, all_measures, parse_measure
from ..measures.context import MeasureContext
from ..methods.base import Method, get_method, parse_method
from ..release.formats import PUBLIC_SCHEMA
from ..release.reading import read_release
from ..release.release import Release
from .anonymization import run_screened
from .budget import DATA_ACCESS_RECORDED, is_differentially_private, note_look, record_data_access


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


def measure(
    log: QueryLog,
    release: Release | str | Path,
    measures: Sequence[str | Measure] | None = None,
    *,
    seed: int | None = None,
    dataset: str | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Measure a release, or the folder of one, against the log that it is of.

    Without a list all measures are taken that look at the release alone, and those that do not
    apply say why; with a list it is an error if one does not. Those that run the method again
    are taken if they are named; if the method is private, the ledger notes that (`dataset`
    says which ledger). The figures are of private data: for the owner alone.

    >>> from queryveil import FrequentQueries, QueryLog, anonymize
    >>> log = QueryLog.from_rows([(u, "tennis", None, None, None) for u in "abc"])
    >>> found = measure(log, anonymize(log, FrequentQueries(n=2)), ["profile-divergence"])
    >>> found["measures"]["profile-divergence"]["value"]
    0.0
    """
    shown, before = progress or NoProgress(), MeasureContext(log)
    after = release if isinstance(release, Release) else read_release(Path(release), log)
    chosen = _chosen(measures)
    again, notes = _again(chosen, after, seed, dataset)
    notes = notes or note_look(log, dataset, "measure")
    found: dict[str, Any] = {}
    with shown.stage("measure", len(chosen)) as advance:
        for one in chosen:
            found[str(one)] = _measured(one, before, after, again, strict=measures is not None)
            advance(1)
    return {"method": after.method, "measures": found, "notes": notes}


def _chosen(measures: Sequence[str | Measure] | None) -> list[Measure]:
    if measures is None:
        return [kind() for kind in all_measures().values() if not issubclass(kind, RerunMeasure)]
    if not measures:
        raise UsageError("no measure was named", hint="see `queryveil measures`")
    return [parse_measure(one) if isinstance(one, str) else one for one in measures]


def _again(
    chosen: Sequence[Measure], after: Release, seed: int | None, dataset: str | None
) -> tuple[Rerun | None, list[str]]:
    """Make what runs the method again, and note in the ledger if a private one will be."""
    RandomSource(seed)  # refuses a bad one before any work is done
    if not any(isinstance(one, RerunMeasure) for one in chosen):
        return None, []
    method, setting = method_of_release(after), after.identifiers or "keep"
    method.check_ready()
    if not is_differentially_private(method):
        return make_rerun(method, seed, setting), []
    record_data_access(after.source, method, dataset, f"measure ({method.name})")
    return make_rerun(method, seed, setting), [DATA_ACCESS_RECORDED]


def _measured(
    one: Measure, before: MeasureContext, after: Release, again: Rerun | None, *, strict: bool
) -> dict[str, Any]:
    about = {"title": one.title, "unit": one.unit, "better": one.better, "kind": one.kind}
    try:
        one.prepare(before)
        return about | compute_measure(one, before, after, again)
    except QueryveilError as error:
        if strict:
            raise
        return about | {"value": None, "why_not": str(error)}
