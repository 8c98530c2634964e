"""What tests share: no network, a log that belongs to nobody, and a way to run commands."""

from __future__ import annotations

import importlib.util
import io
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from types import FrameType
from typing import NamedTuple

import polars as pl
import pytest
from hypothesis import settings

from queryveil.cli import main
from queryveil.concepts.mapping.mapper import Mapper
from queryveil.dp.sketch import NoisySketch
from queryveil.synthetic.generator import generate_blocks

# Writing a file takes as long as the disk takes.
settings.register_profile("queryveil", deadline=None)
settings.load_profile("queryveil")

# The processes in which `make test` runs the tests measure what they run. What tests start is
# not measured: that would slow it down, and a killed process could tell nothing.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.pop("COVERAGE_PROCESS_START", None)

HANG = 600  # seconds: no limit on how long work may take, but an end to what hangs
NO_JAVA = "NO JAVA HERE: nothing of the Spark engine was tested"
# The data of other languages are packages of their own; tests use them as they are in the clone.
LANGUAGES = sorted(Path(__file__).parents[1].glob("packages/queryveil-lang-*/src"))
sys.path[:0] = [str(folder) for folder in LANGUAGES if str(folder) not in sys.path]
GUARD = Path(__file__).parent / "offline" / "sitecustomize.py"


@pytest.fixture(autouse=True, scope="session")
def offline() -> Iterator[None]:
    """Let no test, and no process that a test starts, reach beyond this machine."""
    spec = importlib.util.spec_from_file_location("offline_guard", GUARD)
    guard = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(guard)
    with pytest.MonkeyPatch.context() as patch:
        guard.install(patch.setattr)
        patch.setenv("PYTHONPATH", str(GUARD.parent), prepend=os.pathsep)
        for folder in LANGUAGES:  # of processes that tests start
            patch.setenv("PYTHONPATH", str(folder), prepend=os.pathsep)
        yield


@pytest.fixture(autouse=True, scope="session")
def caller(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Let nothing of whoever runs the tests decide how they end.

    Folders and time zone, language and width, Python's own settings, who may read new files, and
    signals that are ignored, as `nohup` and a shell's `&` hand them on.
    """
    mask = os.umask(0o022)
    with pytest.MonkeyPatch.context() as patch, _signals_heard():
        for name in _SETTINGS_OF_THE_CALLER & os.environ.keys():
            patch.delenv(name)
        for name in ("XDG_CACHE_HOME", "XDG_DATA_HOME"):
            patch.setenv(name, str(tmp_path_factory.mktemp(name.lower())))
        patch.setenv("LC_ALL", "C.UTF-8")
        patch.setenv("TZ", "UTC")
        time.tzset()
        yield
    time.tzset()
    os.umask(mask)


_SETTINGS_OF_THE_CALLER = {
    "CLICOLOR", "CLICOLOR_FORCE", "COLORTERM", "COLUMNS", "FORCE_COLOR", "LANG", "LANGUAGE",
    "LINES", "NO_COLOR", "PYTHONASYNCIODEBUG", "PYTHONDEVMODE", "PYTHONHASHSEED", "PYTHONINSPECT",
    "PYTHONIOENCODING", "PYTHONOPTIMIZE", "PYTHONSAFEPATH", "PYTHONSTARTUP", "PYTHONUNBUFFERED",
    "PYTHONUTF8", "PYTHONVERBOSE", "PYTHONWARNINGS", "SOURCE_DATE_EPOCH", "TERM",
}  # fmt: skip


@contextmanager
def _signals_heard() -> Iterator[None]:
    """Let processes that tests start hear each signal, and this one go on ignoring what it did.

    A handler, unlike what is ignored, is not handed on to another program.
    """
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    ignored = [number for number in numbers if signal.getsignal(number) is signal.SIG_IGN]
    for number in ignored:
        signal.signal(number, _nothing)
    yield
    for number in ignored:
        signal.signal(number, signal.SIG_IGN)


def _nothing(number: int, frame: FrameType | None) -> None:
    """Take no notice."""


@pytest.fixture(autouse=True, scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Let the processes that tests start keep what they compile, where Python may keep nothing.

    Else each of them compiles every module that it imports, which takes longer than its work.
    """
    with pytest.MonkeyPatch.context() as patch:
        if sys.dont_write_bytecode:
            own = tmp_path_factory.getbasetemp()
            shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
            patch.setenv("PYTHONPYCACHEPREFIX", str(shared / "compiled"))
            patch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
        yield


# --- logs ----------------------------------------------------------------------------------------


def long_id(user: str) -> str:
    """Give a user a name that cannot stand anywhere by chance."""
    return f"someone-{user.zfill(6)}-{sha256(user.encode()).hexdigest()[:12]}"


def write_aol(table: pl.DataFrame, path: Path) -> Path:
    """Write a log in AOL's form."""
    names = dict(zip(table.columns, ("AnonID", "Query", "QueryTime", "ItemRank", "ClickURL"),
                     strict=True))  # fmt: skip
    table.rename(names).write_csv(
        path, separator="\t", quote_style="never", datetime_format="%Y-%m-%d %H:%M:%S"
    )
    return path


@pytest.fixture(scope="session")
def synthetic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log of 300 users whose names are long and distinct."""
    table = pl.concat(generate_blocks(users=300, seed=11, shape="classic"))
    named = table.with_columns(pl.col("user").map_elements(long_id, return_dtype=pl.String))
    return write_aol(named, tmp_path_factory.mktemp("logs") / "synthetic.tsv")


def add_subjects(log: Path) -> Path:
    """Add 40 queries of 60 users each: two draws of noise for so many counts are never equal."""
    with log.open("a") as file:
        for number in range(2400):
            file.write(f"u{number}\tsubject{number % 40}\t2006-03-01 10:00:00\t\t\n")
    return log


@pytest.fixture(scope="session")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log of 200,000 lines, so that a run takes a while."""
    table = pl.concat(generate_blocks(lines=200_000, seed=12, shape="classic"))
    return write_aol(table, tmp_path_factory.mktemp("logs") / "large.tsv")


@pytest.fixture(scope="module")
def one_mapper() -> Iterator[None]:
    """Make each mapper of methods once: to make one takes a third of a run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("queryveil.concepts.mapping.options.Mapper", cache(Mapper))
        yield


@pytest.fixture(scope="module")
def small_sketch() -> Iterator[None]:
    """Let the noisy sketches of methods have few buckets: to draw the others takes two seconds.

    Not for tests of the sketch itself, or of the bytes of a release.
    """
    with pytest.MonkeyPatch.context() as patch:
        scale_for = NoisySketch.for_rho.__func__
        small = lambda cls, rho: replace(scale_for(cls, rho), buckets=1 << 10)  # noqa: E731
        patch.setattr(NoisySketch, "for_rho", classmethod(small))
        yield


# --- work ----------------------------------------------------------------------------------------


@contextmanager
def python_calls() -> Iterator[list[str]]:
    """Count the calls and the steps of generators within, in this thread and in new ones.

    How long something takes depends on the machine and on what else it does; how often Python is
    asked to do something does not. A loop over rows shows, wherever it is.
    """
    made: list[str] = []

    def note(frame: FrameType, event: str, arg: object) -> None:
        if event in ("call", "c_call"):
            made.append(event)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield made
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


# --- commands ------------------------------------------------------------------------------------


class Ran(NamedTuple):
    """What a command gave back."""

    code: int
    out: str
    err: str


Run = Callable[..., Ran]


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command in this process, in an empty folder, as `queryveil` itself would."""
    monkeypatch.chdir(tmp_path)

    def run(*args: object) -> Ran:
        out, err = io.StringIO(), io.StringIO()
        monkeypatch.setattr(sys, "argv", ["queryveil", *map(str, args)])
        with redirect_stdout(out), redirect_stderr(err), _settings_kept():
            try:
                main()
                code = 0
            except SystemExit as stop:
                code = int(stop.code or 0)
        return Ran(code, out.getvalue(), err.getvalue())

    return run


@contextmanager
def _settings_kept() -> Iterator[None]:
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    handlers = [signal.getsignal(number) for number in numbers]
    with warnings.catch_warnings():
        try:
            yield
        finally:
            for number, handler in zip(numbers, handlers, strict=True):
                signal.signal(number, handler)


@pytest.fixture
def command(tmp_path: Path) -> Run:
    """Run a command in a process of its own, in an empty folder."""

    def run(*args: object, **settings: str) -> Ran:
        done = subprocess.run(
            [sys.executable, "-m", "queryveil", *map(str, args)],
            cwd=tmp_path,
            env=os.environ | settings,
            capture_output=True,
            text=True,
            errors="surrogateescape",
            timeout=HANG,
            check=False,
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    return run


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say loudly what was not tested at all."""
    skipped = terminalreporter.stats.get("skipped", [])
    if any(NO_JAVA in str(report.longrepr) for report in skipped):
        terminalreporter.write_line(f"!!! {NO_JAVA} !!!", red=True, bold=True)
