"""Learning from some users and testing on the others: what is shared by measures that do.

Users are held out, not rows: a person is what a release protects, and her rows are alike. Were they
parted by rows, what is learned from her other rows would be tested on herself.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from ...core.parameters import parameter
from ...core.randomness import RandomSource
from ...engine.operations import unique_users
from ...errors import InputError, QueryveilError, UsageError
from ...log.query_log import QueryLog
from ..base import Rerun, RerunMeasure
from ..context import MeasureContext
from .counts import LogStatistics, statistics_of_log, statistics_of_release

_SEED = 20160  # public: who is held out must not change from release to release


@dataclass(frozen=True)
class CrossValidatedMeasure(RerunMeasure):
    """The base: part the users, run the method on all folds but one, test on that one.

    Each test has a number, its `topic`. The same tests are tried on the plain rows of the training
    users: what these give is the reference, `original`.
    """

    tested: ClassVar[str]  # what the tests are called in words, and what a log must have for them
    needs: ClassVar[str]

    folds: int = parameter(5, "parts of the users, each held out once", min=2, max=1000)
    topics: int = parameter(2000, "tests at most, drawn from all", min=1, max=10**7)

    @abstractmethod
    def test_cases(self, log: QueryLog) -> pl.DataFrame:
        """Give all that can be tested: topic, user, and what the measure needs."""

    @abstractmethod
    def evaluate(self, seen: LogStatistics, tests: pl.DataFrame) -> pl.DataFrame:
        """Try tests on what was learned: topic, and what was found."""

    def prepare(self, before: MeasureContext) -> None:
        """Draw the tests, and try them on the log as it is."""
        self.original(before)

    def original(self, before: MeasureContext) -> pl.DataFrame:
        """Try the tests on the rows of the training users, unprotected."""
        return before.cached((self, "original"), lambda: self._over_folds(before, None))

    def released(
        self, before: MeasureContext, again: Rerun
    ) -> tuple[pl.DataFrame, list[LogStatistics]]:
        """Try the tests on releases of the training users; give what was learned from each too."""
        found = self._over_folds(before, again)
        return found, list(_runs(before, again, self.folds).values())

    def _over_folds(self, before: MeasureContext, again: Rerun | None) -> pl.DataFrame:
        parts = self._chosen(before).partition_by("fold", as_dict=True)
        found = [
            self.evaluate(self._learned(before, int(fold), again), tests)
            for (fold,), tests in sorted(parts.items())
        ]
        return pl.concat(found).sort("topic")

    def _learned(self, before: MeasureContext, fold: int, again: Rerun | None) -> LogStatistics:
        if again is None:
            return statistics_of_log(self._training(before, fold).local_frame)
        known = _runs(before, again, self.folds)
        if fold not in known:
            known[fold] = _run(again, self._training(before, fold), fold)
        return known[fold]

    def _training(self, before: MeasureContext, fold: int) -> QueryLog:
        users = self._parted(before).filter(pl.col("fold") != fold)
        return before.log.filter_users(users, "held out for a test")

    def _parted(self, before: MeasureContext) -> pl.DataFrame:
        return before.cached(("folds", self.folds), lambda: assign_folds(before.log, self.folds))

    def _chosen(self, before: MeasureContext) -> pl.DataFrame:
        """Give the tests that are drawn, with the fold of their user."""
        return before.cached((self.name, self.folds, self.topics), lambda: self._draw(before))

    def _draw(self, before: MeasureContext) -> pl.DataFrame:
        folds, every = self._parted(before), self.test_cases(before.log)
        if not every.height:
            raise InputError(
                f"this log has no {self.tested} to test with",
                hint=f"take a log with {self.needs}",
            )
        topics = every["topic"].unique().sort()
        drawn = topics.gather(
            RandomSource(_SEED + 1).permutation(len(topics))[: self.topics]
        ).sort()
        chosen = drawn.to_frame().join(every, on="topic", maintain_order="left_right")
        return chosen.join(folds, on="user", maintain_order="left").drop("user")


def assign_folds(log: QueryLog, number: int) -> pl.DataFrame:
    """Part the users into folds of equal size, always in the same way: user, fold.

    >>> log = QueryLog.from_rows([(user, "x", None, None, None) for user in "abcde"])
    >>> assign_folds(log, 2)["fold"].value_counts().sort("fold").rows()
    [(0, 3), (1, 2)]
    """
    users = unique_users(log.local_frame)
    if len(users) < number:
        raise InputError(
            f"{number:,} folds of users need as many users, and this log has {len(users):,}",
            hint="take fewer folds, or a larger log",
        )
    place = np.empty(len(users), np.int64)
    place[RandomSource(_SEED).permutation(len(users))] = np.arange(len(users))
    kind = log.local_frame.collect_schema()["user"]
    return pl.DataFrame({"user": users.cast(kind), "fold": place % number})


def _runs(before: MeasureContext, again: Rerun, folds: int) -> dict[int, LogStatistics]:
    """Give what the latest method's runs gave: measures that ask for the same folds share them."""
    kept: dict[tuple[Rerun, int], dict[int, LogStatistics]] = before.cached("runs on folds", dict)
    if (again, folds) not in kept:
        kept.clear()  # what other methods gave is not asked for again
        kept[again, folds] = {}
    return kept[again, folds]


def _run(again: Rerun, training: QueryLog, fold: int) -> LogStatistics:
    try:
        return statistics_of_release(again(training, fold))
    except QueryveilError as error:
        raise UsageError(
            f"the method cannot be run on the training users alone: {error.what}", hint=error.hint
        ) from error
