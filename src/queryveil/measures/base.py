"""What a measure is: a small frozen value with declared parameters (see `engine/declared.py`).

A measure prints as one line and parses back from it::

    profile-divergence:topics=sanchez4
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, Literal

from ..core.parameters import Parametrized, discover, parse_spec
from ..errors import UsageError, did_you_mean
from ..log.query_log import QueryLog
from ..release.release import Release
from .context import MeasureContext


@dataclass(frozen=True)
class Measure(Parametrized, ABC):
    """The base of every measure: a figure of risk or of use.

    `says` tells in plain words what the value means, `unit` what it counts, `kind` whether it is
    a risk of the people in the log or of use to the reader of the release, and `better` which way
    is good news for them.
    """

    title: ClassVar[str]
    description: ClassVar[str]
    paper: ClassVar[str]
    unit: ClassVar[str]
    better: ClassVar[Literal["lower", "higher"]]
    kind: ClassVar[Literal["risk", "use"]]

    @abstractmethod
    def compute(self, before: MeasureContext, after: Release) -> dict[str, Any]:
        """Give the `value` of a release, and what must stand beside it to be understood."""

    def prepare(self, before: MeasureContext) -> None:
        """Refuse what a measurement would stumble over, and do once what all releases need."""


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


@cache
def all_measures() -> dict[str, type[Measure]]:
    """Give every measure by its name."""
    return discover(Measure, __name__, __file__)  # type: ignore[type-abstract]


def get_measure(name: str) -> type[Measure]:
    """Give the measure of that name, or say which name is near."""
    measures = all_measures()
    if name not in measures:
        raise UsageError(f'unknown measure "{name}"', hint=did_you_mean(name, measures))
    return measures[name]


def parse_measure(text: str) -> Measure:
    """Read a measure from its one line.

    >>> str(parse_measure("profile-divergence:topics=sanchez4:other=drop"))
    'profile-divergence:topics=sanchez4'
    """
    name, values = parse_spec(text)
    return get_measure(name).from_params(dict(values))
