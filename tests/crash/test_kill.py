"""A run that is killed, at any moment, leaves a whole release or none."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import queryveil as qv
from conftest import HANG, write_aol
from queryveil.synthetic.generator import generate_blocks

METHOD = ("--method", "frequent-queries", "--min-users", "5")
LATE = 28  # until then a run that replaces a release does what every run does


def leftovers(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name.startswith("."))


def assert_whole_or_missing(target: Path) -> None:
    if target.exists():
        assert qv.verify(target).holds, target
        assert {path.name for path in (target / "private").iterdir()} == {
            "card.json", "mapping.tsv", "rejected.tsv", "report.html",
        }  # fmt: skip


@pytest.fixture(scope="module")
def small(synthetic: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The first lines of the log: a run touches the same files, whatever their size."""
    path = tmp_path_factory.mktemp("small") / "log.tsv"
    path.write_text("".join(synthetic.read_text("utf-8").splitlines(keepends=True)[:3001]), "utf-8")
    return path


@pytest.fixture(scope="module")
def release(small: Path) -> qv.Release:
    return qv.anonymize(qv.read_log(small), qv.FrequentQueries(min_users=5))


# Imports once, and compiles the templates of pages once, which takes longer than the work. Nothing
# of Polars may run before a fork: its threads would not survive it.
READY = """
import gc, json, os, sys, time
from queryveil.cli import main
from queryveil.render.html import PACKAGE, environment

def call(*args):
    sys.argv = ["queryveil", *args]
    try:
        main()
    except SystemExit as stop:
        return stop.code or 0
    return 0

arguments = sys.argv[1:]
call("methods", "--quiet")  # draws in everything that a command needs
pages = environment(PACKAGE)
for name in pages.list_templates():
    pages.get_template(name)
gc.freeze()  # else each run would search and copy all that was imported
"""

# --- at any time ---------------------------------------------------------------------------------


# Forks a run for each signal and the share of the work after which it comes. The first run is not
# disturbed: it is timed. The time of the others counts from when they open the log: before that
# they do not yet listen to signals.
AT_ANY_TIME = f"""{READY}
log, folder, plan, *rest = arguments

def started(name):
    os.mkdir(os.path.join(folder, name))
    begun, begin = os.pipe()
    child = os.fork()
    if not child:
        target = os.path.join(folder, name)
        tell = lambda event, args: event == "open" and str(args[0]) == log and os.write(begin, b".")
        sys.addaudithook(tell)
        os.dup2(os.open(target + ".told", os.O_WRONLY | os.O_CREAT), 2)
        os._exit(call("anonymize", log, "--out", target + "/out", "--quiet", *rest))
    os.close(begin)
    os.read(begun, 1)
    os.close(begun)
    return child

def ended(child):
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

began = time.monotonic()
assert ended(started("timed")) == 0
whole = time.monotonic() - began
codes = {{}}
for name, number, share in json.loads(plan):
    child = started(name)
    time.sleep(whole * share)
    os.kill(child, number)
    codes[name] = ended(child)
print(json.dumps(codes))
"""
KILLS = [(f"kill-{n}", signal.SIGKILL, n / 9) for n in range(10)]
STOPS = [
    (f"stop-{number}-{share}", number, share)
    for number in (signal.SIGTERM, signal.SIGINT)
    for share in (0.5, 0.75)
]


@pytest.fixture(scope="module")
def longer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log of 60,000 lines, so that a run takes a while."""
    table = pl.concat(generate_blocks(lines=60_000, seed=12, shape="classic"))
    return write_aol(table, tmp_path_factory.mktemp("longer") / "log.tsv")


@pytest.fixture(scope="module")
def disturbed(
    longer: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, dict[str, int]]:
    """Give the folder of all disturbed runs, and the exit code of each."""
    folder = tmp_path_factory.mktemp("disturbed")
    done = subprocess.run(
        [sys.executable, "-c", AT_ANY_TIME, str(longer), str(folder), json.dumps(KILLS + STOPS),
         *METHOD],
        capture_output=True, text=True, check=True, timeout=HANG,
    )  # fmt: skip
    return folder, json.loads(done.stdout)


def test_killed_at_many_moments(
    disturbed: tuple[Path, dict[str, int]], release: qv.Release
) -> None:
    folder, codes = disturbed
    for name, *_ in KILLS:
        target = folder / name / "out"
        assert codes[name] in (0, -signal.SIGKILL)
        assert_whole_or_missing(target)
        release.write(target, overwrite=True)
        assert qv.verify(target).holds
        assert leftovers(folder / name) == []
    assert -signal.SIGKILL in [codes[name] for name, *_ in KILLS]


@pytest.mark.parametrize(("name", "number"), [(name, number) for name, number, _ in STOPS])
def test_stopped_in_the_middle(
    disturbed: tuple[Path, dict[str, int]], name: str, number: int
) -> None:
    folder, codes = disturbed
    assert "Traceback" not in (folder / f"{name}.told").read_text()
    assert leftovers(folder / name) == []
    if (folder / name / "out").exists():  # it was faster than the signal
        assert qv.verify(folder / name / "out").holds
    else:
        assert codes[name] == 128 + number


# --- at every step -------------------------------------------------------------------------------

# Forks a run for each step: it gets the signal when it touches a file for the n-th time.
AT_EVERY_STEP = f"""{READY}
from queryveil.core import files as renaming

number, first, stride, flags, log, folder, *rest = arguments
if flags == "no flags":  # a system that cannot exchange two names
    renaming._system_call = lambda: None
TOUCHES = {{"open", "os.mkdir", "os.rename", "os.chmod", "os.rmdir", "os.remove", "shutil.rmtree"}}

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

codes = {{}}
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
    number: int,
    log: Path,
    folder: Path,
    *more: str,
    first: int = 1,
    stride: int = 1,
    flags: str = "flags",
) -> dict[int, int]:
    """Give the exit code of the run that got the signal at each step."""
    steps = [str(int(number)), str(first), str(stride), flags]
    args = [*steps, str(log), str(folder), *METHOD, *more]
    done = subprocess.run(
        [sys.executable, "-c", AT_EVERY_STEP, *args],
        capture_output=True, text=True, check=True, timeout=HANG,
    )  # fmt: skip
    codes = {int(step): code for step, code in json.loads(done.stdout).items()}
    last, code = codes.popitem()
    assert code == 0  # it came to its end before that step
    assert last > 20  # folders, files, syncs, modes, renaming
    return codes


def test_killed_at_every_other_step(small: Path, release: qv.Release, tmp_path: Path) -> None:
    codes = at_every_step(signal.SIGKILL, small, tmp_path, stride=2)
    assert set(codes.values()) == {-signal.SIGKILL}
    left = 0
    for step in codes:
        folder = tmp_path / str(step)
        assert_whole_or_missing(folder / "out")
        left += bool(leftovers(folder))
        release.write(folder / "out", overwrite=True)
        assert leftovers(folder) == []
        assert qv.verify(folder / "out").holds
    assert left > 10  # else the kills came too early or too late to prove anything


def put_releases(release: qv.Release, folder: Path) -> None:
    """Put a release where each run will write."""
    release.write(folder / "0" / "out", format="tsv")
    for step in range(LATE, 60):
        (folder / str(step)).mkdir()
        shutil.copytree(folder / "0" / "out", folder / str(step) / "out")


def test_killed_at_every_step_of_replacing(
    small: Path, release: qv.Release, tmp_path: Path
) -> None:
    put_releases(release, tmp_path)
    codes = at_every_step(signal.SIGKILL, small, tmp_path, "--overwrite", first=LATE)
    forms = []
    for step in codes:
        folder = tmp_path / str(step)
        assert qv.verify(folder / "out").holds  # the old one or the new one, at every moment
        assert_whole_or_missing(folder / "out")
        forms += [path.suffix for path in (folder / "out" / "public").glob("log.*")]
        release.write(folder / "out", overwrite=True)
        assert leftovers(folder) == []
    new = forms.index(".parquet")
    assert new > 1
    assert forms == [".tsv"] * new + [".parquet"] * (len(forms) - new)


def test_killed_at_every_step_of_replacing_in_two_steps(
    small: Path, release: qv.Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_releases(release, tmp_path)
    monkeypatch.setattr("queryveil.core.files._system_call", lambda: None)
    kill = signal.SIGKILL
    codes = at_every_step(kill, small, tmp_path, "--overwrite", first=LATE, flags="no flags")
    between = 0
    for step in codes:
        folder = tmp_path / str(step)
        assert_whole_or_missing(folder / "out")
        if not (folder / "out").exists():  # killed between two renamings: nothing is lost
            (old,) = (folder / name for name in leftovers(folder) if name.endswith(".old"))
            assert qv.verify(old).holds
            between += 1
        release.write(folder / "out", overwrite=True)
        assert leftovers(folder) == []
    assert between >= 1


@pytest.mark.parametrize(
    ("number", "stride"), [(signal.SIGTERM, 2), (signal.SIGINT, 5), (signal.SIGHUP, 10)]
)
def test_stopped_at_many_steps(small: Path, tmp_path: Path, number: int, stride: int) -> None:
    codes = at_every_step(number, small, tmp_path, stride=stride)
    assert set(codes.values()) == {128 + number}
    for step in codes:
        folder = tmp_path / str(step)
        assert leftovers(folder) == [], step
        assert_whole_or_missing(folder / "out")
    missing = [step for step in codes if not (tmp_path / str(step) / "out").exists()]
    assert missing == list(range(1, missing[-1] + 1, stride))  # all before the renaming
    assert len(missing) * stride > 20


def test_stopped_at_every_step_of_replacing(
    small: Path, release: qv.Release, tmp_path: Path
) -> None:
    put_releases(release, tmp_path)
    codes = at_every_step(signal.SIGTERM, small, tmp_path, "--overwrite", first=LATE)
    forms = set()
    for step in codes:
        folder = tmp_path / str(step)
        assert leftovers(folder) == [], step
        assert qv.verify(folder / "out").holds, step
        forms |= {path.suffix for path in (folder / "out" / "public").glob("log.*")}
    assert ".tsv" in forms  # the release that was there, as long as the new one did not stand


def test_nohup_is_honoured(small: Path, tmp_path: Path) -> None:
    code = (
        "import os, signal, sys\n"
        "signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        "import queryveil.cli.app\n"
        "from queryveil.cli import main\n"
        "hang_up = lambda: os.kill(os.getpid(), signal.SIGHUP)\n"
        "sys.addaudithook(lambda event, args: event == 'os.mkdir' and hang_up())\n"
        "main()\n"
    )
    args = ["anonymize", str(small), *METHOD, "--out", str(tmp_path / "out"), "--quiet"]
    done = subprocess.run([sys.executable, "-c", code, *args], env=os.environ, check=False)
    assert done.returncode == 0
    assert qv.verify(tmp_path / "out").holds
