"""A Spark session, the folder where tables are staged, and readable errors."""

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
from ...core.extras import import_extra
from ...errors import InputError, QueryveilError, UsageError

_JAVA = {"3": (8, 21), "4": (17, 99)}  # the oldest and newest Java of each Spark
_CONNECT_SECONDS = 5.0
_DEFAULT_SETTINGS = {
    "spark.log.level": "ERROR",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    # A task has one core: threads of Polars beyond that would only wait for each other.
    "spark.executorEnv.POLARS_MAX_THREADS": "1",
    "spark.sql.files.maxPartitionBytes": "32m",  # two or three million rows of packed partitions
}


_cleanups: list[weakref.finalize[..., Any]] = []


@dataclass(eq=False)
class SparkCluster:
    """A session, and a scratch folder that all its machines can access.

    Tables are staged in the folder, so that random values are drawn and written once. It holds
    the log in the clear, and is removed with this object or at the end of the program.
    """

    session: Any
    scratch: str
    _number: Iterator[int] = field(default_factory=count, repr=False)

    @property
    def describe(self) -> str:
        """The name of the engine, for the card."""
        return f"spark {self.session.version}"

    def new_path(self, what: str) -> str:
        """Return a new path in the scratch folder."""
        return f"{self.scratch}/{what}-{next(self._number)}"

    def remove(self, path: str) -> None:
        """Remove a staged table."""
        _remove(self.session, path)


def open_spark(
    master: str | None = None,
    scratch: str | None = None,
    settings: Mapping[str, str] | None = None,
) -> SparkCluster:
    """Return a cluster with the active session, or start a session."""
    sql = _import_pyspark()
    active = sql.SparkSession.getActiveSession()
    if active is not None and (master is None or master == active.sparkContext.master):
        _check_settings(active, settings or {})
        return _ready(active, scratch)
    if active is not None:
        raise UsageError(
            f"a session of Spark runs already, on {active.sparkContext.master}",
            hint="leave the master out to use it, or stop it first",
        )
    if master is None:  # spark-submit sets the master itself
        master = "" if "PYSPARK_GATEWAY_PORT" in os.environ else "local[*]"
    _check_java()
    _check_master(master)
    return _ready(_start_session(sql, master, settings or {}), scratch)


def _import_pyspark() -> ModuleType:
    for needed in ("pyarrow", "pandas"):
        import_extra(needed, "the engine spark", of="spark")
    return import_extra("pyspark.sql", "the engine spark", of="spark")


def _check_settings(session: Any, settings: Mapping[str, str]) -> None:
    for name, value in settings.items():
        if session.conf.get(name, None) != value:
            raise UsageError(
                f"a session of Spark runs already, and {name} is not {value} there",
                hint="leave `spark_config` out, or stop the session first",
            )


def _check_java() -> None:
    """Raise a readable error if Java is missing, broken or of an unsupported version."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else "java"
    version = importlib.import_module("pyspark").__version__
    oldest, newest = _JAVA.get(version.split(".")[0], _JAVA["4"])
    hint = f"install Java {max(oldest, 17)} and let JAVA_HOME name its folder"
    if shutil.which(java) is None:
        raise UsageError("Spark needs Java, and there is none", where=home, hint=hint)
    try:
        completed = subprocess.run(  # noqa: S603  (the data owner's own Java)
            [java, "-version"], capture_output=True, timeout=60, check=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise UsageError("this Java does not run", where=java, hint=hint) from error
    output = completed.stderr.decode(errors="replace")
    match = re.search(r'version "(?:1\.)?(\d+)', output)
    if match and not oldest <= int(match[1]) <= newest:
        raise UsageError(f"Spark {version} does not run on Java {match[1]}", hint=hint)


def _check_master(master: str) -> None:
    """Raise at once if a master cannot be reached: Spark itself would retry for minutes."""
    if not (match := re.fullmatch(r"spark://([^:/,]+):(\d+)", master)):
        return
    try:
        socket.create_connection((match[1], int(match[2])), timeout=_CONNECT_SECONDS).close()
    except OSError as error:
        raise InputError(
            f"nobody answers at {master}", hint="is the cluster up, and is this its address?"
        ) from error


def _start_session(sql: ModuleType, master: str, settings: Mapping[str, str]) -> Any:
    if master.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if master.startswith("local-cluster") and "SPARK_WORKER_DIR" not in os.environ:
        # By default its workers would write beside the installed package.
        os.environ["SPARK_WORKER_DIR"] = folder = tempfile.mkdtemp(prefix="queryveil-workers-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
    builder = sql.SparkSession.builder.appName("queryveil")
    for name, value in {**_DEFAULT_SETTINGS, **_memory_settings(master), **settings}.items():
        builder = builder.config(name, value)
    if master:
        builder = builder.master(master)
    with readable_errors():
        session = builder.getOrCreate()
    atexit.register(_stop, session)
    return session


def _stop(session: Any) -> None:
    """Remove scratch folders while the session can still do so, and stop it quietly."""
    for clear in _cleanups:
        clear()
    session.stop()


def _memory_settings(master: str) -> dict[str, str]:
    """Return the memory settings; a local cluster has the executor memory in its name."""
    match = re.fullmatch(r"local-cluster\[\s*\d+\s*,\s*\d+\s*,\s*(\d+)\s*\]", master)
    driver = {"spark.driver.memory": "2g"} if master.startswith("local") else {}
    return driver | ({"spark.executor.memory": f"{match[1]}m"} if match else {})


def _ready(session: Any, scratch: str | None) -> SparkCluster:
    if not hasattr(session, "sparkContext"):
        raise UsageError(
            "this is a session of Spark Connect, which has no access to the machines' files",
            hint="start a classic session, or let `spark_master` name the cluster",
        )
    master = session.sparkContext.master
    if scratch is None and not master.startswith("local"):
        raise UsageError(
            "there is no scratch folder that all machines of the cluster can write to",
            hint='`spark_scratch="hdfs:///tmp/queryveil"`, or any folder that all of them can '
            "access; it holds the log in the clear during the run",
        )
    own = tempfile.mkdtemp(prefix="queryveil-") if scratch is None else None
    base = Path(own).as_uri() if own else str(scratch).rstrip("/")
    spark = SparkCluster(session, f"{base}/run-{os.urandom(6).hex()}")
    _cleanups.append(weakref.finalize(spark, _remove_scratch, session, spark.scratch, own))
    with readable_errors():  # it will hold the log in the clear: only its owner may read it
        files, path = _file_system(session, spark.scratch)
        files.mkdirs(path, session._jvm.org.apache.hadoop.fs.permission.FsPermission("700"))
    return spark


def _remove_scratch(session: Any, path: str, own: str | None) -> None:
    if own is not None:
        shutil.rmtree(own, ignore_errors=True)
        return
    try:
        _remove(session, path)
    except Exception:
        message = f"{path} could not be removed and holds the log in the clear: remove it yourself"
        warnings.warn(message, stacklevel=1)


def _remove(session: Any, path: str) -> None:
    files, hadoop_path = _file_system(session, path)
    files.delete(hadoop_path, True)


def _file_system(session: Any, path: str) -> tuple[Any, Any]:
    hadoop_path = session._jvm.org.apache.hadoop.fs.Path(path)
    return hadoop_path.getFileSystem(session._jsc.hadoopConfiguration()), hadoop_path


@contextmanager
def readable_errors() -> Iterator[None]:
    """Convert errors of Spark, with their long traces, to short ones with a hint."""
    try:
        yield
    except QueryveilError:
        raise
    except Exception as error:
        if not type(error).__module__.startswith(("pyspark", "py4j", "builtins")):
            raise
        raise _to_queryveil_error(str(error)) from error


_KNOWN_ERRORS = {
    r"OutOfMemoryError|must be at least|Java heap space|MemoryError|exit code 137|ArrowMemory": (
        "Spark has not enough memory",
        'give executors more, such as `spark_config={"spark.executor.memory": "4g"}`, and the '
        "driver with "
        '`spark_config={"spark.driver.memory": "4g"}`',
    ),
    r"All masters are unresponsive|Could not parse Master URL|SparkMasterRegex": (
        "the master of Spark cannot be reached",
        "is it up, and is `spark_master` its address?",
    ),
    r"No module named '?queryveil": (
        "the executors have no queryveil",
        "install it on all machines, or ship its environment: see docs/how-to/spark.md",
    ),
    r"PATH_NOT_FOUND|Path does not exist|FileNotFoundException": (
        "Spark finds no such file",
        "executors must see it too: name it as they do, such as hdfs:///logs/2006",
    ),
    r"ExecutorLostFailure|Job aborted due to stage failure.*lost": (
        "executors were lost again and again",
        'often that is too little memory: `spark_config={"spark.executor.memory": "4g"}`',
    ),
}


def _to_queryveil_error(text: str) -> QueryveilError:
    ours = re.findall(r"queryveil\.errors\.(\w+): (.+)", text)
    if ours:
        name, message = ours[-1]
        return getattr(errors, name, InputError)(message.strip())
    for pattern, (problem, hint) in _KNOWN_ERRORS.items():
        if re.search(pattern, text):
            return InputError(f"{problem} ({_first_line(text)})", hint=hint)
    return InputError(f"Spark failed: {_first_line(text)}", hint="nothing was published")


def _first_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines()]
    lines = [line for line in lines if line and not line.startswith(("at ", "..."))]
    causes = [line for line in lines if re.search(r"(Error|Exception)\b.*:", line)]
    return (causes or lines or ["no reason given"])[-1 if causes else 0][:300]
