"""A name that is taken is never replaced, whatever the system can do."""

from __future__ import annotations

import ctypes
import errno
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from queryveil.core import files as renaming
from queryveil.core.files import atomic_file, exchange, locked, rename_new
from queryveil.errors import OutputError


def answers(number: int) -> Callable[[], Callable[..., int]]:
    """A system whose call is there and refuses."""

    def call(*_: object) -> int:
        ctypes.set_errno(number)
        return -1

    return lambda: call


SYSTEMS = {
    "as it is": None,
    "no such call": lambda: None,
    "ENOSYS": answers(errno.ENOSYS),
    "EINVAL": answers(errno.EINVAL),
    "EPERM": answers(errno.EPERM),
}


@pytest.fixture(params=SYSTEMS)
def system(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if SYSTEMS[request.param] is not None:
        monkeypatch.setattr(renaming, "_system_call", SYSTEMS[request.param])
    return str(request.param)


def made(path: Path, kind: str, text: str) -> Path:
    if kind == "file":
        path.write_text(text)
    else:
        path.mkdir()
        (path / "text").write_text(text)
    return path


def text_of(path: Path) -> str:
    return (path / "text" if path.is_dir() else path).read_text()


@pytest.mark.usefixtures("system")
@pytest.mark.parametrize("kind", ["file", "folder"])
def test_a_free_name_and_a_taken_one(tmp_path: Path, kind: str) -> None:
    new, target = made(tmp_path / "new", kind, "new"), tmp_path / "out"
    rename_new(new, target)
    assert text_of(target) == "new"
    later = made(tmp_path / "later", kind, "later")
    with pytest.raises(FileExistsError):
        rename_new(later, target)
    assert (text_of(target), text_of(later)) == ("new", "later")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with pytest.raises(FileExistsError):
        rename_new(later, tmp_path / "link")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["later", "link", "out"]


def test_names_are_exchanged_or_nothing_is_done(tmp_path: Path, system: str) -> None:
    one, two = made(tmp_path / "one", "folder", "1"), made(tmp_path / "two", "folder", "2")
    done = exchange(one, two)
    assert not done if system != "as it is" else done in (True, False)
    assert (text_of(one), text_of(two)) == (("2", "1") if done else ("1", "2"))


def test_other_errors_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(FileNotFoundError):
        rename_new(tmp_path / "none", tmp_path / "out")
    monkeypatch.setattr(renaming, "_system_call", answers(errno.EIO))
    with pytest.raises(OSError, match="Input/output error"):
        exchange(tmp_path, tmp_path)


@pytest.mark.usefixtures("system")
def test_one_of_many_gets_the_name(tmp_path: Path) -> None:
    parts = [made(tmp_path / f"part{n}", "file", str(n)) for n in range(16)]

    def run(part: Path) -> bool:
        try:
            rename_new(part, tmp_path / "out")
        except FileExistsError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        told = list(pool.map(run, parts))
    assert sum(told) == 1
    assert text_of(tmp_path / "out") == str(told.index(True))
    assert not list(tmp_path.glob(".*"))


def test_where_there_are_no_links_either(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(renaming, "_system_call", lambda: None)

    def refused(*_: object) -> None:
        raise OSError(errno.EPERM, "no links here")

    monkeypatch.setattr(os, "link", refused)
    rename_new(made(tmp_path / "new", "file", "new"), tmp_path / "out")
    with pytest.raises(FileExistsError):
        rename_new(made(tmp_path / "later", "file", "later"), tmp_path / "out")
    assert text_of(tmp_path / "out") == "new"


def test_a_lock_that_a_killed_run_left_is_free(tmp_path: Path) -> None:
    (tmp_path / ".out.lock").touch()
    with locked(tmp_path / "out"):
        assert (tmp_path / ".out.lock").exists()
    assert not list(tmp_path.iterdir())


# --- files ---------------------------------------------------------------------------------------


@contextmanager
def written(target: Path, text: str, **how: bool) -> Iterator[None]:
    with atomic_file(target, **how) as part:
        part.write_text(text)
        yield


@pytest.mark.usefixtures("system")
def test_a_file_that_came_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    target = tmp_path / "out.tsv"
    with (
        pytest.raises(OutputError, match="exists already"),
        written(target, "mine", overwrite=False),
    ):
        target.write_text("theirs")
    assert target.read_text() == "theirs"
    with written(target, "mine", overwrite=True):
        pass
    assert target.read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["out.tsv"]


def test_a_private_file_is_private_from_its_first_byte(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with atomic_file(tmp_path / "out", private=True) as part:
            assert part.stat().st_mode & 0o777 == 0o600
            part.write_text("x")
    finally:
        os.umask(before)
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o600
