"""The second search for sensitive topics, and the check of the written files."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import queryveil as qv
from queryveil.release.checks import describe_check, run_check
from queryveil.release.formats import PUBLIC_SCHEMA
from queryveil.release.guarantee import Check, Guarantee
from queryveil.release.release import Release
from queryveil.release.sensitive import CHECK, without_topics
from queryveil.release.untrusted import file_digest

ROWS = [("a", "weather", None, 1, "http://herpes.example/"), ("a", "herpes", None, None, None),
        ("b", "weather", None, None, None), ("b", "herpes", None, None, None)]  # fmt: skip


def release(*checks: Check, tables: dict | None = None, rows: list | None = None) -> Release:
    promise = Guarantee("none", "a rule", checks=checks or (Check("time-step", {"step": "none"}),))
    log = pl.DataFrame(ROWS if rows is None else rows, schema=PUBLIC_SCHEMA, orient="row").lazy()
    source = qv.QueryLog.from_rows([("a", "x", None, None, None)] * 4)
    return Release("frequent-queries", {}, promise, source, log, tables or {})


def test_a_text_goes_wherever_it_stands() -> None:
    clean = without_topics(release(), "drop")
    assert clean.log.collect().select("user", "query", "url").rows() == [
        ("a", "weather", None), ("b", "weather", None),
    ]  # fmt: skip
    assert dict(clean.dropped) == {"released text is of a sensitive topic": 2}
    assert dict(clean.blanked) == {"URL: released text is of a sensitive topic": 1}
    assert clean.sensitive == "drop"
    assert clean.guarantee.checks[-1].check == CHECK


def test_where_rows_are_counted_a_text_is_emptied() -> None:
    clean = without_topics(release(Check("slots", {"rows": 2, "all": True})), "drop:health")
    assert clean.log.collect()["query"].to_list() == ["weather", "•••"] * 2
    assert not clean.dropped
    assert clean.blanked["query: released text is of a sensitive topic"] == 2


def test_tables_lose_their_rows() -> None:
    tables = {
        "queries": pl.DataFrame({"query": ["weather", "herpes"], "count": [9, 8]}),
        "transitions": pl.DataFrame({"query": ["weather"], "next": ["herpes"], "count": [5]}),
    }
    clean = without_topics(release(tables=tables, rows=[]), "drop")
    assert {name: table.height for name, table in clean.tables.items()} == {
        "queries": 1, "transitions": 0,
    }  # fmt: skip
    assert sum(clean.blanked.values()) == 2


def test_kept_topics_change_nothing() -> None:
    kept = without_topics(release(), "keep")
    assert kept.log.collect().height == 4
    assert kept.guarantee == release().guarantee
    assert kept.preview_card().public.sensitive == "keep"


def test_the_check() -> None:
    log = release().log
    check = Check(CHECK, {"topics": ["health", "crime"]})
    assert run_check(check, log).holds is False
    assert run_check(check, log.filter(pl.col("query") == "weather", pl.col("url").is_null())).holds
    assert run_check(Check(CHECK, {"topics": ["crime"]}), log).holds
    table = {"queries": pl.DataFrame({"query": ["herpes"], "count": [8]})}
    assert run_check(check, None, table).holds is False
    for damaged in ({"topics": []}, {"topics": ["helth"]}, {}, {"topics": "health"}):
        assert run_check(Check(CHECK, damaged), log.clear()).holds is False
    assert "health, crime" in describe_check(check)


@pytest.fixture
def written(tmp_path: Path) -> Path:
    rows = [(user, "weather", None, None, None) for user in "abc"]
    rows += [(user, "herpes", None, None, None) for user in "abc"]
    made = qv.anonymize(qv.QueryLog.from_rows(rows), qv.FrequentQueries(min_users=2),
                        sensitive="drop:health")  # fmt: skip
    made.write(tmp_path / "out", format="tsv")
    return tmp_path / "out"


def edited(folder: Path, **change: object) -> None:
    path = folder / "public" / "release.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))


def failed(folder: Path) -> set[str]:
    return {finding.check for finding in qv.verify(folder).findings if finding.holds is False}


def test_a_sound_release_is_verified(written: Path) -> None:
    report = qv.verify(written)
    assert report.holds
    assert CHECK in {finding.check for finding in report.findings}
    page = (written / "public" / "report.html").read_text()
    assert "--sensitive drop:health" in page
    assert "herpes" not in page


def test_a_sensitive_query_in_the_files_is_found(written: Path) -> None:
    log = written / "public" / "log.tsv"
    log.write_text(log.read_text().replace("weather", "herpes"))
    files = json.loads((written / "public" / "release.json").read_text())["files"]
    edited(written, files=files | {"log.tsv": file_digest(log)})
    assert CHECK in failed(written)


@pytest.mark.parametrize("setting", ["keep", "drop", None])
def test_a_card_cannot_claim_another_setting(written: Path, setting: str | None) -> None:
    edited(written, sensitive=setting)
    assert failed(written)
