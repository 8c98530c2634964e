"""Claims of papers, and how they are checked on our results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, TypeVar

from ..comparison.grid import FigureSpec
from ..comparison.result import ComparisonRow
from ..core.progress import Progress
from ..core.records import Json, Scalar
from ..errors import QueryveilError
from ..log.query_log import QueryLog

T = TypeVar("T")


class MissingResultError(QueryveilError):
    """A value that a claim needs is missing: its runs failed, or do not apply."""


class Curve(dict[Any, float]):
    """Results by value of a swept parameter; a missing value raises `MissingResultError`."""

    def __missing__(self, at: Any) -> float:
        raise MissingResultError(f"there is no result at {at}")


@dataclass(frozen=True)
class Evidence:
    """The rows of the runs, and the other values that the paper computes of the log (`facts`)."""

    rows: Sequence[ComparisonRow]
    facts: object | None = None

    def series(
        self,
        label: str,
        measure: str,
        x: str,
        name: str = "value",
        at: Mapping[str, Scalar] | None = None,
    ) -> Curve:
        """Return the mean over repeats at each value of a swept parameter.

        `name` is another result of the measure, if not the value, such as `baselines.chance`;
        `at` has values of other swept parameters.

        >>> row = ComparisonRow("m:k=2", "m", {"k": 2}, repeat=1, measure="loss", value=3.0)
        >>> Evidence([row]).series("m", "loss", "k")
        {2: 3.0}
        """
        values: dict[Any, list[float]] = {}
        for row in self.rows:
            here = (row.label, row.measure) == (label, measure) and x in row.params
            if here and (at or {}).items() <= row.params.items():
                value = row.value if name == "value" else _get_nested(row, name)
                if value is not None:
                    values.setdefault(row.params[x], []).append(value)
        if not values:
            raise MissingResultError(self._explain_missing(label, measure))
        return Curve({here: fmean(repeats) for here, repeats in values.items()})

    def _explain_missing(self, label: str, measure: str) -> str:
        """Return why there are no values: the error of a failed run, if there is one."""
        rows = [row for row in self.rows if (row.label, row.measure) == (label, measure)]
        failed = [row.error for row in rows if row.error]
        return f"{label.partition(':')[0]}: {failed[0] if failed else f'no {measure}'}"

    def facts_of(self, kind: type[T]) -> T:
        """Return the facts, which have that type; without them the claim is undecided."""
        if not isinstance(self.facts, kind):
            raise MissingResultError("this was not measured, as the log is too small")
        return self.facts


def _get_nested(row: ComparisonRow, name: str) -> float | None:
    """Return another result of a measure; `a.b` is b within a."""
    value: Json = row.details if row.value is not None else {}
    for part in name.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return float(value) if isinstance(value, int | float) else None


@dataclass(frozen=True)
class Verdict:
    """Our result, whether the claim holds here (None: undecided), and why not."""

    ours: str
    holds: bool | None
    why: str = ""


@dataclass(frozen=True)
class Claim:
    """A claim in a few words, its published value, and the check of our results."""

    claim: str
    published: str
    check: Callable[[Evidence], Verdict]

    def evaluate(self, evidence: Evidence) -> Verdict:
        """Check the claim; it is undecided if results are missing."""
        try:
            return self.check(evidence)
        except MissingResultError as error:
            return Verdict("", None, error.what)


@dataclass(frozen=True)
class Paper:
    """An evaluation to replicate: its log, figures and claims, and known deviations of ours.

    `facts` computes what its claims need besides the figures, of a log and with a taxonomy: an
    object of a type of its own, or None if the log is too small.
    """

    name: str
    title: str
    users: int
    figures: tuple[FigureSpec, ...]
    claims: tuple[Claim, ...]
    deviations: tuple[str, ...]
    topical_domain: str | None = None
    facts: Callable[[QueryLog, str, Progress], object | None] | None = None


def format_percent(values: Iterable[float]) -> str:
    """Format percentages as a range, or as one value.

    >>> format_percent([12.34, 56.7]), format_percent([3.0, 3.04])
    ('12.3 to 56.7%', '3.0%')
    """
    numbers = list(values)
    low, high = f"{min(numbers):.1f}", f"{max(numbers):.1f}"
    return f"{low}%" if low == high else f"{low} to {high}%"


def format_series(values: Mapping[Any, float], form: str = ".1f") -> str:
    """Format values in the order of the swept parameter.

    >>> format_series({2: 50.0, 3: 33.3}, ".0f")
    '2: 50, 3: 33'
    """
    return ", ".join(f"{at}: {value:{form}}" for at, value in values.items())
