"""Who looks at exact figures of a log leaves a note, which later private releases tell."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import queryveil as qv
from queryveil.ledger.ledger import Ledger
from queryveil.peers.simulation import simulate, sweep
from queryveil.workflows.budget import DATA_ACCESS_NOTE, DATA_ACCESS_RECORDED

PRIVATE = "dp-statistics:epsilon=9:delta=1e-4:max-queries-per-user=2:budget-split=1/0/0"
Look = Callable[[qv.QueryLog], Any]


def measured(log: qv.QueryLog) -> Any:
    made = qv.anonymize(log, "frequent-queries:min-users=5")
    return qv.measure(log, made, ["query-coverage"])


LOOKS: dict[str, Look] = {
    "profile": qv.profile,
    "plan": lambda log: qv.plan(log, qv.FrequentQueries(min_users=5)),
    "measure": measured,
    "compare": lambda log: qv.compare(
        log, ["frequent-queries:min-users=5"], measures=["query-coverage"]
    ),
    "peers simulate": lambda log: simulate(log, seed=1),
    "peers sweep": lambda log: sweep(log, {"max_hops": [1]}, seed=1),
}


@pytest.fixture
def log(tmp_path: Path, synthetic: Path) -> Path:
    (tmp_path / "logs").mkdir()
    return Path(shutil.copy(synthetic, tmp_path / "logs" / "log.tsv"))


def looks(log: Path) -> list[str]:
    with Ledger.open(log.parent / "ledger.db", create=False) as ledger:
        return [entry.method for entry in ledger.entries() if entry.kind == "look"]


@pytest.mark.parametrize("name", LOOKS)
def test_a_look_is_noted_once(log: Path, name: str) -> None:
    for _ in range(2):
        LOOKS[name](qv.read_log(log))
    assert looks(log) == ["peers simulate" if name == "peers sweep" else name]


def test_a_later_private_release_tells_of_a_profile(log: Path, tmp_path: Path) -> None:
    assert qv.profile(qv.read_log(log)).notes == (DATA_ACCESS_RECORDED,)
    qv.anonymize(qv.read_log(log), PRIVATE).write(tmp_path / "out")
    card = json.loads((tmp_path / "out" / "public" / "release.json").read_text("utf-8"))
    assert DATA_ACCESS_NOTE in card["notes"]
    assert DATA_ACCESS_NOTE in (tmp_path / "out" / "public" / "report.html").read_text("utf-8")


def test_the_command_tells_it(cli, log: Path, tmp_path: Path) -> None:
    ran = cli("profile", log, "--taxonomy", "none")
    assert (ran.code, "Recorded in the ledger" in " ".join(ran.out.split())) == (0, True)
    (tmp_path / "other").mkdir()
    assert cli("profile", log, "--ledger", "./other", "--taxonomy", "none", "--json").code == 0
    assert (tmp_path / "other" / "ledger.db").exists()


@pytest.mark.parametrize("why", ["no ledger", "a folder"])
def test_nobody_is_kept_from_looking(log: Path, why: str) -> None:
    place = log.parent / "ledger.db"
    if why == "a folder":
        place.mkdir()
    else:
        place.write_text("my own notes")
    found = qv.profile(qv.read_log(log))
    assert found.size.kept_rows > 0
    assert "could not be recorded in a ledger" in found.notes[0]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written(log: Path) -> None:
    log.parent.chmod(0o500)
    try:
        assert "could not be recorded in a ledger" in qv.profile(qv.read_log(log)).notes[0]
    finally:
        log.parent.chmod(0o700)


def test_a_log_from_no_file_has_no_ledger() -> None:
    rows = [(user, f"query {n}", None, None, None) for user in "abc" for n in range(3)]
    assert qv.profile(qv.QueryLog.from_rows(rows)).notes == ()
