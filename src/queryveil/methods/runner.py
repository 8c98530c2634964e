"""Run a method on a local log or on a cluster.

A method that consists of operations of the engine runs on a remote log directly. A method that
can anonymize users, or blocks of users, independently runs on each partition; the outputs are
then merged.
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

_COUNTERS = ("dropped", "blanked", "generated")  # members of Release, counted by reason
_GROUP_BITS = 20  # of a group number within its partition; all other bits are random
_BATCH_ROWS = 1_500_000  # rows of a run: the setup of a run costs seconds


def check_parallelism(method: Method, log: QueryLog) -> None:
    """Raise UsageError if the log is remote and the method needs it on one machine."""
    if isinstance(log.table, RemoteTable) and method.parallelism == "no":
        raise UsageError(
            f"{method.name} needs the whole log on one machine, but the log is on {log.engine}",
            hint="omit --engine; `queryveil methods` lists the methods that run on Spark",
        )


def run_method(method: Method, log: QueryLog, rng: RandomSource, progress: Progress) -> Release:
    """Anonymize a log; the release has the reasons against it and the warnings."""
    check_parallelism(method, log)
    return judged(_run(method, log, rng, progress), method)


def judged(release: Release, method: Method) -> Release:
    """Return a release with the reasons and warnings of its method added, each once."""
    reasons = dict.fromkeys((*method.unfit(), *release.not_release_grade))
    warnings = dict.fromkeys((*method.warnings(), *release.warnings))
    return replace(release, not_release_grade=tuple(reasons), warnings=tuple(warnings))


def _run(method: Method, log: QueryLog, rng: RandomSource, progress: Progress) -> Release:
    if not isinstance(log.table, RemoteTable) or method.parallelism == "steps":
        return method.run(log, rng, progress)
    table = method.repartition(log.table, progress)
    batch_rows = _BATCH_ROWS if method.parallelism == "users" else 0
    with progress.stage("protect"):
        run_partition = partial(_run_partition, method=method)
        output = protect_partitions(table, run_partition, rng, batch_rows)
    return _merge_outputs(method, log, output, progress)


def _run_partition(frame: pl.LazyFrame, rng: RandomSource, *, method: Method) -> PartitionOutput:
    """Run the method on the users of one partition as if they were all users."""
    rows = frame.collect()
    part = QueryLog(rows.lazy(), RowAccounting(rows=rows.height))
    release = method.run_share(part, rng, NoProgress())
    counts = {
        f"{counter}/{reason}": count
        for counter in _COUNTERS
        for reason, count in getattr(release, counter).items()
    }
    shared = {
        "parameters": dict(release.parameters),
        "notes": list(release.notes),
        "why_not": list(release.not_release_grade),
    }
    public = pl.DataFrame() if release.log is None else release.log.collect()
    mapping = None if release.mapping is None else release.mapping.lazy().collect()
    if mapping is not None and "group" in mapping.columns:
        # Groups of different partitions must have different numbers.
        offset = int(rng.uint64s(1)[0] >> 24) << _GROUP_BITS
        mapping = mapping.with_columns(pl.col("group") + offset)
    return PartitionOutput(public, mapping, counts, shared)


def _merge_outputs(
    method: Method, log: QueryLog, output: ProtectedTable, progress: Progress
) -> Release:
    """Build one release from the outputs of all partitions."""
    shared: dict[str, Any] = dict(output.shared)
    return Release(
        method=method.name,
        parameters=shared["parameters"],
        guarantee=method.guarantee(),
        source=log,
        log=output.rows,
        mapping=output.mapping,
        dropped=_counts_of(output, "dropped"),
        blanked=_counts_of(output, "blanked"),
        generated=_counts_of(output, "generated"),
        notes=tuple(shared["notes"]),
        noise_says=method.noise_says(),
        coverage=method.coverage(_counts_of(output, "dropped")),
        not_release_grade=tuple(shared["why_not"]),
        progress=progress,
    )


def _counts_of(output: ProtectedTable, counter: str) -> dict[str, int]:
    """Return the counts of one counter by reason."""
    return {
        name.partition("/")[2]: count
        for name, count in output.counts.items()
        if name.startswith(f"{counter}/")
    }
