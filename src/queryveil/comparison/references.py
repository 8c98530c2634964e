"""What values mean: the log as it is, and a release without any row, measured as runs are."""

from __future__ import annotations

from collections.abc import Iterable

from ..measures.base import Measure
from ..measures.epsilon_audit import EpsilonAudit
from ..methods.frequent_queries import FrequentQueries
from .grid import MethodRun

ORIGINAL, EMPTY = "original log", "empty release"
# Every query has at least one user, and none has as many as the largest threshold. The identifiers
# of the original log are kept.
REFERENCE_RUNS = (
    MethodRun(FrequentQueries(min_users=1, min_click_users=1, time_precision="hour"), ORIGINAL, {}),
    MethodRun(FrequentQueries(min_users=10_000_000_000), EMPTY, {}),
)


def reference_runs(measures: Iterable[Measure]) -> tuple[MethodRun, ...]:
    """Return the runs of the references; none for risks alone, or for one utility alone.

    The frontier of a risk and a utility shows them, and the figure of utility needs them. Several
    variants of one measure are one: there is nothing to summarize.
    """
    names = {measure.name: measure.kind for measure in measures}
    return REFERENCE_RUNS if "utility" in names.values() and len(names) > 1 else ()


def applies_to_references(measure: Measure) -> bool:
    """Return whether a measure is computed for references: an audit tests a guarantee."""
    return not isinstance(measure, EpsilonAudit)
