"""`queryveil compare` and `queryveil measures`, as a person types them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

SENT = [(user, "tennis") for user in "abcd"] + [(user, "music") for user in "ab"]
RULER = "profile-divergence:taxonomy=paths.txt"


@pytest.fixture
def log(tmp_path: Path) -> str:
    lines = [f"{user}\t{query}\t2006-03-01 10:00:00\t\t" for user, query in SENT]
    head = "AnonID\tQuery\tQueryTime\tItemRank\tClickURL"
    (tmp_path / "log.tsv").write_text("\n".join([head, *lines]) + "\n")
    (tmp_path / "paths.txt").write_text("Top/Sports/Tennis\nTop/Arts/Music\n")
    return "log.tsv"


def document(ran: Any) -> dict[str, Any]:
    assert (ran.code, ran.err) == (0, "")
    return json.loads(ran.out)


def test_compare(cli, log: str, tmp_path: Path) -> None:
    methods = "frequent-queries,frequent-queries:min-users=4"
    ran = cli("compare", log, "--methods", methods, "--sweep", "min-users=2..3,9", "--repeats", 2,
              "--measures", f"{RULER},{RULER}:topics=Sports", "--out", "out")  # fmt: skip
    assert ran.code == 0, ran.err
    for text in (
        "frequent-queries min-users=4",
        "min_users=2",
        "0.1556",
        "0.0000",
        "out/report.html",
        "owner of the log",
    ):
        assert text in ran.out
    assert (tmp_path / "out" / "report.html").read_text().count('<svg class="qv-chart"') == 2


def test_compare_shows_intervals_limits_and_utility(cli, log: str) -> None:
    typed = ("compare", log, "--methods", "frequent-queries", "--sweep", "min-users=2,3",
             "--repeats", 2, "--measures", "uniqueness,query-coverage,word-frequency-error",
             "--out", "out")  # fmt: skip
    ran = cli(*typed)
    assert ran.code == 0, ran.err
    for text in ("mean score of 2 utility measures", "at best ", "At best: what no release"):
        assert text in ran.out
    found = document(cli(*typed, "--overwrite", "--json"))
    for run in found["means"]:
        coverage = run["measures"]["query-coverage"]
        assert (coverage["runs"], coverage["low"]) == (2, coverage["mean"])
        assert coverage["mean"] <= coverage["best_with_threshold"]
        assert run["utility"]["runs"] == 2
        assert set(run["scores"]) == {"query-coverage", "word-frequency-error"}


def test_json(cli, log: str) -> None:
    typed = ("compare", log, "--methods", "frequent-queries", "--sweep", "min-users=2,9",
             "--measures", RULER, "--seed", 1, "--out", "out", "--json")  # fmt: skip
    found = document(cli(*typed))
    assert found["folder"] == "out"
    assert [row["value"] for row in found["rows"]] == [0.0, 1.0]
    assert found["rows"][0]["params"] == {"min_users": 2}
    assert found["log"]["rows"] == 6
    again = document(cli(*typed, "--overwrite"))
    assert [row["value"] for row in again["rows"]] == [0.0, 1.0]
    assert again["known_before"] == 2


def test_a_private_method_is_noted(cli, log: str) -> None:
    ran = cli("compare", log, "--methods", "click-graph", "--measures", RULER, "--out", "out")
    assert ran.code == 0, ran.err
    assert "Recorded in the ledger" in ran.out
    shown = document(cli("ledger", "show", log, "--json"))
    assert [entry["method"] for entry in shown["entries"]] == ["compare (click-graph)"]


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ((), "no method was named"),
        (("--methods", "frequent-queries", "--preset", "sanchez2018"), "a preset has its own"),
        (("--methods", "frequent-query"), "unknown method"),
        (("--methods", "frequent-queries", "--sweep", "min-users"), "is no sweep"),
        (("--methods", "frequent-queries", "--sweep", "zz=2"), "none of the methods"),
        (("--methods", "frequent-queries", "--measures", "loss"), "unknown measure"),
        (("--preset", "sanchez"), "there is no preset"),
    ],
)
def test_wrong_usage(cli, tmp_path: Path, typed: tuple[str, ...], says: str) -> None:
    ran = cli("compare", "no.tsv", "--out", "out", *typed)  # told before the log is read
    assert ran.code == 2
    assert says in ran.err
    assert "Hint" in ran.err
    assert not (tmp_path / "out").exists()


def test_a_folder_of_others_is_refused_before_the_log_is_read(cli, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    ran = cli("compare", "no.tsv", "--methods", "frequent-queries", "--out", "out", "--overwrite")
    assert ran.code == 1
    assert "something else" in ran.err


def test_measures(cli) -> None:
    shown = cli("measures")
    assert shown.code == 0
    assert "profile-divergence" in shown.out
    found = document(cli("measures", "profile-divergence", "--json"))["measures"]
    assert [one["name"] for one in found] == ["profile-divergence"]
    assert {one["name"] for one in found[0]["parameters"]} == {
        "taxonomy", "language", "terms", "topics", "off_topic"
    }  # fmt: skip
    assert cli("measures", "nothing").code == 2
