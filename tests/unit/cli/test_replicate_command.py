"""`queryveil replicate`, as a person types it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest


@pytest.fixture
def log(tmp_path: Path) -> str:
    head = "AnonID\tQuery\tQueryTime\tItemRank\tClickURL"
    lines = [f"{i % 17}\tq{i % 9}\t2006-03-01 10:00:00\t\t" for i in range(120)]
    (tmp_path / "log.tsv").write_text("\n".join([head, *lines]) + "\n")
    tree = "".join(f"Top/a{i % 2}/b{i % 3}/c{i}/d{i}/q{i}\n" for i in range(9))
    (tmp_path / "tree.txt").write_text(tree)
    return "log.tsv"


def test_a_paper(cli, log: str, tmp_path: Path) -> None:
    typed = (
        "replicate",
        "erola2011",
        log,
        "--taxonomy",
        "tree.txt",
        "--workers",
        1,
        "--out",
        "out",
    )
    ran = cli(*typed)
    assert ran.code == 0, ran.err
    for text in ("17 users", "more than 1/k", "Why our figures may differ", "out/report.html"):
        assert text in ran.out
    assert "more than 1/k remains" in (tmp_path / "out" / "report.html").read_text()
    again = cli(*typed, "--overwrite", "--json")
    found = json.loads(again.out)
    assert found["known_before"] == len(found["rows"])  # nothing was run again
    assert {"claim", "published", "ours", "holds", "why", "paper"} == set(found["claims"][0])


def test_wrong_usage(cli, log: str) -> None:
    ran = cli("replicate", "erola", "--out", "out")
    assert ran.code == 2
    assert "erola2011" in ran.err
    ran = cli("replicate", "erola2011", log, "--users", 50, "--out", "out")
    assert ran.code == 2
    assert "users is the size" in ran.err
