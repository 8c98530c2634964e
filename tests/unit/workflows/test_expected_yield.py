"""A private release that would hold next to nothing is not paid for without a yes."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

import queryveil as qv
from queryveil.core.progress import NoProgress
from queryveil.core.randomness import RandomSource
from queryveil.methods.runner import run_method
from queryveil.workflows.expected_yield import HANDFUL, check_yield, low_yield, people_needed

TABLES = "dp-statistics:epsilon=1:budget-split=1/0/0:selection=gaussian"
GENEROUS = "dp-statistics:epsilon=20:delta=1e-4:max-queries-per-user=2:budget-split=1/0/0"
SPENDING = [TABLES, "dp-statistics:mode=pure", "click-graph", "click-graph:max-queries-per-user=5"]


def rows(users: int, text: str = "weather") -> list[tuple]:
    return [(f"u{n}", text, "2006-03-01 10:00:00", None, None) for n in range(users)]


@pytest.mark.parametrize("line", SPENDING)
def test_a_low_yield_is_refused_before_anything_is_paid(line: str, tmp_path: Path) -> None:
    log = qv.QueryLog.from_rows(rows(200))
    with pytest.raises(qv.LowYieldError, match="queries would be released for 200 users"):
        qv.anonymize(log, line, ledger=f"{tmp_path}/", expected_users=200)
    assert not list(tmp_path.iterdir())  # no ledger, so nothing was spent
    release = qv.anonymize(log, line, ledger=f"{tmp_path}/", expected_users=200, yes=True)
    assert release.guarantee.epsilon == 1.0
    assert (tmp_path / "ledger.db").exists()


@pytest.mark.parametrize("line", [*SPENDING, GENEROUS])
def test_the_decision_is_the_same_for_every_log(line: str, tmp_path: Path) -> None:
    """Whatever the log has, even enough for a full table, public figures alone decide."""
    logs = [rows(1), rows(5_000), [row for n in range(9) for row in rows(3_000, f"q{n}")]]
    for people in (300, 1_000_000):
        told = set()
        for sent in logs:
            try:
                qv.anonymize(qv.QueryLog.from_rows(sent), line, expected_users=people,
                             ledger=f"{tmp_path}/")  # fmt: skip
                told.add("paid")
            except qv.LowYieldError as error:
                told.add(str(error))
        assert len(told) == 1
        assert (told == {"paid"}) == (people > 300 or line == GENEROUS)


def test_without_a_declared_number_python_warns_and_names_what_is_needed(tmp_path: Path) -> None:
    log = qv.QueryLog.from_rows(rows(200))
    with pytest.warns(qv.PopulationWarning, match=r"about [\d,]+ users are needed for 5 queries"):
        qv.anonymize(log, TABLES, ledger=f"{tmp_path}/")


def test_the_hint_helps_in_python_too() -> None:
    with pytest.raises(qv.LowYieldError, match="yes=True"):
        qv.anonymize(qv.QueryLog.from_rows(rows(20)), TABLES, expected_users=20)


def test_nothing_is_asked_of_what_spends_nothing_or_gives_everybody_rows() -> None:
    free = ["frequent-queries", "semantic-microaggregation", "dp-statistics:mode=paper",
            "click-graph:output-kind=logs"]  # fmt: skip
    everybody = ["semantic-replacement", "concept-histogram", "profile-first"]
    for line in free + everybody:
        check_yield(qv.parse_method(line), None)
    qv.anonymize(qv.QueryLog.from_rows(rows(20)), TABLES, seed=1, expected_users=20)


@pytest.mark.parametrize("line", SPENDING)
def test_the_number_that_is_needed_is_enough(line: str) -> None:
    method = qv.parse_method(line)
    expected = method.expected_queries()
    assert expected is not None
    needed = people_needed(expected)
    assert needed is not None
    assert low_yield(method, needed) is None
    assert low_yield(method, needed // 2) is not None
    assert expected(needed) >= HANDFUL > expected(max(1, needed // 2))
    forecast = method.forecast(needed)
    assert forecast is not None
    assert forecast.expected is not None
    assert forecast.expected.queries == expected(needed)


def test_every_method_that_spends_has_a_forecast() -> None:
    for name, kind in qv.METHODS.items():
        method = kind.from_params({"domain": "sport"} if "domain" in kind().params() else {})
        if method.guarantee().epsilon is not None:
            assert method.forecast(1_000), name


def test_rare_queries_do_not_seem_to_show() -> None:
    """There are 200,000 of them: a chance that is too great far from the cut adds up."""
    for line in ("dp-statistics:epsilon=4:delta=1e-6", "dp-statistics:epsilon=1"):
        expected = qv.parse_method(line).expected_queries()
        assert expected is not None
        assert expected(100) == 0


NEAR = ["dp-statistics:epsilon=8:delta=1e-5:budget-split=1/0/0",
        "dp-statistics:epsilon=4:delta=1e-6:max-queries-per-user=2:selection=laplace",
        "dp-statistics:epsilon=4:delta=1e-6:max-queries-per-user=3:selection=gaussian:"
        "contribution-order=random",
        "dp-statistics:epsilon=4:mode=pure:max-queries-per-user=5:budget-split=1/0/0",
        "click-graph:epsilon=10",
        "click-graph:epsilon=10:delta=1e-4:max-queries-per-user=5",
        "click-graph:epsilon=100"]  # fmt: skip
SHAPES = ["classic", "web", "web:navigational=0.1", "web:median-lines=15:mean-lines=30"]


@pytest.mark.parametrize("line", NEAR)
@pytest.mark.parametrize("shape", SHAPES)
def test_the_forecast_is_near_what_synthetic_logs_release(
    line: str, shape: str, log_of: Callable[[str], qv.QueryLog]
) -> None:
    method = qv.parse_method(line)
    forecast = method.forecast(3_000)
    assert forecast is not None
    assert forecast.expected is not None
    tables = run_method(method, log_of(shape), RandomSource(1), NoProgress()).tables
    assert forecast.expected.low <= tables["queries"].height <= forecast.expected.high


def test_a_forecast_gives_a_range() -> None:
    forecast = qv.parse_method("dp-statistics:epsilon=8").forecast(20_000)
    assert forecast is not None
    assert forecast.expected is not None
    low, middle, high = (
        forecast.expected.low, forecast.expected.queries, forecast.expected.high,
    )  # fmt: skip
    assert 0 < low < middle < high <= 3 * middle


@pytest.fixture(scope="module")
def log_of() -> Callable[[str], qv.QueryLog]:
    return cache(lambda shape: qv.make_log(3_000, shape=shape))


# --- the command ---------------------------------------------------------------------------------


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.tsv"
    lines = ["AnonID\tQuery\tQueryTime\tItemRank\tClickURL"]
    lines += [f"{n}\tweather\t2006-03-01 10:00:00\t\t" for n in range(300)]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def test_a_script_fails_before_the_log_is_opened(
    log: Path, cli: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def opened(*_: object, **__: object) -> None:
        raise AssertionError("the log was opened")

    monkeypatch.setattr("queryveil.cli.options.read_log", opened)
    asked = ("anonymize", str(log), "--method", TABLES, "--out", str(tmp_path / "out"))
    for more in ((), ("--expected-users", "300")):
        ran = cli(*asked, *more)
        assert ran.code == 1
        assert "--yes" in ran.err
        assert "users" in ran.err
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "ledger.db").exists()


def test_an_empty_table_exits_with_0_and_says_so(log: Path, cli: Callable, tmp_path: Path) -> None:
    asked = (
        "anonymize",
        str(log),
        "--method",
        "dp-statistics:epsilon=0.1:budget-split=1/0/0:selection=laplace",
    )
    ran = cli(*asked, "--out", str(tmp_path / "out"), "--yes")
    assert ran.code == 0
    assert "Empty: queries.tsv" in ran.out
    assert "the budget is spent" in ran.out
    beside = (tmp_path / "out" / "public" / "queries.about.txt").read_text("utf-8")
    assert "The table is empty" in beside
    ran = cli(*asked, "--out", str(tmp_path / "two"), "--yes", "--json")
    assert json.loads(ran.out)["figures"]["queries.tsv"] == 0


def test_plan_says_that_it_is_next_to_nothing(log: Path, cli: Callable) -> None:
    ran = cli("plan", str(log), "--method", TABLES, "--expected-users", "300")
    assert ran.code == 0
    assert "almost nothing" in ran.out
