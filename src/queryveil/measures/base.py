"""What a measure is: a small frozen value with declared parameters (see `engine/declared.py`).

A measure prints as one line and parses back from it::

    profile-divergence:topics=sanchez4
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from ..core.parameters import Parametrized
from ..release.release import Release
from .original import MeasureContext

__all__ = ["Measure"]


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
