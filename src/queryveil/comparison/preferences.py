"""Which measures a chart shows first, and what each utility is for."""

from __future__ import annotations

from collections.abc import Sequence

# Risks that a data owner can picture come first; then uses by how many kinds of releases have them.
_RISKS = (
    "partial-knowledge-linkage",
    "record-linkage",
    "concept-linkage",
    "membership-inference",
    "uniqueness",
    "rare-query-exposure",
    "profile-exposure",
)
# What a release is for, and the utility that measures it.
PURPOSES = {
    "profile-divergence": "users' interests",
    "word-frequency-error": "trends and statistics of words",
    "query-coverage": "query suggestion",
    "retrieval-effectiveness": "ranking",
    "next-query-prediction": "prediction of the next query",
    "query-frequency-error": "statistics of queries",
    "semantic-remain": "users' categories",
    "profile-similarity": "personalization",
    "information-loss": "clusters of users",
}


def preferred_pair(risks: Sequence[str], utilities: Sequence[str]) -> tuple[int, int]:
    """Return the indices of the risk and the utility that a chart shows first.

    >>> preferred_pair(["membership-inference", "record-linkage:x=1"], ["other"])
    (1, 0)
    """
    return _first(risks, _RISKS), _first(utilities, tuple(PURPOSES))


def _first(specs: Sequence[str], order: Sequence[str]) -> int:
    names = [spec.partition(":")[0] for spec in specs]
    return next((names.index(name) for name in order if name in names), 0)
