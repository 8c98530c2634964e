"""Run a method wherever its log lies.

A method that is made of the engine's steps runs on a far log as it is. One whose users, or blocks
of users, can be protected apart runs as a whole on each share, and the parts are put together.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import polars as pl

from ..core.progress import NoProgress, Progress
from ..core.randomness import RandomSource
from ..engine.operations import protect_partitions
from ..engine.table import PartitionOutput, ProtectedTable, RemoteTable
from ..errors import UsageError
from ..log.accounting import RowAccounting
from ..log.query_log import QueryLog
from ..release.release import Release
from .base import Method

_GROUP_BITS = 20  # of a group's number in its share; all other bits are random
_AT_ONCE = 1_500_000  # rows of a run: what a run sets up costs seconds


def check_parallelism(method: Method, log: QueryLog) -> None:
    """Refuse a far log where the method needs all of it in one place; asked before anything."""
    if isinstance(log.table, RemoteTable) and method.parallelism == "no":
        raise UsageError(
            f"{method.name} needs the whole log on one machine, and it lies on {log.engine}",
            hint="leave --engine out; `queryveil methods` tells which run on Spark",
        )


def run_method(method: Method, log: QueryLog, chance: RandomSource, progress: Progress) -> Release:
    """Protect a log, here or there; what speaks against the parameters stands on the release."""
    check_parallelism(method, log)
    return judged(_run(method, log, chance, progress), method)


def judged(release: Release, method: Method) -> Release:
    """Return a release with what its method's parameters say against it, each reason once."""
    reasons = dict.fromkeys((*method.unfit(), *release.not_release_grade))
    warnings = dict.fromkeys((*method.warnings(), *release.warnings))
    return replace(release, not_release_grade=tuple(reasons), warnings=tuple(warnings))


def _run(method: Method, log: QueryLog, chance: RandomSource, progress: Progress) -> Release:
    if not isinstance(log.table, RemoteTable) or method.parallelism == "steps":
        return method.run(log, chance, progress)
    table = method.repartition(log.table, progress)
    at_once = _AT_ONCE if method.parallelism == "users" else 0
    with progress.stage("protect"):
        whole = protect_partitions(table, partial(_share, method=method), chance, at_once)
    return _together(method, log, whole, progress)


def _share(frame: pl.LazyFrame, chance: RandomSource, *, method: Method) -> PartitionOutput:
    """Run the method on some users as if they were all."""
    rows = frame.collect()
    part = QueryLog(rows.lazy(), RowAccounting(rows=rows.height))
    release = method.run_share(part, chance, NoProgress())
    counts = {
        f"{what}/{reason}": number
        for what in ("dropped", "blanked", "made")
        for reason, number in getattr(release, what).items()
    }
    told = {
        "parameters": dict(release.parameters),
        "notes": list(release.notes),
        "why_not": list(release.not_release_grade),
    }
    public = pl.DataFrame() if release.log is None else release.log.collect()
    mapping = None if release.mapping is None else release.mapping.lazy().collect()
    if mapping is not None and "group" in mapping.columns:
        # Groups of different shares must not have one number.
        first = int(chance.uint64s(1)[0] >> 24) << _GROUP_BITS
        mapping = mapping.with_columns(pl.col("group") + first)
    return PartitionOutput(public, mapping, counts, told)


def _together(method: Method, log: QueryLog, whole: ProtectedTable, progress: Progress) -> Release:
    told: dict[str, Any] = dict(whole.shared)
    return Release(
        method=method.name,
        parameters=told["parameters"],
        guarantee=method.guarantee(),
        source=log,
        log=whole.rows,
        mapping=whole.mapping,
        dropped=_counts(whole, "dropped"),
        blanked=_counts(whole, "blanked"),
        generated=_counts(whole, "made"),
        notes=tuple(told["notes"]),
        noise_says=method.noise_says(),
        coverage=method.coverage(_counts(whole, "dropped")),
        not_release_grade=tuple(told["why_not"]),
        progress=progress,
    )


def _counts(whole: ProtectedTable, what: str) -> dict[str, int]:
    return {
        name.partition("/")[2]: number
        for name, number in whole.counts.items()
        if name.startswith(f"{what}/")
    }
