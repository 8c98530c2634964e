"""Syntactic distances of users against a plain slow version."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from queryveil.errors import UsageError
from queryveil.methods.microaggregation import syntactic as module
from queryveil.methods.microaggregation.syntactic import host_labels, syntactic_distance_matrix

START = datetime(2006, 3, 1)
Row = tuple[str, datetime | None, str | None]

TIMES = st.none() | st.integers(0, 5000).map(lambda step: START + timedelta(minutes=step))
URLS = st.sampled_from(
    [None, "http://a.example.com", "https://b.example.com/x", "www.example.com", "http://x.org:80"]
)
QUERIES = st.lists(st.sampled_from(["red", "read", "car", "cars", "a", ""]), max_size=4).map(
    " ".join
)
ROWS = st.tuples(QUERIES, TIMES, URLS)
LOGS = st.lists(st.lists(ROWS, min_size=1, max_size=5), min_size=1, max_size=6)


def frame(users: list[list[Row]]) -> pl.DataFrame:
    lines = [(number, *row) for number, rows in enumerate(users) for row in rows]
    schema = {"user": pl.Int32, "query": pl.String, "time": pl.Datetime("us"), "url": pl.String}
    return pl.DataFrame(lines, schema, orient="row")


def edits(a: Sequence[object], b: Sequence[object]) -> float:
    if not a and not b:
        return 0.0
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, row = row, [i]
        for j, y in enumerate(b, 1):
            row.append(min(last[j] + 1, row[-1] + 1, last[j - 1] + (x != y)))
    return row[-1] / max(len(a), len(b))


def slow_hosts(a: str | None, b: str | None) -> float:
    if a is None or b is None:
        return 1.0
    one, two = host_labels(a), host_labels(b)
    same = 0
    while same < min(len(one), len(two)) and one[same] == two[same]:
        same += 1
    return 1 - same / max(len(one), len(two))


def slow_query(a: Row, b: Row, spread: float) -> float:
    one, two = a[0].split(), b[0].split()
    parts = [edits(a[0], b[0]), edits(one, two)]
    parts.append(abs(len(one) - len(two)) / max(len(one), len(two), 1))
    if a[1] is not None and b[1] is not None:
        parts.append(abs((a[1] - b[1]).total_seconds()) / spread if spread else 0.0)
    if a[2] is not None or b[2] is not None:
        parts.append(slow_hosts(a[2], b[2]))
    return sum(parts) / len(parts)


def slow_users(one: list[Row], two: list[Row], spread: float) -> float:
    forth = sum(min(slow_query(a, b, spread) for b in two) for a in one)
    back = sum(min(slow_query(a, b, spread) for a in one) for b in two)
    return (forth + back) / (len(one) + len(two))


@settings(max_examples=80)
@given(LOGS, st.integers(1, 4), st.randoms(use_true_random=False))
def test_it_is_the_definition(users: list[list[Row]], block: int, chance) -> None:
    times = [row[1] for rows in users for row in rows if row[1] is not None]
    spread = (max(times) - min(times)).total_seconds() if times else 0.0
    expected = [[slow_users(one, two, spread) for two in users] for one in users]
    rows = frame(users)
    order = list(range(len(rows)))
    chance.shuffle(order)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_USERS", block)
        found = syntactic_distance_matrix(rows[order])
    assert found == pytest.approx(np.array(expected), abs=1e-5)
    assert found.dtype == np.float32
    assert (found == found.T).all()
    assert not found.diagonal().any()


def test_the_same_again_and_alike_users() -> None:
    row = ("red car", START, "http://a.example")
    rows = frame([[row], [row, row], [("blue sky", START, None)]])
    found = syntactic_distance_matrix(rows)
    assert found[0, 1] == 0
    assert 0 < found[0, 2] <= 1
    assert (found == syntactic_distance_matrix(rows)).all()


def test_a_log_without_times_or_clicks() -> None:
    rows = pl.DataFrame({"user": [1, 0], "query": ["a b", "a"], "time": None, "url": None})
    expected = (1 / 2 + 2 / 3 + 1 / 2) / 3
    assert syntactic_distance_matrix(rows)[0, 1] == pytest.approx(expected)


def test_nobody() -> None:
    assert syntactic_distance_matrix(frame([])).shape == (0, 0)


@pytest.mark.parametrize(
    ("url", "labels"),
    [
        ("http://www.example.org/a.b?c=http://d", ["org", "example", "www"]),
        ("example.org", ["org", "example"]),
        ("https://me:pw@Example.ORG:8080#x", ["org", "example"]),
        ("example.org?to=http://other.com", ["org", "example"]),
        ("", []),
        ("http:///path", []),
    ],
)
def test_hosts(url: str, labels: list[str]) -> None:
    assert host_labels(url) == labels


def test_what_is_refused() -> None:
    row = ("a", None, None)
    rows = frame([[row], [row] * 3])
    with pytest.raises(UsageError, match=r"user 1 has 3 rows.*at most 2"):
        syntactic_distance_matrix(rows, cap=2)
    with pytest.raises(UsageError, match="user 0 has no row"):
        syntactic_distance_matrix(rows.filter(pl.col("user") == 1))
    with pytest.raises(UsageError, match="column time and url"):
        syntactic_distance_matrix(rows.drop("time", "url"))
    with pytest.raises(UsageError, match="no user or no query"):
        syntactic_distance_matrix(rows.with_columns(query=pl.lit(None, pl.String)))
    with pytest.raises(UsageError, match="must be at least 0"):
        syntactic_distance_matrix(rows.with_columns(user=pl.col("user") - 1))
