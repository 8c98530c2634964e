"""Cross-validation over users: learn from the release of some users, and test on the others.

Users are held out, not rows: the rows of one user are similar. With folds of rows, a model learned
from other rows of a user would be tested on the same user.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
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

# Public and fixed: folds and test cases must be the same for all releases, so that their results
# can be compared case by case.
_FOLD_SEED = 20160
_SAMPLE_SEED = _FOLD_SEED + 1


@dataclass(frozen=True)
class CrossValidatedMeasure(RerunMeasure):
    """The base of cross-validated measures: run the method on all folds but one, test on that one.

    A test case is all rows of `test_cases` with one number in the column `topic` (a topic in the
    sense of TREC); it belongs to one user. The same tests on the unprotected rows of the training
    users give the baseline, `original`.
    """

    tested: ClassVar[str]  # the name of the test cases in messages, such as "clicks"
    needs: ClassVar[str]  # what a log must have for them, in messages

    folds: int = parameter(5, "number of folds of users, each held out once", min=2, max=1000)
    max_tests: int = parameter(2000, "maximum number of sampled test cases", min=1, max=10**7)

    @abstractmethod
    def test_cases(self, log: QueryLog) -> pl.DataFrame:
        """Return all test cases: topic, user, and the columns that the measure needs.

        They are cached for all releases, so they must depend on the log alone, and on no parameter
        but `folds` and `max_tests`.
        """

    @abstractmethod
    def evaluate(self, training: LogStatistics, tests: pl.DataFrame) -> pl.DataFrame:
        """Return exactly one row per topic: topic, and the results of a model of `training`.

        Results on the original log and on releases are compared row by row.
        """

    def prepare(self, context: MeasureContext) -> None:
        """Sample the test cases, and evaluate them on the unprotected log."""
        self.original(context)

    def original(self, context: MeasureContext) -> pl.DataFrame:
        """Evaluate the test cases on the unprotected rows of the training users."""
        return context.cached(
            (self, "original"),
            lambda: self._evaluate_folds(
                context,
                lambda fold: statistics_of_log(self._training_log(context, fold).local_frame),
            ),
        )

    def frequent_only(self, context: MeasureContext, min_users: int) -> pl.DataFrame:
        """Evaluate the test cases on the rows whose query enough training users sent."""

        def learn(fold: int) -> LogStatistics:
            rows = self._training_log(context, fold).local_frame
            users = rows.group_by("query").agg(users=pl.col("user").n_unique().cast(pl.Int64))
            frequent = users.filter(pl.col("users") >= min_users)
            return statistics_of_log(rows.join(frequent, on="query", how="semi"))

        return context.cached(
            (self, "frequent", min_users), lambda: self._evaluate_folds(context, learn)
        )

    def released(
        self, context: MeasureContext, rerun: Rerun
    ) -> tuple[pl.DataFrame, list[LogStatistics]]:
        """Evaluate the test cases on releases of training users; return their statistics too."""
        results = self._evaluate_folds(context, lambda fold: self._learn(context, fold, rerun))
        return results, list(_cached_runs(context, rerun, self.folds).values())

    def _evaluate_folds(
        self, context: MeasureContext, learn: Callable[[int], LogStatistics]
    ) -> pl.DataFrame:
        folds = self._sampled_cases(context).partition_by("fold", as_dict=True)
        results = [
            self.evaluate(learn(int(fold)), tests) for (fold,), tests in sorted(folds.items())
        ]
        return pl.concat(results).sort("topic")

    def _learn(self, context: MeasureContext, fold: int, rerun: Rerun) -> LogStatistics:
        runs = _cached_runs(context, rerun, self.folds)
        if fold not in runs:
            runs[fold] = _learn_release(rerun, self._training_log(context, fold), fold)
        return runs[fold]

    def _training_log(self, context: MeasureContext, fold: int) -> QueryLog:
        training_users = self._folds(context).filter(pl.col("fold") != fold)
        # The text is the reason that is counted for the rows of all other users.
        return context.log.filter_users(training_users, "held out for a test")

    def _folds(self, context: MeasureContext) -> pl.DataFrame:
        return context.cached(("folds", self.folds), lambda: assign_folds(context.log, self.folds))

    def _sampled_cases(self, context: MeasureContext) -> pl.DataFrame:
        """Return the sampled test cases, with the fold of their user."""
        return context.cached(
            (self.name, self.folds, self.max_tests), lambda: self._sample_cases(context)
        )

    def _sample_cases(self, context: MeasureContext) -> pl.DataFrame:
        folds, cases = self._folds(context), self.test_cases(context.log)
        if not cases.height:
            raise InputError(
                f"this log has no {self.tested} to test with",
                hint=f"use a log with {self.needs}",
            )
        topics = cases["topic"].unique().sort()
        sampled = topics.gather(
            RandomSource(_SAMPLE_SEED).permutation(len(topics))[: self.max_tests]
        ).sort()
        chosen = sampled.to_frame().join(cases, on="topic", maintain_order="left_right")
        return chosen.join(folds, on="user", maintain_order="left").drop("user")


def assign_folds(log: QueryLog, folds: int) -> pl.DataFrame:
    """Assign users to folds whose sizes differ by at most one, always in the same way: user, fold.

    >>> log = QueryLog.from_rows([(user, "x", None, None, None) for user in "abcde"])
    >>> assign_folds(log, 2)["fold"].value_counts().sort("fold").rows()
    [(0, 3), (1, 2)]
    """
    users = unique_users(log.local_frame)
    if len(users) < folds:
        raise InputError(
            f"{folds:,} folds of users need at least {folds:,} users, and this log has "
            f"{len(users):,}",
            hint="use fewer folds, or a larger log",
        )
    position = np.empty(len(users), np.int64)
    position[RandomSource(_FOLD_SEED).permutation(len(users))] = np.arange(len(users))
    dtype = log.local_frame.collect_schema()["user"]
    return pl.DataFrame({"user": users.cast(dtype), "fold": position % folds})


def _cached_runs(context: MeasureContext, rerun: Rerun, folds: int) -> dict[int, LogStatistics]:
    """Return the cached statistics by fold of the latest rerun; equal measures share it."""
    kept: dict[tuple[Rerun, int], dict[int, LogStatistics]] = context.cached("runs on folds", dict)
    if (rerun, folds) not in kept:
        kept.clear()  # bounds the memory: earlier methods are done
        kept[rerun, folds] = {}
    return kept[rerun, folds]


def _learn_release(rerun: Rerun, training: QueryLog, fold: int) -> LogStatistics:
    try:
        return statistics_of_release(rerun(training, fold))
    except QueryveilError as error:
        raise UsageError(
            f"the method cannot be run on the log without the test users: {error.what}",
            hint=error.hint,
        ) from error
