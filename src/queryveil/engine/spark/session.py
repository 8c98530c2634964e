"""A session of Spark, the place where tables are staged, and errors in plain words."""

from __future__ import annotations

import atexit
import importlib
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import warnings
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import Any

from ... import errors
from ...errors import InputError, QueryveilError, UsageError


_INSTALL = "pip install 'queryveil[spark]'"
_JAVA = {"3": (8, 21), "4": (17, 99)}  # the least and the last Java of each Spark
_SECONDS = 5.0
_USUAL = {
    "spark.log.level": "ERROR",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    # A task has one core: threads of Polars beyond that would only wait for each other.
    "spark.executorEnv.POLARS_MAX_THREADS": "1",
    "spark.sql.files.maxPartitionBytes": "32m",  # two or three million rows of packed shares
}


_to_clear: list[weakref.finalize[..., Any]] = []


@dataclass(eq=False)
class SparkCluster:
    """A session, and a folder that all its machines see: what is drawn is written there once.

    The folder holds the log in clear. It is removed with this object, or at the end of the
    program.
    """

    session: Any
    scratch: str
    _number: Iterator[int] = field(default_factory=count, repr=False)

    @property
    def describe(self) -> str:
        """Name the engine, for the card."""
        return f"spark {self.session.version}"

    def new_path(self, what: str) -> str:
        """Give a new name in the folder."""
        return f"{self.scratch}/{what}-{next(self._number)}"

    def remove(self, place: str) -> None:
        """Remove a table that is not needed any more."""
        _remove(self.session, place)


def open_spark(
    master: str | None = None,
    scratch: str | None = None,
    settings: Mapping[str, str] | None = None,
) -> SparkCluster:
    """Take the session that runs already, or start one."""
    sql = _pyspark()
    running = sql.SparkSession.getActiveSession()
    if running is not None and (master is None or master == running.sparkContext.master):
        _check_settings(running, settings or {})
        return _ready(running, scratch)
    if running is not None:
        raise UsageError(
            f"a session of Spark runs already, on {running.sparkContext.master}",
            hint="leave the master out to use it, or stop it first",
        )
    if master is None:  # spark-submit knows its own
        master = "" if "PYSPARK_GATEWAY_PORT" in os.environ else "local[*]"
    _check_java()
    _check_master(master)
    return _ready(_started(sql, master, settings or {}), scratch)


def _pyspark() -> ModuleType:
    try:
        for needed in ("pyarrow", "pandas"):
            importlib.import_module(needed)
        return importlib.import_module("pyspark.sql")
    except ImportError as error:
        raise UsageError("the Spark engine needs PySpark and Arrow", hint=_INSTALL) from error


def _check_settings(session: Any, settings: Mapping[str, str]) -> None:
    for name, value in settings.items():
        if session.conf.get(name, None) != value:
            raise UsageError(
                f"a session of Spark runs already, and {name} is not {value} there",
                hint="leave --spark out, or stop the session first",
            )


def _check_java() -> None:
    """Say what is wrong with Java before Spark says it in its own way."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else "java"
    version = importlib.import_module("pyspark").__version__
    least, last = _JAVA.get(version.split(".")[0], _JAVA["4"])
    hint = f"install Java {max(least, 17)} and let JAVA_HOME name its folder"
    if shutil.which(java) is None:
        raise UsageError("Spark needs Java, and there is none", where=home, hint=hint)
    try:
        told = subprocess.run(  # noqa: S603  (the owner's own Java)
            [java, "-version"], capture_output=True, timeout=60, check=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise UsageError("this Java does not run", where=java, hint=hint) from error
    found = re.search(r'version "(?:1\.)?(\d+)', told.stderr.decode(errors="replace"))
    if found and not least <= int(found[1]) <= last:
        raise UsageError(f"Spark {version} does not run on Java {found[1]}", hint=hint)


def _check_master(master: str) -> None:
    """Knock at a master's door: Spark itself would try for minutes."""
    if not (found := re.fullmatch(r"spark://([^:/,]+):(\d+)", master)):
        return
    try:
        socket.create_connection((found[1], int(found[2])), timeout=_SECONDS).close()
    except OSError as error:
        raise InputError(
            f"nobody answers at {master}", hint="is the cluster up, and is this its address?"
        ) from error


def _started(sql: ModuleType, master: str, settings: Mapping[str, str]) -> Any:
    if master.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if master.startswith("local-cluster") and "SPARK_WORKER_DIR" not in os.environ:
        # Its workers would write beside the installed package.
        os.environ["SPARK_WORKER_DIR"] = folder = tempfile.mkdtemp(prefix="queryveil-workers-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
    builder = sql.SparkSession.builder.appName("queryveil")
    for name, value in {**_USUAL, **_memory(master), **settings}.items():
        builder = builder.config(name, value)
    if master:
        builder = builder.master(master)
    with readable_errors():
        session = builder.getOrCreate()
    atexit.register(_stopped, session)
    return session


def _stopped(session: Any) -> None:
    """Clear up while the session can still do it; one that is left open complains in pages."""
    for clear in _to_clear:
        clear()
    session.stop()


def _memory(master: str) -> dict[str, str]:
    """Let executors of a local cluster have the memory that its name says."""
    found = re.fullmatch(r"local-cluster\[\s*\d+\s*,\s*\d+\s*,\s*(\d+)\s*\]", master)
    driver = {"spark.driver.memory": "2g"} if master.startswith("local") else {}
    return driver | ({"spark.executor.memory": f"{found[1]}m"} if found else {})


def _ready(session: Any, scratch: str | None) -> SparkCluster:
    if not hasattr(session, "sparkContext"):
        raise UsageError(
            "this is a session of Spark Connect, which has no access to the machines' files",
            hint="start a classic session, or let --master name the cluster",
        )
    master = session.sparkContext.master
    if scratch is None and not master.startswith("local"):
        raise UsageError(
            "no folder is named that all machines of the cluster can write to",
            hint="--scratch hdfs:///tmp/queryveil, or any place that all of them see; it holds "
            "the log in clear while this runs",
        )
    own = tempfile.mkdtemp(prefix="queryveil-") if scratch is None else None
    base = Path(own).as_uri() if own else str(scratch).rstrip("/")
    spark = SparkCluster(session, f"{base}/run-{os.urandom(6).hex()}")
    _to_clear.append(weakref.finalize(spark, _cleared, session, spark.scratch, own))
    with readable_errors():  # it will hold the log in clear: for nobody else to read
        files, place = _file_system(session, spark.scratch)
        files.mkdirs(place, session._jvm.org.apache.hadoop.fs.permission.FsPermission("700"))
    return spark


def _cleared(session: Any, place: str, own: str | None) -> None:
    if own is not None:
        shutil.rmtree(own, ignore_errors=True)
        return
    try:
        _remove(session, place)
    except Exception:
        told = f"{place} could not be removed, and holds the log in clear: remove it yourself"
        warnings.warn(told, stacklevel=1)


def _remove(session: Any, place: str) -> None:
    files, path = _file_system(session, place)
    files.delete(path, True)


def _file_system(session: Any, place: str) -> tuple[Any, Any]:
    path = session._jvm.org.apache.hadoop.fs.Path(place)
    return path.getFileSystem(session._jsc.hadoopConfiguration()), path


@contextmanager
def readable_errors() -> Iterator[None]:
    """Say in plain words what Spark says in pages."""
    try:
        yield
    except QueryveilError:
        raise
    except Exception as error:
        if not type(error).__module__.startswith(("pyspark", "py4j", "builtins")):
            raise
        raise _in_words(str(error)) from error


_KNOWN = {
    r"OutOfMemoryError|must be at least|Java heap space|MemoryError|exit code 137|ArrowMemory": (
        "Spark has not enough memory",
        "give executors more, such as --spark spark.executor.memory=4g, and the driver with "
        "--spark spark.driver.memory=4g",
    ),
    r"All masters are unresponsive|Could not parse Master URL|SparkMasterRegex": (
        "the master of Spark cannot be reached",
        "is it up, and is --master its address?",
    ),
    r"No module named '?queryveil": (
        "the executors have no queryveil",
        "install it on all machines, or ship its environment: see docs/spark.md",
    ),
    r"PATH_NOT_FOUND|Path does not exist|FileNotFoundException": (
        "Spark finds no such file",
        "executors must see it too: name it as they do, such as hdfs:///logs/2006",
    ),
    r"ExecutorLostFailure|Job aborted due to stage failure.*lost": (
        "executors were lost again and again",
        "often that is too little memory: --spark spark.executor.memory=4g",
    ),
}


def _in_words(text: str) -> QueryveilError:
    ours = re.findall(r"queryveil\.errors\.(\w+): (.+)", text)
    if ours:
        name, told = ours[-1]
        return getattr(errors, name, InputError)(told.strip())
    for sign, (what, hint) in _KNOWN.items():
        if re.search(sign, text):
            return InputError(f"{what} ({_first_line(text)})", hint=hint)
    return InputError(f"Spark failed: {_first_line(text)}", hint="nothing was published")


def _first_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines()]
    lines = [line for line in lines if line and not line.startswith(("at ", "..."))]
    told = [line for line in lines if re.search(r"(Error|Exception)\b.*:", line)]
    return (told or lines or ["no reason given"])[-1 if told else 0][:300]
