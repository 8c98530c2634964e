"""Records of the repeats of a run: means with confidence intervals, and the figure of utility."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

from ..core.records import Record, Scalar, json_field
from ..measures.result import Interval

_LEVEL = 0.95


@dataclass(frozen=True, repr=False)
class MeanValue(Record):
    """The mean of a value over the repeats of a run, each with its own seed.

    Attributes:
        runs: The number of repeats.
        interval: The 95% confidence interval of the mean, by Student's t; None for a single run.
            It covers the randomness of the method on this log, and no other logs.
        best_with_threshold: The best value that the threshold of users of the method allows.
    """

    shown = ("mean", "runs")

    runs: int
    mean: float
    interval: Interval | None = json_field(flat=True, default=None)
    best_with_threshold: float | None = json_field(optional=True, default=None)


@dataclass(frozen=True, repr=False)
class RunMeans(Record):
    """A method at its parameter values: the mean of each measure, and the figure of utility.

    Attributes:
        measures: The means by measure; a measure without a value in every repeat is left out.
        utility: The mean of the scores of all utility measures: 0 for an empty release or
            guessing, 1 for the original log.
        scores: The mean score of each utility measure.
        no_utility_because: Why there is no figure of utility.
    """

    shown = ("label",)

    label: str
    method: str
    params: Mapping[str, Scalar]
    measures: Mapping[str, MeanValue]
    utility: MeanValue | None = None
    scores: Mapping[str, float] = json_field(optional=True, default_factory=dict)
    no_utility_because: str | None = json_field(optional=True, default=None)

    def __repr__(self) -> str:
        return f"RunMeans({self.label.partition(':')[0]})"  # parameters may be paths


def average(values: Sequence[float], best_with_threshold: float | None = None) -> MeanValue:
    """Return the mean of values over repeats, and its 95% confidence interval.

    >>> value = average([1.0, 2.0, 3.0])
    >>> value.mean, round(value.interval.low, 3), round(value.interval.high, 3)
    (2.0, -0.484, 4.484)
    >>> average([1.0]).interval is None
    True
    """
    number, mean = len(values), sum(values) / len(values)
    if number < 2:
        return MeanValue(number, mean, None, best_with_threshold)
    error = sqrt(sum((value - mean) ** 2 for value in values) / (number - 1) / number)
    half = _quantile(number - 1) * error if error else 0.0
    return MeanValue(number, mean, Interval(mean - half, mean + half), best_with_threshold)


def _quantile(degrees: int) -> float:
    from scipy import stats  # noqa: PLC0415  (slow to import)

    return float(stats.t.ppf((1 + _LEVEL) / 2, degrees))
