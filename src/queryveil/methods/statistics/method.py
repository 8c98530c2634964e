"""Differentially private statistics (Zhang, Yang, Singh 2016, repaired; Korolova et al. 2009)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from ...dp import Noise, show_amount
from ...engine import Chance, Progress
from ...errors import ParameterError
from ...log import QueryLog
from ...release import Check, Guarantee, Release
from ..base import Method, parameter
from .approx import Mechanisms, mechanisms, release_tables

__all__ = ["DpStatistics"]

SELECTIONS = ("auto", "laplace", "gaussian", "guided")
_MOST = 10_000


@dataclass(frozen=True)
class DpStatistics(Method):
    """Noisy counts of queries, of clicks and of steps from query to query; no users at all.

    >>> str(DpStatistics(epsilon=0.5))
    'dp-statistics:epsilon=0.5'
    """

    name: ClassVar[str] = "dp-statistics"
    title: ClassVar[str] = "noisy counts of queries, clicks and transitions, without any users"
    paper: ClassVar[str] = "Zhang, Yang, Singh 2016, repaired; Korolova et al. 2009"
    promise: ClassVar[str] = "differential privacy for a user's whole log"

    epsilon: float = parameter(1.0, "what one person can change at most", low=0.001, high=100.0)
    delta: float = parameter(
        1e-9, "chance that the promise fails: far below one over the people", low=1e-30, high=0.01
    )
    max_queries_per_user: int = parameter(
        20, "queries that count of each user", low=1, high=_MOST, unit="queries"
    )
    max_clicks_per_user: int = parameter(
        20, "clicks that count of each user", low=1, high=_MOST, unit="clicks"
    )
    selection: str = parameter("auto", "how frequent queries are found", choices=SELECTIONS)
    prefer: str = parameter(
        "short", "which queries of a user count, if she has more", choices=("short", "random")
    )
    split: str = parameter("2/1/1", "shares of the budget: queries, clicks, transitions")

    def __post_init__(self) -> None:
        super().__post_init__()
        self._shares()

    def _shares(self) -> tuple[Fraction, Fraction, Fraction]:
        parts = self.split.split("/")
        if len(parts) != 3 or not all(part.isdecimal() and len(part) < 4 for part in parts):
            raise ParameterError(
                f'--split cannot be "{self.split}"', hint="three whole numbers, such as 2/1/1"
            )
        queries, clicks, transitions = (int(part) for part in parts)
        if not queries:
            raise ParameterError(
                "--split gives the table of queries nothing",
                hint="clicks and transitions are those of released queries: 2/1/1, or 1/0/0",
            )
        whole = queries + clicks + transitions
        return Fraction(queries, whole), Fraction(clicks, whole), Fraction(transitions, whole)

    @property
    def budget(self) -> tuple[Fraction, Fraction]:
        """Epsilon and delta, exactly as they are written."""
        return Fraction(repr(self.epsilon)), Fraction(repr(self.delta))

    def mechanisms(self) -> Mechanisms:
        """Make what adds the noise, from the parameters alone."""
        keys = (self.max_queries_per_user, self.max_clicks_per_user, self.max_queries_per_user)
        return mechanisms(self.selection, *self.budget, keys, self._shares())

    def run(self, log: QueryLog, chance: Chance, progress: Progress) -> Release:
        """Bound each user, count, add noise, cut off."""
        noise = Noise(None if chance.secret else chance.numbers)
        tables = release_tables(log, self.mechanisms(), self.prefer, chance, noise, progress)
        return Release(
            method=self.name,
            parameters=self.values(),
            guarantee=self.guarantee(),
            source=log,
            tables=tables,
            dropped={"summed up in the tables, with noise": log.tally.kept},
            progress=progress,
        )

    def guarantee(self) -> Guarantee:
        """Promise (epsilon, delta) for a user's whole log."""
        made = self.mechanisms()
        named = {
            "queries": made.queries,
            "clicks": made.clicks,
            "transitions": made.transitions,
        }
        checks = [
            Check("min-count", {"table": name, "at_least": table.users})
            for name, table in named.items()
            if table
        ]
        epsilon, delta = (show_amount(amount) for amount in self.budget)
        return Guarantee(
            model="approx-dp",
            says=(
                f"Whether any one person's whole log is in or not changes the chance of any "
                f"outcome by at most a factor of e^{epsilon}, but for a chance of {delta}. Each "
                f"person counts for at most {self.max_queries_per_user} queries and as many "
                f"steps between queries, and {self.max_clicks_per_user} clicks, once each."
            ),
            neighbours="two logs of which one has the whole log of one more user",
            epsilon=self.epsilon,
            delta=self.delta,
            assumptions=(
                "a user name of the log stands for one person, and one person has one user name",
                "which rows of the file are read at all does not depend on other people's rows",
                "who made the release keeps the ledger, and adds up what other releases cost",
            ),
            not_covered=(
                "what is true of many people: a count tells about everybody who sent the query",
                "several people who send the same, such as a family, count as several",
                "how long the run took, and the files under private/",
            ),
            checks=tuple(checks),
        )
