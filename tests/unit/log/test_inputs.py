"""Standard input, and folders with one file per user."""

from __future__ import annotations

import gzip
import io
import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
import zstandard

from queryveil.errors import FormatError, InputError, TooManyRejectedError, UsageError
from queryveil.log import inputs
from queryveil.log.reading import read_log
from queryveil.testing.logs import rows_of

CSV = b"user,query,time\n7,cats,2006-03-01 10:00:05\n8,dogs,2006-03-01 10:00:06\n"
AOL = b"AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n7\tcats\t2006-03-01 10:00:05\t\t\n"
BARE = b"7\tcats\n8\tdogs\n"


@pytest.fixture
def pipe(monkeypatch, tmp_path):
    """Pipe bytes to standard input; copies of it are made in a folder of the test."""
    spool = tmp_path / "spool"
    spool.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(spool))

    def write(data: bytes) -> Path:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        return spool

    return write


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.compress])
def test_standard_input_is_read_as_a_file_is(pipe, tmp_path, pack):
    path = tmp_path / "log.csv"
    path.write_bytes(CSV)
    spool = pipe(pack(CSV))
    log = read_log("-")
    assert rows_of(log) == rows_of(read_log(path))
    assert log.sources[0].path == "standard input"
    assert log.sources[0].format == "csv"
    assert len(log.sources[0].sha256) == 64
    assert list(spool.iterdir()) == []  # the copy is removed


@pytest.mark.parametrize(
    ("data", "options", "form"),
    [
        (AOL, {}, "aol"),
        (CSV.replace(b",", b";"), {}, "csv"),
        (CSV.replace(b",", b"\t"), {}, "tsv"),
        (b"who,what\n7,cats\n", {"columns": {"user": "who", "query": "what"}}, "csv"),
        (BARE, {"columns": {"user": "1", "query": "2"}, "format": "tsv"}, "tsv"),
        (b'{"user": "7", "query": "cats"}\n', {"format": "jsonl"}, "jsonl"),
    ],
)
def test_a_header_or_an_option_tells_the_format(pipe, data, options, form):
    pipe(data)
    log = read_log("-", **options)
    assert log.sources[0].format == form
    assert rows_of(log)[0][:2] == ("7", "cats")


@pytest.mark.parametrize(
    ("data", "options"),
    [
        (BARE, {}),
        (b'{"user": "7", "query": "cats"}\n', {}),
        (CSV, {"columns": {"user": "1", "query": "2"}}),  # the first line may be a row then
        (b"", {}),
    ],
)
def test_rows_do_not_tell_the_format(pipe, data, options):
    spool = pipe(data)
    with pytest.raises(FormatError, match="no name that tells its format") as caught:
        read_log("-", **options)
    assert "`format`" in caught.value.hint
    assert caught.value.where == "standard input"
    assert list(spool.iterdir()) == []


def test_the_first_bytes_of_a_query_do_not_unpack_standard_input(pipe):
    pipe(b"\x1f\x8bcats\t7\n" + b"dogs\t8\n" * 3)
    columns = {"query": "1", "user": "2"}
    log = read_log("-", columns=columns, format="tsv", may_stop=False)
    assert [row[1] for row in rows_of(log)] == ["dogs"] * 3


def test_bad_rows_of_standard_input_have_its_name(pipe):
    pipe(CSV + b"9,hens,soon\n")
    rejected = read_log("-", max_rejected=1).accounting.rejected_rows()
    assert rejected.rows() == [("standard input", 4, "not a date")]
    pipe(CSV + b"9,hens,soon\n")
    with pytest.raises(TooManyRejectedError, match="standard input line 4"):
        read_log("-")


def test_the_copy_is_private_and_goes_with_an_error(pipe, monkeypatch):
    spool = pipe(CSV)
    seen: list[int] = []
    copy = inputs._copy_input

    def watched(folder: Path, packed: bool) -> Path:
        path = copy(folder, packed)
        seen.extend(stat.S_IMODE(name.stat().st_mode) for name in (folder, path))
        return path

    monkeypatch.setattr(inputs, "_copy_input", watched)
    with pytest.raises(FormatError):
        read_log("-", format="parquet")
    assert seen == [0o700, 0o600]
    assert list(spool.iterdir()) == []


def test_standard_input_beside_files(pipe, tmp_path):
    path = tmp_path / "log.csv"
    path.write_bytes(CSV)
    pipe(CSV)
    assert read_log([path, "-"]).count() == 4
    with pytest.raises(UsageError, match="named twice"):
        read_log(["-", "-"])
    pipe(CSV)
    with pytest.raises(UsageError, match="has no file name"):
        read_log("-", columns={"user": "@file-name"})


def test_a_real_pipe_and_the_ledger(tmp_path):
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "queryveil", *arguments]
        return subprocess.run(
            command, input=CSV.decode(), capture_output=True, text=True, cwd=tmp_path, check=False
        )

    method = ("--method", "dp-statistics", "--epsilon", "1", "--delta", "1e-6", "--yes",
              "--selection", "laplace")  # fmt: skip
    spent = run("anonymize", "-", *method, "--out", "out")
    assert spent.returncode == 2
    assert "standard input" in spent.stderr
    assert "--ledger NAME" in spent.stderr
    assert list(tmp_path.iterdir()) == []
    spent = run("anonymize", "-", *method, "--out", "out", "--ledger", "./")
    assert spent.returncode == 0, spent.stderr
    assert (tmp_path / "ledger.db").exists()
    shown = run("ledger", "show", "-")
    assert "--ledger NAME" in shown.stderr


# --- one file per user ---------------------------------------------------------------------------

OWN = {"user": "@file-name"}


def fill(folder: Path, files: dict[str, str | bytes]) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


def test_the_name_of_a_file_is_its_user(tmp_path):
    folder = fill(
        tmp_path / "logs",
        {
            "ann.csv": "query,time\ncats,2006-03-01\n",
            "bob.smith.csv.gz": gzip.compress(b"query,time\ndogs,2006-03-02\n"),
            "cleo.jsonl": '{"query": "hens", "user": "eve"}\n',
            "ann.tsv": "user\tquery\nsomebody\tmore cats\n",
            ".hidden.csv": "query\nno\n",
            "ledger.db": b"SQLite",
            "ledger.db-wal": b"",
        },
    )
    (folder / "sub").mkdir()
    expected = [
        ("ann", "cats", "2006-03-01 00:00:00", None, None),
        ("ann", "more cats", None, None, None),
        ("bob.smith", "dogs", "2006-03-02 00:00:00", None, None),
        ("cleo", "hens", None, None, None),
    ]
    log = read_log(folder, columns=OWN)
    assert sorted(rows_of(log), key=str) == sorted(expected, key=str)
    assert {source.columns["user"] for source in log.sources} == {"@file-name"}
    patterns = [f"{folder}/*.csv*", f"{folder}/*l", f"{folder}/*.tsv"]
    assert sorted(rows_of(read_log(patterns, columns=OWN)), key=str) == sorted(expected, key=str)


def test_other_columns_may_be_named_too(tmp_path):
    folder = fill(tmp_path / "logs", {"ann.csv": "what\ncats\n", "bob.csv": "what\ndogs\n"})
    log = read_log(folder, columns="user=@file-name,query=what")
    assert [row[:2] for row in rows_of(log)] == [("ann", "cats"), ("bob", "dogs")]
    bare = fill(tmp_path / "bare", {"ann.csv": "cats,1\n", "bob.csv": "dogs,2\n"})
    log = read_log(bare, columns="user=@file-name,query=1")
    assert [row[:2] for row in rows_of(log)] == [("ann", "cats"), ("bob", "dogs")]


def test_a_folder_without_users_is_explained(tmp_path):
    folder = fill(tmp_path / "logs", {"ann.csv": "query\ncats\n"})
    with pytest.raises(InputError, match="this is a folder") as caught:
        read_log(folder)
    assert "@file-name" in caught.value.hint
    with pytest.raises(UsageError, match="has its own columns"):
        read_log(folder, columns=OWN, format="aol")


def test_a_file_that_cannot_be_read_costs_its_own_user(tmp_path):
    good = {f"user{number}.csv": "query\ncats\n" for number in range(9)}
    bad = {
        "empty.csv": "",
        "headless.csv": "cats,dogs\n",
        "packed.csv": gzip.compress(b"query\ncats\n"),
        "cut.csv.gz": gzip.compress(b"query\n" + os.urandom(9000))[:-900],
        "notes.txt": "query\ncats\n",
        "not.parquet": b"PAR1",
    }
    folder = fill(tmp_path / "logs", good | bad)
    log = read_log(folder, columns=OWN, may_stop=False)
    assert {row[0] for row in rows_of(log)} == {f"user{number}" for number in range(9)}
    rejected = log.accounting.rejected_rows()
    assert sorted(Path(name).name for name in rejected["file"]) == sorted(bad)
    with pytest.raises(TooManyRejectedError, match="6 of 15 rows"):
        read_log(folder, columns=OWN)


def test_days_of_users_without_times_do_not_stop_a_private_release(tmp_path):
    folder = fill(tmp_path / "logs", {"ann.csv": "query\ncats\n"})
    log = read_log(folder, columns=OWN, may_stop=False, since="2006-03-01")
    assert log.accounting.dropped == {"outside the dates asked for": 1}
    with pytest.raises(UsageError, match="no times"):
        read_log(folder, columns=OWN, since="2006-03-01")


def test_many_files_are_cleaned_together(tmp_path):
    files = {f"u{number:04}.csv": f"query\ncats {number}\n \n" for number in range(1500)}
    folder = fill(tmp_path / "logs", files | {"bad.csv": "query\na,b\n"})
    log = read_log(folder, columns=OWN)
    assert len(rows_of(log)) == 1500
    assert rows_of(log)[1499][:2] == ("u1499", "cats 1499")
    assert log.accounting.rejected_rows()["file"].to_list() == [str(folder / "bad.csv")]
    assert log.accounting.rows == 3001
    assert len(log.sources) == 1501


def test_the_ledger_of_a_folder_is_in_it(tmp_path, cli):
    folder = fill(tmp_path / "logs", {f"u{n}.csv": "query\ncats\n" for n in range(5)})
    ran = cli("anonymize", folder, "--columns", "user=@file-name", "--method", "dp-statistics",
              "--epsilon", "1", "--delta", "1e-6", "--yes", "--out", tmp_path / "out")  # fmt: skip
    assert ran.code == 0, ran.err
    assert (folder / "ledger.db").exists()
    assert cli("ledger", "show", folder).code == 0
