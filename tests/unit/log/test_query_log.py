"""Lines, events, clicks and sessions, against a plain and slow account of the definition."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import pairwise

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from queryveil.core.randomness import RandomSource
from queryveil.log.accounting import RowAccounting
from queryveil.log.query_log import COLUMNS, SESSION_GAP_MINUTES, QueryLog, add_sessions

START = datetime(2006, 3, 1, 10)
PAUSE = timedelta(minutes=SESSION_GAP_MINUTES)


def log_of(lines: list[tuple]) -> QueryLog:
    kinds = {
        "user": pl.String,
        "query": pl.String,
        "time": pl.Datetime("us"),
        "rank": pl.Int32,
        "url": pl.String,
    }
    return QueryLog.from_clean_frame(pl.DataFrame(lines, schema=kinds, orient="row"))


def line(minute: float | None, query: str, user: str = "7", click: int | None = None) -> tuple:
    time = None if minute is None else START + timedelta(minutes=minute)
    return (user, query, time, click, None if click is None else f"http://{click}.example")


def events_of(log: QueryLog) -> list[tuple]:
    return log.events().select("user", "query", "time", "lines", "clicks").collect().rows()


# --- the definition, slowly ----------------------------------------------------------------------


def slow_submissions(lines: list[tuple]) -> list[dict]:
    """Lines of one user with the same query and time are one, wherever they stand."""
    found: dict[object, dict] = {}
    for place, (_, query, time, rank, url) in enumerate(lines):
        key = (query, time) if time is not None else place
        one = found.setdefault(key, {"query": query, "time": time, "lines": 0, "clicks": 0})
        one["lines"] += 1
        one["clicks"] += rank is not None or url is not None
    return sorted(found.values(), key=lambda one: one["time"] or datetime.min)


def slow_events(lines: list[tuple]) -> dict[str, list[tuple]]:
    """Of each user: query, time, number of the session, lines, clicks."""
    out: dict[str, list[tuple]] = {}
    for user in {row[0] for row in lines}:
        events: list[list] = []
        session, before = 0, None
        for one in slow_submissions([row for row in lines if row[0] == user]):
            time = one["time"]
            if events and (time is None or before is None or time - before > PAUSE):
                session += 1
            again = events and events[-1][0] == one["query"] and events[-1][2] == session
            if again:
                events[-1][3] += one["lines"]
                events[-1][4] += one["clicks"]
            else:
                events.append([one["query"], time, session, one["lines"], one["clicks"]])
            before = time
        out[user] = [tuple(event) for event in events]
    return out


def fast_events(log: QueryLog) -> dict[str, list[tuple]]:
    out: dict[str, list[tuple]] = {}
    first: dict[str, int] = {}
    wanted = log.events().select("user", "query", "time", "session", "lines", "clicks")
    for user, query, time, session, lines, clicks in wanted.collect().rows():
        start = first.setdefault(user, session)
        out.setdefault(user, []).append((query, time, session - start, lines, clicks))
    return out


lines = st.lists(
    st.builds(
        line,
        st.sampled_from([None, 0, 0, 1, 1, 2, 29, 30, 30.5, 31, 60, 61, 90, 1440]),
        st.sampled_from(["cats", "dogs", "birds"]),
        st.sampled_from(["7", "8", "10"]),
        st.sampled_from([None, None, 1, 2]),
    ),
    max_size=25,
)


@settings(deadline=None)
@given(lines)
def test_events_and_sessions_are_what_the_definition_says(rows):
    log = log_of(rows)
    wanted = slow_events(rows)
    assert fast_events(log) == wanted
    assert log.count("event") == sum(map(len, wanted.values()))
    assert log.count("click") == sum(row[4] is not None for row in rows)
    assert log.count("line") == len(rows)


@settings(deadline=None)
@given(lines)
def test_sessions_of_lines(rows):
    found = add_sessions(log_of(rows).local_frame).collect()
    assert found.height == len(rows)
    assert found["session"].to_list() == sorted(found["session"].to_list())
    by_session: dict[int, list[tuple]] = {}
    for row in found.rows():
        by_session.setdefault(row[5], []).append(row)
    for members in by_session.values():
        assert len({row[0] for row in members}) == 1
        times = [row[2] for row in members if row[2] is not None]
        assert all(b - a <= PAUSE for a, b in pairwise(times))
    kept = sorted(found.drop("session").rows(), key=repr)
    assert kept == sorted(rows, key=repr)


# --- single cases, so that a failure above has a name --------------------------------------------


def test_clicks_of_one_submission_are_one_event():
    log = log_of([line(0, "cats", click=1), line(0, "cats", click=2), line(0, "cats")])
    assert events_of(log) == [("7", "cats", START, 3, 2)]


def test_the_next_page_is_the_same_event():
    log = log_of([line(0, "cats"), line(1, "cats"), line(2, "cats", click=11)])
    assert events_of(log) == [("7", "cats", START, 3, 1)]


def test_the_same_query_after_another_is_a_new_event():
    log = log_of([line(0, "cats"), line(1, "dogs"), line(2, "cats")])
    assert [event[1] for event in events_of(log)] == ["cats", "dogs", "cats"]


def test_the_same_query_after_a_pause_is_a_new_event():
    log = log_of([line(0, "cats"), line(30, "cats"), line(60.1, "cats")])
    assert [event[3] for event in events_of(log)] == [2, 1]


def test_clicks_that_another_query_of_the_same_second_parts_are_one_event():
    """SPEC 1: rows with equal user, query and time are one event."""
    log = log_of([line(0, "cats", click=1), line(0, "dogs"), line(0, "cats", click=2)])
    assert events_of(log) == [("7", "cats", START, 2, 2), ("7", "dogs", START, 1, 0)]


def test_two_users_do_not_share_an_event():
    log = log_of([line(0, "cats", user="7"), line(0, "cats", user="8")])
    assert log.count("event") == 2


def test_without_times_every_line_is_an_event_and_a_session():
    """Nothing says that two of them are near each other, so nothing may link them."""
    log = log_of([line(None, q) for q in ("cats", "cats", "dogs")] + [line(0, "dogs")])
    assert [(event[1], event[3]) for event in events_of(log)] == [
        ("cats", 1), ("cats", 1), ("dogs", 1), ("dogs", 1),
    ]  # fmt: skip
    assert add_sessions(log.local_frame).collect()["session"].n_unique() == 4


def test_the_order_of_the_file_does_not_matter_but_for_the_same_second():
    rows = [line(0, "cats"), line(5, "dogs"), line(9, "cats"), line(50, "cats")]
    assert events_of(log_of(rows[::-1])) == events_of(log_of(rows))


def test_a_click_may_have_a_rank_or_an_address_alone():
    log = log_of([("7", "cats", START, 1, None), ("7", "dogs", START, None, "http://a.example")])
    assert log.count("click") == 2


def test_nothing():
    log = log_of([])
    assert [log.count(unit) for unit in ("line", "event", "click")] == [0, 0, 0]


# --- the table -----------------------------------------------------------------------------------


def test_texts_are_stored_once_and_compare_as_texts():
    log = QueryLog.from_rows(
        [("7", "cats", "2006-03-01T10:00:00", 1, "u"), ("8", "cats", None, None, None)]
    )
    table = log.local_frame.collect()
    assert tuple(table.columns) == COLUMNS
    assert all(isinstance(table.schema[name], pl.Categorical) for name in ("user", "query", "url"))
    assert table["query"].to_physical().n_unique() == 1
    assert table.filter(pl.col("query") == "cats").height == 2


def test_a_sample_keeps_whole_users_and_counts_the_rest():
    rows = [line(at, f"query {at}", user=str(at % 10)) for at in range(100)]
    log = log_of(rows)
    some = log.sample_users(3, RandomSource(1))
    users = set(some.local_frame.collect()["user"])
    assert len(users) == 3
    assert some.count() == sum(row[0] in users for row in rows) == 30
    assert some.accounting.dropped == {"not in the sample of users": 70}
    assert some.accounting.kept == 30
    assert log.accounting.dropped == {}  # the log itself is as it was


def test_only_some_users():
    log = log_of([line(0, "cats", user=user) for user in "7789"])
    wanted = log.local_frame.select("user").unique().filter(pl.col("user").cast(pl.String) != "7")
    fewer = log.filter_users(wanted.collect(), "too few queries")
    assert sorted(fewer.local_frame.collect()["user"]) == ["8", "9"]
    assert fewer.accounting.dropped == {"too few queries": 2}


# --- the tally -----------------------------------------------------------------------------------

counts = st.dictionaries(st.sampled_from(["a", "b", "c"]), st.integers(0, 9))


@settings(deadline=None)
@given(st.lists(counts), st.lists(counts), st.integers(0, 1000))
def test_a_tally_adds_up(drops, rejects, kept):
    tally = RowAccounting()
    for reasons in drops:
        tally.drop(reasons)
    for reasons in rejects:
        rows = [("log", n, why) for why, times in reasons.items() for n in range(times)]
        tally.reject(pl.DataFrame(rows, schema=["file", "line", "reason"], orient="row",
                                  schema_overrides={"line": pl.Int64, "file": pl.String,
                                                    "reason": pl.String}))  # fmt: skip
    dropped = sum(sum(reasons.values()) for reasons in drops)
    rejected = sum(sum(reasons.values()) for reasons in rejects)
    tally.rows = dropped + rejected + kept
    assert tally.kept == kept
    assert sum(tally.dropped.values()) == dropped
    assert tally.rejected_rows().height == sum(tally.rejected.values()) == rejected
    assert all(tally.dropped.values())  # no reason is listed that was none
    assert all(tally.rejected.values())
    share = rejected / tally.rows if tally.rows else 0
    assert tally.rejected_share == pytest.approx(share)
