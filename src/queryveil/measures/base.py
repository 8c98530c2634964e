"""The base classes of measures: frozen values with declared parameters (`core/parameters.py`).

A measure prints as a spec, which is one line, and is parsed back from it::

    profile-divergence:topics=sanchez4
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from ..core.parameters import Parametrized
from ..core.registry import SpecRegistry
from ..errors import UsageError
from ..log.query_log import QueryLog
from ..release.release import Release
from .context import MeasureContext


@dataclass(frozen=True)
class Measure(Parametrized, ABC):
    """The base of every measure of disclosure risk or of utility.

    Attributes:
        description: The meaning of the value, in one sentence.
        unit: The unit of the value.
        kind: "risk" for the disclosure risk of the users, "use" for the utility of the release.
        better: Whether a lower or a higher value is better.
    """

    title: ClassVar[str]
    description: ClassVar[str]
    paper: ClassVar[str]
    unit: ClassVar[str]
    better: ClassVar[Literal["lower", "higher"]]
    kind: ClassVar[Literal["risk", "use"]]

    @abstractmethod
    def compute(self, context: MeasureContext, release: Release) -> dict[str, Any]:
        """Return the `value` of a release, and the numbers that are needed to interpret it."""

    def prepare(self, context: MeasureContext) -> None:
        """Check the log, and compute once what the measurements of all releases need."""


# Runs the method on a log. Each turn number has its own random source, also under a seed.
Rerun = Callable[[QueryLog, int], Release]


@dataclass(frozen=True)
class RerunMeasure(Measure):
    """A measure that runs the method again; a release alone does not determine its value."""

    @abstractmethod
    def compute_rerun(
        self, context: MeasureContext, release: Release, rerun: Rerun
    ) -> dict[str, Any]:
        """Return the `value` of the method that produced the release."""

    def compute(self, context: MeasureContext, release: Release) -> dict[str, Any]:  # noqa: ARG002
        """Raise, because the measure needs the method to rerun."""
        raise UsageError(
            f"{self.name} runs the method again, so it needs the method and not only a release",
            hint="compute it with `queryveil measure` or `queryveil compare`",
        )


MEASURES: SpecRegistry[Measure] = SpecRegistry(
    "measure",
    "queryveil.measures",
    Measure,  # type: ignore[type-abstract]
    __package__,
)
parse_measure = MEASURES.parse
