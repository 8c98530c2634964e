"""Figures that are counted in each release for its data owner, on the private card."""

from __future__ import annotations

from dataclasses import replace

from ..core.progress import Progress
from ..engine.table import RemoteTable
from ..log.query_log import QueryLog
from ..measures.sensitive_homogeneity import count_sensitive_groups
from ..measures.uniqueness import count_unique
from ..release.cards import OwnerMeasurement, SensitiveGroups
from ..release.release import Release


def with_owners_figures(log: QueryLog, release: Release, progress: Progress) -> Release:
    """Return the release with the figures that its data owner is shown."""
    return replace(
        release,
        measured=owners_figures(log, release, progress),
        sensitive_groups=_count_groups(log, release, progress),
    )


def _count_groups(log: QueryLog, release: Release, progress: Progress) -> SensitiveGroups | None:
    """Return how many groups of a k-anonymous release are mostly about one sensitive topic.

    None on a cluster, where all logs would have to be brought to one machine.
    """
    if release.log is None or release.guarantee.k is None or isinstance(log.table, RemoteTable):
        return None
    with progress.stage("count sensitive groups"):
        return count_sensitive_groups(release.log)


def owners_figures(
    log: QueryLog, release: Release, progress: Progress
) -> dict[str, OwnerMeasurement]:
    """Return how many users have a unique released log, if the method is a rule without a model.

    The result is empty if the rows of a user are not linked, and on a cluster, where all logs
    would have to be brought to one machine.
    """
    rows = release.log
    linked = (
        release.mapping is not None and release.parameters.get("pseudonym_scope", "user") == "user"
    )
    if (
        rows is None
        or not linked
        or release.guarantee.model != "none"
        or isinstance(log.table, RemoteTable)
    ):
        return {}
    with progress.stage("count who stands alone"):
        by_rows, users = count_unique(rows)
        by_queries, _ = count_unique(rows.select("user", "query").unique())
    return {
        "uniqueness": OwnerMeasurement(
            users=users,
            singled_out=by_rows,
            singled_out_by_queries_alone=by_queries,
            value=round(by_rows / max(users, 1), 6),
            summary=(
                f"{by_rows:,} of {users:,} released users have a log that nobody else has; "
                f"{by_queries:,} are alone by the set of their queries, without dates and clicks"
            ),
        )
    }
