"""A release that is killed around its renaming is counted, and can be written again."""

from __future__ import annotations

import signal
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

import queryveil as qv
from conftest import HANG
from queryveil.ledger.entries import LedgerEntry
from queryveil.ledger.ledger import Ledger

# A run that is killed before or after a function, after it has written a release so many times.
DYING = """
import os, signal, sys
from pathlib import Path
top, spec, writings, moment = sys.argv[1:]
import queryveil as qv
from queryveil.dp.sketch import NoisySketch
from queryveil.ledger import Ledger
from queryveil.release import writing

NoisySketch.__init__.__defaults__ = (1 << 10,)  # buckets: to draw more takes seconds

def dying(kind, name, when):
    real = getattr(kind, name)
    def die(*args, **more):
        if when == "after":
            real(*args, **more)
        os.kill(os.getpid(), signal.SIGKILL)
    setattr(kind, name, die)

release = qv.anonymize(qv.read_log(Path(top) / "log.tsv"), spec, expected_users=10**6)
for number in range(int(writings)):
    release.write(f"{top}/before{number}")
kind, name, when = moment.split(".")
dying({"ledger": Ledger, "writing": writing}[kind], name, when)
release.write(f"{top}/out")
"""
pytestmark = pytest.mark.usefixtures("small_sketch")
DP, GROUPS, RULE = (
    "dp-statistics:epsilon=2",
    "string-microaggregation:k=2",
    "frequent-queries:min-users=2",
)
# What the ledger must know of the release, when it is in its place but was not confirmed.
STATES = {(DP, "before"): "reserved", (DP, "after"): "confirmed",
          (GROUPS, "before"): "reserved", (GROUPS, "after"): "confirmed",
          (RULE, "before"): "reserved", (RULE, "after"): "confirmed"}  # fmt: skip


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.tsv"
    rows = [f"u{user}\tq{user % 3}\t2006-03-01 10:00:00\t\t\n" for user in range(12)]
    path.write_text("AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n" + "".join(rows))
    return path


def killed(folder: Path, spec: str, writings: int, moment: str) -> None:
    call = [sys.executable, "-c", DYING, str(folder), spec, str(writings), moment]
    done = subprocess.run(call, capture_output=True, text=True, check=False, timeout=HANG)
    assert (done.returncode, done.stderr) == (-signal.SIGKILL, "")


def entries(folder: Path) -> list[LedgerEntry]:
    with Ledger.open(folder / "ledger.db", create=False) as ledger:
        ledger.check()
        return ledger.entries()


@pytest.mark.parametrize(("spec", "when"), STATES)
def test_killed_between_renaming_and_confirming(
    log: Path, tmp_path: Path, spec: str, when: str
) -> None:
    """The folder is whole, its cost is counted, and it may be written by a new run."""
    killed(tmp_path, spec, 0, f"ledger.confirm.{when}")
    assert qv.verify(tmp_path / "out").holds
    (entry,) = entries(tmp_path)
    assert entry.state == STATES[spec, when]
    assert entry.epsilon == (Fraction(2) if spec == DP else None)
    again = qv.anonymize(qv.read_log(log), spec, expected_users=10**6)
    again.write(tmp_path / "out", overwrite=True)
    states = [one.state for one in entries(tmp_path)]
    assert states == [STATES[spec, when], "confirmed"]
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        assert ledger.spent().epsilon == (8 if spec == DP else 0)  # of replace-one, two runs


@pytest.mark.parametrize("spec", [DP, GROUPS, RULE])
def test_killed_when_written_twice(log: Path, tmp_path: Path, spec: str) -> None:
    """The second writing costs nothing, and a kill loses the record of that copy alone."""
    killed(tmp_path, spec, 1, "ledger.rewritten.before")
    assert qv.verify(tmp_path / "before0").holds
    assert qv.verify(tmp_path / "out").holds
    (entry,) = entries(tmp_path)
    assert (entry.state, entry.folder) == ("confirmed", str(tmp_path / "before0"))


@pytest.mark.parametrize("spec", [DP, GROUPS, RULE])
def test_written_twice(log: Path, tmp_path: Path, spec: str) -> None:
    release = qv.anonymize(qv.read_log(log), spec, expected_users=10**6)
    release.write(tmp_path / "one")
    release.write(tmp_path / "two", format="tsv")
    first, second = entries(tmp_path)
    assert (first.state, second.state, second.copy_of) == ("confirmed", "copied", first.number)
    assert second.epsilon in (0, None)
    assert [first.folder, second.folder] == [str(tmp_path / "one"), str(tmp_path / "two")]
    assert (first.release_digest != second.release_digest) == (spec != DP)  # tables are always tsv


@pytest.mark.parametrize("spec", [DP, GROUPS])
def test_killed_before_renaming(log: Path, tmp_path: Path, spec: str) -> None:
    """What was reserved stays reserved, and there is no folder."""
    killed(tmp_path, spec, 0, "writing._check_written.before")
    assert not (tmp_path / "out").exists()
    assert [entry.state for entry in entries(tmp_path)] == ["reserved"]
