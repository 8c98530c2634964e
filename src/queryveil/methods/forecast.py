"""What `plan` shows before a run: forecasts from public figures, and alternative parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..core.records import Record, json_field


@dataclass(frozen=True, repr=False)
class ExpectedQueries(Record):
    """The expected number of released queries.

    Attributes:
        low: Fewer are unusual for a web search log; a shop's log may release fewer.
        high: More are unusual.
        sent_fraction: Fraction of all queries that users send.
    """

    shown = ("queries", "low", "high", "sent_fraction")

    queries: int
    low: int
    high: int
    sent_fraction: float


@dataclass(frozen=True, repr=False, kw_only=True)
class TableForecast(Record):
    """The noise and the threshold of a table of counts.

    Attributes:
        rounds: Rounds of noise in which keys are selected, if they are selected before the counts.
        public_keys: Keys on a public list, where only these are counted.
        median_release_count: Number of users with whom a key is released in half of all cases.
        contribution_bound: What a user adds at most: to so many counts one each, or that sum.
        single_user_probability: Probability that a key of one user alone is released.
        false_positive_rate: Probability that a public key of no user is released.
    """

    shown = ("table", "noise", "scale")

    table: str
    noise: Literal["laplace", "gaussian"]
    scale: float
    rounds: int | None = json_field(default=None, optional=True)
    public_keys: int | None = json_field(default=None, optional=True)
    median_release_count: int | None = json_field(default=None, optional=True)
    contribution_bound: int
    single_user_probability: float | None = json_field(default=None, optional=True)
    false_positive_rate: float | None = json_field(default=None, optional=True)


@dataclass(frozen=True, repr=False)
class ForecastFact(Record):
    """A figure that is known before a run, for any log.

    Attributes:
        name: A name that programs use, as in `phrase_epsilon`.
        description: What people read.
        unit: How to show a number: as it is, or as a percentage.
    """

    shown = ("name", "value")

    name: str
    value: int | float | str
    description: str
    unit: Literal["number", "fraction", "text"] = "number"


@dataclass(frozen=True, repr=False)
class Forecast(Record):
    """The expected contents of a private release, from public figures alone.

    Attributes:
        selection: How the keys of tables are selected.
        expected: None where every user has rows, whatever the parameters.
        facts: Figures of methods that release rows, not tables.
    """

    shown = ("selection", "expected")

    selection: str | None = None
    expected: ExpectedQueries | None = None
    tables: tuple[TableForecast, ...] = ()
    facts: tuple[ForecastFact, ...] = ()


@dataclass(frozen=True, repr=False)
class Alternative(Record):
    """What another value of the main parameter would keep; exact figures of a log."""

    shown = ("parameter", "value")

    parameter: str
    value: int | float
    queries: int
    rows: int
    fraction: float
