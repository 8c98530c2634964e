"""The files of a log: named one by one, by patterns, as a folder, or piped to standard input."""

from __future__ import annotations

import glob
import os
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..errors import InputError, UsageError, did_you_mean
from .frames import is_frame
from .readers.source import compressed_suffix

PIPE = "-"  # how standard input is named
STANDARD_INPUT = "standard input"  # its name on cards and in messages
_LEDGER = "ledger.db"  # it may be in the folder of the log, as may the files that SQLite adds
_START = 16  # bytes that show whether a stream is compressed


def resolve_paths(paths: object, *, folders: bool = False) -> list[Path]:
    """Resolve names and patterns to files; raise an error if one matches no file.

    With `folders`, the name of a folder means all files in it.
    """
    names = name_list(paths)
    files: list[Path] = []
    for name in names:
        if str(name) == PIPE:
            raise UsageError(
                "standard input has no folder, so it has no ledger",
                hint="name the population: `ledger=NAME`",
            )
        matches = _expand(name, folders)
        if not matches:
            raise InputError("no file fits this pattern", where=name, hint="check the path")
        files += matches
    if not files:
        raise UsageError("no log was named", hint="name one or several files")
    resolved = [path.resolve() for path in files]
    counts = Counter(resolved)
    for path, target in zip(files, resolved, strict=True):
        if counts[target] > 1:
            raise UsageError(
                "this file is named twice", where=path, hint="its rows would count twice"
            )
    return files


def name_list(paths: Any) -> list[str | Path]:
    """Return one name or several as a list; raise an error for anything else."""
    if isinstance(paths, str | Path):
        return [paths]
    # A column of a frame is no list of files: an error would show its first cell.
    is_list = isinstance(paths, Iterable) and not is_frame(paths) and not hasattr(paths, "dtype")
    names = list(paths) if is_list else [paths]
    for name in names:
        if not isinstance(name, str | Path):
            raise UsageError(
                f"a log cannot be read from a value of type {type(name).__name__}",
                hint="name a file, or several in a list; or give one frame of pandas, Polars or "
                "PyArrow with a column of users and a column of queries",
            )
    return names


def _expand(name: str | Path, folders: bool) -> list[Path]:
    """Return the files that match a pattern or are in a folder, or the file of that name."""
    try:
        is_pattern = glob.has_magic(str(name)) and not Path(name).exists()
        files = sorted(map(Path, glob.glob(str(name)))) if is_pattern else [Path(name)]  # noqa: PTH207
        if folders and Path(name).is_dir():
            files = sorted(path for path in Path(name).iterdir() if _is_log_file(path))
            is_pattern = True
        if is_pattern:
            files = [path for path in files if not path.name.startswith(_LEDGER)]
        for path in files:
            _check_file(path)
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", where=name) from error
    return files


def _is_log_file(path: Path) -> bool:
    return path.is_file() and not path.name.startswith(".")


def _check_file(path: Path) -> None:
    if path.is_dir():
        raise InputError(
            "this is a folder",
            where=path,
            hint=f'name files, or "{path}/*.tsv"; if each file in it is the log of one user: '
            '`columns="user=@file-name"`',
        )
    if not path.exists():
        raise InputError("no such file", where=path, hint=_suggest_name(path))
    if not path.is_file():
        # The beginning of a file is read twice: first to detect the format.
        raise InputError(
            "this is a pipe or a device",
            where=path,
            hint='write it to a file first, or pipe it to standard input, which is named "-"',
        )


def _suggest_name(path: Path) -> str:
    try:
        siblings = [entry.name for entry in path.absolute().parent.iterdir()]
    except OSError:
        return "its folder does not exist either"
    hint = did_you_mean(path.name, siblings)
    return hint if hint.startswith("did") else "check the path"


@contextmanager
def open_inputs(
    paths: object, *, folders: bool, may_be_compressed: bool
) -> Iterator[tuple[list[Path], Path | None]]:
    """Yield the files of a log, and the one among them that is a copy of standard input.

    Standard input is copied to a file that only this account can read, since the beginning of a
    log is read twice. The copy is removed at the end.

    Args:
        folders: Whether the name of a folder means all files in it.
        may_be_compressed: Whether the first bytes of standard input tell that it is compressed.
            They must not if they may be the query of a user.
    """
    names = name_list(paths)
    pipes = [name for name in names if str(name) == PIPE]
    if not pipes:
        yield resolve_paths(names, folders=folders), None
        return
    if len(pipes) > 1:
        raise UsageError("standard input is named twice", hint='write "-" once')
    if folders:
        raise UsageError(
            "standard input has no file name, so it cannot be the log of one user",
            hint='name the column of users: `columns="user=...,query=..."`',
        )
    others = [name for name in names if str(name) != PIPE]
    files = resolve_paths(others) if others else []
    with tempfile.TemporaryDirectory(prefix="queryveil-") as folder:
        copy = _copy_input(Path(folder), may_be_compressed)
        yield [*files, copy], copy


def _copy_input(folder: Path, may_be_compressed: bool) -> Path:
    """Copy standard input to a private file in a folder."""
    if sys.stdin is None or sys.stdin.isatty():
        raise UsageError(
            "nothing is piped to standard input",
            hint="for example: zcat log.tsv.gz | queryveil profile - --format tsv",
        )
    stream = sys.stdin.buffer
    start = stream.read(_START)
    path = folder / f"standard-input{compressed_suffix(start) if may_be_compressed else ''}"
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as copy:
            copy.write(start)
            shutil.copyfileobj(stream, copy, 1 << 20)
    except OSError as error:
        raise InputError(
            f"cannot be copied to {folder.parent} ({error.strerror})",
            where=STANDARD_INPUT,
            hint="set TMPDIR to a folder with more space",
        ) from error
    return path
