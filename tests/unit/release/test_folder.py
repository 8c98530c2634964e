"""The folder is there whole or not at all, and nobody else's is touched."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from queryveil.core import files as renaming
from queryveil.core import folders as folder_module
from queryveil.errors import OutputError
from queryveil.log.query_log import QueryLog
from queryveil.methods.frequent_queries import FrequentQueries
from queryveil.release.release import Release
from queryveil.release.writing import is_release
from queryveil.workflows.anonymization import anonymize
from queryveil.workflows.verification import verify


@pytest.fixture(scope="module")
def release() -> Release:
    lines = [(f"user{n}", f"weather {n % 2}", "2006-03-01 10:00:00", 1, "http://a.example")
             for n in range(40)]  # fmt: skip
    return anonymize(QueryLog.from_rows(lines), FrequentQueries(min_users=5))


@pytest.fixture
def target(tmp_path: Path) -> Iterator[Path]:
    """A place for a release; afterwards nothing half-made may be beside it."""
    yield tmp_path / "out"
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".out.")]


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def tree(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.parametrize("mask", [0o022, 0o000, 0o077])
def test_private_is_private(release: Release, target: Path, mask: int) -> None:
    before = os.umask(mask)
    try:
        release.write(target)
    finally:
        os.umask(before)
    private = target / "private"
    assert mode(private) == 0o700
    assert {p.name for p in private.iterdir()} == {
        "card.json",
        "mapping.tsv",
        "rejected.tsv",
        "report.html",
    }
    assert {mode(p) for p in private.iterdir()} == {0o600}


def test_public_can_be_read(release: Release, target: Path) -> None:
    release.write(target, format="tsv")
    public = target / "public"
    assert {p.name for p in target.iterdir()} == {"public", "private"}
    assert {p.name for p in public.iterdir()} == {
        "croissant.json", "log.tsv", "release.json", "report.html",
    }  # fmt: skip
    assert mode(target) == mode(public) == 0o755
    assert all(mode(p) & 0o444 == 0o444 for p in public.iterdir())


def test_missing_parents_are_made(release: Release, tmp_path: Path) -> None:
    release.write(tmp_path / "a" / "b" / "out")
    assert verify(tmp_path / "a" / "b" / "out").holds


@pytest.mark.parametrize("kind", ["release", "folder", "empty", "file", "link", "dangling"])
def test_what_exists_is_refused(release: Release, target: Path, kind: str) -> None:
    make_there(release, target, kind)
    before = tree(target.parent)
    with pytest.raises(
        OutputError, match=r"this exists already\. Hint: choose another name, or `overwrite=True`"
    ):
        release.write(target)
    assert tree(target.parent) == before


def make_there(release: Release, target: Path, kind: str) -> None:
    if kind == "release":
        release.write(target)
    elif kind == "file":
        target.write_text("mine")
    elif kind in ("link", "dangling"):
        other = target.with_name("other")
        if kind == "link":
            release.write(other)
        target.symlink_to(other)
    else:
        target.mkdir()
        if kind == "folder":
            (target / "thesis.txt").write_text("mine")


def test_force_replaces_a_release(release: Release, target: Path) -> None:
    release.write(target, format="tsv")
    before = tree(target)
    release.write(target, format="csv", overwrite=True)
    assert (target / "public" / "log.csv").exists()
    assert not (target / "public" / "log.tsv").exists()
    assert tree(target) != before
    assert verify(target).holds


@pytest.mark.parametrize("kind", ["folder", "empty", "file", "link", "dangling"])
def test_force_replaces_nothing_else(release: Release, target: Path, kind: str) -> None:
    make_there(release, target, kind)
    before = tree(target.parent)
    with pytest.raises(OutputError, match="`overwrite=True` replaces only what queryveil wrote"):
        release.write(target, overwrite=True)
    assert tree(target.parent) == before
    assert target.is_symlink() == (kind in ("link", "dangling"))


@pytest.mark.parametrize(
    "card", ["{}", "[]", "7", "no json", '{"version": "1.0"}', '["queryveil"]']
)
def test_force_spares_a_folder_that_only_looks_like_a_release(
    release: Release, target: Path, card: str
) -> None:
    (target / "public").mkdir(parents=True)
    (target / "public" / "release.json").write_text(card)
    (target / "public" / "index.html").write_text("my web site")
    with pytest.raises(OutputError, match="`overwrite=True` replaces only what queryveil wrote"):
        release.write(target, overwrite=True)
    assert (target / "public" / "index.html").exists()


def test_force_spares_a_release_with_something_else_beside_it(
    release: Release, target: Path
) -> None:
    release.write(target)
    assert is_release(target)
    (target / "thesis.txt").write_text("mine")
    with pytest.raises(OutputError, match="holds something else"):
        release.write(target, overwrite=True)
    assert (target / "thesis.txt").read_text() == "mine"


def test_what_appears_during_a_run_is_spared(
    release: Release, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = folder_module._make_durable

    def slow(folder: Path) -> None:
        real(folder)
        target.mkdir()
        (target / "thesis.txt").write_text("mine")

    monkeypatch.setattr(folder_module, "_make_durable", slow)
    with pytest.raises(OutputError, match="exists already"):
        release.write(target)
    assert tree(target) == {"thesis.txt": b"mine"}


def no_flags(monkeypatch: pytest.MonkeyPatch) -> None:
    """A system that can neither exchange two names nor rename only to a free one."""
    monkeypatch.setattr(renaming, "_system_call", lambda: None)


def test_a_release_that_cannot_be_replaced_stays(
    release: Release, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release.write(target)
    before, real = tree(target), Path.rename

    def refused(self: Path, goal: Path) -> Path:
        if self.name.endswith(".part"):
            raise OSError(5, "Input/output error")
        return real(self, goal)

    no_flags(monkeypatch)
    monkeypatch.setattr(Path, "rename", refused)
    with pytest.raises(OutputError, match="Input/output error"):
        release.write(target, overwrite=True)
    assert tree(target) == before
    assert [path.name for path in target.parent.iterdir()] == [target.name]


# --- two runs that end together ------------------------------------------------------------------


def after_the_check(monkeypatch: pytest.MonkeyPatch, other: Callable[[], object]) -> None:
    """Let another run end after the last check of the target, before the renaming."""
    real, steps = folder_module.check_output_folder, iter([lambda: None, other])

    def checked(*args: Any) -> None:
        real(*args)
        next(steps, lambda: None)()

    monkeypatch.setattr("queryveil.release.writing.check_output_folder", checked)


@pytest.fixture(params=["flags", "no flags"])
def system(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "no flags":
        no_flags(monkeypatch)


@pytest.mark.usefixtures("system")
def test_a_release_that_ended_first_is_not_replaced(
    release: Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, first = tmp_path / "out", tmp_path / "first"
    release.write(first, format="tsv")
    before = tree(first)
    after_the_check(monkeypatch, lambda: first.rename(target))
    with pytest.raises(OutputError, match="exists already"):
        release.write(target)
    assert tree(target) == before
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.usefixtures("system")
def test_force_replaces_what_ended_first(
    release: Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, first = tmp_path / "out", tmp_path / "first"
    release.write(first, format="tsv")
    after_the_check(monkeypatch, lambda: first.rename(target))
    release.write(target, overwrite=True)
    assert (target / "public" / "log.parquet").exists()
    assert verify(target).holds
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.usefixtures("system")
def test_what_came_after_the_check_is_put_back(
    release: Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, mine = tmp_path / "out", tmp_path / "mine"
    release.write(target)
    mine.mkdir()
    (mine / "thesis.txt").write_text("mine")

    def replaced() -> None:
        target.rename(tmp_path / "moved")
        mine.rename(target)

    after_the_check(monkeypatch, replaced)
    with pytest.raises(OutputError, match="replaces only what queryveil wrote"):
        release.write(target, overwrite=True)
    assert tree(target) == {"thesis.txt": b"mine"}
    assert verify(tmp_path / "moved").holds


@pytest.mark.usefixtures("system")
def test_many_runs_that_end_together(release: Release, tmp_path: Path) -> None:
    target = tmp_path / "out"

    def run(_: int) -> str:
        try:
            release.write(target)
        except OutputError as error:
            return error.what
        return "written"

    with ThreadPoolExecutor(4) as pool:
        told = list(pool.map(run, range(4)))
    assert sorted(told) == ["this exists already"] * 3 + ["written"]
    assert verify(target).holds
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_an_error_on_the_way_leaves_nothing(
    release: Release, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: Path, **__: object) -> list[Any]:
        raise RuntimeError("a defect")

    monkeypatch.setattr("queryveil.release.writing.verify_public", broken)
    with pytest.raises(RuntimeError, match="a defect"):
        release.write(target)
    assert not target.exists()


def test_a_broken_promise_is_not_published(release: Release, target: Path) -> None:
    from dataclasses import replace

    from queryveil.errors import VerificationError

    low = replace(release, log=release.log.head(4))  # no four rows have a query of five users
    with pytest.raises(
        VerificationError, match="does not keep its promise, so nothing was published"
    ):
        low.write(target)
    assert not target.exists()


# --- the mapping ---------------------------------------------------------------------------------


def test_the_mapping_says_who_is_who(release: Release, target: Path) -> None:
    release.write(target, format="tsv")
    rows = [
        line.split("\t") for line in (target / "private" / "mapping.tsv").read_text().splitlines()
    ]
    assert rows[0] == ["user", "pseudonym"]
    assert {user for user, _ in rows[1:]} == {f"user{n}" for n in range(40)}
    public = (target / "public" / "log.tsv").read_text().splitlines()[1:]
    assert {name for _, name in rows[1:]} == {line.split("\t")[0] for line in public}


def test_the_mapping_can_be_forgotten(release: Release, target: Path) -> None:
    release.write(target, include_mapping=False)
    assert not (target / "private" / "mapping.tsv").exists()
    private = b"".join(path.read_bytes() for path in (target / "private").iterdir())
    assert b"user7" not in private
    assert verify(target).holds


# --- leftovers -----------------------------------------------------------------------------------


def dead_process() -> int:
    done = subprocess.Popen([sys.executable, "-c", ""])
    done.wait()
    return done.pid


def leave(folder: Path, name: str) -> Path:
    left = folder / name
    (left / "public").mkdir(parents=True)
    (left / "public" / "log.tsv").write_text("half")
    return left


@pytest.mark.parametrize("name", ["out", "out[1]", "out*", "out.v1", "ü"])
def test_leftovers_of_the_dead_are_removed(release: Release, tmp_path: Path, name: str) -> None:
    pid = dead_process()
    part = leave(tmp_path, f".{name}.{pid}-0123abcd.part")
    old = leave(tmp_path, f".{name}.{pid}-0123abcd.old")
    release.write(tmp_path / name)
    assert not part.exists()
    assert not old.exists()
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_leftovers_of_the_living_are_spared(release: Release, tmp_path: Path) -> None:
    mine = leave(tmp_path, f".out.{os.getpid()}-0123abcd.part")
    root = leave(tmp_path, ".out.1-0123abcd.part")  # the first process always lives
    release.write(tmp_path / "out")
    assert mine.exists()
    assert root.exists()


def test_leftovers_of_other_names_are_spared(release: Release, tmp_path: Path) -> None:
    pid = dead_process()
    names = [
        f".other.{pid}-0123abcd.part",
        f".out.{pid}-0123abcd.backup",
        f".out.{pid}-notes.part",
        f".out.{pid}-x.{pid}-0123abcd.part",  # of a release named out.PID-x
        f"out.{pid}-0123abcd.part",
        ".out.999999999999999999999-0123abcd.part",
    ]
    left = [leave(tmp_path, name) for name in names]
    release.write(tmp_path / "out")
    assert all(path.exists() for path in left)


def test_what_was_replaced_stays_until_the_new_one_stands(
    release: Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A run was killed between the two renamings: the only whole release is the .old one.
    old = leave(tmp_path, f".out.{dead_process()}-0123abcd.old")

    def full(_: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(folder_module, "_make_durable", full)
    with pytest.raises(OutputError, match="No space left on device"):
        release.write(tmp_path / "out")
    assert old.exists()
    monkeypatch.undo()
    release.write(tmp_path / "out")
    assert not old.exists()


# --- places that cannot be written ---------------------------------------------------------------


@pytest.mark.parametrize(
    "where", ["file/out", "file/a/out", "/proc/out", "/proc/1/a/out", "x" * 300]
)
def test_places_that_cannot_be_written(release: Release, tmp_path: Path, where: str) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(OutputError, match=re.escape("cannot be written (")) as told:
        release.write(tmp_path / where)
    assert told.value.exit_code == 1
    assert "Hint" in str(told.value)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_relative_names(release: Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    release.write("out")
    release.write(Path("a") / ".." / "b")
    assert verify("out").holds
    assert verify("b").holds
    monkeypatch.chdir(tmp_path / "out")
    with pytest.raises(OutputError, match="exists already"):
        release.write(".")


def test_names_that_are_no_text_are_refused(release: Release, tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="this name is not valid UTF-8"):
        release.write(tmp_path / os.fsdecode(b"caf\xe9"))
    assert list(tmp_path.iterdir()) == []
