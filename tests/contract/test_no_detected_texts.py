"""No method releases what a chosen detector flags, and `verify` needs the very same detector."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path

import polars as pl
import pytest

import queryveil as qv
from queryveil.log.detectors import DETECTORS, Detector

# "golf" is an entry of the taxonomy, too: methods that draw concepts may release it by themselves.
GOLF = Detector("golf", "the word golf", "1.4", lambda texts: texts.str.contains("golf"))
METHODS = {
    "rows": "frequent-queries:min-users=3:min-click-users=3",
    "groups": "semantic-microaggregation:k=3",
    "slots": "semantic-replacement:domain=sport:max-phrases-per-user=3",
    "tables": "dp-statistics:epsilon=30:delta=1e-4",
}
USERS, QUERIES = 40, ("tennis", "football", "weather", "swimming", "golf clubs", "mini golf")


@pytest.fixture
def golf() -> Iterator[None]:
    with DETECTORS.adding("golf", GOLF):
        yield


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> qv.QueryLog:
    rows = [
        f"u{user},{query},2006-03-01 10:00:00\n" for user, query in product(range(USERS), QUERIES)
    ]
    path = tmp_path_factory.mktemp("population") / "log.csv"
    path.write_text("user,query,time\n" + "".join(rows))
    return qv.read_log(path)


@pytest.mark.usefixtures("golf", "one_mapper")
@pytest.mark.parametrize("line", METHODS.values(), ids=METHODS)
def test_no_flagged_text_is_released(line: str, log: qv.QueryLog, tmp_path: Path) -> None:
    release = qv.anonymize(log, line, detectors="golf", ledger=str(tmp_path))
    card = release.write(tmp_path / "out", format="tsv")
    frames = [*release.tables.values()]
    frames += [] if release.log is None else [release.log.collect()]
    for frame in frames:
        for name in {"query", "next"} & set(frame.columns):
            assert not frame[name].cast(pl.String).str.contains("golf").any()
    assert [(use.name, use.version) for use in card.public.detectors] == [("golf", "1.4")]
    result = qv.verify(tmp_path / "out")
    assert result.holds, result
    assert "no-detected-texts" in {finding.check for finding in result.findings}
    reason = "query is flagged by the detector: golf (the word golf)"
    assert card.dropped[reason] == USERS * 2
    assert "--detectors golf" in (tmp_path / "out" / "public" / "report.html").read_text("utf-8")


@pytest.fixture(scope="module")
def folder(log: qv.QueryLog, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("release") / "out"
    with DETECTORS.adding("golf", GOLF):
        qv.anonymize(log, METHODS["rows"], detectors="golf").write(folder, format="tsv")
    return folder


def failures(folder: Path) -> dict[str, str]:
    result = qv.verify(folder)
    assert result.holds is False
    return {finding.check: finding.message for finding in result.findings if not finding.holds}


def test_verify_fails_without_the_detector(folder: Path) -> None:
    message = failures(folder)["no-detected-texts"]
    assert message.startswith("the detector golf is not installed")
    assert "install golf 1.4" in message


def test_verify_fails_with_another_version(folder: Path) -> None:
    with DETECTORS.adding("golf", replace(GOLF, version="2")):
        assert "has version 2 here" in failures(folder)["no-detected-texts"]


@pytest.mark.usefixtures("golf")
@pytest.mark.parametrize("remove", ["detectors", "checks", "both", "distribution"])
def test_a_card_cannot_hide_or_change_its_detectors(folder: Path, remove: str) -> None:
    path = folder / "public" / "release.json"
    written = path.read_text("utf-8")
    card = json.loads(written)
    checks = card["guarantee"]["checks"]
    if remove == "distribution":
        other = {"name": "acme", "version": "1"}
        for named in (card, checks[-1]):
            named["detectors"] = [named["detectors"][0] | {"distribution": other}]
    if remove in ("detectors", "both"):
        del card["detectors"]
    if remove in ("checks", "both"):
        checks.pop()
    try:
        path.write_text(json.dumps(card), "utf-8")
        assert failures(folder)
    finally:
        path.write_text(written, "utf-8")


def test_verify_finds_a_flagged_text_in_the_files(folder: Path) -> None:
    """A detector with other answers under the same version."""
    weather = replace(GOLF, flag=lambda texts: texts.str.contains("weather"))
    with DETECTORS.adding("golf", weather):
        message = failures(folder)["no-detected-texts"]
    assert message.startswith("1 are, not so: no query is flagged")
