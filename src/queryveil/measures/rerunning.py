"""Measures of a method rather than of one release: they run it again, on parts of the log.

A release made of the whole log would know the rows on which it is tested. So such a measure is
handed a function that runs the release's own method on any other log; `jobs/` makes it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..errors import UsageError
from ..log.query_log import QueryLog
from ..release.release import Release
from .base import Measure
from .original import MeasureContext

__all__ = ["Rerun", "RerunMeasure"]

# Runs the method on a log. Each number of a turn has chance of its own, also under a seed.
Rerun = Callable[[QueryLog, int], Release]


@dataclass(frozen=True)
class RerunMeasure(Measure):
    """A measure that runs the method again; `of` alone cannot tell its value."""

    @abstractmethod
    def compute_rerun(self, before: MeasureContext, after: Release, again: Rerun) -> dict[str, Any]:
        """Give the `value` of the method that made the release `after`."""

    def compute(self, before: MeasureContext, after: Release) -> dict[str, Any]:  # noqa: ARG002
        """Refuse: without the method there is nothing to run."""
        raise UsageError(
            f"{self.name} runs the method again, and a release alone cannot",
            hint="take it with `queryveil measure` or `queryveil compare`",
        )
