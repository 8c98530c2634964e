"""What a paper claims, and how its claims are checked on what we find."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from ..comparison.grid import Figure
from ..core.progress import Progress
from ..errors import QueryveilError
from ..log.query_log import QueryLog


class MissingResultError(QueryveilError):
    """A figure that a claim speaks of is not there: its runs failed, or do not apply."""


class Curve(dict[Any, float]):
    """Values of a swept parameter, with what was found there; asking for another one is told."""

    def __missing__(self, at: Any) -> float:
        raise MissingResultError(f"nothing was found at {at}")


@dataclass(frozen=True)
class Evidence:
    """What the runs gave, and what else was timed or counted (`facts`)."""

    rows: Sequence[Mapping[str, Any]]
    facts: Mapping[str, Any]

    def series(
        self,
        label: str,
        measure: str,
        x: str,
        name: str = "value",
        at: Mapping[str, Any] | None = None,
    ) -> Curve:
        """Give the mean over repeats at each value of a swept parameter.

        `name` is what was told, if not the value; `at` has values of other swept parameters.

        >>> row = {"label": "m", "measure": "loss", "swept": {"k": 2}, "value": 3.0, "told": {}}
        >>> Evidence([row], {}).series("m", "loss", "k")
        {2: 3.0}
        """
        values: dict[Any, list[float]] = {}
        for row in self.rows:
            here = (row["label"], row["measure"]) == (label, measure) and x in row["swept"]
            if here and (at or {}).items() <= row["swept"].items():
                value = row["value"] if name == "value" else _inside(row, name)
                if value is not None:
                    values.setdefault(row["swept"][x], []).append(float(value))
        if not values:
            raise MissingResultError(self._why(label, measure))
        return Curve({here: fmean(some) for here, some in values.items()})

    def _why(self, label: str, measure: str) -> str:
        """Say why there is nothing: in the words of the run that failed, if one did."""
        rows = [row for row in self.rows if (row["label"], row["measure"]) == (label, measure)]
        failed = [str(row["error"]) for row in rows if row.get("error")]
        return f"{label.partition(':')[0]}: {failed[0] if failed else f'no {measure}'}"

    def fact(self, name: str) -> Any:
        """Give one of the other facts."""
        if name not in self.facts:
            raise MissingResultError(f"{name} was not found out")
        return self.facts[name]


def _inside(row: Mapping[str, Any], name: str) -> Any:
    """Find what a measure told beside its value; `a.b` is b within a."""
    value: Any = row["told"] if row["value"] is not None else {}
    for part in name.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


@dataclass(frozen=True)
class Verdict:
    """What we find, whether the claim holds here (None: cannot be told), and why not."""

    ours: str
    holds: bool | None
    why: str = ""


@dataclass(frozen=True)
class Claim:
    """A claim, in a few words, with the published figure and the check of ours."""

    claim: str
    published: str
    check: Callable[[Evidence], Verdict]

    def evaluate(self, found: Evidence) -> dict[str, Any]:
        """Check it; a claim whose figures are missing cannot be told."""
        try:
            verdict = self.check(found)
        except MissingResultError as error:
            verdict = Verdict("", None, error.what)
        return {
            "claim": self.claim,
            "published": self.published,
            "ours": verdict.ours,
            "holds": verdict.holds,
            "why": verdict.why,
        }


@dataclass(frozen=True)
class Paper:
    """An evaluation to be done again: its log, figures and claims, and where ours must differ."""

    name: str
    title: str
    users: int
    figures: tuple[Figure, ...]
    claims: tuple[Claim, ...]
    deviations: tuple[str, ...]
    topical_domain: str | None = None
    facts: Callable[[QueryLog, str, Progress], dict[str, Any]] | None = None


def format_percent(values: Iterable[float]) -> str:
    """Write values of 0 to 100 as a range, or as one.

    >>> format_percent([12.34, 56.7]), format_percent([3.0, 3.04])
    ('12.3 to 56.7%', '3.0%')
    """
    low, high = (f"{value:.1f}" for value in _ends(values))
    return f"{low}%" if low == high else f"{low} to {high}%"


def _ends(values: Iterable[float]) -> tuple[float, float]:
    some = list(values)
    return min(some), max(some)


def format_series(values: Mapping[Any, float], form: str = ".1f") -> str:
    """Write values in the order of the swept parameter.

    >>> format_series({2: 50.0, 3: 33.3}, ".0f")
    '2: 50, 3: 33'
    """
    return ", ".join(f"{at}: {value:{form}}" for at, value in values.items())
