"""Releases of others: what no reader shows is refused, and no file stops or ends the process."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from test_parquet import ABORTS

import queryveil as qv
from pages import draw_page
from queryveil.release.cards import PublicCard
from queryveil.release.metadata import metadata_files
from queryveil.release.untrusted import file_digest

ROWS = [(user, "weather", "2006-03-01 10:00:00", None, None) for user in "abc"]


def made(place: Path, form: str) -> Path:
    log = qv.QueryLog.from_rows(ROWS)
    qv.anonymize(log, "frequent-queries:min-users=2").write(place, format=form)
    return place / "public"


def mend(public: Path, name: str, *, can_read: bool = True) -> None:
    """Write card, page and descriptions that fit the changed log, if it can be read."""
    card = json.loads((public / "release.json").read_text())
    card["files"] = {name: file_digest(public / name)}
    typed = PublicCard.from_dict(card)
    pages = {"report.html": draw_page(public, typed)} if can_read else {}
    for other, text in {**pages, **metadata_files(typed)}.items():
        (public / other).write_text(text)
        card["files"][other] = file_digest(public / other)
    (public / "release.json").write_text(json.dumps(card))


def failing(public: Path) -> set[str]:
    found = qv.verify(public).findings
    return {finding.check for finding in found if finding.holds is False}


def more_fields(path: Path) -> None:
    path.write_text(path.read_text().replace("}\n", ',"name":"Jane Doe"}\n'))


def field_twice(path: Path) -> None:
    path.write_text(path.read_text().replace('{"user"', '{"query":"rose garden","user"'))


def mark_at_the_start(path: Path) -> None:
    path.write_text("\ufeff" + path.read_text())


def more_beside(path: Path) -> None:
    pl.read_parquet(path).write_parquet(path, metadata={"user abc": "Jane Doe"})


def other_types(path: Path) -> None:
    rows = pl.read_parquet(path)
    rows.with_columns(pl.col("rank").cast(pl.Float64)).write_parquet(path)


@pytest.mark.parametrize(
    ("form", "change", "check"),
    [
        ("jsonl", more_fields, "bytes"),
        ("jsonl", field_twice, "bytes"),
        ("csv", mark_at_the_start, "bytes"),
        ("parquet", more_beside, "columns"),
        ("parquet", other_types, "columns"),
    ],
)
def test_what_readers_skip_is_refused(
    tmp_path: Path, form: str, change: Callable[[Path], None], check: str
) -> None:
    public = made(tmp_path / "out", form)
    change(public / f"log.{form}")
    mend(public, f"log.{form}")
    assert failing(public) == {check}


@pytest.mark.parametrize("form", ["parquet", "tsv", "csv", "jsonl"])
def test_odd_texts_are_as_written(tmp_path: Path, form: str) -> None:
    odd = [
        "=1+1",
        "'a",
        '"q"',
        'a "b" c',
        "a,b",
        "a;b",
        "\\",
        "é",
        "名前",
        "\U0001f600",
        "\x7f",
        "a/b",
    ]
    rows = [(f"user {n}", text, None, 1, "http://a.example/?q='\\") for n in range(3)
            for text in odd]  # fmt: skip
    log = qv.QueryLog.from_rows(rows)
    line = "frequent-queries:min-users=2"
    qv.anonymize(log, line, identifiers="keep").write(tmp_path / "out", format=form)
    assert failing(tmp_path / "out") == set()


@pytest.mark.skipif(os.name != "posix", reason="there are no such files")
@pytest.mark.parametrize("name", ["report.html", "log.parquet", "signature.json", "croissant.json"])
def test_a_pipe_or_a_link_is_not_read(tmp_path: Path, name: str) -> None:
    public = made(tmp_path / "out", "parquet")
    qv.make_signing_key(tmp_path / "key.pem")
    qv.sign(public, tmp_path / "key.pem")
    (public / name).unlink()
    os.mkfifo(public / name)
    assert "plain" in failing(public)
    (public / name).unlink()
    (public / name).symlink_to("/dev/zero")
    assert "plain" in failing(public)
    with pytest.raises(qv.QueryveilError):
        qv.pack(tmp_path / "out")


def test_a_log_that_aborts_its_reader(tmp_path: Path) -> None:
    public = made(tmp_path / "out", "parquet")
    (public / "log.parquet").write_bytes(ABORTS)
    mend(public, "log.parquet", can_read=False)
    assert "log" in failing(public)
    (public.parent / "private" / "card.json").unlink()
    with pytest.raises(qv.QueryveilError):
        qv.measure(qv.QueryLog.from_rows(ROWS), tmp_path / "out")


def test_a_log_that_expands_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("queryveil.log.readers.parquet.FREE_EXPANSION", 1_000)
    public = made(tmp_path / "out", "parquet")
    rows = pl.read_parquet(public / "log.parquet")
    pl.concat([rows] * 20_000).write_parquet(public / "log.parquet")
    mend(public, "log.parquet")
    assert "log" in failing(public)
