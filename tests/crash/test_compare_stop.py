"""A comparison that was stopped: nothing half is there, nobody goes on working, and it goes on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from conftest import HANG

SLOW = ("--methods", "string-microaggregation", "--sweep", "k=2..11", "--measures",
        "record-linkage", "--seed", "1", "--workers", "2", "--out", "out", "--json")  # fmt: skip


# Interrupts itself and its workers, as a terminal does, when three runs are done.
INTERRUPTED = """
import os, signal
from queryveil.cli import main
from queryveil.comparison import journal

real = journal._append

def noted(path, line):
    real(path, line)
    if path.read_text().count("\\n") >= 3:
        os.killpg(0, signal.SIGINT)

journal._append = noted
main()
"""


def start(log: Path, folder: Path, *code: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, *(code or ("-m", "queryveil")), "compare", str(log), *SLOW]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            start_new_session=True)  # fmt: skip


def lines(path: Path) -> int:
    return path.read_text().count("\n") if path.exists() else 0


def alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def test_ctrl_c_and_on(synthetic: Path, tmp_path: Path) -> None:
    run, journal = start(synthetic, tmp_path, "-c", INTERRUPTED), tmp_path / ".out.runs.jsonl"
    out, err = run.communicate(timeout=HANG)
    assert run.returncode not in (0, None)
    assert b"Traceback" not in err
    assert out == b""
    assert not (tmp_path / "out").exists()
    done = lines(journal)
    assert 3 <= done < 10
    for _ in range(20 * HANG):
        if not alive(run.pid):
            break
        time.sleep(0.05)
    assert not alive(run.pid)
    out, err = start(synthetic, tmp_path).communicate(timeout=HANG)
    found = json.loads(out)
    assert found["known_before"] == done, err
    assert len(found["rows"]) == 10
    assert not journal.exists()
