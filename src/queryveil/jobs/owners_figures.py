"""What the owner of a release must know before publishing it, measured when it is made.

A rule about single queries promises nothing about a person. Where it leaves a person's queries
together, how many people stand alone is counted: for the owner's card and screen, never for the
public, as the exact number could tell whether a person is in the log.
"""

from __future__ import annotations

from typing import Any

from ..core.progress import Progress
from ..engine.table import RemoteTable
from ..log.query_log import QueryLog
from ..measures.uniqueness import count_unique
from ..release.release import Release

__all__ = ["owners_figures"]


def owners_figures(log: QueryLog, release: Release, progress: Progress) -> dict[str, Any]:
    """Return how many users a rule singles out, where it links a user's rows; else nothing.

    On a cluster nothing is counted here: whole logs would have to come to one machine.
    """
    rows = release.log
    linked = release.mapping is not None and release.parameters.get("link", "user") == "user"
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
        "uniqueness": {
            "users": users,
            "singled_out": by_rows,
            "singled_out_by_queries_alone": by_queries,
            "value": round(by_rows / max(users, 1), 6),
            "words": (
                f"{by_rows:,} of {users:,} released users have a log that nobody else has; "
                f"{by_queries:,} are alone by the set of their queries, without dates and clicks"
            ),
        }
    }
