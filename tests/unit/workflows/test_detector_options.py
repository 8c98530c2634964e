"""Detectors are named in the same way in every job and command, and before a log is read."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from screened_logs import METHOD, extend_twice, write_log

import queryveil as qv
from queryveil.errors import UsageError
from queryveil.log.detectors import DETECTORS, Detector

GOLF = Detector("golf", "the word golf", "1", lambda texts: texts.str.contains("golf"))
REASON = "query is flagged by the detector: golf (the word golf)"


@pytest.fixture(autouse=True)
def added() -> Iterator[None]:
    with DETECTORS.adding("golf", GOLF):
        yield


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write_log(tmp_path, {"weather": 9, "golf": 9})


@pytest.mark.parametrize(
    "job",
    [
        lambda: qv.anonymize("no.csv", METHOD, detectors="gulf"),
        lambda: qv.anonymize_to_folder("no.csv", METHOD, "out", detectors=["gulf"]),
        lambda: qv.plan("no.csv", METHOD, detectors="gulf"),
        lambda: qv.compare("no.csv", METHOD, detectors=["gulf"]),
        lambda: qv.profile("no.csv", detectors="golf,gulf"),
    ],
)
def test_an_unknown_name_is_refused_before_any_work(job: Callable[[], object]) -> None:
    with pytest.raises(UsageError, match='unknown detector "gulf"'):
        job()


def test_plan_shows_what_anonymize_does(path: Path) -> None:
    log, method = qv.read_log(path), qv.parse_method(METHOD)
    planned = qv.plan(log, method, detectors="golf")
    written = qv.anonymize_to_folder(log, method, path.parent / "out", detectors="golf")
    assert planned.preview.dropped == written.dropped
    assert written.dropped[REASON] == 9
    assert planned.preview.public.detectors == written.public.detectors
    assert written.output.rows == 9
    assert written.input.queries == 2  # as it was read


def test_measures_run_the_method_again_with_its_detectors(path: Path) -> None:
    log = qv.read_log(path)
    release = qv.anonymize(log, METHOD, detectors="golf")
    release.write(path.parent / "out")
    read = qv.read_release(path.parent / "out", log)
    assert read.detectors == release.detectors
    assert qv.measure(log, read, "query-coverage").value == 0.5


def test_an_extension_uses_the_detectors_of_the_release(path: Path, tmp_path: Path) -> None:
    rows = [("u1", "tennis"), ("u1", "golf"), ("u2", "golf")]
    alike, other = extend_twice(path, tmp_path, rows, {"detectors": "golf"}, {"detectors": ()})
    assert [str(use) for use in alike.public.detectors] == ["golf 1"]
    assert alike.dropped[REASON] >= 1
    assert other.public.detectors == ()
    assert REASON not in other.dropped


Run = Callable[..., tuple[int, str, str]]


def test_the_commands_take_them(cli: Run, path: Path) -> None:
    words = ("anonymize", path, "--method", METHOD, "--json", "--detectors")
    card = json.loads(cli(*words, "golf", "--out", "a")[1])
    assert [use["name"] for use in card["detectors"]] == ["golf"]
    assert card["dropped"][REASON] == 9
    assert cli("verify", "a")[0] == 0
    code, _, error = cli(*words, "gulf", "--out", "b")
    assert code == 2
    assert 'did you mean "golf"' in error
    code, _, error = cli(*words, "golf", "--identifiers", "keep", "--out", "b")
    assert code == 2
    assert "keep" in error
    code, _, error = cli("anonymize", path, "--copy-of", "a", "--detectors", "golf", "--out", "b")
    assert code == 2
    figures = json.loads(cli("profile", path, "--detectors", "golf", "--json")[1])
    assert figures["risks"]["identifiers"]["detector-golf"]["users"] == 9
