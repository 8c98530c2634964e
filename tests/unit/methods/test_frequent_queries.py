"""frequent-queries against a plain slow version of itself, and at its edges."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recounts import recount_rows_of_the_log

from queryveil.errors import InputError
from queryveil.log.query_log import QueryLog
from queryveil.methods.frequent_queries import FrequentQueries
from queryveil.release.cards import PrivateCard
from queryveil.release.release import Release
from queryveil.testing import KitCheck, MethodRun, method_checks
from queryveil.workflows.anonymization import anonymize
from queryveil.workflows.verification import verify

Line = tuple[str, str, str | None, int | None, str | None]

START = datetime(2006, 3, 30, 21, 0)
# Steps of twenty minutes over three days: some pauses end a session, some do not.
TIMES = st.integers(0, 220).map(lambda step: str(START + timedelta(minutes=20 * step)))
CLICKS = st.just((None, None)) | st.tuples(
    st.integers(1, 3), st.sampled_from(["http://a.example", "http://b.example"])
)
LINES = st.lists(
    st.tuples(st.sampled_from("abcde"), st.sampled_from("xyz"), TIMES, CLICKS).map(
        lambda row: (*row[:3], *row[3])
    ),
    min_size=1,
    max_size=40,
)
METHODS = st.builds(
    FrequentQueries,
    min_users=st.integers(1, 4),
    min_click_users=st.integers(1, 4),
    pseudonym_scope=st.sampled_from(["user", "session", "none"]),
    time_precision=st.sampled_from(["none", "month", "day", "hour"]),
    include_clicks=st.booleans(),
)


def coarse(time: str | None, step: str) -> str | None:
    if time is None or step == "none":
        return None
    return {"month": f"{time[:7]}-01", "day": time[:10], "hour": f"{time[:13]}:00:00.000000"}[step]


def users_of(lines: list[Line], key: Callable[[Line], object]) -> dict[object, set[str]]:
    """Give the users of each key."""
    found = defaultdict(set)
    for line in lines:
        found[key(line)].add(line[0])
    return found


def slowly(lines: list[Line], method: FrequentQueries) -> list[Line]:
    """Keep, coarsen and blank; users keep their names."""
    senders = users_of(lines, lambda line: line[1])
    kept = [
        (user, query, coarse(time, method.time_precision), rank, url)
        for user, query, time, rank, url in lines
        if len(senders[query]) >= method.min_users
    ]
    timed = users_of(lines, lambda line: coarse(line[2], method.time_precision))
    clicked = users_of(kept, lambda line: (line[1], line[4]))
    ranked = users_of(kept, lambda line: (line[1], line[4], line[3]))
    found = []
    for user, query, time, rank, url in kept:
        day = time if len(timed[time]) >= method.min_users else None
        has_url = (
            method.include_clicks
            and url is not None
            and len(clicked[query, url]) >= method.min_click_users
        )
        has_rank = has_url and len(ranked[query, url, rank]) >= method.min_click_users
        found.append((user, query, day, rank if has_rank else None, url if has_url else None))
    return found


def published(release: Release) -> list[Line]:
    return (
        release.log.with_columns(pl.col("user", "query", "time", "url").cast(pl.String))
        .collect()
        .rows()
    )


def run(lines: list[Line], **parameters: object) -> Release:
    return anonymize(QueryLog.from_rows(lines), FrequentQueries(**parameters))


@settings(max_examples=40)
@given(LINES, METHODS)
def test_it_does_what_the_plain_version_does(lines: list[Line], method: FrequentQueries) -> None:
    expected = slowly(lines, method)
    log = QueryLog.from_rows(lines)
    if not expected:
        with pytest.raises(
            InputError, match=f"no query was sent by {method.min_users} or more users"
        ):
            anonymize(log, method)
        return
    release = anonymize(log, method)
    found = published(release)
    assert Counter(row[1:] for row in found) == Counter(row[1:] for row in expected)
    assert sum(release.dropped.values()) == len(lines) - len(expected)
    kept = [row for row in lines if row[1] in {row[1] for row in expected}]
    gone = [
        (before[2] is not None and method.time_precision != "none" and after[2] is None)
        + (
            before[4] is not None
            and (after[4] is None or (method.include_clicks and after[3] is None))
        )
        for before, after in zip(kept, expected, strict=True)
    ]
    assert sum(release.blanked.values()) == sum(gone)


@settings(max_examples=20)
@given(LINES, METHODS)
def test_what_is_written_verifies(
    tmp_path_factory: pytest.TempPathFactory, lines: list[Line], method: FrequentQueries
) -> None:
    if not slowly(lines, method):
        return
    folder = tmp_path_factory.mktemp("out") / "out"
    form = ["parquet", "tsv", "csv", "jsonl"][len(lines) % 4]
    anonymize(QueryLog.from_rows(lines), method).write(folder, format=form)
    assert verify(folder).holds


@settings(max_examples=40)
@given(LINES)
def test_linked_by_user(lines: list[Line]) -> None:
    release = run(
        lines, min_users=1, min_click_users=1, pseudonym_scope="user", time_precision="none"
    )
    names = dict(release.mapping.rows())
    assert release.mapping.columns == ["user", "pseudonym"]
    assert len(set(names.values())) == len(names) == len({row[0] for row in lines})
    renamed = Counter((names[user], query, rank) for user, query, _, rank, _ in lines)
    assert Counter((row[0], row[1], row[3]) for row in published(release)) == renamed


def sessions_of(lines: list[Line]) -> list[Counter[tuple[str, int | None]]]:
    """Cut each user's lines at pauses of more than half an hour."""
    found = []
    for user in sorted({row[0] for row in lines}):
        before = None
        for _, query, time, rank, _ in sorted(
            (r for r in lines if r[0] == user), key=lambda r: r[2]
        ):
            now = datetime.fromisoformat(time)
            if before is None or now - before > timedelta(minutes=30):
                found.append(Counter())
            found[-1][query, rank] += 1
            before = now
    return found


@settings(max_examples=40)
@given(LINES)
def test_linked_by_session(lines: list[Line]) -> None:
    release = run(lines, min_users=1, min_click_users=1, pseudonym_scope="session")
    together = defaultdict(Counter)
    for name, query, _, rank, _ in published(release):
        together[name][query, rank] += 1
    as_sorted = [sorted(map(repr, group.elements())) for group in together.values()]
    expected = [sorted(map(repr, group.elements())) for group in sessions_of(lines)]
    assert sorted(as_sorted) == sorted(expected)
    owners = Counter(user for user, _ in release.mapping.rows())
    assert owners.total() == len(expected)


@settings(max_examples=40)
@given(LINES)
def test_not_linked_at_all(lines: list[Line]) -> None:
    release = run(lines, min_users=1, pseudonym_scope="none")
    names = [row[0] for row in published(release)]
    assert len(set(names)) == len(names) == len(lines)
    assert release.mapping is None


LOG: list[Line] = [
    ("ann", "weather", "2006-03-31 23:59:59", 1, "http://w.example"),
    ("bob", "weather", "2006-04-01 00:00:00", 1, "http://w.example"),
    ("cat", "weather", None, 2, "http://rare.example"),
    ("cat", "weather", "2006-04-02 12:30:00", None, None),
    ("ann", "ann's own street", "2006-04-02 12:30:00", 3, "http://w.example"),
]


def test_n_is_reached_exactly() -> None:
    assert {row[1] for row in published(run(LOG, min_users=3, min_click_users=1))} == {"weather"}
    with pytest.raises(InputError) as told:
        run(LOG, min_users=4)
    assert "has 3 users: use no larger `min_users`" in str(told.value)


def test_lines_of_one_user_do_not_add_up() -> None:
    lines = [("ann", "mine", f"2006-04-0{day} 10:00:00", None, None) for day in range(1, 9)]
    with pytest.raises(InputError, match="no query was sent by 2 or more users"):
        run(lines, min_users=2)


def test_m_is_reached_exactly() -> None:
    assert {row[4] for row in published(run(LOG, min_users=3, min_click_users=2))} == {
        "http://w.example",
        None,
    }
    assert {row[4] for row in published(run(LOG, min_users=3, min_click_users=3))} == {None}
    assert run(LOG, min_users=3, min_click_users=3, time_precision="none").blanked == {
        "click of fewer than 3 users": 3
    }
    assert run(LOG, min_users=3, min_click_users=1, time_precision="none").blanked == {}


def test_a_rank_or_a_day_of_one_user_alone_is_blanked() -> None:
    lines = [(user, "weather", "2006-04-01 10:00:00", 1, "http://w.example") for user in "abc"]
    lines.append(("a", "weather", "2006-12-24 10:00:00", 77, "http://w.example"))
    release = run(lines, min_users=3, min_click_users=2)
    assert {row[2] for row in published(release)} == {"2006-04-01", None}
    assert {row[3:] for row in published(release)} == {(1, "http://w.example"),
                                                       (None, "http://w.example")}  # fmt: skip
    assert release.blanked == {"rank of fewer than 2 users": 1, "day of fewer than 3 users": 1}


def test_clicks_count_for_their_own_query_only() -> None:
    # w.example has two users for "weather", and one for ann's street.
    found = published(run(LOG, min_users=1, min_click_users=2))
    assert [row[4] for row in found if row[1] == "ann's own street"] == [None]


def test_a_rank_without_a_url_is_blanked() -> None:
    lines = [(user, "weather", "2006-04-01 10:00:00", 7, None) for user in "abc"]
    release = run(lines, min_users=3, min_click_users=1)
    assert {row[3] for row in published(release)} == {None}
    assert sum(release.blanked.values()) == 3


def test_without_clicks() -> None:
    release = run(LOG, min_users=3, include_clicks=False, time_precision="none")
    assert {row[3:] for row in published(release)} == {(None, None)}
    assert release.blanked == {"clicks not kept": 3}
    assert "no clicks are released" in release.guarantee.statement
    assert "no-clicks" in [check.check for check in release.guarantee.checks]


@pytest.mark.parametrize(
    ("time", "expected"),
    [
        ("none", {None}),
        ("month", {"2006-03-01", "2006-04-01", None}),
        ("day", {"2006-03-31", "2006-04-01", "2006-04-02", None}),
        ("hour", {"2006-03-31 23:00:00.000000", "2006-04-01 00:00:00.000000",
                  "2006-04-02 12:00:00.000000", None}),
    ],
)  # fmt: skip
def test_times(time: str, expected: set[str | None]) -> None:
    assert {row[2] for row in published(run(LOG, min_users=1, time_precision=time))} == expected


@pytest.mark.parametrize("form", ["tsv", "csv", "jsonl"])
@pytest.mark.parametrize(
    ("time", "written"),
    [("month", "2006-03-01"), ("day", "2006-03-31"), ("hour", "2006-03-31 23:00:00")],
)
def test_times_are_written_as_people_write_them(
    tmp_path: Path, form: str, time: str, written: str
) -> None:
    run(LOG, min_users=1, time_precision=time).write(tmp_path / "out", format=form)
    text = (tmp_path / "out" / "public" / f"log.{form}").read_text()
    cell = {"tsv": f"\t{written}\t", "csv": f",{written},", "jsonl": f'"time":"{written}"'}[form]
    assert cell in text


@pytest.mark.parametrize("year", ["0001", "1969", "9999", "12006"])
@pytest.mark.parametrize("time", ["month", "day", "hour"])
def test_odd_years_keep_the_promise(tmp_path: Path, year: str, time: str) -> None:
    moment = pl.datetime(int(year), 5, 6, 7, 8, 9, time_unit="us")
    table = pl.select(user=pl.Series(["a", "b"]), query=pl.lit("q"), time=moment,
                      rank=pl.lit(None, pl.Int32), url=pl.lit(None, pl.String))  # fmt: skip
    for form in ("parquet", "tsv", "jsonl"):
        release = anonymize(
            QueryLog.from_clean_frame(table), FrequentQueries(min_users=2, time_precision=time)
        )
        release.write(tmp_path / form, format=form)
        assert verify(tmp_path / form).holds


def test_n_of_one_is_not_for_publication(tmp_path: Path) -> None:
    card = run(LOG, min_users=1).write(tmp_path / "out")
    assert card.public.release_grade is False
    why = "the parameters keep queries that only one user sent"
    assert card.public.not_release_grade_because == (why,)


def test_m_of_one_is_not_for_publication() -> None:
    assert run(LOG, min_users=3, min_click_users=1).not_release_grade_because == (
        "the parameters keep clicks that only one user made",
    )
    assert (
        run(LOG, min_users=3, min_click_users=1, include_clicks=False).not_release_grade_because
        == ()
    )


def test_limits_are_those_of_the_linking() -> None:
    limits = {link: " ".join(run(LOG, min_users=3, pseudonym_scope=link).guarantee.not_covered)
              for link in ("user", "session", "none")}  # fmt: skip
    assert "one pseudonym" in limits["user"]
    assert "session" in limits["session"]
    assert "rows are not linked" in limits["none"]
    assert "upper bound" not in limits["user"]
    assert "upper bound" in limits["session"]


def test_nothing_left_of_the_log_is_an_error() -> None:
    empty = QueryLog.from_rows([])
    with pytest.raises(InputError, match="no row of the log is left"):
        anonymize(empty, FrequentQueries())


@settings(max_examples=40)
@given(LINES, st.integers(1, 6))
def test_alternatives_are_what_a_run_would_keep(lines: list[Line], n: int) -> None:
    log, method = QueryLog.from_rows(lines), FrequentQueries(min_users=n)
    for step in method.alternatives(log):
        kept = slowly(lines, FrequentQueries(min_users=step.value))
        assert step.rows == len(kept)
        assert step.queries == len({row[1] for row in kept})
        assert step.fraction == round(len(kept) / len(lines), 4)
    asked = [step.value for step in method.alternatives(log)]
    assert asked == sorted(set(asked))
    assert n in asked or n == 1


def test_the_card_is_json(tmp_path: Path) -> None:
    card = run(LOG, min_users=3).write(tmp_path / "out")
    assert PrivateCard.from_dict(json.loads(card.to_json())) == card


def test_sessions_are_those_of_the_whole_log() -> None:
    """A rare query between two others is dropped; the pause that it leaves is none."""
    times = [f"2006-03-01 10:{minute:02}:00" for minute in (0, 20, 40)]
    rows = [
        (user, query, time, None, None)
        for user in "abc"
        for query, time in zip(("weather", f"rare {user}", "news"), times, strict=True)
    ]
    release = anonymize(
        QueryLog.from_rows(rows), FrequentQueries(min_users=3, pseudonym_scope="session")
    )
    assert release.log.collect()["user"].n_unique() == 3


def test_without_times_no_session_links_anything() -> None:
    rows = [(user, query, None, None, None) for user in "abc" for query in ("weather", "news")]
    release = anonymize(
        QueryLog.from_rows(rows), FrequentQueries(min_users=3, pseudonym_scope="session")
    )
    assert release.log.collect()["user"].n_unique() == 6


def test_a_rank_without_a_url_is_blanked_with_its_own_reason() -> None:
    rows = [(user, "weather", None, 1, None) for user in "abcdef"]
    release = anonymize(QueryLog.from_rows(rows), "frequent-queries:min-users=3")
    assert release.blanked == {"rank without a URL": 6}


def recount_frequent_queries(run: MethodRun) -> None:
    recount_rows_of_the_log(run)
    queries, pairs, ranks, days = (defaultdict(set) for _ in range(4))
    for user, query, time, rank, url in run.rows:
        queries[query].add(user)
        pairs[query, url].add(user)
        ranks[query, url, rank].add(user)
        days[time[:10]].add(user)
    assert len({query for _, query, *_ in run.released}) > 5
    assert any(url for *_, url in run.released)
    assert any(time for _, _, time, _, _ in run.released)
    assert any(rank for _, _, _, rank, _ in run.released)
    for _, query, time, rank, url in run.released:
        assert len(queries[query]) >= run.method.min_users, query
        assert time is None or re.fullmatch(r"2006-\d\d-\d\d", time)
        assert time is None or len(days[time]) >= run.method.min_users, time
        if url is None:
            assert rank is None
        else:
            assert len(pairs[query, url]) >= run.method.min_click_users, (query, url)
        assert rank is None or len(ranks[query, url, rank]) >= run.method.min_click_users, (
            query,
            url,
            rank,
        )


SPECS = [
    "frequent-queries:min-users=6:min-click-users=3",
]
CHECKS = method_checks(
    FrequentQueries(min_users=6, min_click_users=3), recount=recount_frequent_queries
)


@pytest.mark.usefixtures("one_mapper")
@pytest.mark.parametrize("check", CHECKS, ids=str)
def test_kit(check: KitCheck) -> None:
    check()
