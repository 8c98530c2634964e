"""`measure`: what the measures say of a release, in memory and from its files."""

from __future__ import annotations

from pathlib import Path

import pytest

import queryveil as qv
from queryveil.errors import QueryveilError, UsageError, VerificationError

LINE = "profile-divergence:topics=sanchez4"


@pytest.fixture
def log(tmp_path: Path) -> qv.QueryLog:
    qv.write_synthetic_log(tmp_path / "log.tsv", topics="A", users=20, queries=5)
    return qv.read_log(tmp_path / "log.tsv")


@pytest.mark.parametrize("form", ["parquet", "tsv", "csv", "jsonl"])
def test_files_say_what_memory_says(log: qv.QueryLog, tmp_path: Path, form: str) -> None:
    release = qv.anonymize(log, qv.SemanticMicroaggregation(k=2), seed=1)
    release.write(tmp_path / "out", format=form)
    one, two = (qv.measure(log, from_, [LINE]) for from_ in (release, tmp_path / "out"))
    assert one == two
    assert one[LINE].value > 0


def test_without_the_mapping_it_says_why_not(log: qv.QueryLog, tmp_path: Path) -> None:
    release = qv.anonymize(log, qv.FrequentQueries(min_users=2, min_click_users=1))
    release.write(tmp_path / "out", include_mapping=False)
    with pytest.raises(UsageError, match="no private mapping"):
        qv.measure(log, tmp_path / "out", [LINE])
    result = qv.measure(log, tmp_path / "out")["profile-divergence"]
    assert result.value is None
    assert "no private mapping" in result.skipped_because


def test_a_damaged_mapping_is_refused(log: qv.QueryLog, tmp_path: Path) -> None:
    qv.anonymize(log, qv.FrequentQueries(min_users=2, min_click_users=1)).write(tmp_path / "out")
    (tmp_path / "out" / "private" / "mapping.tsv").write_text("nothing\n1\n")
    with pytest.raises(VerificationError, match="damaged"):
        qv.measure(log, tmp_path / "out", [LINE])


def test_no_release_and_no_measure(log: qv.QueryLog, tmp_path: Path) -> None:
    with pytest.raises(QueryveilError, match="no release here"):
        qv.measure(log, tmp_path)
    release = qv.anonymize(log, qv.FrequentQueries(min_users=2, min_click_users=1))
    with pytest.raises(UsageError, match="unknown measure"):
        qv.measure(log, release, ["none"])
    with pytest.raises(UsageError, match="no measure was named"):
        qv.measure(log, release, [])
