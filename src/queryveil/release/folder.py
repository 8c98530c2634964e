"""A folder that appears whole or not at all.

Everything is written into a hidden folder beside the target, made durable, and renamed. If
the process is killed before the rename there is no target; what it left behind is removed
by the next run.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..errors import OutputError

__all__ = ["check_target", "is_ours", "read_card", "whole_folder"]


def read_card(path: Path) -> dict[str, Any]:
    """Read what queryveil wrote about a folder; nothing if it is not there, or of other form."""
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def is_ours(folder: Path, card: str, names: set[str]) -> bool:
    """Tell whether a folder is one that queryveil wrote, with nothing of others in it."""
    try:
        there = {path.name for path in folder.iterdir()}
    except OSError:
        return False
    return "queryveil" in read_card(folder / card) and there <= names


def check_target(target: Path, force: bool, is_ours: Callable[[Path], bool]) -> None:
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
def whole_folder(target: Path, check: Callable[[], None]) -> Iterator[Path]:
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
        try:
            part.mkdir(mode=0o700)
            yield part
            _make_durable(part)
            check()
            _swap(part, target, old)
        finally:
            _tidy(part, target, old)
        _remove_leftovers(target, "old")


def _swap(part: Path, target: Path, old: Path) -> None:
    part.chmod(0o755)
    if target.exists():
        target.rename(old)
    part.rename(target)
    _sync(target.parent)
    shutil.rmtree(old, ignore_errors=True)


def _tidy(part: Path, target: Path, old: Path) -> None:
    """Remove what is unfinished; after a stop between the renamings, put back what was there."""
    if old.exists() and not target.exists():
        old.rename(target)
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
