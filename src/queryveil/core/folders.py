"""A folder that appears whole or not at all.

Everything is written into a hidden folder beside the target, made durable, and renamed, which
fails if somebody else made a folder of that name meanwhile. What --force replaces changes names
with the new folder in one step. If the process is killed before, the target is as it was; what
was left behind is removed by the next run. Where a file system cannot exchange names, there are
two renamings under a lock, and a run that is killed between them leaves the old folder as `.old`.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..errors import OutputError
from .bounded import read_json
from .files import exchange, locked, rename_new

_TRIES = 20
_MOST_CARD = 64 << 20  # comparison.json has a line for each of its runs


def read_json_card(path: Path) -> dict[str, Any]:
    """Read what queryveil wrote about a folder; nothing if it is not there, or of other form."""
    try:
        found = read_json(path, most=_MOST_CARD)
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def is_queryveil_folder(folder: Path, card: str, names: set[str]) -> bool:
    """Tell whether a folder is one that queryveil wrote, with nothing of others in it."""
    try:
        there = {path.name for path in folder.iterdir()}
    except OSError:
        return False
    return "queryveil" in read_json_card(folder / card) and there <= names


def check_output_folder(target: Path, force: bool, is_ours: Callable[[Path], bool]) -> None:
    """Refuse a target that exists, unless it is ours to replace."""
    if not _is_text(str(target.absolute())):  # Polars cannot write there
        raise OutputError("this name is no text in UTF-8", where=target, hint="take another name")
    with _explained(target):
        taken = target.exists() or target.is_symlink()
    if not taken:
        return
    if not force:
        raise OutputError(
            "this exists already", where=target, hint="take another name, or --force to replace it"
        )
    if target.is_symlink() or not target.is_dir() or not is_ours(target):
        raise OutputError(
            "--force replaces only what queryveil wrote, and this is or holds something else",
            where=target,
            hint="take another name",
        )


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


@contextmanager
def atomic_folder(target: Path, check: Callable[[], None]) -> Iterator[Path]:
    """Give a hidden folder to fill; on leaving without an error it becomes the target.

    `check` refuses a target that must not be replaced. It is asked at the start and again
    before the renaming: during a long run somebody else may have made a folder of that name.
    """
    check()
    with _explained(target):
        target = target.absolute()
        target.parent.mkdir(parents=True, exist_ok=True)
        _remove_leftovers(target, "part")
        part = target.with_name(f".{target.name}.{os.getpid()}-{secrets.token_hex(4)}.part")
        old = part.with_suffix(".old")
        part.mkdir(mode=0o700)
        made = _identity(part)
        try:
            yield part
            _make_durable(part)
            _put(part, target, old, check)
        finally:
            _tidy(part, target, old, made)
        _remove_leftovers(target, "old")


def _put(part: Path, target: Path, old: Path, check: Callable[[], None]) -> None:
    """Give the finished folder its name, in place of what was checked and of nothing else."""
    part.chmod(0o755)
    for _ in range(_TRIES):
        seen = _identity(target)
        check()
        if _named(part, target) if seen is None else _replaced(part, target, old, seen):
            _sync(target.parent)
            return
    raise OutputError(
        "other runs write here all the time; nothing was published",
        where=target,
        hint="take another name",
    )


def _identity(path: Path) -> tuple[int, int] | None:
    """Return what tells one folder from another of the same name; None if there is none."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def _named(part: Path, target: Path) -> bool:
    try:
        rename_new(part, target)
    except FileExistsError:  # it came just now: the check says whether it may be replaced
        return False
    return True


def _replaced(part: Path, target: Path, old: Path, seen: tuple[int, int]) -> bool:
    """Put the new folder where the one that was checked is; False if that one is gone."""
    try:
        if not exchange(part, target):
            return _replaced_in_two_steps(part, target, old, seen)
    except FileNotFoundError:
        return False
    if _identity(part) == seen:
        shutil.rmtree(part, ignore_errors=True)
        return True
    exchange(part, target)  # another one came after the check: put it back, and look again
    return False


def _replaced_in_two_steps(part: Path, target: Path, old: Path, seen: tuple[int, int]) -> bool:
    with locked(target):
        if _identity(target) != seen:
            return False
        target.rename(old)
        part.rename(target)
    shutil.rmtree(old, ignore_errors=True)
    return True


def _tidy(part: Path, target: Path, old: Path, made: tuple[int, int] | None) -> None:
    """Remove what is unfinished; after a stop between the renamings, put back what was there."""
    if old.exists() and not target.exists():
        old.rename(target)
    if _identity(target) == made:  # else the old one is the only one there is
        shutil.rmtree(old, ignore_errors=True)
    shutil.rmtree(part, ignore_errors=True)


def _remove_leftovers(target: Path, ending: str) -> None:
    """Remove what killed runs for the same target left; runs that still live are spared.

    An `.old` is what a run that was killed while replacing a release left of it, so it goes
    only when the new release stands.
    """
    name = re.compile(rf"\.{re.escape(target.name)}\.(\d{{1,9}})-[0-9a-f]{{8}}\.{ending}")
    for left in target.parent.iterdir():
        found = name.fullmatch(left.name)
        if found and not _lives(int(found[1])):
            shutil.rmtree(left, ignore_errors=True)


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _make_durable(folder: Path) -> None:
    for path in sorted(folder.rglob("*")):
        _sync(path)
    _sync(folder)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def _explained(target: Path) -> Iterator[None]:
    """Turn the system's refusals into errors that a person can act on."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise OutputError(
            f"cannot be written ({reason}); nothing was published",
            where=target,
            hint="free some space, or check who may write here",
        ) from error
