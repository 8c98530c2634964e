"""What is said where Spark cannot run; none of these tests starts it."""

from __future__ import annotations

import socket
from pathlib import Path
from types import SimpleNamespace

import pytest

from queryveil.engine.spark import session
from queryveil.engine.table import EngineConfig
from queryveil.errors import InputError, UsageError


def test_without_java_it_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(UsageError, match="Spark needs Java, and there is none"):
        session._check_java()


@pytest.mark.parametrize(
    ("told", "fits"), [("11.0.2", False), ("1.8.0_392", False), ("17.0.1", True)]
)
def test_the_wrong_java_is_told(
    told: str, fits: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text(f"#!/bin/sh\necho 'openjdk version \"{told}\"' >&2\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    if fits:
        session._check_java()
    else:
        with pytest.raises(UsageError, match="does not run on Java"):
            session._check_java()


def test_a_java_that_fails_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\nexit 1\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(UsageError, match="this Java does not run"):
        session._check_java()


def test_a_master_that_does_not_answer_is_told_at_once() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(InputError, match="nobody answers at spark"):
        session._check_master(f"spark://127.0.0.1:{port}")


def test_a_cluster_needs_a_folder_that_all_see() -> None:
    with pytest.raises(UsageError, match="all machines of the cluster"):
        session._ready(SimpleNamespace(sparkContext=SimpleNamespace(master="yarn")), None)


def test_spark_connect_is_refused() -> None:
    with pytest.raises(UsageError, match="Spark Connect"):
        session._ready(SimpleNamespace(), "/shared")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("java.lang.OutOfMemoryError: Java heap space", "not enough memory"),
        ("Executor memory 104857600 must be at least 471859200.", "not enough memory"),
        ("All masters are unresponsive! Giving up.", "cannot be reached"),
        ("ModuleNotFoundError: No module named 'queryveil'", "the executors have no queryveil"),
        ("[PATH_NOT_FOUND] Path does not exist: hdfs:///x", "finds no such file"),
        ("ExecutorLostFailure (executor 3 exited)", "lost again and again"),
        ("something else\n\tat a.b.c(D.scala:1)", "Spark failed: something else"),
    ],
)
def test_errors_are_told_in_words(text: str, words: str) -> None:
    with pytest.raises(InputError, match=words), session.readable_errors():
        raise RuntimeError(text)


def test_an_engine_is_checked() -> None:
    with pytest.raises(UsageError, match='no engine "sparc"'):
        EngineConfig("sparc")
    with pytest.raises(UsageError, match="need the engine spark"):
        EngineConfig(spark_master="yarn")
    assert not EngineConfig().is_remote
