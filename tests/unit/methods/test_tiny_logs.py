"""Tiny logs of every shape: a release that keeps its promise, or an error for a person."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import queryveil as qv
from queryveil.concepts.mapping.mapper import Mapper
from queryveil.errors import QueryveilError

FAMILY = ("semantic", "string", "category", "syntactic")
# With and without a concept, of one phrase and of several, unique and shared, no letter at all.
QUERIES = ("hotel", "paris hotel", "qzxv", "the", "7", "red shoes {}", "qzxv {}", "cheap hotel {}")
TIMES = (None, "2006-03-01 10:00:00", "2006-03-{:02} 10:00:00")
CLICKS = ((None, None), (1, "http://a.example"), (None, "http://a.example"), (3, None),
          (2, "http://{}.example"))  # fmt: skip
ROWS = st.tuples(st.sampled_from(QUERIES), st.sampled_from(TIMES), st.sampled_from(CLICKS))
LOGS = st.lists(st.lists(ROWS, min_size=1, max_size=3), min_size=1, max_size=6)
Rows = list[tuple[str, str | None, tuple[int | None, str | None]]]
SHOES: list[Rows] = [[("red shoes {}", None, (None, None))]] * 10


@pytest.fixture(autouse=True, scope="module")
def one_mapper() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        one = cache(Mapper)  # to make one takes longer than such a run
        patch.setattr("queryveil.concepts.mapping.options.Mapper", one)
        yield


def log_of(users: list[Rows]) -> qv.QueryLog:
    """Make a log; what has a gap is filled with the user's number, and hers alone."""
    rows = [
        (f"u{n}", query.format(n), time and time.format(n + 1), rank, url and url.format(n))
        for n, mine in enumerate(users)
        for query, time, (rank, url) in mine
    ]
    return qv.QueryLog.from_rows(rows)


def check(users: list[Rows], method: str, k: int, more: str = "") -> None:
    """Check that users share their logs, or that the error is one of ours."""
    log = log_of(users)
    try:
        release = qv.anonymize(log, f"{method}-microaggregation:k={k}{more}")
    except QueryveilError:
        return
    logs = defaultdict(Counter)
    for user, *row in release.log.collect().rows():
        logs[user][tuple(row)] += 1
    shared = Counter(frozenset(rows.items()) for rows in logs.values())
    assert min(shared.values()) >= k
    assert len(logs) == log.count_distinct("user")


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@example(SHOES, 2)
@example([[("hotel", None, (None, None))]] * 3, 3)
@example([[("qzxv", None, (None, None))]] * 3, 2)
@example([[("qzxv {}", None, (None, None))]] * 3, 2)
@example([[("hotel", None, (3, None))]] * 2, 2)
@example([[("hotel", None, (None, None))]], 2)
@given(LOGS, st.integers(2, 6))
def test_tiny_logs_are_shared_or_refused(users: list[Rows], k: int) -> None:
    for method in FAMILY:
        check(users, method, k)


@pytest.mark.parametrize("more", [":min-users=1", ":include-clicks=no",
                                  ":time-precision=none", ":output-unit=query",
                                  ":as-published=yes", ":blocking=blocked"])  # fmt: skip
def test_no_released_phrase_is_a_whole_query(more: str) -> None:
    check(SHOES, "semantic", 2, more)


def test_small_logs_of_ordinary_queries_are_released() -> None:
    release = qv.anonymize(log_of(SHOES), "semantic-microaggregation:k=5")
    assert release.log.collect()["query"].unique().to_list() == ["red shoes"]
