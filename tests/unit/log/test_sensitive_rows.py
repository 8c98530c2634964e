"""Rows of sensitive topics are dropped by their own text, and counted."""

from __future__ import annotations

import polars as pl
import pytest

import queryveil as qv
from queryveil.errors import UsageError
from queryveil.log.sensitive import drop_topics, normalize_sensitive, topics_to_drop

ROWS = [
    ("a", "weather", None, 1, "http://www.breastcancer.example/herpes"),
    ("a", "gay church", None, None, None),
    ("b", "herpes", None, None, None),
    ("b", "herpes", None, None, None),
    ("c", "county jail", None, None, None),
    ("d", "golf", None, 1, "http://golf.example"),
]


def queries(log: qv.QueryLog) -> list[tuple[str, str, str | None]]:
    texts = pl.col("user", "query", "url").cast(pl.String)
    return log.local_frame.select(texts).collect().rows()


def test_rows_are_dropped_and_clicks_blanked() -> None:
    log = drop_topics(qv.QueryLog.from_rows(ROWS), "drop")
    assert queries(log) == [("a", "weather", None), ("d", "golf", "http://golf.example")]
    assert log.accounting.dropped == {
        "query is of a sensitive topic: health": 2,
        "query is of a sensitive topic: sexuality": 1,  # the first of its two topics
        "query is of a sensitive topic: crime": 1,
    }
    assert log.accounting.normalized == {
        "click blanked, as the URL is of a sensitive topic: health": 1
    }
    assert log.accounting.kept == log.count() == 2


def test_some_topics_alone() -> None:
    log = drop_topics(qv.QueryLog.from_rows(ROWS), "drop:religion,crime")
    assert [query for _, query, _ in queries(log)] == ["weather", "herpes", "herpes", "golf"]
    assert log.accounting.dropped == {
        "query is of a sensitive topic: religion": 1, "query is of a sensitive topic: crime": 1,
    }  # fmt: skip


def test_a_user_of_sensitive_queries_alone_can_stay() -> None:
    log = drop_topics(qv.QueryLog.from_rows(ROWS), "drop", users_stay=True)
    assert log.local_frame.select(pl.col("user").cast(pl.String)).collect()["user"].n_unique() == 4
    assert [query for user, query, _ in queries(log) if user in "bc"] == ["•••", "•••"]
    assert log.accounting.kept == log.count() == 4
    emptied = "emptied so that the user stays, as the query is of a sensitive topic"
    assert log.accounting.normalized[f"{emptied}: health"] == 1


def test_kept_is_untouched() -> None:
    log = qv.QueryLog.from_rows(ROWS)
    assert drop_topics(log, "keep") is log
    before = log.accounting.counts()
    drop_topics(log, "drop")
    assert log.accounting.counts() == before


@pytest.mark.parametrize("setting", ["lose", "", "drop:", "drop:helth", "keep:health", "mask"])
def test_a_wrong_setting_is_refused(setting: str) -> None:
    with pytest.raises(UsageError):
        topics_to_drop(setting)


def test_settings_have_one_form() -> None:
    every = "self-harm, crime, politics, religion, sexuality, health"
    assert normalize_sensitive(f"drop:{every}") == normalize_sensitive("drop") == "drop"
    assert normalize_sensitive("drop:crime,health,crime") == "drop:health,crime"
    with pytest.raises(UsageError, match="health"):
        normalize_sensitive("drop:helth")
