"""Run a method: the only module that calls its `run`, and that makes a release of its output.

A method that consists of operations of the engine runs on a remote log directly. A method that
can anonymize users, or blocks of users, independently runs on each partition; the outputs are
then merged.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from ..core.progress import NoProgress, Progress
from ..core.randomness import RandomSource
from ..engine.operations import protect_partitions
from ..engine.table import PartitionOutput, ProtectedTable, RemoteTable
from ..errors import EmptyReleaseError, UsageError
from ..log.accounting import RowAccounting
from ..log.query_log import QueryLog
from ..release.checks import requires_kinds
from ..release.formats import PUBLIC_SCHEMA, SCHEMA_WITH_KIND
from ..release.release import Release
from .base import METHODS, Method, MethodOutput

if TYPE_CHECKING:
    from .continuation import ContinuableMethod, PreviousContributions
    from .microaggregation.base import Microaggregation

_COUNTERS = ("dropped", "blanked", "generated")  # members of MethodOutput, counted by reason
_TEXTS = ("notes", "warnings", "not_release_grade_because")  # the same in every partition
_GROUP_BITS = 20  # of a group number within its partition; all other bits are random
_BATCH_ROWS = 1_500_000  # rows of a run: the setup of a run costs seconds


def check_parallelism(method: Method, log: QueryLog) -> None:
    """Raise UsageError if the log is remote and the method needs it on one machine."""
    if isinstance(log.table, RemoteTable) and method.parallelism == "no":
        raise UsageError(
            f"{method.name} needs the whole log on one machine, but the log is on {log.engine}",
            hint="omit `engine`; `METHODS` lists the methods that run on Spark",
        )


def run_method(
    method: Method,
    log: QueryLog,
    rng: RandomSource,
    progress: Progress,
    *,
    allow_empty: bool = False,
) -> Release:
    """Anonymize a log, on this machine or on a cluster.

    Args:
        allow_empty: Whether a release without rows is returned where a method refuses to make
            one, because no row would be left; for measurements.
    """
    check_parallelism(method, log)
    method = method.fit(log)
    try:
        output = _run(method, log, rng, progress)
    except EmptyReleaseError as error:
        if not allow_empty:
            raise
        output = _empty_output(method, log, error.what)
    return _make_release(method, output, log, progress)


def run_with_groups(
    method: Microaggregation,
    log: QueryLog,
    groups: pl.DataFrame,
    rng: RandomSource,
    progress: Progress,
) -> Release:
    """Anonymize a log with the groups of an earlier release: user, group."""
    method = method.fit(log)
    return _make_release(method, method.run(log, rng, progress, groups), log, progress)


def run_extension(
    method: ContinuableMethod,
    log: QueryLog,
    earlier: PreviousContributions,
    rng: RandomSource,
    progress: Progress,
) -> Release:
    """Anonymize rows that came after an earlier release, with its pseudonyms and budget."""
    output = method.continue_release(log, earlier, rng, progress)
    return _make_release(method, output, log, progress)


def _make_release(
    method: Method, output: MethodOutput, log: QueryLog, progress: Progress
) -> Release:
    """Return the release of an output; each reason and warning is on its card once."""
    reasons = (*method.reasons_not_to_publish(), *output.not_release_grade_because)
    return Release(
        method=method.name,
        parameters=method.public_params(),
        guarantee=method.guarantee(),
        source=log,
        log=output.log,
        tables=output.tables,
        mapping=output.mapping,
        concepts=output.concepts,
        dropped=output.dropped,
        blanked=output.blanked,
        generated=output.generated,
        not_release_grade_because=tuple(dict.fromkeys(reasons)),
        warnings=tuple(dict.fromkeys((*method.warnings(), *output.warnings))),
        notes=output.notes,
        noise=output.noise,
        noise_statements=output.noise_statements,
        coverage=method.coverage(output.dropped),
        distribution=METHODS.distribution(method.name),
        declared=method.parameters(),
        progress=progress,
    )


def _empty_output(method: Method, log: QueryLog, reason: str) -> MethodOutput:
    with_kinds = requires_kinds(method.guarantee().checks)
    return MethodOutput(
        log=pl.LazyFrame(schema=SCHEMA_WITH_KIND if with_kinds else PUBLIC_SCHEMA),
        mapping=pl.DataFrame(schema={"user": pl.String, "pseudonym": pl.String}),
        dropped={reason: log.accounting.kept},
        notes=(reason,),
    )


def _run(method: Method, log: QueryLog, rng: RandomSource, progress: Progress) -> MethodOutput:
    if not isinstance(log.table, RemoteTable) or method.parallelism == "steps":
        return method.run(log, rng, progress)
    table = method.repartition(log.table, progress)
    batch_rows = _BATCH_ROWS if method.parallelism == "users" else 0
    with progress.stage("protect"):
        run_partition = partial(_run_partition, method=method, dropped_topics=log.dropped_topics)
        output = protect_partitions(table, run_partition, rng, batch_rows)
    return _merge_outputs(method, output)


def _run_partition(
    frame: pl.LazyFrame, rng: RandomSource, *, method: Method, dropped_topics: tuple[str, ...] = ()
) -> PartitionOutput:
    """Run the method on the users of one partition as if they were all users."""
    rows = frame.collect()
    accounting = RowAccounting(rows=rows.height)
    part = QueryLog(rows.lazy(), accounting, dropped_topics=dropped_topics)
    output = method.run_partition(part, rng, NoProgress())
    counts = {
        f"{counter}/{reason}": count
        for counter in _COUNTERS
        for reason, count in getattr(output, counter).items()
    }
    texts = {name: list(getattr(output, name)) for name in _TEXTS}
    public = pl.DataFrame() if output.log is None else output.log.collect()
    mapping = None if output.mapping is None else output.mapping.lazy().collect()
    if mapping is not None and "group" in mapping.columns:
        # Groups of different partitions must have different numbers.
        offset = int(rng.uint64s(1)[0] >> 24) << _GROUP_BITS
        mapping = mapping.with_columns(pl.col("group") + offset)
    return PartitionOutput(public, mapping, counts, texts)


def _merge_outputs(method: Method, output: ProtectedTable) -> MethodOutput:
    """Build one output from those of all partitions."""
    texts = {name: tuple(output.texts.get(name, ())) for name in _TEXTS}
    return MethodOutput(
        log=output.rows,
        mapping=output.mapping,
        dropped=_counts_of(output, "dropped"),
        blanked=_counts_of(output, "blanked"),
        generated=_counts_of(output, "generated"),
        noise_statements=method.noise_statements(),
        notes=texts["notes"],
        warnings=texts["warnings"],
        not_release_grade_because=texts["not_release_grade_because"],
    )


def _counts_of(output: ProtectedTable, counter: str) -> dict[str, int]:
    """Return the counts of one counter by reason."""
    return {
        name.partition("/")[2]: count
        for name, count in output.counts.items()
        if name.startswith(f"{counter}/")
    }
