"""The results of measures: a value with what is needed to interpret it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from ..core.notebook import NotebookTable, NotebookView
from ..core.pandas_output import to_pandas
from ..core.records import Json, Record, json_field

if TYPE_CHECKING:
    from ..render.charts.picture import Chart

# The titles of baselines in charts and texts, in their order; others have their name as a title.
_BASELINE_TITLES = {
    "chance": "by chance",
    "random_groups": "random groups",
    "worst_case": "worst case of the paper",
    "same_for_all": "the same for all",
    "original": "unprotected log",
    "popular": "always the most frequent",
    "bound_of_k": "bound by k",
    "best_with_threshold": "best with this threshold",
}


def baseline_title(name: str) -> str:
    """Return the title of a baseline.

    >>> baseline_title("original"), baseline_title("last_year")
    ('unprotected log', 'last year')
    """
    return _BASELINE_TITLES.get(name, name.replace("_", " "))


def sort_baselines(names: Iterable[str]) -> list[str]:
    """Return the distinct names of baselines in the order in which they are shown.

    >>> sort_baselines(["last_year", "original", "chance", "original"])
    ['chance', 'original', 'last_year']
    """
    order = list(_BASELINE_TITLES)
    return sorted(
        set(names), key=lambda name: (order.index(name) if name in order else len(order), name)
    )


@dataclass(frozen=True, repr=False)
class Interval(Record):
    """The 95% confidence interval of a value."""

    shown = ("low", "high")

    low: float
    high: float


@dataclass(frozen=True, repr=False)
class MeasureResult(Record):
    """The value of a measure for a release; a figure of private data.

    Attributes:
        measure: The spec of the measure.
        value: The value, or None if the measure does not apply.
        interval: The confidence interval of the value, if the measure is a sample.
        baselines: What other values mean, by name: `chance` is that of guessing, `original` that
            of the unprotected log, `best_with_threshold` the best that the threshold of users of
            the method allows.
        counts: What was counted, such as users.
        details: Other results; in JSON their keys are beside `value`.
        summary: The result in one sentence.
        basis: How the release was read.
        skipped_because: Why there is no value.
    """

    measure: str
    title: str
    unit: str
    better: Literal["lower", "higher"]
    kind: Literal["risk", "utility"]
    value: float | None
    interval: Interval | None = json_field(flat=True, default=None)
    baselines: Mapping[str, float] = json_field(optional=True, default_factory=dict)
    counts: Mapping[str, int] = json_field(optional=True, default_factory=dict)
    details: Mapping[str, Json] = json_field(flat=True, default_factory=dict)
    summary: str | None = json_field(optional=True, default=None)
    basis: str | None = json_field(optional=True, default=None)
    skipped_because: str | None = json_field(optional=True, default=None)

    def to_row_details(self) -> Mapping[str, Json]:
        """Return the JSON form without the description of the measure and the value."""
        left_out = ("measure", "title", "unit", "better", "kind", "value")
        return {key: of for key, of in self.to_dict().items() if key not in left_out}

    def __repr__(self) -> str:
        name = self.measure.partition(":")[0]  # parameters may be paths
        if self.value is None:
            return f"MeasureResult({name} = none)"
        unit = self.unit.partition(",")[0].removesuffix(" 0 to 1")
        parts = [f"{name} = {self.value:.4g} {unit}, {self.better} is better"]
        if self.baselines:
            pairs = (f"{name} {value:.4g}" for name, value in self.baselines.items())
            parts.append(f"baseline {', '.join(pairs)}")
        return f"MeasureResult({'; '.join(parts)})"

    def notebook_view(self) -> NotebookView:
        """Return what a notebook shows: the value and what is needed to interpret it."""
        return _view_results("MeasureResult", [self], ())


@dataclass(frozen=True, repr=False)
class MeasureResults(Record, Mapping[str, MeasureResult]):
    """The results of several measures of one release: a mapping from specs to results."""

    schema_number = 1

    method: str
    measures: Mapping[str, MeasureResult]
    notes: tuple[str, ...] = ()

    def __getitem__(self, spec: str) -> MeasureResult:
        return self.measures[str(spec)]

    def __iter__(self) -> Iterator[str]:
        return iter(self.measures)

    def __len__(self) -> int:
        return len(self.measures)

    def __repr__(self) -> str:
        return f"MeasureResults({self.method}: {', '.join(map(repr, self.measures.values()))})"

    def plot(self) -> Chart:
        """Return a chart of the values beside their baselines; figures of private data."""
        from ._shared.results_chart import results_chart  # noqa: PLC0415  (it imports this module)

        return results_chart(self.method, self.measures)

    def to_polars(self) -> pl.DataFrame:
        """Return one row per measure, with its value, unit and interval and its baselines."""
        results = list(self.measures.values())
        names = sort_baselines(name for result in results for name in result.baselines)
        intervals = [result.interval for result in results]
        return pl.DataFrame(
            [
                pl.Series("measure", list(self.measures), pl.String),
                pl.Series("kind", [result.kind for result in results], pl.String),
                pl.Series("value", [result.value for result in results], pl.Float64),
                pl.Series("low", [each and each.low for each in intervals], pl.Float64),
                pl.Series("high", [each and each.high for each in intervals], pl.Float64),
                pl.Series("unit", [result.unit for result in results], pl.String),
                pl.Series("better", [result.better for result in results], pl.String),
                *(
                    pl.Series(name, [each.baselines.get(name) for each in results], pl.Float64)
                    for name in names
                ),
                pl.Series("skipped", [result.skipped_because for result in results], pl.String),
            ]
        )

    def to_pandas(self) -> Any:  # pandas has no types, and need not be installed
        """Return a `pandas.DataFrame`, as `to_polars` does."""
        return to_pandas(self.to_polars())

    def notebook_view(self) -> NotebookView:
        """Return what a notebook shows: each value, and what is needed to interpret it."""
        title = f"MeasureResults of {self.method}"
        return _view_results(title, list(self.measures.values()), self.notes)


def _view_results(
    title: str, results: Sequence[MeasureResult], notes: tuple[str, ...]
) -> NotebookView:
    rows = tuple(
        (
            result.measure.partition(":")[0],  # parameters may be paths
            result.kind,
            result.value,
            f"{result.unit}; {result.better} is better",
            ", ".join(
                f"{baseline_title(name)} {result.baselines[name]:,.4g}"
                for name in sort_baselines(result.baselines)
            ),
        )
        for result in results
        if result.value is not None
    )
    skipped = sum(result.value is None for result in results)
    table = NotebookTable("Measures", ("measure", "kind", "value", "unit", "baselines"), rows)
    without = (f"{skipped} measures have no value; see `skipped_because`.",) * bool(skipped)
    return NotebookView(title, tables=(table,), notes=(*without, *notes), is_private=True)
