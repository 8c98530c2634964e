"""From the rows of a comparison to its runs: a method at its values, and all that was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..comparison.series import short_labels
from ..render.charts.scales import is_drawable

__all__ = ["Range", "RunSummary", "format_param", "measures_of_kind", "sort_runs", "summarize_runs"]


@dataclass(frozen=True)
class Range:
    """What repeats gave: their mean, the least and the greatest."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        """Write it for people.

        >>> str(Spread(2, 1.5, 2.5)), str(Spread(2, 2, 2.00000001))
        ('2 (1.5 to 2.5)', '2')
        """
        mean, low, high = (f"{value:.4g}" for value in (self.mean, self.low, self.high))
        return mean if low == high else f"{mean} ({low} to {high})"


@dataclass
class RunSummary:
    """A method at its values: what each measure gave at each repeat, or why it gave nothing."""

    label: str
    short: str
    swept: Mapping[str, Any]
    values: dict[str, list[float]] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)

    @property
    def at(self) -> str:
        """The swept values in words."""
        return " ".join(format_param(name, value) for name, value in self.swept.items())

    @property
    def name(self) -> str:
        """The method and its swept values in words."""
        return f"{self.short} {self.at}".strip()

    def spread(self, measure: str) -> Range | None:
        """Sum up what a measure gave, if it gave numbers."""
        values = self.values.get(measure, [])
        if not values or not all(map(is_drawable, values)):
            return None
        return Range(sum(values) / len(values), min(values), max(values))


def summarize_runs(
    found: Mapping[str, Any], names: Mapping[str, str] | None = None
) -> list[RunSummary]:
    """Gather the rows of each run, in their order; `names` are other names for labels."""
    short = short_labels(dict.fromkeys(row["label"] for row in found["rows"])) | dict(names or {})
    runs: dict[tuple[str, str], RunSummary] = {}
    for row in found["rows"]:
        new = RunSummary(row["label"], short[row["label"]], row["swept"])
        run = runs.setdefault((row["label"], row["method"]), new)
        if row["value"] is not None:
            run.values.setdefault(row["measure"], []).append(row["value"])
        if not is_drawable(row["value"]):
            error = row["error"] or f"a value is {row['value']}"
            run.errors.setdefault(row["measure"], error)
    return list(runs.values())


def measures_of_kind(found: Mapping[str, Any], runs: Sequence[RunSummary], kind: str) -> list[str]:
    """List the measures of a kind, risk or use, that gave a number for any run."""
    about: Mapping[str, Mapping[str, Any]] = found["measures"]
    wanted = [line for line, one in about.items() if one.get("kind") == kind]
    return [line for line in wanted if any(run.spread(line) for run in runs)]


def format_param(name: str, value: Any) -> str:
    """Write a parameter and its value as a person would.

    >>> named("min_users", 5), named("epsilon", 10.0)
    ('min-users=5', 'epsilon=10')
    """
    shown = f"{value:g}" if isinstance(value, float) else value
    return f"{name.replace('_', '-')}={shown}"


def sort_runs(runs: Sequence[RunSummary]) -> list[RunSummary]:
    """Sort runs by their first swept value, if those are numbers."""
    firsts = [next(iter(run.swept.values()), None) for run in runs]
    numbers = [one for one in firsts if isinstance(one, (int, float))]
    if len(numbers) < len(runs):
        return list(runs)
    return [runs[i] for i in sorted(range(len(runs)), key=lambda i: numbers[i])]
