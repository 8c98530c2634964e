"""What newcomers try beside the tutorials: each error and each result names the way on."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import queryveil as qv
from queryveil.errors import InputError, UsageError


@pytest.fixture
def release(tmp_path: Path) -> Path:
    folder = tmp_path / "release"
    qv.anonymize(qv.make_log(60, seed=3), qv.StringMicroaggregation(k=3)).write(
        folder, format="tsv"
    )
    return folder


def test_an_officer_reads_in_words_what_was_changed(cli, release: Path) -> None:
    with (release / "public/log.tsv").open("a") as file:
        file.write("somebody\tsecret query\t\t\t\n")
    ran = cli("verify", release)
    rows = json.loads((release / "public/release.json").read_text())["figures"]["rows"]
    assert f"rows {rows + 1:,} (card: {rows:,})" in ran.out
    assert "{" not in ran.out
    assert "the guarantee does not hold: " in ran.err
    assert "log.tsv" in ran.out  # the list is printed once
    assert "log.tsv" not in ran.err
    assert "log.tsv" in cli("verify", release, "--quiet").err


def test_an_officer_with_an_archive_is_led_to_the_folder(release: Path, tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="in no ledger"):
        archive = qv.pack(release)
    with pytest.raises(InputError, match="this is a file") as error:
        qv.verify(archive)
    assert error.value.hint == "unpack it, and name the folder"
    (tmp_path / "inbox").mkdir()
    with pytest.raises(InputError, match="there is no release here") as error:
        qv.verify(tmp_path / "inbox")
    assert error.value.where == str(tmp_path / "inbox")


def test_a_rule_is_not_led_on_to_publication(cli) -> None:
    cli("synth", "--users", 60, "--out", "log.tsv")
    rule = cli("anonymize", "log.tsv", "--method", "frequent-queries", "--min-users", 5,
               "--out", "rule")  # fmt: skip
    assert "Next: open rule/private/report.html" in rule.out
    assert "pack" not in rule.out.partition("Next:")[2]
    formal = cli("anonymize", "log.tsv", "--method", "string-microaggregation", "--out", "groups")
    assert "queryveil pack groups" in formal.out


def test_an_engineer_who_pipes_a_log_reads_options(tmp_path: Path) -> None:
    log = "user\tquery\n" + "".join(f"{user}\tcats\n" for user in range(9))
    ran = subprocess.run(
        [sys.executable, "-m", "queryveil", "profile", "-"],
        input=log, capture_output=True, text=True, cwd=tmp_path, check=True,
    )  # fmt: skip
    assert "--ledger NAME" in ran.stdout
    assert "`ledger" not in ran.stdout


def test_a_table_is_no_lost_log(cli) -> None:
    cli("synth", "--users", 60, "--out", "log.tsv")
    ran = cli("anonymize", "log.tsv", "--method", "dp-statistics", "--yes", "--out", "table")
    assert "summed up in the tables" in ran.out
    assert "0.0%" not in ran.out
    assert "released " not in ran.out


def test_a_researcher_reads_the_ledger_in_a_notebook(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    frame = qv.make_log(60, seed=3).to_polars()
    release = qv.anonymize(
        frame, "dp-statistics", epsilon=1, ledger="lab", expected_users=60, yes=True
    )
    with pytest.raises(UsageError) as error:
        release.to_polars()
    assert '`table("queries")`' in str(error.value.hint)
    html = qv.show_ledger(ledger="lab")._repr_html_()
    assert "epsilon 1, delta 1e-9" in html
    assert "dp-statistics" in html
    assert "BudgetAmounts" not in html


def test_one_path_is_a_list_of_one(tmp_path: Path) -> None:
    log = tmp_path / "log.tsv"
    qv.write_synthetic_log(log, users=30)
    qv.set_ledger_limit("1", "1e-7", str(log))
    assert qv.show_ledger(log).limit is not None
    assert qv.check_ledger(str(log))
