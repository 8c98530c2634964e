"""What shall become of identifiers is asked for in one way by every job and command."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from numbered_method import Slotted, known

import queryveil as qv
from queryveil.comparison.comparing import compare, compare_figures
from queryveil.comparison.grid import request_figures
from queryveil.comparison.journal import open_journal
from queryveil.comparison.result import RunOptions
from queryveil.errors import UsageError

LINES = ["user,query,time"]
LINES += [f"u{n},weather,2006-03-01 10:00:00" for n in range(9)]
LINES += [f"u{n},jane@mail.example,2006-03-01 10:01:00" for n in range(9)]
METHOD = "frequent-queries:min-users=3:min-click-users=3"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "logs" / "log.csv"
    path.parent.mkdir()
    path.write_text("\n".join(LINES) + "\n")
    return path


def test_a_wrong_setting_is_told_before_any_work(path: Path) -> None:
    log, method = qv.read_log(path), qv.parse_method(METHOD)
    for job in (
        lambda: qv.anonymize(log, method, identifiers="lose"),
        lambda: qv.anonymize_to_folder(log, method, path.parent / "out", identifiers="lose"),
        lambda: qv.plan(log, method, identifiers="lose"),
        lambda: compare(log, [METHOD], identifiers="lose"),
    ):
        with pytest.raises(UsageError, match="lose"):
            job()
    assert not (path.parent / "out").exists()


@pytest.mark.parametrize(("setting", "rows"), [("drop", 9), ("mask", 18), ("keep", 18)])
def test_plan_tells_what_anonymize_does(path: Path, setting: str, rows: int) -> None:
    log, method = qv.read_log(path), qv.parse_method(METHOD)
    planned = qv.plan(log, method, identifiers=setting)
    made = qv.anonymize_to_folder(log, method, path.parent / "out", identifiers=setting)
    assert planned.preview.output.rows == made.output.rows == rows
    assert planned.preview.dropped == made.dropped
    assert planned.preview.public.release_grade is made.public.release_grade is (setting != "keep")
    assert made.input.users == 9
    assert made.input.queries == 2  # as it was read


def test_compare_runs_what_anonymize_would(path: Path, tmp_path: Path) -> None:
    log = qv.read_log(path)
    measure = "query-coverage"
    found = {
        setting: compare(log, [METHOD], measures=[measure], identifiers=setting)
        for setting in ("drop", "keep")
    }
    assert {name: one.rows[0].value for name, one in found.items()} == {"drop": 0.5, "keep": 1}
    assert found["keep"].options.identifiers == "keep"
    assert "--identifiers keep" in found["keep"].command


def test_what_is_known_is_known_for_one_setting(path: Path, tmp_path: Path) -> None:
    log, asked = qv.read_log(path), request_figures([METHOD], ["query-coverage"], {})
    known_before = [
        compare_figures(
            log, asked, RunOptions(identifiers=setting), journal=open_journal(tmp_path / "out")
        ).known_before
        for setting in ("drop", "keep", "drop")
    ]
    assert known_before == [0, 0, 1]


def test_what_extends_a_release_treats_them_alike(path: Path, tmp_path: Path) -> None:
    def longer(days: int) -> qv.QueryLog:
        rows = [
            f"u{user},{query},2006-03-0{day} 10:00:00"
            for day in range(2, 2 + days)
            for user, query in ((1, "212-555-0123"), (1, "golf"), (2, "golf"))
        ]
        path.write_text("\n".join([*LINES, *rows]) + "\n")
        return qv.read_log(path, since=f"2006-03-0{1 + days}")

    with known():
        qv.anonymize_to_folder(
            longer(0), Slotted(max_phrases_per_user=9), tmp_path / "a", identifiers="mask"
        )
        alike = qv.extend_release(longer(1), tmp_path / "a", tmp_path / "b")
        assert alike.public.identifiers == alike.ledger.identifiers == "mask"
        assert alike.output.rows == 3
        with pytest.raises(UsageError, match="lose"):
            qv.extend_release(longer(2), tmp_path / "b", tmp_path / "c", identifiers="lose")
        other = qv.extend_release(longer(2), tmp_path / "b", tmp_path / "c", identifiers="drop")
        assert other.output.rows == 2
        assert other.dropped["query looks like: phone number"] == 1


Run = Callable[..., tuple[int, str, str]]


def test_the_commands_ask_for_it(cli: Run, path: Path, tmp_path: Path) -> None:
    asked = (
        "anonymize",
        path,
        "--method",
        "frequent-queries",
        "--min-users",
        3,
        "--min-click-users",
        3,
        "--json",
    )
    dropped = json.loads(cli(*asked, "--out", "a")[1])
    assert (dropped["identifiers"], dropped["output"]["rows"]) == ("drop", 9)
    kept = json.loads(cli(*asked, "--identifiers", "keep", "--out", "b")[1])
    assert (kept["release_grade"], kept["output"]["rows"]) == (False, 18)
    code, _, told = cli(*asked, "--identifiers", "lose", "--out", "c")
    assert code == 2
    assert "drop, mask or keep" in told
    (tmp_path / "queryveil.toml").write_text('[anonymize]\nidentifiers = "mask"\n')
    masked = json.loads(cli(*asked, "--out", "d")[1])
    assert masked["identifiers"] == "mask"
    page = (tmp_path / "d" / "public" / "report.html").read_text()
    assert "--identifiers mask" in page
    assert "mail.example" not in page


@pytest.mark.parametrize(
    "line", [("anonymize", "--out", "a"), ("plan",), ("anonymize", "--out", "a", "--extend", "b")]
)
def test_a_wrong_setting_is_refused_before_the_log_is_opened(
    line: tuple[str, ...], cli: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    name, *more = line
    asked = (name, "no-such-log.tsv", "--method", "frequent-queries", *more)
    code, _, said = cli(*asked, "--identifiers", "lose")
    assert code != 0
    assert "lose" in said
    assert "no-such-log" not in said
