"""What shall become of identifiers is asked for in one way by every job and command."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from numbered_method import known
from screened_logs import METHOD, add_days, extend_twice, write_log

import queryveil as qv
from queryveil.comparison.comparing import compare
from queryveil.errors import UsageError


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write_log(tmp_path, {"weather": 9, "jane@mail.example": 9})


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


def test_what_extends_a_release_treats_them_alike(path: Path, tmp_path: Path) -> None:
    rows = [("u1", "212-555-0123"), ("u1", "golf"), ("u2", "golf")]
    alike, other = extend_twice(
        path, tmp_path, rows, {"identifiers": "mask"}, {"identifiers": "drop"}
    )
    assert alike.public.identifiers == alike.ledger.identifiers == "mask"
    assert alike.output.rows == 3
    assert other.output.rows == 2
    assert other.dropped["query looks like: phone number"] == 1
    with known(), pytest.raises(UsageError, match="lose"):
        log = add_days(path, 3, rows)
        qv.extend_release(log, tmp_path / "c", tmp_path / "d", identifiers="lose")


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
