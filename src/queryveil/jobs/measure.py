"""Risk and use of a release: what the measures say of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..engine import Progress, Silent
from ..errors import QueryveilError, UsageError
from ..log import QueryLog
from ..measures import Measure, Original, all_measures, parse_measure
from ..release import Release
from ..release.read import read_release

__all__ = ["measure"]


def measure(
    log: QueryLog,
    release: Release | str | Path,
    measures: Sequence[str | Measure] | None = None,
    *,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Measure a release, or the folder of one, against the log that it is of.

    Without a list all measures are taken, and those that do not apply say why; with a list it is
    an error if one does not. The figures are of private data: for the owner alone.

    >>> from queryveil import FrequentQueries, QueryLog, anonymize
    >>> log = QueryLog.from_rows([(u, "tennis", None, None, None) for u in "abc"])
    >>> found = measure(log, anonymize(log, FrequentQueries(n=2)), ["profile-divergence"])
    >>> found["measures"]["profile-divergence"]["value"]
    0.0
    """
    shown, before = progress or Silent(), Original(log)
    after = release if isinstance(release, Release) else read_release(Path(release), log)
    chosen = _chosen(measures)
    found: dict[str, Any] = {}
    with shown.stage("measure", len(chosen)) as advance:
        for one in chosen:
            found[str(one)] = _measured(one, before, after, strict=measures is not None)
            advance(1)
    return {"method": after.method, "measures": found}


def _chosen(measures: Sequence[str | Measure] | None) -> list[Measure]:
    if measures is None:
        return [kind() for kind in all_measures().values()]
    if not measures:
        raise UsageError("no measure was named", hint="see `queryveil measures`")
    return [parse_measure(one) if isinstance(one, str) else one for one in measures]


def _measured(one: Measure, before: Original, after: Release, *, strict: bool) -> dict[str, Any]:
    about = {"title": one.title, "unit": one.unit, "better": one.better}
    try:
        one.prepare(before)
        return about | one.of(before, after)
    except QueryveilError as error:
        if strict:
            raise
        return about | {"value": None, "why_not": str(error)}
