"""A ledger never counts too little: not when killed at any moment, not with many at once."""

from __future__ import annotations

import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from conftest import HANG
from queryveil.ledger import store as files
from queryveil.ledger.ledger import Ledger

# Imports once, then forks a child for each moment. A child reserves, publishes, confirms.
COMMON = """
import json, os, signal, sqlite3, sys, time
from fractions import Fraction
from pathlib import Path
from queryveil.ledger import Ledger
from queryveil.errors import BudgetError

top = Path(sys.argv[1])

def publish(folder, number, epsilon):
    (folder / f"published-{number}").write_text(str(epsilon))

def work(folder, rounds):
    with Ledger.open(folder / "ledger.db") as ledger:
        for count in range(rounds):
            epsilon = Fraction(1, count % 7 + 1)
            number = ledger.reserve(
                kind="dp", method="m", log_digest="d", relation="replace-one",
                epsilon=epsilon, delta=Fraction("1e-7")
            )
            publish(folder, number, epsilon)
            ledger.confirm(number, "r", folder)

def in_child(do, *args):
    child = os.fork()
    if not child:
        try:
            do(*args)
            os._exit(0)
        except BaseException as error:
            print(repr(error), file=sys.stderr)
            os._exit(1)
    return child
"""

AT_EVERY_STEP = (
    COMMON
    + """
def killing_at(step):
    seen = 0
    def touch(*_):
        nonlocal seen
        seen += 1
        if seen == step:
            os.kill(os.getpid(), signal.SIGKILL)
    class Touchy(sqlite3.Connection):
        def execute(self, *args):
            touch()
            found = super().execute(*args)
            touch()
            return found
        def close(self):
            touch()
            super().close()
            touch()
    real = sqlite3.connect
    sqlite3.connect = lambda *args, **more: real(*args, **more, factory=Touchy)
    for name in ("link", "fsync"):
        def both(*args, real=getattr(os, name)):
            touch()
            real(*args)
            touch()
        setattr(os, name, both)

def run(folder, step):
    killing_at(step)
    work(folder, 1)

codes = []
for step in range(1, 400):
    folder = top / str(step)
    folder.mkdir()
    code = os.waitstatus_to_exitcode(os.waitpid(in_child(run, folder, step), 0)[1])
    codes.append(code)
    if code == 0:
        break
print(json.dumps(codes))
"""
)

AT_ANY_TIME = (
    COMMON
    + """
for moment in range(25):
    folder = top / str(moment)
    folder.mkdir()
    child = in_child(work, folder, 10_000)
    # After more and more rounds, and somewhere within the next one.
    while not (folder / f"published-{1 + moment // 4}").exists():
        assert os.waitpid(child, os.WNOHANG) == (0, 0)
        time.sleep(0.001)
    time.sleep(0.0011 * (moment % 4))
    os.kill(child, signal.SIGKILL)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
"""
)

AT_ONCE = (
    COMMON
    + """
def greedy(folder, begin):
    os.read(begin, 1)
    granted = 0
    with Ledger.open(folder / "ledger.db") as ledger:
        ledger.set_limit(Fraction(10), Fraction(0))
        for _ in range(6):
            try:
                number = ledger.reserve(
                    kind="dp", method="m", log_digest="d", relation="replace-one",
                    epsilon=Fraction(3, 4)
                )
            except BudgetError:
                continue
            publish(folder, number, Fraction(3, 4))
            ledger.confirm(number, "r", folder)

begin, start = os.pipe()
children = [in_child(greedy, top, begin) for _ in range(4)]
os.write(start, b"1234")
codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
print(json.dumps(codes))
"""
)


@pytest.fixture(autouse=True)
def quick_to_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let those who look afterwards not wait for the disk; the children do."""
    monkeypatch.setattr(files, "_SYNC", "OFF")


def run(code: str, folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder)],
        capture_output=True, text=True, check=False, timeout=HANG,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def published(folder: Path) -> dict[int, Fraction]:
    """Give what was published; an empty file was killed while it was written."""
    return {
        int(path.name.split("-")[1]): Fraction(path.read_text() or "0")
        for path in folder.glob("published-*")
    }


def assert_counted(folder: Path) -> int:
    """Look whether all that was published is in the ledger; give how many entries there are."""
    costs = published(folder)
    if not (folder / "ledger.db").exists():
        assert not costs
        return 0
    with Ledger.open(folder / "ledger.db") as ledger:
        ledger.check()
        entries = {entry.number: entry for entry in ledger.entries()}
        assert costs.keys() <= entries.keys()
        assert all(entries[number].epsilon >= cost for number, cost in costs.items())
        assert ledger.spent().epsilon == sum(entry.epsilon for entry in entries.values())
        assert ledger.spent().epsilon >= sum(costs.values())
        assert all(e.number in costs for e in entries.values() if e.state == "confirmed")
        new = ledger.reserve(kind="none", method="m", log_digest="d")
        assert new == len(entries) + 1
    assert not (folder / "ledger.db-journal").exists()
    return len(entries)


def test_killed_at_every_step(tmp_path: Path) -> None:
    codes = json.loads(run(AT_EVERY_STEP, tmp_path))
    assert codes.pop() == 0
    assert set(codes) == {-9}
    assert len(codes) > 60
    found = [assert_counted(tmp_path / str(step)) for step in range(1, len(codes) + 2)]
    assert found == sorted(found)
    assert set(found) == {0, 1}


def test_killed_at_many_moments(tmp_path: Path) -> None:
    run(AT_ANY_TIME, tmp_path)
    found = [assert_counted(tmp_path / str(moment)) for moment in range(25)]
    assert max(found) >= 7
    assert min(found) >= 1


def test_many_at_once_never_spend_more_than_the_limit(tmp_path: Path) -> None:
    assert json.loads(run(AT_ONCE, tmp_path)) == [0, 0, 0, 0]
    assert len(published(tmp_path)) == 13  # 13 times 3/4 is 9.75
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        assert ledger.spent() == (Fraction("9.75"), 0)
        assert {entry.state for entry in ledger.entries()} == {"confirmed"}
        ledger.check()
    assert sorted(path.name for path in tmp_path.glob("*ledger*")) == ["ledger.db"]
