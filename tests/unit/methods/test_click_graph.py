"""`click-graph`: who counts how often, what shows, and what the cards say."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import polars as pl
import pytest
from recounts import recount_tables

import queryveil as qv
from queryveil.core.progress import NoProgress
from queryveil.core.randomness import RandomSource
from queryveil.errors import InputError, ParameterError
from queryveil.methods.click_graph import ClickGraph
from queryveil.methods.first_contributions import _count_first_rows
from queryveil.methods.runner import run_method
from queryveil.release.checks import run_check
from queryveil.release.guarantee import Check
from queryveil.testing import KitCheck, method_checks
from queryveil.workflows.verification import verify

Row = tuple[str, str, str | None, int | None, str | None]


def at(minute: int) -> str:
    return f"2006-03-{1 + minute // 1440:02d} {minute // 60 % 24:02d}:{minute % 60:02d}:00"


def rows_of(users: int) -> list[Row]:
    """Give users who all sent the same two queries, and each one of her own."""
    rows: list[Row] = []
    for n in range(users):
        name = f"user-{n}"
        rows += [
            (name, "weather", at(n), 1, "http://weather.example"),
            (name, "cats", at(n + 60), 2, f"http://cats-{n % 2}.example"),
            (name, f"my own {n}", at(n + 120), None, None),
        ]
    return rows


def run(method: ClickGraph, rows: list[Row], seed: int | None = 1) -> qv.Release:
    return run_method(method, qv.QueryLog.from_rows(rows), RandomSource(seed), NoProgress())


@pytest.fixture
def results(tmp_path: Path) -> Path:
    path = tmp_path / "results.tsv"
    path.write_text(
        "Weather\thttp://weather.example\n"
        "weather \thttp://rain.example\n"
        "weather\thttp://rain.example\n"
        "\n"
        "CATS\thttp://cats-0.example\n"
        "dogs\thttp://dogs.example\n"
    )
    return path


# --- what a user adds ----------------------------------------------------------------------------


def counted(rows: list[Row], most: int) -> dict[str, int]:
    log = qv.QueryLog.from_rows(rows)
    return dict(_count_first_rows(log.events(), ["query"], most).rows())


def test_the_first_queries_by_time_count() -> None:
    rows: list[Row] = [
        ("a", "third", at(900), None, None),
        ("a", "first", at(1), None, None),
        ("a", "second", at(300), 1, "u"),
        ("a", "second", at(300), 2, "v"),  # one query with two clicks
        ("b", "third", at(5), None, None),
    ]
    assert counted(rows, 1) == {"first": 1, "third": 1}
    assert counted(rows, 2) == {"first": 1, "second": 1, "third": 1}
    assert counted(rows, 3) == {"first": 1, "second": 1, "third": 2}


def test_a_user_may_count_several_times_for_one_query() -> None:
    rows: list[Row] = [("a", "x", at(600 * n), None, None) for n in range(9)]
    assert counted(rows, 4) == {"x": 4}


def test_rows_without_times() -> None:
    rows: list[Row] = [("a", "x", None, None, None), ("a", "y", None, None, None)]
    assert counted(rows, 1) == {"x": 1}


@pytest.mark.parametrize("most", [1, 2, 3])
def test_leaving_a_user_out_changes_counts_by_at_most_that(most: int) -> None:
    numbers = iter(RandomSource(5).uint64s(600).tolist())
    rows: list[Row] = [
        (f"u{next(numbers) % 9}", f"q{next(numbers) % 5}", at(next(numbers) % 9000), None, None)
        for _ in range(200)
    ]
    whole = Counter(counted(rows, most))
    for user in {row[0] for row in rows}:
        less = Counter(counted([row for row in rows if row[0] != user], most))
        assert not less - whole
        assert sum((whole - less).values()) <= most


def test_the_first_clicks_count(results: Path) -> None:
    rows = rows_of(2)
    log = qv.QueryLog.from_rows(rows)
    clicks = _count_first_rows(log.local_frame.drop_nulls("url"), ["query", "url"], 1)
    assert clicks.rows() == [("weather", "http://weather.example", 2)]


# --- statistics ----------------------------------------------------------------------------------

GENEROUS = {
    "epsilon": 20.0,
    "delta": 1e-6,
    "max_queries_per_user": 3,
    "max_clicks_per_user": 3,
}


def test_what_many_sent_shows_and_what_one_sent_does_not() -> None:
    release = run(ClickGraph(**GENEROUS), rows_of(300))
    queries = release.tables["queries"]
    assert set(queries["query"]) == {"weather", "cats"}
    assert ((queries["count"] - 300).abs() < 20).all()
    assert release.tables["clicks"].height == 0
    assert release.log is None
    assert "no clicks are released" in release.guarantee.statement


def test_clicks_are_those_of_the_public_list(results: Path) -> None:
    release = run(ClickGraph(**GENEROUS, public_results=str(results)), rows_of(300))
    clicks = {(query, url): n for query, url, n in release.tables["clicks"].rows()}
    assert clicks.keys() == {
        ("weather", "http://weather.example"), ("weather", "http://rain.example"),
        ("cats", "http://cats-0.example"),
    }  # fmt: skip
    assert abs(clicks["weather", "http://weather.example"] - 300) < 20
    assert abs(clicks["weather", "http://rain.example"]) < 20  # nobody clicked it
    assert abs(clicks["cats", "http://cats-0.example"] - 150) < 20


def test_nothing_may_show() -> None:
    release = run(ClickGraph(), rows_of(20))
    assert release.tables["queries"].height == release.tables["clicks"].height == 0


def test_the_budget_is_split(results: Path) -> None:
    plain = ClickGraph(epsilon=0.7)
    assert Fraction(34, 100) < plain.selection().epsilon <= Fraction(35, 100)
    assert plain.count_mechanism().keys() == {"queries"}
    both = ClickGraph(epsilon=0.7, public_results=str(results))
    for method in (plain, both):
        parts = [
            method.selection().epsilon,
            *(part.epsilon for part in method.count_mechanism().values()),
        ]
        assert Fraction(69, 100) < sum(parts) <= Fraction(7, 10)
        assert method.selection().delta <= Fraction(1, 10**9)
    assert [round(float(part.epsilon), 2) for part in both.count_mechanism().values()] == [
        0.17,
        0.17,
    ]


def test_the_published_threshold_is_higher() -> None:
    tight, paper = (ClickGraph(max_queries_per_user=20, bound=t) for t in ("tight", "published"))
    assert tight.selection().threshold < paper.selection().threshold
    assert f"{paper.selection().threshold:,}" in paper.guarantee().statement


def test_seeds_repeat_and_secrets_do_not(results: Path) -> None:
    method = ClickGraph(**GENEROUS, public_results=str(results))
    one, two, three = (run(method, rows_of(200), seed).tables for seed in (1, 1, 2))
    assert all(one[name].equals(two[name]) for name in one)
    assert any(not one[name].equals(three[name]) for name in one)
    # Noise is small here, so two runs may well meet; many do not.
    first, *others = (run(method, rows_of(200), None).tables for _ in range(20))
    assert any(not first[name].equals(other[name]) for other in others for name in first)


def test_a_written_release_holds(results: Path, tmp_path: Path) -> None:
    release = run(ClickGraph(**GENEROUS, public_results=str(results)), rows_of(300), None)
    release.write(tmp_path / "out")
    found = verify(tmp_path / "out")
    assert found.holds, found
    card = json.loads((tmp_path / "out" / "public" / "release.json").read_text())
    assert card["parameters"]["public_results"] == "results.tsv"  # and not where it lies
    assert card["guarantee"]["model"] == "approx-dp"
    assert (card["guarantee"]["epsilon"], card["guarantee"]["delta"]) == (20.0, 1e-6)
    assert (card["standing"], card["release_grade"]) == ("not-for-publication", False)
    assert any("epsilon is 20, above 10" in why for why in card["not_release_grade_because"])
    assert any("does not depend on the log" in text for text in card["guarantee"]["assumptions"])
    assert {path.name for path in (tmp_path / "out" / "public").iterdir()} == {
        "queries.tsv", "clicks.tsv", "release.json", "report.html", "croissant.json",
        "dp-deployment.json", "queries.about.txt", "clicks.about.txt",
    }  # fmt: skip
    text = "".join(path.read_text() for path in (tmp_path / "out" / "public").iterdir())
    assert "my own" not in text


def test_a_click_of_a_query_that_was_not_released_is_found() -> None:
    queries = pl.DataFrame({"query": ["a"], "count": [5]})
    clicks = pl.DataFrame({"query": ["a", "b"], "url": ["u", "u"], "count": [3, 1]})
    check = Check("keys-released", {"table": "clicks", "of": "queries"})
    good = run_check(check, None, {"queries": queries, "clicks": clicks[:1]})
    assert good.holds
    assert good.message == "each query of clicks.tsv is in queries.tsv"
    assert run_check(check, None, {"queries": queries, "clicks": clicks.clear()}).holds
    assert not run_check(check, None, {"queries": queries, "clicks": clicks}).holds
    assert not run_check(check, None, {"queries": queries}).holds
    assert not run_check(check, None, {"clicks": clicks}).holds


# --- removal -------------------------------------------------------------------------------------

REMOVAL = ClickGraph(**GENEROUS, output_kind="logs")


def test_users_keep_exactly_their_safe_queries() -> None:
    rows = [*rows_of(300), ("user-7", "cats", at(5000), None, None)]
    release = run(REMOVAL, rows)
    log = release.log.collect()
    assert set(log["query"].cast(pl.String)) == {"weather", "cats"}
    assert log.height == 601
    names = dict(release.mapping.select("user", "pseudonym").rows())
    hers = log.filter(user=names["user-7"])
    assert sorted(hers["query"].cast(pl.String)) == ["cats", "cats", "weather"]  # each time
    assert log["url"].count() == log["rank"].count() == 0
    assert release.dropped == {"query that is not in the safe set": 300}
    assert release.blanked == {"click on no public result": 600}
    assert log.schema["time"] == pl.Date


def test_the_whole_budget_chooses_the_safe_set() -> None:
    assert REMOVAL.selection().epsilon > Fraction(19)
    assert REMOVAL.count_mechanism() == {}


def test_clicks_on_public_results_stay(results: Path) -> None:
    release = run(replace(REMOVAL, public_results=str(results)), rows_of(300))
    log = release.log.collect().with_columns(pl.col("query", "url").cast(pl.String))
    clicks = Counter(log.drop_nulls("url").select("query", "rank", "url").rows())
    assert clicks == {
        ("weather", 1, "http://weather.example"): 300,
        ("cats", 2, "http://cats-0.example"): 150,
    }
    assert log["rank"].count() == log["url"].count()
    assert release.blanked == {"click on no public result": 150}


def test_a_removal_promises_nothing(results: Path, tmp_path: Path) -> None:
    for method in (REMOVAL, replace(REMOVAL, public_results=str(results))):
        release = run(method, rows_of(300), None)
        assert release.guarantee.model == "none"
        assert release.guarantee.epsilon is None
        assert "guarantees nothing about a user" in release.guarantee.statement
        assert len(release.not_release_grade_because) == 1
        folder = tmp_path / ("with" if method.public_results else "without")
        release.write(folder)
        found = verify(folder)
        assert found.holds, found
        assert found.release_grade is False
        checks = [check.check for check in release.guarantee.checks]
        assert ("no-clicks" in checks) == (not method.public_results)


def test_a_removal_of_everything_is_an_error() -> None:
    with pytest.raises(InputError, match="nothing would be released"):
        run(ClickGraph(output_kind="logs"), rows_of(5))


# --- the file of results -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b"weather\n", "line 1"),
        (b"a\tu\n\n\tu\n", "line 3"),
        (b"\xff\tu\n", "UTF-8"),
        (None, "read"),
    ],
)
def test_a_bad_file_of_results_is_told(text: bytes | None, says: str, tmp_path: Path) -> None:
    path = tmp_path / "results.tsv"
    if text is not None:
        path.write_bytes(text)
    with pytest.raises(InputError, match=says):
        run(ClickGraph(public_results=str(path)), rows_of(3))


def test_parameters() -> None:
    assert str(qv.parse_method("click-graph:output-kind=logs")) == "click-graph:output-kind=logs"
    with pytest.raises(ParameterError):
        ClickGraph(bound="loose")
    with pytest.raises(ParameterError):
        ClickGraph(max_queries_per_user=0)


# 40 queries of 60 users each: two draws of noise for so many counts are never equal.
SUBJECTS = [
    (
        f"someone-{n:06}",
        f"subject {n % 40:02} of many",
        "2006-03-01 10:00:00",
        1,
        "http://a.example",
    )
    for n in range(2400)
]
SPECS = [
    "click-graph:epsilon=9:delta=1e-3",
]
CHECKS = method_checks(ClickGraph(epsilon=3, delta=1e-2), SUBJECTS, recount=recount_tables)


@pytest.mark.usefixtures("one_mapper")
@pytest.mark.parametrize("check", CHECKS, ids=str)
def test_kit(check: KitCheck) -> None:
    check()
