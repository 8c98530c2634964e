"""A run that is killed, at any moment, leaves a whole release or none."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import queryveil as qv

METHOD = ("--method", "frequent-queries", "--n", "5")
# As `python -m queryveil` does it, and tells when the package is imported.
RUN = "from queryveil.cli import main; print(flush=True); main()"


LATE = 28  # until then a run that replaces a release does what every run does


def leftovers(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name.startswith("."))


def assert_whole_or_missing(target: Path) -> None:
    if target.exists():
        assert qv.verify(target)["holds"], target
        assert {path.name for path in (target / "private").iterdir()} == {
            "card.json", "mapping.tsv", "rejected.tsv", "report.html",
        }  # fmt: skip


@pytest.fixture(scope="module")
def release(synthetic: Path) -> qv.Release:
    return qv.anonymize(qv.read_log(synthetic), qv.FrequentQueries(n=5))


# --- at any time ---------------------------------------------------------------------------------


def start(log: Path, target: Path) -> subprocess.Popen[bytes]:
    """Start a run, and come back when its work begins: most of the time goes into importing."""
    process = subprocess.Popen(
        [sys.executable, "-c", RUN, "anonymize", str(log), *METHOD, "--out", str(target), "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout.readline() == b"\n"
    return process


@pytest.fixture(scope="module")
def work_time(large: Path, tmp_path_factory: pytest.TempPathFactory) -> float:
    with start(large, tmp_path_factory.mktemp("timed") / "out") as process:
        began = time.monotonic()
        assert process.wait(60) == 0
    return time.monotonic() - began


def test_killed_at_many_moments(
    large: Path, work_time: float, release: qv.Release, tmp_path: Path
) -> None:
    moments, finished = 10, 0
    for number in range(moments):
        target = tmp_path / "out"
        with start(large, target) as process:
            time.sleep(work_time * number / (moments - 1))
            process.kill()
            finished += process.wait(60) == 0
        assert_whole_or_missing(target)
        release.write(target, force=True)
        assert qv.verify(target)["holds"]
        assert leftovers(tmp_path) == []
        shutil.rmtree(target)
    assert finished < moments


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_stopped_in_the_middle(large: Path, work_time: float, tmp_path: Path, number: int) -> None:
    for share in (0.5, 0.75):
        with start(large, tmp_path / "out") as process:
            time.sleep(work_time * share)
            process.send_signal(number)
            told = process.stderr.read().decode()
            code = process.wait(60)
        assert "Traceback" not in told
        assert leftovers(tmp_path) == []
        if (tmp_path / "out").exists():  # it was faster than the signal
            assert qv.verify(tmp_path / "out")["holds"]
            shutil.rmtree(tmp_path / "out")
        else:
            assert code == 128 + number


# --- at every step -------------------------------------------------------------------------------

# Imports once, then forks a run for each step: it gets the signal when it touches a file for
# the n-th time.
AT_EVERY_STEP = """
import json, os, sys
from queryveil.cli import main

number, first, stride, log, folder, *rest = sys.argv[1:]
TOUCHES = {"open", "os.mkdir", "os.rename", "os.chmod", "os.rmdir", "os.remove", "shutil.rmtree"}

def run(step):
    target, seen = os.path.join(folder, str(step), "out"), 0
    def hook(event, args):
        nonlocal seen
        if event in TOUCHES and os.path.join(folder, str(step)) in os.fspath(str(args[0])):
            seen += 1
            if seen == step:
                os.kill(os.getpid(), int(number))
    sys.addaudithook(hook)
    return call("anonymize", log, "--out", target, "--quiet", *rest)

def call(*args):
    sys.argv = ["queryveil", *args]
    try:
        main()
    except SystemExit as stop:
        return stop.code or 0
    return 0

call("methods", "--quiet")  # draws in everything that a command needs
codes = {}
for step in range(int(first), 200, int(stride)):
    os.makedirs(os.path.join(folder, str(step)), exist_ok=True)
    child = os.fork()
    if not child:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        os._exit(run(step))
    codes[step] = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if codes[step] == 0:
        break
print(json.dumps(codes))
"""


def at_every_step(
    number: int, log: Path, folder: Path, *more: str, first: int = 1, stride: int = 1
) -> dict[int, int]:
    """Give the exit code of the run that got the signal at each step."""
    args = [str(int(number)), str(first), str(stride), str(log), str(folder), *METHOD, *more]
    done = subprocess.run(
        [sys.executable, "-c", AT_EVERY_STEP, *args],
        capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    codes = {int(step): code for step, code in json.loads(done.stdout).items()}
    last, code = codes.popitem()
    assert code == 0  # it came to its end before that step
    assert last > 20  # folders, files, syncs, modes, renaming
    return codes


def test_killed_at_every_other_step(synthetic: Path, release: qv.Release, tmp_path: Path) -> None:
    codes = at_every_step(signal.SIGKILL, synthetic, tmp_path, stride=2)
    assert set(codes.values()) == {-signal.SIGKILL}
    left = 0
    for step in codes:
        folder = tmp_path / str(step)
        assert_whole_or_missing(folder / "out")
        left += bool(leftovers(folder))
        release.write(folder / "out", force=True)
        assert leftovers(folder) == []
        assert qv.verify(folder / "out")["holds"]
    assert left > 10  # else the kills came too early or too late to prove anything


def put_releases(release: qv.Release, folder: Path) -> None:
    """Put a release where each run will write."""
    release.write(folder / "0" / "out", form="tsv")
    for step in range(LATE, 60):
        (folder / str(step)).mkdir()
        shutil.copytree(folder / "0" / "out", folder / str(step) / "out")


def test_killed_at_every_step_of_replacing(
    synthetic: Path, release: qv.Release, tmp_path: Path
) -> None:
    put_releases(release, tmp_path)
    codes = at_every_step(signal.SIGKILL, synthetic, tmp_path, "--force", first=LATE)
    between = 0
    for step in codes:
        folder = tmp_path / str(step)
        assert_whole_or_missing(folder / "out")
        if not (folder / "out").exists():  # killed between two renamings: nothing is lost
            (old,) = (folder / name for name in leftovers(folder) if name.endswith(".old"))
            assert qv.verify(old)["holds"]
            between += 1
        release.write(folder / "out", force=True)
        assert leftovers(folder) == []
    assert between >= 1


@pytest.mark.parametrize(
    ("number", "stride"), [(signal.SIGTERM, 2), (signal.SIGINT, 5), (signal.SIGHUP, 10)]
)
def test_stopped_at_many_steps(synthetic: Path, tmp_path: Path, number: int, stride: int) -> None:
    codes = at_every_step(number, synthetic, tmp_path, stride=stride)
    assert set(codes.values()) == {128 + number}
    for step in codes:
        folder = tmp_path / str(step)
        assert leftovers(folder) == [], step
        assert_whole_or_missing(folder / "out")
    missing = [step for step in codes if not (tmp_path / str(step) / "out").exists()]
    assert missing == list(range(1, missing[-1] + 1, stride))  # all before the renaming
    assert len(missing) * stride > 20


def test_stopped_at_every_step_of_replacing(
    synthetic: Path, release: qv.Release, tmp_path: Path
) -> None:
    put_releases(release, tmp_path)
    codes = at_every_step(signal.SIGTERM, synthetic, tmp_path, "--force", first=LATE)
    forms = set()
    for step in codes:
        folder = tmp_path / str(step)
        assert leftovers(folder) == [], step
        assert qv.verify(folder / "out")["holds"], step
        forms |= {path.suffix for path in (folder / "out" / "public").glob("log.*")}
    assert ".tsv" in forms  # the release that was there, as long as the new one did not stand


def test_nohup_is_honoured(synthetic: Path, tmp_path: Path) -> None:
    code = (
        "import os, signal, sys\n"
        "signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        "import queryveil.cli.commands\n"
        "from queryveil.cli import main\n"
        "hang_up = lambda: os.kill(os.getpid(), signal.SIGHUP)\n"
        "sys.addaudithook(lambda event, args: event == 'os.mkdir' and hang_up())\n"
        "main()\n"
    )
    args = ["anonymize", str(synthetic), *METHOD, "--out", str(tmp_path / "out"), "--quiet"]
    done = subprocess.run([sys.executable, "-c", code, *args], env=os.environ, check=False)
    assert done.returncode == 0
    assert qv.verify(tmp_path / "out")["holds"]
