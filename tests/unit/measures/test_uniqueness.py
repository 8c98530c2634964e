"""Users singled out by their logs: by hand, against a plain count, and at the edges."""

from __future__ import annotations

from collections import Counter

import polars as pl
import pytest
from hypothesis import given
from risk_logs import Logs, log_of, logs, logs_and_releases, release_of

from queryveil.core.progress import NoProgress
from queryveil.core.randomness import RandomSource
from queryveil.errors import UsageError
from queryveil.log.query_log import QueryLog
from queryveil.measures.context import MeasureContext
from queryveil.measures.uniqueness import Uniqueness, count_unique
from queryveil.methods.frequent_queries import FrequentQueries
from queryveil.methods.runner import run_method
from queryveil.testing import KitCheck, MeasureCase, measure_checks


def found(before: Logs, after: Logs, **more: object) -> dict:
    log = log_of(before)
    return Uniqueness().compute(MeasureContext(log), release_of(log, after, **more))


@given(logs)
def test_it_is_the_plain_count(people: Logs) -> None:
    whole = Counter(tuple(sorted(log)) for log in people.values())
    alone = sum(1 for users in whole.values() if users == 1)
    assert count_unique(log_of(people).local_frame) == (alone, len(people))


@given(logs_and_releases())
def test_the_order_of_rows_does_not_matter(both: tuple[Logs, Logs]) -> None:
    before, after = both
    log = log_of(before)
    release = release_of(log, after)
    turned = release_of(log, after, log=release.log.reverse())
    assert Uniqueness().compute(MeasureContext(log), release) == Uniqueness().compute(
        MeasureContext(log), turned
    )


def test_values_worked_by_hand() -> None:
    before = {"1": ["a", "b"], "2": ["b", "a"], "3": ["a", "a", "b"], "4": ["c"]}
    told = found(before, {"1": ["a"], "2": ["a"], "4": ["c"]})
    assert told.value == pytest.approx(1 / 3, abs=1e-6)
    assert (told.details["before"], told.counts["singled_out"], told.counts["users"]) == (0.5, 1, 3)
    assert told.summary == (
        "1 of 3 released users have a unique log; in the original log 2 of 4 users have one"
    )


def test_times_and_clicks_single_out_too() -> None:
    rows = [("1", "a", "2006-03-01 10:00:00", None, None), ("2", "a", None, None, None),
            ("3", "a", None, 1, "http://x.example"), ("4", "a", None, None, None)]  # fmt: skip
    assert count_unique(QueryLog.from_rows(rows).local_frame) == (2, 4)


def test_an_unchanged_and_an_empty_release() -> None:
    same = {"1": ["a"], "2": ["b"]}
    told = found(same, same)
    assert told.value == told.details["before"] == 1
    told = found(same, {})
    assert (told.value, told.counts["users"], told.details["before"]) == (0, 0, 1)


def test_it_needs_no_mapping() -> None:
    same = {"1": ["a"], "2": ["b"]}
    assert found(same, same, mapping=None).value == 1
    log = log_of({str(n): ["a", "b"] for n in range(3)})
    made = run_method(
        FrequentQueries(min_users=2, pseudonym_scope="none"), log, RandomSource(1), NoProgress()
    )
    told = Uniqueness().compute(MeasureContext(log), made)
    assert (told.value, told.counts["users"]) == (0, 6)


def test_encoded_and_plain_texts_give_the_same() -> None:
    people = {"1": ["a"], "2": ["a"], "3": ["b"]}
    frame = log_of(people).local_frame
    texts = frame.with_columns(pl.col("user", "query", "url").cast(pl.String))
    assert count_unique(frame) == count_unique(texts) == (1, 3)


def test_a_release_of_statistics_alone_is_refused() -> None:
    with pytest.raises(UsageError, match="no logs of users"):
        found({"1": ["a"]}, {"1": ["a"]}, log=None)


def test_the_log_is_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    before = MeasureContext(log_of({"1": ["a"], "2": ["a"]}))
    Uniqueness().prepare(before)
    monkeypatch.setattr(before, "log", QueryLog.from_rows([]))
    assert (
        "0 of 2 users have"
        in Uniqueness().compute(before, release_of(before.log, {"1": ["a"]})).summary
    )


CASES = [
    # 1 and 2 have the same released log, 4 is alone.
    MeasureCase(
        "one of three",
        {"1": ["a", "b"], "2": ["b", "a"], "3": ["a", "a", "b"], "4": ["c"]},
        {"1": ["a"], "2": ["a"], "4": ["c"]},
        1 / 3,
        {"singled_out": 1, "users": 3},
    ),
]


@pytest.mark.parametrize("check", measure_checks(Uniqueness(), CASES), ids=str)
def test_kit(check: KitCheck) -> None:
    check()
