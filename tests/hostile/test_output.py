"""Hostile logs, names and disks: what is written and shown stays harmless and whole."""

from __future__ import annotations

import csv
import json
import os
import re
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl
import pytest

import queryveil as qv
from queryveil.release.formats import read_public_log

METHOD = ("--method", "frequent-queries", "--min-users", "3")


def write_jsonl(path: Path, queries: list[str], url: str | None = None) -> Path:
    rows = [
        {"user": f"=user{n}", "query": query, "time": "2006-03-01 10:00:00", "rank": 1, "url": url}
        for query in queries
        for n in range(3)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


# --- spreadsheets --------------------------------------------------------------------------------

FORMULAS = [
    "=cmd|' /c calc'!a0", "+1+1", "-2+3", "@sum(1+1)*cmd|' /c calc'!a0", "'=1+1", "''", '"=1+1"',
    '"', '=hyperlink("http://evil.example","x")', "\uff1d1+1", "-", "=", "weather",
    'an "exact" phrase', "%0a=1+1", "|calc", "a,=1+1", "\\", "é ü 漢 🙂", "x" * 5000,
]  # fmt: skip


@pytest.mark.parametrize("form", ["parquet", "tsv", "csv", "jsonl"])
def test_formulas_are_harmless_and_come_back(cli, tmp_path: Path, form: str) -> None:
    log = write_jsonl(tmp_path / "log.jsonl", FORMULAS, "=http://a.example")
    ran = cli(
        "anonymize",
        log,
        *METHOD,
        "--min-click-users",
        "3",
        "--out",
        "out",
        "--output-format",
        form,
        "--quiet",
    )
    assert ran == (0, "", "")
    public = tmp_path / "out" / "public"
    found = read_public_log(public).collect()
    assert set(found["query"]) == set(FORMULAS) - {"-"}  # "-" is AOL's word for no query
    assert set(found["url"]) == {"=http://a.example"}
    if form in ("tsv", "csv"):
        with (public / f"log.{form}").open(encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file, delimiter="\t" if form == "tsv" else ","))
        assert {len(row) for row in rows} == {5}
        assert not [cell for row in rows for cell in row if cell.startswith(tuple("=+-@\uff1d"))]
    assert cli("verify", "out").code == 0


def test_the_owners_tables_are_harmless_too(cli, tmp_path: Path) -> None:
    log = write_jsonl(tmp_path / "log.jsonl", ["weather"])
    cli("anonymize", log, *METHOD, "--out", "out")
    rows = (tmp_path / "out" / "private" / "mapping.tsv").read_text().splitlines()[1:]
    assert sorted(row.split("\t")[0] for row in rows) == ["'=user0", "'=user1", "'=user2"]


@pytest.mark.parametrize("form", ["parquet", "tsv", "csv", "jsonl"])
def test_line_ends_inside_cells_make_no_rows(cli, tmp_path: Path, form: str) -> None:
    queries = ["one\ntwo", "three\r\n\tfour", "five\u2028six", "seven\x0beight"]
    log = write_jsonl(tmp_path / "log.jsonl", queries, "http://a.example/\n=x\ty")
    ran = cli(
        "anonymize",
        log,
        *METHOD,
        "--min-click-users",
        "3",
        "--out",
        "out",
        "--output-format",
        form,
        "--json",
    )
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["output"] == {"rows": 12, "ids": 3, "queries": 4, "urls": 1}
    found = read_public_log(tmp_path / "out" / "public").collect()
    assert set(found["query"]) == {"one two", "three four", "five six", "seven eight"}


# --- terminals -----------------------------------------------------------------------------------

ESCAPES = "\x1b[2J\x1b]0;owned\x07\u202e\u061c\u200f\u2028\x9b31m"
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def test_a_query_cannot_steer_the_terminal(cli, tmp_path: Path) -> None:
    log = write_jsonl(
        tmp_path / "log.jsonl", [f"jane@mail.example {ESCAPES}", f"12 main st {ESCAPES}"]
    )
    ran = cli("profile", log)
    assert ran.code == 0
    assert "j•••@•••" in ran.out
    assert not CONTROL.search(ran.out)


def test_a_name_cannot_steer_the_terminal(cli, synthetic: Path, tmp_path: Path) -> None:
    odd = tmp_path / f"log{ESCAPES}[red]:warning:.tsv"
    shutil.copy(synthetic, odd)
    for args in (
        ("anonymize", odd, *METHOD, "--out", f"out{ESCAPES}[red][/]:warning:"),
        ("profile", odd),
        ("pack", f"out{ESCAPES}[red][/]:warning:"),
    ):
        ran = cli(*args)
        assert (ran.code, ran.err) == (0, "")
        assert not CONTROL.search(ran.out)
    assert "out" in ran.out
    assert "[red][/]:warning:" in ran.out
    ran = cli("profile", f"missing{ESCAPES}[red][/]:warning:")
    assert ran.code == 1
    assert "[red][/]:warning:: no file fits" in ran.err
    assert not CONTROL.search(ran.err)


def test_a_broken_log_cannot_steer_the_terminal(cli, tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text(f"user,query,time{ESCAPES}\n" + f"a,b,yesterday{ESCAPES}\n" * 9)
    for args in (
        ("profile", log),
        ("profile", log, "--columns", f"user=user,query=query,time=time{ESCAPES}"),
    ):
        ran = cli(*args)
        assert not CONTROL.search(ran.out + ran.err)


def test_a_card_cannot_steer_the_terminal(cli, synthetic: Path, tmp_path: Path) -> None:
    cli("anonymize", synthetic, *METHOD, "--out", "out", "--quiet")
    path = tmp_path / "out" / "public" / "release.json"
    shutil.rmtree(tmp_path / "out" / "private")
    card = json.loads(path.read_text())
    card["method"] = f"[/]{ESCAPES}"
    card["guarantee"]["checks"][0]["ids"] = f"[/red]{ESCAPES}"
    path.write_text(json.dumps(card))
    ran = cli("verify", "out", "--all")
    assert "[/red]" in ran.out
    assert not CONTROL.search(ran.out + ran.err)


# --- names ---------------------------------------------------------------------------------------


def test_a_log_whose_name_is_no_text(command, synthetic: Path, tmp_path: Path) -> None:
    odd = os.fsencode(tmp_path) + b"/qxzlog\xe9.tsv"
    shutil.copy(synthetic, odd)
    ran = command("anonymize", os.fsdecode(odd), *METHOD, "--out", "out", "--json")
    assert ran.code == 0, ran.err
    card = json.loads(ran.out)
    assert [name.endswith("qxzlog\udce9.tsv") for name in card["input"]["sha256"]] == [True]
    assert json.loads((tmp_path / "out" / "private" / "card.json").read_text()) == card
    assert b"qxzlog" not in b"".join(
        p.read_bytes() for p in (tmp_path / "out" / "public").iterdir()
    )
    assert qv.verify(tmp_path / "out").holds


@pytest.mark.parametrize(
    "name", ["a[b]", "a*", "a?", "{a}", "-a", "a b", "ü", "a'b\"c", "$(id)", "a\nb"]
)
@pytest.mark.parametrize("form", ["parquet", "jsonl"])
def test_folders_with_odd_names(cli, synthetic: Path, tmp_path: Path, name: str, form: str) -> None:
    ran = cli("anonymize", synthetic, *METHOD, f"--out={name}", "--output-format", form, "--quiet")
    assert ran == (0, "", "")
    assert cli("verify", "--quiet", "--", name) == (0, "", "")
    assert [path.name for path in tmp_path.iterdir()] == [name]


# --- full disks ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def release() -> qv.Release:
    # Long names of users, one row each: the mapping is the largest file.
    lines = [(f"someone-with-a-long-name-{n:08}", "weather", "2006-03-01 10:00:00", None, None)
             for n in range(3000)]  # fmt: skip
    return qv.anonymize(qv.QueryLog.from_rows(lines), qv.FrequentQueries(min_users=5))


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """Let no file grow beyond so many bytes, as a full disk would."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("form", ["parquet", "tsv", "csv", "jsonl"])
def test_a_full_disk_leaves_nothing(release: qv.Release, tmp_path: Path, form: str) -> None:
    release.write(tmp_path / "whole", format=form)
    sizes = {p.stat().st_size for p in (tmp_path / "whole").rglob("*") if p.is_file()}
    shutil.rmtree(tmp_path / "whole")
    for size in (0, 1, 1000, *(size - 1 for size in sizes)):
        with largest_file(size), pytest.raises(qv.OutputError) as told:
            release.write(tmp_path / "out", format=form)
        assert "File too large" in str(told.value)
        assert "nothing was published" in str(told.value)
        assert list(tmp_path.iterdir()) == [], size
    with largest_file(max(sizes)):
        release.write(tmp_path / "out", format=form)
    assert qv.verify(tmp_path / "out").holds


def test_a_full_disk_spares_the_release_that_was_to_be_replaced(
    release: qv.Release, tmp_path: Path
) -> None:
    release.write(tmp_path / "out")
    before = (tmp_path / "out" / "private" / "mapping.tsv").read_bytes()
    with largest_file(10_000), pytest.raises(qv.OutputError):
        release.write(tmp_path / "out", overwrite=True)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert (tmp_path / "out" / "private" / "mapping.tsv").read_bytes() == before


def test_a_full_disk_for_archives_and_logs(release: qv.Release, tmp_path: Path) -> None:
    release.write(tmp_path / "out")
    with largest_file(5_000):
        with pytest.raises(qv.OutputError, match="File too large"):
            qv.pack(tmp_path / "out")
        for ending in (".tsv", ".tsv.gz", ".tsv.zst", ".csv", ".jsonl", ".parquet"):
            with pytest.raises(qv.OutputError, match="File too large"):
                qv.write_synthetic_log(tmp_path / f"log{ending}", users=300)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_disk_without_space(synthetic: Path, tmp_path: Path) -> None:
    """On a real small disk, mounted where no other process sees it."""
    run = [
        sys.executable,
        "-m",
        "queryveil",
        "anonymize",
        str(synthetic),
        *METHOD,
        "--out",
        "disk/out",
    ]
    script = 'mount -t tmpfs -o size=32k tmpfs disk && ("$@"; echo "exit $?"; ls -A disk)'
    (tmp_path / "disk").mkdir()
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", script, "sh", *run],
        cwd=tmp_path, capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip
    if "exit" not in done.stdout:
        pytest.skip(f"no disk can be mounted here: {done.stderr.strip()}")
    assert done.stdout == "exit 1\n"
    assert "No space left on device" in done.stderr
    assert "nothing was published" in done.stderr
    assert "Traceback" not in done.stderr


# --- odd logs ------------------------------------------------------------------------------------


def test_huge_cells(cli, tmp_path: Path) -> None:
    log = write_jsonl(
        tmp_path / "log.jsonl", ["x" * 60_000, "weather"], "http://a.example/" + "y" * 60_000
    )
    ran = cli(
        "anonymize",
        log,
        *METHOD,
        "--min-click-users",
        "3",
        "--out",
        "out",
        "--output-format",
        "tsv",
        "--json",
    )
    assert ran.code == 0, ran.err
    found = read_public_log(tmp_path / "out" / "public").collect()
    assert sorted(found["query"].str.len_chars().unique()) == [7, 60_000]


def test_names_that_look_like_numbers_stay_names(tmp_path: Path) -> None:
    users = ["007", "7", "7.0", "1e3", "NaN", "null", "True", " 7 "]
    log = tmp_path / "log.csv"
    log.write_text("user,query\n" + "".join(f'"{user}",weather\n' for user in users))
    release = qv.anonymize(qv.read_log(log), qv.FrequentQueries(min_users=7))
    assert sorted(release.mapping["user"]) == sorted({user.strip() for user in users})
    release.write(tmp_path / "out")
    table = pl.read_csv(
        tmp_path / "out" / "private" / "mapping.tsv", separator="\t", infer_schema=False
    )
    assert sorted(table["user"]) == sorted({user.strip() for user in users})
