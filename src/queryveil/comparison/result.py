"""The result of a comparison: records of its request and of its rows, and its tables."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import polars as pl

from ..core.notebook import NotebookTable, NotebookView
from ..core.pandas_output import to_pandas
from ..core.randomness import RandomSource
from ..core.records import Json, Record, Scalar, json_field
from ..errors import UsageError
from ..log.screening import check_setting
from ..log.sensitive import topics_to_drop
from ..render.charts.picture import Chart
from .means import MeanValue, RunMeans

UTILITY = "utility"  # the name of the figure over all utility measures, beside those of measures


@dataclass(frozen=True, repr=False)
class RunOptions(Record):
    """Options of the runs of a comparison.

    Attributes:
        repeats: Runs of each method and parameter combination.
        seed: Makes the runs repeatable.
        ledger: Name or folder of the ledger that records the data access, unless the log is
            `synthetic`.
        workers: Parallel processes; 0 for one per core.
        synthetic: Whether the log is synthetic, so that no data access is recorded.
        identifiers: How identifiers in queries are treated, as by `anonymize`.
        sensitive: How sensitive topics are treated, as by `anonymize`.
        detectors: Names of detectors whose flagged queries are dropped, as by `anonymize`.
    """

    shown = ("repeats", "seed", "workers", "synthetic", "identifiers")

    repeats: int = 1
    seed: int | None = None
    ledger: str | None = None
    workers: int = 1
    synthetic: bool = False
    identifiers: str = "drop"
    sensitive: str = json_field(optional=True, default="keep")
    detectors: tuple[str, ...] = json_field(optional=True, default=())

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.repeats < 1:
            raise UsageError(f"repeats must be an integer of at least 1, got {self.repeats}")
        if self.workers < 0:
            raise UsageError(f"workers must be an integer of at least 0, got {self.workers}")
        check_setting(self.identifiers)
        topics_to_drop(self.sensitive)  # raises for a bad setting
        RandomSource(self.seed)  # raises for a bad seed before any work is done


@dataclass(frozen=True, repr=False)
class LogSummary(Record):
    """The size of the compared log, and the SHA-256 of each of its files."""

    shown = ("rows", "users", "queries")

    files: Mapping[str, str]
    rows: int
    users: int
    queries: int


@dataclass(frozen=True, repr=False)
class MeasureInfo(Record):
    """The description of a measure, and its parameters."""

    shown = ("title", "kind", "better")

    title: str
    description: str
    paper: str
    unit: str
    better: Literal["lower", "higher"]
    kind: Literal["risk", "utility"]
    parameters: Mapping[str, Scalar]


@dataclass(frozen=True, repr=False)
class Figure(Record):
    """One figure: a line for each method over the swept parameter `x`.

    Attributes:
        runs: The label and the full spec of the method of each run.
    """

    shown = ("title", "x")

    title: str
    measure: str
    x: str | None
    scale: str
    runs: tuple[tuple[str, str], ...]


@dataclass(frozen=True, repr=False)
class ComparisonRow(Record):
    """The value of one measure for one run of a method.

    Attributes:
        method: The full spec of the method.
        label: The spec as requested, without the swept values.
        params: The swept values.
        seconds: The time of the run of the method; None if it failed.
        error: Why there is no value.
        details: The other results of the measure (see `MeasureResult`).
    """

    method: str
    label: str
    params: Mapping[str, Scalar]
    repeat: int
    measure: str
    value: float | None
    seconds: float | None = None
    error: str | None = None
    details: Mapping[str, Json] = json_field(default_factory=dict)

    def __repr__(self) -> str:
        method, measure = (spec.partition(":")[0] for spec in (self.label, self.measure))
        value = "none" if self.value is None else f"{self.value:.4g}"
        return f"ComparisonRow({measure} of {method} = {value})"

    @property
    def baselines(self) -> Mapping[str, float]:
        """The baselines of the measure by name."""
        baselines = self.details.get("baselines")
        return baselines if isinstance(baselines, Mapping) else {}  # type: ignore[return-value]

    @property
    def counts(self) -> Mapping[str, int]:
        """The counts of the measure by name."""
        counts = self.details.get("counts")
        return counts if isinstance(counts, Mapping) else {}  # type: ignore[return-value]

    @property
    def basis(self) -> str | None:
        """How the measure read the release."""
        basis = self.details.get("basis")
        return None if basis is None else str(basis)


@dataclass(frozen=True, repr=False)
class ClaimResult(Record):
    """A published claim and our result; `holds` is None if the claim is undecided."""

    shown = ("claim", "holds")

    paper: str
    claim: str
    published: str
    ours: str
    holds: bool | None
    why: str


@dataclass(frozen=True, repr=False, kw_only=True)
class Comparison(Record):
    """Methods side by side: the request, and one row for each run and measure.

    Attributes:
        known_before: The number of rows that an earlier run had computed.
        command: The command that repeats the comparison.
        references: The values of the log as it is, and of an empty release, for comparison.
        means: The mean of each measure over the repeats of each run, with a confidence interval,
            and the figure of utility.
    """

    schema_number = 1

    queryveil: str
    options: RunOptions = json_field(flat=True)
    log: LogSummary
    notes: tuple[str, ...]
    known_before: int
    command: str
    measures: Mapping[str, MeasureInfo]
    figures: tuple[Figure, ...]
    rows: tuple[ComparisonRow, ...]
    references: tuple[ComparisonRow, ...] = json_field(optional=True, default=())
    means: tuple[RunMeans, ...] = json_field(optional=True, default=())

    def __repr__(self) -> str:
        methods = len({row.label for row in self.rows})
        size = f"{len(self.rows)} rows: {methods} methods, {len(self.measures)} measures"
        return f"Comparison({size}, repeats={self.options.repeats})"

    def to_polars(self) -> pl.DataFrame:
        """Return the rows as a table, with one column per swept parameter; details are JSON."""
        rows = self.rows
        names = list(dict.fromkeys(name for row in rows for name in row.params))
        return pl.DataFrame(
            [
                pl.Series("method", [row.method for row in rows], pl.String),
                pl.Series("label", [row.label for row in rows], pl.String),
                *(_params_column(name, [row.params.get(name) for row in rows]) for name in names),
                pl.Series("repeat", [row.repeat for row in rows], pl.Int64),
                pl.Series("measure", [row.measure for row in rows], pl.String),
                pl.Series("value", [row.value for row in rows], pl.Float64),
                pl.Series("seconds", [row.seconds for row in rows], pl.Float64),
                pl.Series("error", [row.error for row in rows], pl.String),
                pl.Series("details", [json.dumps(row.details) for row in rows], pl.String),
            ]
        )

    @property
    def has_limits(self) -> bool:
        """Whether any run has a value that its threshold of users limits."""
        values = (value for run in self.means for value in run.measures.values())
        return any(value.best_with_threshold is not None for value in values)

    def means_table(self) -> pl.DataFrame:
        """Return the means over repeats as a table; the figure of utility is a row of each run."""
        cells: list[tuple[RunMeans, str, MeanValue]] = []
        for run in self.means:
            cells += [(run, name, value) for name, value in run.measures.items()]
            cells += [] if run.utility is None else [(run, UTILITY, run.utility)]
        names = list(dict.fromkeys(name for run in self.means for name in run.params))
        intervals = [value.interval for _, _, value in cells]
        return pl.DataFrame(
            [
                pl.Series("method", [run.method for run, _, _ in cells], pl.String),
                pl.Series("label", [run.label for run, _, _ in cells], pl.String),
                *(
                    _params_column(name, [run.params.get(name) for run, _, _ in cells])
                    for name in names
                ),
                pl.Series("measure", [name for _, name, _ in cells], pl.String),
                pl.Series("runs", [value.runs for _, _, value in cells], pl.Int64),
                pl.Series("mean", [value.mean for _, _, value in cells], pl.Float64),
                pl.Series("low", [each and each.low for each in intervals], pl.Float64),
                pl.Series("high", [each and each.high for each in intervals], pl.Float64),
                pl.Series(
                    "best_with_threshold",
                    [value.best_with_threshold for _, _, value in cells],
                    pl.Float64,
                ),
            ]
        )

    def to_pandas(self) -> Any:  # pandas has no types, and need not be installed
        """Return the rows as a `pandas.DataFrame`, as `to_polars` does."""
        return to_pandas(self.to_polars())

    def notebook_view(self) -> NotebookView:
        """Return what a notebook shows: the mean of each measure, for each run of a method."""
        runs: dict[tuple[str, str], dict[str, list[float]]] = {}
        for row in self.rows:
            swept = ", ".join(f"{name}={value}" for name, value in row.params.items())
            values = runs.setdefault((row.label.partition(":")[0], swept), {})
            if row.value is not None:
                values.setdefault(row.measure, []).append(row.value)
        titles = (f"{spec.partition(':')[0]} ({of.kind})" for spec, of in self.measures.items())
        cells = tuple(
            (*run, *(_mean(values.get(spec, ())) for spec in self.measures))
            for run, values in runs.items()
        )
        table = NotebookTable("Means of all runs", ("method", "swept", *titles), cells)
        return NotebookView("Comparison", tables=(table,), notes=self.notes, is_private=True)

    def plot(self, x: str | None = None, y: str | None = None) -> Chart:
        """Return a chart of a risk against a utility, with the Pareto front of the runs.

        Args:
            x: A risk measure of this comparison.
            y: A utility measure of this comparison.
        """
        from .frontier import frontier_chart  # noqa: PLC0415  (it imports this module)

        return frontier_chart(self, x, y)

    def plot_lines(self, measure: str | None = None, x: str | None = None) -> Chart:
        """Return a chart of a measure over a swept parameter, a line for each method.

        Args:
            measure: A measure of this comparison; by default its first one.
            x: A swept parameter; by default that of the figure.
        """
        from .plots import lines_chart  # noqa: PLC0415  (it imports this module)

        return lines_chart(self, measure, x)

    def write(self, folder: str | Path, *, overwrite: bool = False) -> Path:
        """Write table, figures and page into a folder that only the data owner can read."""
        from .writing import write_comparison  # noqa: PLC0415  (the page needs this module)

        return write_comparison(self, Path(folder), overwrite)


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _params_column(name: str, values: Sequence[Scalar]) -> pl.Series:
    """Build a column of swept values; parameters of one name may differ in type by method."""
    types = {type(value) for value in values if value is not None}
    for python_type, dtype in ((bool, pl.Boolean), (int, pl.Int64)):
        if types == {python_type}:
            return pl.Series(name, values, dtype)
    if types <= {int, float}:
        return pl.Series(name, values, pl.Float64, strict=False)
    texts = [None if value is None else str(value) for value in values]
    return pl.Series(name, texts, pl.String)
