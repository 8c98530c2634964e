"""The base classes of measures: frozen values with declared parameters (`core/parameters.py`).

A measure prints as a spec, which is one line, and is parsed back from it::

    profile-divergence:topics=sanchez4
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, ClassVar, Literal, Self

from ..concepts.mapping.options import LANGUAGE_HELP, SAME, TERMS_HELP, MappingOptions
from ..core.parameters import Parametrized, parameter
from ..core.records import Json
from ..core.registry import SpecRegistry
from ..errors import UsageError
from ..log.query_log import QueryLog
from ..release.release import Release
from .context import MeasureContext
from .result import Interval, MeasureResult

if TYPE_CHECKING:
    from ._shared.thresholds import Threshold


@dataclass(frozen=True)
class Measure(Parametrized, ABC):
    """The base of every measure of disclosure risk or of utility.

    Attributes:
        description: The meaning of the value, in one sentence.
        unit: The unit of the value.
        kind: "risk" for the disclosure risk of the users, "utility" for that of the release.
        better: Whether a lower or a higher value is better.
    """

    title: ClassVar[str]
    description: ClassVar[str]
    paper: ClassVar[str]
    unit: ClassVar[str]
    better: ClassVar[Literal["lower", "higher"]]
    kind: ClassVar[Literal["risk", "utility"]]

    @abstractmethod
    def compute(self, context: MeasureContext, release: Release) -> MeasureResult:
        """Return the value of a release, and what is needed to interpret it: `self.result(...)`."""

    @classmethod
    def variants(cls) -> tuple[Self, ...]:
        """Return the measures that are computed if none is named: one with the defaults."""
        return (cls(),)

    def best_with(self, context: MeasureContext, threshold: Threshold) -> float | None:  # noqa: ARG002
        """Return the best value of any release in which each text has so many users.

        None where the threshold does not limit the value, or the limit is not known.
        """
        return None

    def prepare(self, context: MeasureContext) -> None:
        """Check the log, and compute once what the measurements of all releases need."""

    def result(
        self,
        value: float,
        *,
        interval: tuple[float, float] | None = None,
        baselines: Mapping[str, float | None] | None = None,
        counts: Mapping[str, int] | None = None,
        details: Mapping[str, Json] | None = None,
        summary: str | None = None,
        basis: str | None = None,
    ) -> MeasureResult:
        """Return the result of this measure; baselines that are None are left out.

        The other arguments are described at `MeasureResult`.

        Raises:
            UsageError: A detail has the name of another key of the result.
        """
        taken = {declared.name for declared in fields(MeasureResult)} | {"low", "high"}
        if hidden := taken.intersection(details or ()):
            raise UsageError(f"details of {self.name} cannot be called {', '.join(sorted(hidden))}")
        known = {name: float(of) for name, of in (baselines or {}).items() if of is not None}
        return replace(
            self.skip(""),
            value=float(value),
            interval=None if interval is None else Interval(*map(float, interval)),
            baselines=known,
            counts=counts or {},
            details=details or {},
            summary=summary,
            basis=basis,
            skipped_because=None,
        )

    def skip(self, reason: str) -> MeasureResult:
        """Return the result of a measure that does not apply to a release."""
        return MeasureResult(
            measure=str(self),
            title=self.title,
            unit=self.unit,
            better=self.better,
            kind=self.kind,
            value=None,
            skipped_because=reason,
        )


@dataclass(frozen=True)
class ConceptMeasure(Measure, ABC):
    """The base of the measures that compare concepts of queries."""

    taxonomy: str = parameter("wordnet", "taxonomy: wordnet, shop, a .qvt file or a path list")
    language: str = parameter(SAME, LANGUAGE_HELP)
    terms: str = parameter("", TERMS_HELP)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.mapping_options.check()

    @property
    def mapping_options(self) -> MappingOptions:
        """How queries are mapped to concepts."""
        return MappingOptions(self.taxonomy, self.language, self.terms)


# Runs the method on a log. Each turn number has its own random source, also under a seed.
Rerun = Callable[[QueryLog, int], Release]


@dataclass(frozen=True)
class RerunMeasure(Measure):
    """A measure that runs the method again; a release alone does not determine its value."""

    @abstractmethod
    def compute_rerun(
        self, context: MeasureContext, release: Release, rerun: Rerun
    ) -> MeasureResult:
        """Return the value of the method that produced the release."""

    def compute(self, context: MeasureContext, release: Release) -> MeasureResult:  # noqa: ARG002
        """Raise, because the measure needs the method to rerun."""
        raise UsageError(
            f"{self.name} runs the method again, so it needs the method and not only a release",
            hint="compute it with `measure()` or `compare()`",
        )


MEASURES: SpecRegistry[Measure] = SpecRegistry(
    "measure",
    "queryveil.measures",
    Measure,  # type: ignore[type-abstract]
    __package__,
)
parse_measure = MEASURES.parse


# What `compare` measures by default, in Python and on the command line: two measures of
# risk, three of utility.
DEFAULT_MEASURES = (
    "record-linkage",
    "partial-knowledge-linkage",
    "profile-divergence",
    "query-coverage",
    "word-frequency-error",
)


def list_measures(
    measures: str | Measure | type[Measure] | Iterable[str | Measure],
) -> list[Measure]:
    """Return measures from one or several; a text is one measure, and never iterated."""
    if isinstance(measures, str | Measure | type) or not isinstance(measures, Iterable):
        return [as_measure(measures)]
    return [as_measure(measure) for measure in measures]


def as_measure(measure: str | Measure | type[Measure]) -> Measure:
    """Return a measure from itself, its spec or its class.

    Raises:
        UsageError: It is none of them, or its name or a parameter is unknown.
    """
    if isinstance(measure, Measure):
        return measure
    if isinstance(measure, str):
        return parse_measure(measure)
    if isinstance(measure, type) and issubclass(measure, Measure):
        return measure()
    raise UsageError(
        f"a value of type {type(measure).__name__} is not a measure",
        hint='an object such as Uniqueness(), or a spec such as "uniqueness"; see `MEASURES`',
    )
