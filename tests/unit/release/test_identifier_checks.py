"""The second look: what a method would release, and what is written."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import queryveil as qv
from queryveil.release.formats import PUBLIC_SCHEMA
from queryveil.release.guarantee import Check, Guarantee
from queryveil.release.identifiers import without_identifiers as cleaned
from queryveil.release.release import Release
from queryveil.release.untrusted import file_digest
from queryveil.release.verification import verify_public

ROWS = [("a", "weather", "2006-03-01", 1, "http://a.example/?token=b7"),
        ("a", "jane@mail.example", "2006-03-01", None, None),
        ("b", "weather", "2006-03-01", None, None),
        ("b", "jane@mail.example", "2006-03-01", None, None)]  # fmt: skip


def release(*checks: Check, tables: dict | None = None, rows: list | None = None) -> Release:
    promise = Guarantee("none", "a rule", checks=checks or (Check("time-step", {"step": "day"}),))
    kinds = dict(PUBLIC_SCHEMA) | {"time": pl.String}
    table = pl.DataFrame(ROWS if rows is None else rows, schema=kinds, orient="row")
    log = table.with_columns(pl.col("time").str.to_date()).lazy()
    source = qv.QueryLog.from_rows([("a", "x", None, None, None)] * 4)
    return Release("frequent-queries", {}, promise, source, log, tables or {})


def test_a_text_goes_wherever_it_stands() -> None:
    clean = cleaned(release(), "drop")
    rows = clean.log.collect().rows()
    assert [(user, query, rank, url) for user, query, _, rank, url in rows] == [
        ("a", "weather", None, None), ("b", "weather", None, None),
    ]  # fmt: skip
    assert dict(clean.dropped) == {"released text looks like an identifier": 2}
    assert dict(clean.blanked) == {"URL: released text looks like an identifier": 1}


def test_where_rows_are_counted_a_text_is_masked() -> None:
    clean = cleaned(release(Check("slots", {"rows": 2, "all": True})), "drop")
    assert clean.log.collect()["query"].to_list() == ["weather", "•••@•••"] * 2
    assert not clean.dropped


def test_tables_lose_their_rows() -> None:
    tables = {
        "queries": pl.DataFrame({"query": ["weather", "078-05-1120"], "count": [9, 8]}),
        "clicks": pl.DataFrame({"query": ["weather"] * 2, "count": [7, 6],
                                "url": ["http://a.example", "http://a.example/?token=b7"]}),
        "transitions": pl.DataFrame({"query": ["weather"] * 2, "next": ["golf", "212-555-0123"],
                                     "count": [5, 4]}),
    }  # fmt: skip
    clean = cleaned(release(tables=tables, rows=[]), "mask")
    assert {name: table["count"].to_list() for name, table in clean.tables.items()} == {
        "queries": [9], "clicks": [7], "transitions": [5],
    }  # fmt: skip
    assert sum(clean.blanked.values()) == 3


def test_kept_texts_stay_and_the_card_says_so() -> None:
    kept = cleaned(release(), "keep")
    assert kept.log.collect().height == 4
    card = kept.preview_card()
    assert (card.public.identifiers, card.public.release_grade) == ("keep", False)


def test_a_method_run_by_itself_is_not_for_publication() -> None:
    card = release().preview_card()
    assert (card.public.identifiers, card.public.release_grade) == (None, False)


def edited(folder: Path, **change: object) -> None:
    path = folder / "public" / "release.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))


@pytest.fixture
def written(tmp_path: Path) -> Path:
    rows = [(user, "weather", "2006-03-01 10:00:00", None, None) for user in "abc"]
    log = qv.QueryLog.from_rows(rows)
    qv.anonymize(log, qv.FrequentQueries(min_users=2)).write(tmp_path / "out", format="tsv")
    return tmp_path / "out"


def failed(folder: Path) -> set[str]:
    return {finding.check for finding in verify_public(folder / "public") if not finding.holds}


def test_an_identifier_put_into_the_files_is_found(written: Path) -> None:
    path = written / "public" / "log.tsv"
    path.write_text(path.read_text().replace("weather", "Jane(at)mail.example"))
    card = json.loads((written / "public" / "release.json").read_text())
    edited(written, files=card["files"] | {"log.tsv": file_digest(path)})
    assert "no-identifiers" in failed(written)


def test_a_card_that_does_not_say_is_found(written: Path) -> None:
    card = written / "public" / "release.json"
    told = json.loads(card.read_text())
    del told["identifiers"]
    card.write_text(json.dumps(told))
    with pytest.raises(qv.VerificationError, match='no key "identifiers"'):
        verify_public(written / "public")


@pytest.mark.parametrize("setting", ["keep", None, "lost"])
def test_a_badge_beside_kept_identifiers_is_found(written: Path, setting: object) -> None:
    edited(written, identifiers=setting)
    assert not qv.verify(written).holds
    assert "identifiers" in failed(written)
