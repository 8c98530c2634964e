"""The filter for identifiers looks at each row alone, and counts what it does."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import queryveil as qv
from queryveil.errors import UsageError
from queryveil.log.identifiers import kinds_of
from queryveil.log.screening import screen

Row = tuple[str, str, str | None, int | None, str | None]
ROWS: list[Row] = [
    ("a", "weather", "2006-03-01 10:00:00", 1, "http://a.example"),
    ("a", "call 212-555-0123", "2006-03-01 10:01:00", None, None),
    ("b", "jane@mail.example", "2006-03-01 10:02:00", 2, "http://a.example"),
    ("b", "jane@mail.example", "2006-03-01 10:03:00", None, None),
    ("b", "weather", "2006-03-01 10:04:00", 3, "http://a.example/?to=jane%40mail.example"),
    ("c", "golf", None, None, None),
]
TEXTS = [
    "weather",
    "golf",
    "212-555-0123",
    "jane@mail.example",
    "12 main st",
    "078-05-1120",
    "wd40",
    "abraham lincoln",
    "rosalind kowalczyk",
]
URLS = [None, "http://a.example", "http://a.example/?token=b7"]


def texts(log: qv.QueryLog) -> list[Row]:
    names = ["user", "query", "time", "rank", "url"]
    strings = pl.col("user", "query", "time", "url").cast(pl.String)
    return log.local_frame.select(names).with_columns(strings).collect().rows()


def test_rows_are_dropped_and_clicks_blanked() -> None:
    log = screen(qv.QueryLog.from_rows(ROWS), "drop")
    assert [(user, query, rank, url) for user, query, _, rank, url in texts(log)] == [
        ("a", "weather", 1, "http://a.example"),
        ("b", "weather", None, None),
        ("c", "golf", None, None),
    ]
    assert log.accounting.dropped == {
        "query looks like: e-mail address": 2, "query looks like: phone number": 1,
    }  # fmt: skip
    assert log.accounting.normalized == {"click blanked, as the URL looks like: e-mail address": 1}
    assert log.accounting.kept == log.count() == 3


def test_identifiers_are_masked() -> None:
    log = screen(qv.QueryLog.from_rows(ROWS), "mask")
    assert [query for _, query, *_ in texts(log)] == [
        "weather", "call •••-•••-••••", "•••@•••", "•••@•••", "weather", "golf",
    ]  # fmt: skip
    assert log.accounting.dropped == {}
    assert log.accounting.normalized["masked, as the query looks like: e-mail address"] == 2
    assert log.count() == 6


def test_what_cannot_be_masked_is_dropped() -> None:
    log = screen(qv.QueryLog.from_rows([("a", "http://a.example/?token=b7", *[None] * 3)]), "mask")
    left = [query for _, query, *_ in texts(log)]
    assert kinds_of(pl.Series(left, dtype=pl.String)).null_count() == len(left)
    assert log.accounting.kept == log.count()


def test_kept_is_untouched() -> None:
    log = qv.QueryLog.from_rows(ROWS)
    assert screen(log, "keep") is log
    with pytest.raises(UsageError, match="lose"):
        screen(log, "lose")


def test_the_log_that_was_read_is_untouched() -> None:
    log = qv.QueryLog.from_rows(ROWS)
    screen(log, "drop")
    assert (log.count(), log.accounting.kept, log.accounting.dropped) == (6, 6, {})


rows = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from(TEXTS), st.sampled_from(URLS)), max_size=12
)


@settings(max_examples=30)
@given(rows, rows, st.sampled_from(["drop", "mask"]))
def test_a_row_decides_alone(one: list, two: list, setting: str) -> None:
    """What becomes of some rows is the same whatever other rows stand beside them.

    So two logs that differ in one person's rows still differ in that person's rows alone.
    """

    def screened(some: list) -> list[Row]:
        whole = [(user, query, None, 1 if url else None, url) for user, query, url in some]
        return texts(screen(qv.QueryLog.from_rows(whole), setting)) if whole else []

    assert screened(one + two) == screened(one) + screened(two)


@settings(max_examples=30)
@given(rows, st.sampled_from(["drop", "mask"]))
def test_nobody_vanishes_where_users_must_stay(some: list, setting: str) -> None:
    """Neighbors of the same users stay so; what becomes of a user is up to their own rows."""
    whole = [(user, query, None, 1 if url else None, url) for user, query, url in some]
    if not whole:
        return
    log = screen(qv.QueryLog.from_rows(whole), setting, users_stay=True)
    found = texts(log)
    assert {row[0] for row in found} == {row[0] for row in whole}
    assert log.accounting.kept == len(found)
    assert all(number >= 0 for number in log.accounting.dropped.values())
    assert kinds_of(pl.Series([row[1] for row in found])).is_null().all()
    for user in "abc":
        own = [row for row in whole if row[0] == user]
        alone = texts(screen(qv.QueryLog.from_rows(own), setting, users_stay=True)) if own else []
        assert alone == [row for row in found if row[0] == user]


def test_the_last_row_of_a_user_is_emptied() -> None:
    rows = [("a", "212-555-0123", "2006-03-01 10:00:00", 1, "http://a.example"),
            ("a", "078-05-1120", "2006-03-02 10:00:00", None, None)]  # fmt: skip
    log = screen(qv.QueryLog.from_rows(rows), "drop", users_stay=True)
    assert texts(log) == [("a", "•••", "2006-03-01 10:00:00.000000", None, None)]
    assert log.accounting.dropped == {"query looks like: US social security number": 1}
    emptied = "emptied so that the user stays, as the query looks like: phone number"
    assert log.accounting.normalized == {emptied: 1}


def test_each_distinct_text_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    real = kinds_of
    monkeypatch.setattr(
        "queryveil.log.screening.kinds_of",
        lambda some, **options: seen.append(len(some)) or real(some, **options),
    )
    screen(qv.QueryLog.from_rows(ROWS * 1000), "drop", min_name_users=2)
    assert seen == [4]


KNOWN, OTHER = "abraham lincoln", "rosalind kowalczyk"


def sent(*pairs: tuple[str, str]) -> qv.QueryLog:
    return qv.QueryLog.from_rows([(user, query, None, None, None) for user, query in pairs])


def test_a_full_name_is_an_identifier() -> None:
    log = screen(sent(("a", OTHER), ("b", f"{OTHER} denver"), ("c", "golf")), "drop")
    assert [query for _, query, *_ in texts(log)] == ["golf"]
    assert log.accounting.dropped == {"query looks like: person's full name": 2}
    masked = screen(sent(("b", f"{OTHER} obituary"), ("c", "golf")), "mask")
    assert [query for _, query, *_ in texts(masked)] == ["•••••••• ••••••••• obituary", "golf"]


@pytest.mark.parametrize(("least", "stays"), [(0, True), (1, True), (2, True), (3, False)])
def test_a_known_name_needs_enough_users(least: int, stays: bool) -> None:
    """Repeated rows of one user do not count, and other spellings are other queries."""
    rows = [("a", KNOWN), ("a", KNOWN), ("b", KNOWN), ("c", "golf")]
    log = screen(sent(*rows), "drop", min_name_users=least)
    assert [query for _, query, *_ in texts(log)] == [KNOWN] * 3 * stays + ["golf"]
    dropped = {} if stays else {"query looks like: full name of a known person": 3}
    assert log.accounting.dropped == dropped


def test_other_identifiers_beside_a_known_name_are_no_exception() -> None:
    rows = [(user, f"{KNOWN} jane@mail.example") for user in "abcd"]
    assert texts(screen(sent(*rows, ("e", "golf")), "drop", min_name_users=2))[0][1] == "golf"
