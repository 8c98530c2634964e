"""Sample rows on the public page: they follow from the files, and hostile texts stay texts."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import queryveil as qv
from pages import draw_page
from queryveil.release.noise import CountNoise, NoiseDescription, describe_noise
from queryveil.release.samples import SAMPLE_ROWS, Samples, sample_tables, take_samples

HOSTILE = "<img src=x onerror=alert(1)>\u202eevil\x85" + "x" * 200
ROWS = [
    (user, query, "2006-03-01 10:00:00", None, None)
    for user in "abcdefghijkl"
    for query in ("weather", HOSTILE)
]
COUNTS = pl.DataFrame({"query": ["weather", f"\r\n{HOSTILE}"], "count": [622, 130]})


def test_first_rows_alone_are_shown() -> None:
    rows = pl.DataFrame({"user": [f"u{i}" for i in range(30)], "query": ["q"] * 30})
    taken = take_samples(rows.lazy(), {})
    (table,) = sample_tables(taken, {"log.csv": 30}, NoiseDescription())
    assert [row[0] for row in table.rows] == [f"u{i}" for i in range(SAMPLE_ROWS)]
    assert (table.total, table.columns) == (30, ("user", "query"))


def test_noise_stands_beside_each_count() -> None:
    noise = CountNoise("queries", "laplace", 20.0, "", "")
    described = NoiseDescription(describe_noise([noise], {"queries": COUNTS}))
    (table,) = sample_tables(Samples(tables={"queries": COUNTS}), {"queries.tsv": 2}, described)
    assert table.columns == ("query", "count ± noise")
    assert [row[1] for row in table.rows] == ["622 ± 60", "130 ± 60"]
    assert "95 of 100" in table.note


def test_counts_without_noise_have_none() -> None:
    samples = Samples(tables={"queries": COUNTS})
    (table,) = sample_tables(samples, {"queries.tsv": 2}, NoiseDescription())
    assert (table.columns, table.note) == (("query", "count"), "")


def test_cells_are_cut_and_have_no_control_characters() -> None:
    (table,) = sample_tables(
        Samples(tables={"queries": COUNTS}), {"queries.tsv": 2}, NoiseDescription()
    )
    cell = table.rows[1][0]
    assert cell.endswith("…")
    assert len(cell) <= 81
    assert not set("\u202e\r\n\x85") & set(cell)


@pytest.mark.parametrize("form", ["parquet", "tsv", "csv", "jsonl"])
def test_hostile_rows_verify_and_are_escaped(form: str, tmp_path: Path) -> None:
    log = qv.QueryLog.from_rows(ROWS)
    qv.anonymize(log, "frequent-queries:min-users=2").write(tmp_path / "out", format=form)
    page = (tmp_path / "out" / "public" / "report.html").read_text("utf-8")
    assert "<img" not in page
    assert "&lt;img" in page
    assert f"Sample rows of log.{form}" in page
    assert qv.verify(tmp_path / "out").holds


def test_other_rows_on_the_page_are_detected(tmp_path: Path) -> None:
    """A page whose sample was changed does not follow from the files, whatever the card has."""
    log = qv.QueryLog.from_rows(ROWS)
    qv.anonymize(log, "frequent-queries:min-users=2").write(tmp_path / "out", format="tsv")
    public = tmp_path / "out" / "public"
    page = public / "report.html"
    before = page.read_text("utf-8")
    page.write_text(before.replace("<bdi>weather</bdi>", "<bdi>jane doe</bdi>", 1), "utf-8")
    failing = {found.check for found in qv.verify(public).findings if found.holds is False}
    assert failing == {"files", "page"}
    card = qv.release.verification.read_public_card(public)
    assert draw_page(public, card) == before


def test_a_method_that_is_not_installed_leaves_the_page_undecided(tmp_path: Path) -> None:
    log = qv.QueryLog.from_rows(ROWS)
    qv.anonymize(log, "frequent-queries:min-users=2").write(tmp_path / "out", format="tsv")
    checks = qv.release.verification.verify_public(tmp_path / "out" / "public", declared=None)
    assert [check.holds for check in checks if check.check == "page"] == [None]
