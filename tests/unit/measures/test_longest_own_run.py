"""Runs of a user's own queries: by hand, against a plain loop, and at the edges."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from risk_logs import Logs, log_of, logs_and_releases, names_of, release_of

from queryveil.core.progress import NoProgress
from queryveil.core.randomness import RandomSource
from queryveil.errors import UsageError
from queryveil.log.query_log import QueryLog
from queryveil.measures.context import MeasureContext
from queryveil.measures.longest_own_run import LongestOwnRun
from queryveil.methods.frequent_queries import FrequentQueries
from queryveil.methods.runner import run_method
from queryveil.testing import KitCheck, MeasureCase, measure_checks


def found(before: Logs, after: Logs, **more: object) -> dict:
    log = log_of(before)
    return LongestOwnRun().compute(MeasureContext(log), release_of(log, after, **more))


def plain(own: list[str], released: list[str]) -> int:
    runs = groupby(query in own for query in released)
    return max((len(list(rows)) for mine, rows in runs if mine), default=0)


@given(logs_and_releases())
def test_it_is_the_plain_loop(both: tuple[Logs, Logs]) -> None:
    before, after = both
    runs = [plain(before[user], log) for user, log in after.items()]
    told = found(before, after)
    assert told.value == pytest.approx(sum(runs) / len(before), abs=1e-6)
    assert told.counts["longest"] == max(runs, default=0)
    assert told.counts["vanished"] == len(before) - len(after)


def test_values_worked_by_hand() -> None:
    before = {"1": ["a", "b"], "2": ["c"], "3": ["d"], "4": ["e"]}
    after = {"1": ["a", "b", "a", "c", "b"], "2": ["a", "c"], "3": ["a"]}
    told = found(before, after)
    assert told.value == 1  # 3, 1, 0, and user 4 is gone
    assert (told.counts["longest"], told.counts["users"], told.counts["vanished"]) == (3, 4, 1)
    assert told.summary == (
        "the longest run of a user's own queries has 1.0 rows on average, and 3 at most"
    )


def test_rows_stand_in_the_order_of_their_times() -> None:
    log = log_of({"1": ["a", "b"]})
    rows = {"user": "x", "query": ["a", "z", "b", "a"], "time": ["3", "2", "10", "9"]}
    made = release_of(log, {}, log=pl.LazyFrame(rows), mapping=names_of([("1", "x")]))
    assert LongestOwnRun().compute(MeasureContext(log), made).value == 3  # as numbers: z, a, a, b
    dates = ["2006-03-02", "2006-03-01", "2006-03-03", "2006-02-01"]
    dated = pl.LazyFrame(rows | {"time": dates})
    made = release_of(log, {}, log=dated, mapping=names_of([("1", "x")]))
    assert LongestOwnRun().compute(MeasureContext(log), made).value == 2  # a, z, a, b


def test_times_that_are_equal_or_missing_are_counted() -> None:
    log = log_of({"1": ["a", "b"]})
    rows = pl.LazyFrame({"user": "x", "query": ["a", "b", "a", "b"], "time": [1, 1, 2, None]})
    told = LongestOwnRun().compute(
        MeasureContext(log), release_of(log, {}, log=rows, mapping=names_of([("1", "x")]))
    )
    assert (told.value, told.counts["without_time"]) == (3, 1)
    assert told.details["same_time"] == pytest.approx(2 / 3, abs=1e-6)
    assert told.details["rows_of_a_user"] == 4


def test_a_run_does_not_go_over_from_one_log_to_another() -> None:
    log = log_of({"1": ["a"], "2": ["b"]})
    names = names_of([("1", "p-x"), ("1", "p-y"), ("2", "p-z")])
    release = release_of(log, {"x": ["a", "a"], "y": ["a", "a", "a"], "z": ["b"]}, mapping=names)
    told = LongestOwnRun().compute(MeasureContext(log), release)
    assert (told.value, told.counts["longest"]) == (2, 3)


def test_an_unchanged_and_an_empty_release() -> None:
    before = {"1": ["a", "b", "c"], "2": ["d"]}
    assert found(before, before).value == 2
    assert found(before, {}).value == 0


def test_phrases(tmp_path: Path) -> None:
    path = tmp_path / "sports.txt"
    path.write_text("Top/Sports/Tennis\nTop/Arts/Music\n")
    shown = {"output_unit": "phrase", "taxonomy": str(path)}
    told = found({"1": ["tennis and music"]}, {"1": ["music", "tennis"]}, parameters=shown)
    assert told.value == 2
    assert "own phrases" in told.summary


def test_a_release_without_times_is_refused() -> None:
    rows = [(user, "ours", "2006-03-01 10:00:00", None, None) for user in "abc"]
    log = QueryLog.from_rows(rows)
    dated = run_method(FrequentQueries(min_users=2), log, RandomSource(1), NoProgress())
    assert LongestOwnRun().compute(MeasureContext(log), dated).value == 1
    bare = run_method(
        FrequentQueries(min_users=2, time_precision="none"), log, RandomSource(1), NoProgress()
    )
    with pytest.raises(UsageError, match="no times"):
        LongestOwnRun().compute(MeasureContext(log), bare)


def test_what_cannot_be_linked_is_refused() -> None:
    with pytest.raises(UsageError, match="no logs of users"):
        found({"1": ["a"]}, {"1": ["a"]}, log=None)
    with pytest.raises(UsageError, match="no private mapping"):
        found({"1": ["a"]}, {"1": ["a"]}, mapping=None)


CASES = [
    # Their longest runs have 3, 1 and 0 rows, and user 4 is gone.
    MeasureCase(
        "runs of 3, 1 and 0 rows",
        {"1": ["a", "b"], "2": ["c"], "3": ["d"], "4": ["e"]},
        [
            (user, query, f"2006-03-01 10:0{minute}:00", None, None)
            for user, queries in {"1": "abacb", "2": "ac", "3": "a"}.items()
            for minute, query in enumerate(queries)
        ],
        1.0,
        {"longest": 3, "users": 4, "vanished": 1},
    ),
]


@pytest.mark.parametrize("check", measure_checks(LongestOwnRun(), CASES), ids=str)
def test_kit(check: KitCheck) -> None:
    check()
