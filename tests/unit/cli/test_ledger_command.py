"""`queryveil ledger ...`, as a person types it."""

from __future__ import annotations

import json
import shutil
import sqlite3
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from queryveil.ledger.ledger import Ledger

COMMANDS = ("show", "check", "limit")
LIMIT = ("limit", "--epsilon", "2", "--delta", "1e-6")


@pytest.fixture
def log(tmp_path: Path) -> str:
    """A log with a release of each kind in its ledger."""
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "log.tsv").write_text("x")
    with Ledger.open(tmp_path / "logs" / "ledger.db") as ledger:
        ledger.reserve(
            kind="dp",
            relation="replace-one",
            method="dp-statistics:epsilon=1/3",
            log_digest="ab12",
            epsilon=Fraction(1, 3),
            delta=Fraction("1e-7"),
            notes=["chosen after [bold]seeing\x1b[31m the data"],
        )
        ledger.confirm(1, "cd34", "out")
        ledger.record_copy(1, "out2")
        ledger.reserve(kind="none", method="frequent-queries:min-users=5", log_digest="ab12")
    return "logs/log.tsv"


def document(ran) -> dict[str, Any]:
    assert (ran.code, ran.err) == (0, "")
    found = json.loads(ran.out)
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize("call", [("show",), ("check",), LIMIT], ids=lambda call: call[0])
def test_one_document_a_text_or_nothing(cli, log: str, call: tuple[str, ...]) -> None:
    told = document(cli("ledger", *call, log, "--json"))
    assert Path(told["ledger"]).name == "ledger.db"
    assert told == document(cli("ledger", *call, "--ledger", "./logs", "--json")) or call is LIMIT
    assert cli("ledger", *call, log, "--quiet") == (0, "", "")
    ran = cli("ledger", *call, log)
    assert (ran.code, ran.err) == (0, "")
    assert len(ran.out) > 20


@pytest.mark.parametrize("name", COMMANDS)
def test_help(cli, name: str) -> None:
    ran = cli("ledger", name, "--help")
    assert (ran.code, ran.err) == (0, "")
    assert "--json" in ran.out
    assert "--ledger" in ran.out
    assert name in cli("ledger", "--help").out


def test_show(cli, log: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "140")
    told = document(cli("ledger", "show", log, "--json"))
    assert [entry["state"] for entry in told["entries"]] == ["confirmed", "copied", "reserved"]
    assert told["entries"][0]["epsilon"] == "1/3"
    assert told["entries"][2]["protection"] == "unprotected"
    assert told["spent"] == {"epsilon": "1/3", "delta": "1/10000000"}
    assert told["limit"] is told["left"] is None
    out = cli("ledger", "show", log).out
    for text in (
        "dp-statistics:epsilon=1/3",
        "1e-7",
        "copy of 1",
        "unprotected",
        "There is no limit",
        "chosen after [bold]seeing\ufffd[31m the data",
        "Note:",
    ):
        assert text in out


def test_limit_and_what_is_left(cli, log: str) -> None:
    told = document(cli("ledger", "limit", "--epsilon", "1", "--delta", "0.1", log, "--json"))
    assert told["left"] == {"epsilon": "2/3", "delta": "999999/10000000"}
    ran = cli("ledger", "limit", "--epsilon", "0.1", "--delta", "0", log)
    assert ran.code == 0
    assert "epsilon 1/3 is spent and the limit is 0.1: nothing more can be spent" in ran.out
    assert "left" in cli("ledger", "show", log).out


@pytest.mark.parametrize(
    ("epsilon", "delta", "says"),
    [
        ("0", "0", "epsilon is 0"),
        ("-1", "0", "epsilon is -1"),
        ("nan", "0", '"nan" is no exact number'),
        ("inf", "0", '"inf" is no exact number'),
        ("1/0", "0", "divides by zero"),
        ("1", "1", "delta is 1"),
        ("1", "-1e-7", "delta is -1e-7"),
    ],
)
def test_wrong_amounts(cli, tmp_path: Path, epsilon: str, delta: str, says: str) -> None:
    (tmp_path / "log.tsv").write_text("x")
    ran = cli("ledger", "limit", f"--epsilon={epsilon}", f"--delta={delta}", "log.tsv")
    assert (ran.code, ran.out) == (2, "")
    assert says in ran.err
    assert "Hint:" in ran.err
    assert not (tmp_path / "ledger.db").exists()


def test_the_limit_comes_before_the_first_release(cli, tmp_path: Path) -> None:
    (tmp_path / "log.tsv").write_text("x")
    ran = cli("ledger", "show", "log.tsv")
    assert ran.code == 1
    assert "there is no ledger" in ran.err
    assert not (tmp_path / "ledger.db").exists()
    assert cli("ledger", *LIMIT, "log.tsv").code == 0
    out = cli("ledger", "show", "log.tsv").out
    assert "There are no releases yet" in out
    assert "delta 1e-6" in out


def test_a_named_population(cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    told = document(cli("ledger", *LIMIT, "--ledger", "aol", "--json"))
    assert told["ledger"] == str(tmp_path / "data" / "queryveil" / "aol.db")
    assert cli("ledger", "check", "--ledger", "aol").code == 0


def test_mistakes(cli, tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).mkdir()
        (tmp_path / name / "log.tsv").write_text("x")
    ran = cli("ledger", "show")
    assert (ran.code, "--ledger NAME" in ran.err) == (2, True)
    ran = cli("ledger", "show", "a/log.tsv", "b/log.tsv")
    assert (ran.code, "--ledger NAME" in ran.err) == (2, True)
    assert cli("ledger", *LIMIT, "a/lgo.tsv").code == 1
    assert cli("ledger", "limit", "--epsilon", "1", "a/log.tsv").code == 2
    (tmp_path / "a" / "ledger.db").write_text("my own notes")
    ran = cli("ledger", "check", "a/log.tsv")
    assert (ran.code, "this is no ledger" in ran.err) == (1, True)


def test_check_names_the_broken_row(cli, log: str, tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "logs" / "ledger.db")
    (trigger,) = connection.execute("SELECT sql FROM sqlite_master WHERE name = 'never_changed'")
    connection.execute("DROP TRIGGER never_changed")
    connection.execute("UPDATE events SET event = replace(event, '1/3', '1/9') WHERE number = 2")
    connection.execute(*trigger)
    connection.commit()
    connection.close()
    ran = cli("ledger", "check", log, "--json")
    assert ran.code == 1
    assert json.loads(ran.out)["holds"] is False
    assert "row 2 is not chained" in ran.err
    ran = cli("ledger", "show", log)
    assert (ran.code, ran.out) == (1, "")
    assert "row 2 is not chained" in ran.err


def test_releases_of_two_relations_are_counted_in_one(
    cli, tmp_path: Path, synthetic: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A limit of 2 once took 1 for adding a user and 1 for replacing one, which make 3."""
    monkeypatch.setenv("COLUMNS", "140")
    shutil.copy(synthetic, tmp_path / "log.tsv")
    assert cli("ledger", *LIMIT, "log.tsv", "--composition", "sum").code == 0
    add = ("--method", "dp-statistics:budget-split=1/0/0", "--yes", "--out", "a")
    swap = ("--method", "semantic-replacement:domain=sport", "--out", "b")
    ran = cli("anonymize", "log.tsv", *add, "--json")
    assert json.loads(ran.out)["guarantee"]["relation"] == "add-remove"
    ran = cli("anonymize", "log.tsv", *swap)
    assert (ran.code, "needs epsilon 1, but 0 is left" in ran.err) == (1, True)
    assert not (tmp_path / "b").exists()
    told = document(cli("ledger", "show", "log.tsv", "--json"))
    assert told["totals"]["add-remove"]["sum"]["epsilon"] == "1"
    assert told["totals"]["replace-one"]["sum"]["epsilon"] == told["spent"]["epsilon"] == "2"
    assert float(Fraction(told["totals"]["replace-one"]["composed"]["epsilon"])) < 1.3
    # What the mechanisms are proved to lose leaves room, if the limit may count it.
    assert cli("ledger", *LIMIT, "log.tsv").code == 0
    assert cli("anonymize", "log.tsv", *swap).code == 0
    told = document(cli("ledger", "show", "log.tsv", "--json"))
    assert told["totals"]["add-remove"] == {"sum": None, "composed": None}
    assert told["totals"]["replace-one"]["sum"]["epsilon"] == "3"
    assert Fraction(told["totals"]["replace-one"]["composed"]["epsilon"]) <= 2
    out = cli("ledger", "show", "log.tsv").out
    for text in ("no guarantee", "plain sum", "composed", "replace-one"):
        assert text in out
