"""The command `measure`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import queryveil as qv
from queryveil.cli.app import app


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    qv.write_synthetic_log("log.tsv", topics="A", users=20, queries=5)
    qv.anonymize(qv.read_log("log.tsv"), qv.FrequentQueries(min_users=2, min_click_users=1)).write(
        "out"
    )
    return tmp_path


def run(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["measure", *words])
    return done.exit_code, done.output if done.exception is None else str(done.exception)


@pytest.mark.usefixtures("made")
def test_json_has_a_value_for_each_measure() -> None:
    code, text = run("log.tsv", "out", "--measures", "profile-divergence:off-topic=bin", "--json")
    assert code == 0
    found = json.loads(text[text.index("{") :])
    assert found["measures"]["profile-divergence:off-topic=bin"]["value"] >= 0


@pytest.mark.usefixtures("made")
def test_the_table_says_for_whom_it_is() -> None:
    code, text = run("log.tsv", "out", "--quiet")
    assert code == 0
    code, text = run("log.tsv", "out")
    assert "profile-divergence" in text
    assert "for the owner of the log only" in text


@pytest.mark.usefixtures("made")
@pytest.mark.parametrize("words", [["log.tsv"], ["out"], ["log.tsv", "log.tsv"]])
def test_what_is_no_release_is_refused(words: list[str]) -> None:
    code, text = run(*words)
    assert code
    assert "then the folder of a release" in text
