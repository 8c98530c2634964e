"""The archive: the public files and nothing that tells of the machine that made it."""

from __future__ import annotations

import os
import shutil
import tarfile
import time
from pathlib import Path

import pytest

import queryveil as qv
from queryveil.errors import InputError, OutputError, VerificationError
from queryveil.log.query_log import QueryLog
from queryveil.methods.frequent_queries import FrequentQueries
from queryveil.workflows.anonymization import anonymize
from queryveil.workflows.verification import pack, verify


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lines = [(f"user{n}", "weather", "2006-03-01 10:00:00", None, None) for n in range(9)]
    target = tmp_path / "my release"
    anonymize(QueryLog.from_rows(lines), FrequentQueries(min_users=5)).write(target, format="tsv")
    return target


def test_only_the_public_files_are_in_it(folder: Path, tmp_path: Path) -> None:
    archive = pack(folder)
    assert archive == tmp_path / "my release.tar.gz"
    with tarfile.open(archive) as tar:
        assert tar.getnames() == [
            "my release/croissant.json", "my release/log.tsv", "my release/release.json",
            "my release/report.html",
        ]  # fmt: skip
        for entry in tar:
            file = tar.extractfile(entry)
            name = entry.name.removeprefix("my release/")
            assert file.read() == (folder / "public" / name).read_bytes()
        safely = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        tar.extractall(tmp_path / "there", **safely)
    assert verify(tmp_path / "there" / "my release").holds


def test_the_metadata_is_constant(folder: Path) -> None:
    archive = pack(folder)
    with tarfile.open(archive) as tar:
        for entry in tar:
            assert (entry.uid, entry.gid, entry.uname, entry.gname) == (0, 0, "", "")
            assert (entry.mtime, entry.mode, entry.type) == (0, 0o644, tarfile.REGTYPE)
    head = archive.read_bytes()[:10]
    assert head[3] == 0  # no name of a file in it
    assert head[4:8] == b"\0\0\0\0"  # no time either


def test_the_same_release_packs_to_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    one = pack(folder, tmp_path / "one.tar.gz")
    elsewhere = tmp_path / "deep" / "er"
    elsewhere.mkdir(parents=True)
    copy = shutil.copytree(folder, elsewhere / folder.name, copy_function=shutil.copyfile)
    for path in copy.rglob("*"):
        os.utime(path, (time.time() + 999, time.time() + 999))
        if path.is_file() and path.parent.name == "public":
            path.chmod(0o640)
    two = pack(copy, tmp_path / "two.tar.gz")
    assert one.read_bytes() == two.read_bytes()


@pytest.mark.parametrize(
    "damage",
    [
        lambda public: (public / "log.tsv").write_text("user\tquery\n"),
        lambda public: (public / "report.html").write_text("<p>other</p>"),
        lambda public: (public / "mapping.tsv").write_text("user7\tabc\n"),
        lambda public: (public / "more").mkdir(),
        lambda public: (public / "log.tsv").unlink(),
        lambda public: (public / "release.json").write_text("{}"),
    ],
)
def test_a_broken_release_is_refused(folder: Path, tmp_path: Path, damage: object) -> None:
    damage(folder / "public")
    with pytest.raises(VerificationError):
        pack(folder)
    assert [path.name for path in tmp_path.iterdir()] == ["my release"]


def test_a_link_is_refused(folder: Path, tmp_path: Path) -> None:
    log = folder / "public" / "log.tsv"
    log.rename(tmp_path / "elsewhere")
    log.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(VerificationError, match=r"not so \(log\.tsv\): all are plain files"):
        pack(folder)


def test_no_release_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no release here"):
        pack(tmp_path)


def test_an_archive_is_not_overwritten(folder: Path) -> None:
    archive = pack(folder)
    archive.write_bytes(b"mine")
    with pytest.raises(OutputError, match="this exists already"):
        pack(folder)
    assert archive.read_bytes() == b"mine"
    assert pack(folder, overwrite=True) == archive
    assert tarfile.is_tarfile(archive)


@pytest.mark.parametrize("inside", ["x.tar.gz", "public/x.tar.gz", "private/x.tar.gz"])
def test_an_archive_is_not_put_into_the_release(folder: Path, inside: str) -> None:
    with pytest.raises(OutputError, match="this is inside the release"):
        pack(folder, folder / inside)
    assert verify(folder).holds


@pytest.mark.parametrize("where", ["file/x.tar.gz", "missing/x.tar.gz", "/proc/x.tar.gz"])
def test_places_that_cannot_be_written(folder: Path, tmp_path: Path, where: str) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(OutputError, match="cannot be written"):
        pack(folder, tmp_path / where)


def test_a_relative_folder_gives_its_name(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder / "public")
    archive = pack(Path(".."))
    assert archive == folder.with_name("my release.tar.gz")
    with tarfile.open(archive) as tar:
        assert {name.partition("/")[0] for name in tar.getnames()} == {"my release"}


def test_what_is_not_for_publication_is_packed_if_that_is_said(tmp_path: Path) -> None:
    rows = [(user, "weather", "2006-03-01 10:00:00", None, None) for user in "abc"]
    release = qv.anonymize(qv.QueryLog.from_rows(rows), qv.FrequentQueries(min_users=2), seed=1)
    release.write(tmp_path / "out")
    with pytest.raises(
        qv.UsageError, match=r"not for publication: a fixed seed.*Hint: remove these"
    ):
        qv.pack(tmp_path / "out")
    assert not (tmp_path / "out.tar.gz").exists()
    with pytest.warns(UserWarning, match="not for publication"):
        qv.pack(tmp_path / "out", not_for_publication=True)
