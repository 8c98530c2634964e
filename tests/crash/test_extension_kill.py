"""What extends a release is killed, and tried again: nobody's slots are counted too few."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import polars as pl
import pytest

import queryveil as qv
from conftest import HANG

HERE = Path(__file__).parents[1] / "unit" / "workflows"  # where the method for tests lies

DYING = """
import os, signal, sys
from pathlib import Path
top, moment, here = sys.argv[1:]
sys.path.insert(0, here)
import queryveil as qv
from queryveil.ledger import Ledger
from numbered_method import Slotted, known

def dying(kind, name, when):
    real = getattr(kind, name)
    def die(*args, **more):
        if when == "after":
            real(*args, **more)
        os.kill(os.getpid(), signal.SIGKILL)
    setattr(kind, name, die)

kind, name, when = moment.split(".")
dying({"method": Slotted, "ledger": Ledger}[kind], name, when)
Slotted.drawn = Path(top) / "drawn"
with known():
    log = qv.read_log(Path(top) / "logs" / "two.tsv", since="2006-03-02")
    qv.extend_release(log, f"{top}/a", f"{top}/b")
"""
# Where it dies, and whether the ledger must take it for made.
MOMENTS = {
    "ledger.reserve.before": 0,
    "ledger.reserve.after": 1,
    "method.continue_release.after": 1,
    "ledger.confirm.before": 1,
}


@pytest.mark.parametrize("moment", MOMENTS)
def test_killed_and_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    monkeypatch.syspath_prepend(str(HERE))
    from numbered_method import Slotted, known, write_log

    monkeypatch.setattr(Slotted, "drawn", tmp_path / "drawn")
    rows = [("ann", 1), ("bob", 1)]
    one = write_log(tmp_path / "logs" / "one.tsv", rows)
    two = write_log(tmp_path / "logs" / "two.tsv", [*rows, ("ann", 2), ("cat", 2)])
    with known():
        qv.anonymize_to_folder(qv.read_log(one), Slotted(), tmp_path / "a")
        call = [sys.executable, "-c", DYING, str(tmp_path), moment, str(HERE)]
        done = subprocess.run(call, capture_output=True, text=True, check=False, timeout=HANG)
        assert (done.returncode, done.stderr) == (-signal.SIGKILL, "")
        log = qv.read_log(two, since="2006-03-02")
        qv.extend_release(log, tmp_path / "a", tmp_path / "b", overwrite=True)
    drawn = Counter[str]()
    for line in (tmp_path / "drawn").read_text().splitlines():
        drawn.update(json.loads(line))
    table = pl.read_csv(tmp_path / "b" / "private" / "mapping.tsv", separator="\t")
    counted = dict(table.select("user", "slots").rows())
    assert all(counted[user] >= slots for user, slots in drawn.items())
    lost = MOMENTS[moment]
    assert counted == {"ann": 2 + lost, "bob": 1, "cat": 1 + lost}
