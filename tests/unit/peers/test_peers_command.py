"""`queryveil peers simulate`, as a person types it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest


@pytest.fixture
def log(tmp_path: Path) -> str:
    lines = [f"u{i % 30}\tquery {i % 11} {i}\t2006-03-01 10:00:{i % 60:02}\t\t" for i in range(300)]
    head = "AnonID\tQuery\tQueryTime\tItemRank\tClickURL"
    (tmp_path / "log.tsv").write_text("\n".join([head, *lines]) + "\n")
    return "log.tsv"


def test_one_setting(cli, log: str) -> None:
    ran = cli("peers", "simulate", log, "--selfish", "20%", "--dishonest", 0.1, "--churn", 0.1,
              "--message-loss", 0.01, "--seed", 1)  # fmt: skip
    assert ran.code == 0, ran.err
    for text in ("30 users", "PEL of honest and of selfish", "recorded", "the engine guesses",
                 "owner of the log"):  # fmt: skip
        assert text in ran.out


def test_json_and_t1(cli, log: str, tmp_path: Path) -> None:
    (tmp_path / "links.txt").write_text("u1 u2\nu2 u3\nu1 nobody\n")
    typed = ("peers", "simulate", log, "--graph", "links.txt", "--seed", 1)
    ran = cli(*typed, "--json")
    assert (ran.code, ran.err) == (0, "")
    document = json.loads(ran.out)
    assert document["graph"]["links"] == 2
    assert document["graph"]["rejected"] == {"a user who is not in the log": 1}
    ran = cli(*typed, "--test", "t1", "--queries", 5)
    assert "T1: own fraction" in ran.out
    assert "1 lines of the graph left out: a user who is not" in ran.out


def test_a_sweep(cli, log: str, tmp_path: Path) -> None:
    typed = ("peers", "simulate", log, "--sweep", "submit-probability=0.2,0.8",
             "--sweep", "max-hops=1..2", "--seed", 1)  # fmt: skip
    ran = cli(*typed, "--out", "out")
    assert ran.code == 0, ran.err
    assert "submit_probability=0.2 max_hops=1" in ran.out
    assert "best" in ran.out
    assert (tmp_path / "out" / "peers.svg").exists()
    again = cli(*typed, "--out", "out")
    assert again.code == 1
    assert "exists already" in again.err
    document = json.loads(cli(*typed, "--json").out)
    assert len(document["settings"]) == 4
    assert "folder" not in document


def test_options_from_the_config_file(cli, log: str, tmp_path: Path) -> None:
    """Commands inside a command inside a command have a table of their own, too."""
    (tmp_path / "queryveil.toml").write_text(
        '["peers simulate"]\nsweep = ["max-hops=1..2"]\nselfish = "50%"\n'
        '["peers node status"]\nnode_dir = "elsewhere"\n'
    )
    document = json.loads(cli("peers", "simulate", log, "--json").out)
    assert [row["params"] for row in document["settings"]] == [{"max_hops": 1}, {"max_hops": 2}]
    assert document["scenario"]["selfish"] == 0.5
    assert "elsewhere" in cli("peers", "node", "status").err


def test_wrong_usage(cli, log: str) -> None:
    for typed, message in {
        ("--sweep", "hop=1"): "did you mean",
        ("--selfish", "2"): "not between 0 and 1",
        ("--submit-probability", "0"): "--submit-probability cannot be",
        ("--repeats", "2"): "for a sweep",
        ("--test", "t9"): "t1 or t2",
    }.items():
        ran = cli("peers", "simulate", log, *typed)
        assert ran.code == 2, typed
        assert message in ran.err.replace("\n", " ")
