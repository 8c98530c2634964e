"""Write a folder that appears complete or not at all.

All files are written into a hidden folder beside the target, made durable, and renamed. The rename
fails if another process created a folder of that name meanwhile. With `overwrite` the old and the
new folder exchange names in one step. If the process is killed before, the target is unchanged, and
the next run removes the leftovers. Where a file system cannot exchange names, there are two renames
under a lock, and a run that is killed between them leaves the old folder as `.old`.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import OutputError
from .bounded import read_json
from .files import exchange, locked, rename_new
from .records import Json

_TRIES = 20
_MAX_CARD_BYTES = 64 << 20  # comparison.json has one entry per run


def read_json_card(path: Path) -> dict[str, Json]:
    """Return the card of a folder; an empty dict if it is missing or malformed."""
    try:
        card = read_json(path, most=_MAX_CARD_BYTES)
    except (OSError, ValueError):
        return {}
    return card if isinstance(card, dict) else {}


def is_queryveil_folder(folder: Path, card: str, names: set[str]) -> bool:
    """Return whether queryveil wrote a folder and it has no entries besides `names`."""
    try:
        entries = {path.name for path in folder.iterdir()}
    except OSError:
        return False
    return "queryveil" in read_json_card(folder / card) and entries <= names


def check_output_folder(target: Path, overwrite: bool, is_ours: Callable[[Path], bool]) -> None:
    """Raise an `OutputError` if the target exists and must not be replaced."""
    if not _is_utf8(str(target.absolute())):  # Polars cannot write to such a path
        raise OutputError("this name is not valid UTF-8", where=target, hint="take another name")
    with _convert_os_errors(target):
        exists = target.exists() or target.is_symlink()
    if not exists:
        return
    if not overwrite:
        raise OutputError(
            "this exists already", where=target, hint="choose another name, or `overwrite=True`"
        )
    if target.is_symlink() or not target.is_dir() or not is_ours(target):
        raise OutputError(
            "`overwrite=True` replaces only what queryveil wrote, and this is or holds "
            "something else",
            where=target,
            hint="take another name",
        )


def _is_utf8(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


@contextmanager
def atomic_folder(target: Path, check: Callable[[], None]) -> Iterator[Path]:
    """Yield a hidden folder to fill; on leaving without an error it becomes the target.

    `check` raises if the target must not be replaced. It runs at the start and again before the
    rename, because another process may create a folder of that name during a long run.
    """
    check()
    with _convert_os_errors(target):
        target = target.absolute()
        target.parent.mkdir(parents=True, exist_ok=True)
        _remove_leftovers(target, "part")
        part = target.with_name(f".{target.name}.{os.getpid()}-{secrets.token_hex(4)}.part")
        old = part.with_suffix(".old")
        part.mkdir(mode=0o700)
        created = _identity(part)
        try:
            yield part
            _make_durable(part)
            _publish(part, target, old, check)
        finally:
            _clean_up(part, target, old, created)
        _remove_leftovers(target, "old")


def _publish(part: Path, target: Path, old: Path, check: Callable[[], None]) -> None:
    """Rename the finished folder to the target, replacing only what `check` has seen."""
    part.chmod(0o755)
    for _ in range(_TRIES):
        seen = _identity(target)
        check()
        if _rename_if_free(part, target) if seen is None else _replace(part, target, old, seen):
            _sync(target.parent)
            return
    raise OutputError(
        "other runs keep writing to this folder; nothing was published",
        where=target,
        hint="take another name",
    )


def _identity(path: Path) -> tuple[int, int] | None:
    """Return device and inode, which distinguish folders of the same name, or None."""
    try:
        status = path.lstat()
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino


def _rename_if_free(part: Path, target: Path) -> bool:
    try:
        rename_new(part, target)
    except FileExistsError:  # just created by another run: let `check` decide about it
        return False
    return True


def _replace(part: Path, target: Path, old: Path, seen: tuple[int, int]) -> bool:
    """Replace the folder that was checked; return False if it is no longer there."""
    try:
        if not exchange(part, target):
            return _replace_in_two_steps(part, target, old, seen)
    except FileNotFoundError:
        return False
    if _identity(part) == seen:
        shutil.rmtree(part, ignore_errors=True)
        return True
    exchange(part, target)  # it was created after the check: put it back and try again
    return False


def _replace_in_two_steps(part: Path, target: Path, old: Path, seen: tuple[int, int]) -> bool:
    with locked(target):
        if _identity(target) != seen:
            return False
        target.rename(old)
        part.rename(target)
    shutil.rmtree(old, ignore_errors=True)
    return True


def _clean_up(part: Path, target: Path, old: Path, created: tuple[int, int] | None) -> None:
    """Remove the unfinished folder; after a stop between two renames, restore the old one."""
    if old.exists() and not target.exists():
        old.rename(target)
    if _identity(target) == created:  # otherwise the old folder is the only copy
        shutil.rmtree(old, ignore_errors=True)
    shutil.rmtree(part, ignore_errors=True)


def _remove_leftovers(target: Path, ending: str) -> None:
    """Remove the leftovers of killed runs for the same target, but not those of running ones.

    An `.old` folder is the previous release of a run that was killed while replacing it. It is
    removed only after the new release is in place.
    """
    pattern = re.compile(rf"\.{re.escape(target.name)}\.(\d{{1,9}})-[0-9a-f]{{8}}\.{ending}")
    for path in target.parent.iterdir():
        match = pattern.fullmatch(path.name)
        if match and not _is_running(int(match[1])):
            shutil.rmtree(path, ignore_errors=True)


def _is_running(process: int) -> bool:
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
def _convert_os_errors(target: Path) -> Iterator[None]:
    """Convert an `OSError` to an `OutputError` with a hint."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise OutputError(
            f"cannot be written ({reason}); nothing was published",
            where=target,
            hint="free some space, or check who may write here",
        ) from error
