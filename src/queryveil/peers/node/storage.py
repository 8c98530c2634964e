"""The folder of a node: for its owner's eyes only, and whole after every crash."""

from __future__ import annotations

import fcntl
import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ...core.bounded import parse_json
from ...core.files import atomic_file
from ...errors import InputError, UsageError

_MOST = 64 * 1024 * 1024  # a state file that is larger is not ours


class NodeDirectory:
    """A folder with the key, the friends and the counters of one person's node."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def make(self) -> None:
        """Make the folder, or check that nobody else can look into it."""
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        for path in (self.path, *self.path.iterdir()):
            self._check(path)

    def write(self, name: str, data: bytes) -> None:
        """Write a file that only its owner can read, whole or not at all."""
        with atomic_file(self.path / name) as part:
            part.unlink(missing_ok=True)
            kind = os.O_CREAT | os.O_EXCL | os.O_WRONLY
            with os.fdopen(os.open(part, kind, 0o600), "wb") as file:
                file.write(data)

    def read(self, name: str) -> bytes | None:
        """Read a file, or give None where there is none."""
        path = self.path / name
        try:
            self._check(path)
            if path.stat().st_size > _MOST:
                raise InputError("this file is too large to be a node's", where=path)
            return path.read_bytes()
        except FileNotFoundError:
            return None

    def write_json(self, name: str, told: object) -> None:
        """Write a JSON document."""
        self.write(name, json.dumps(told, indent=1).encode())

    def read_json(self, name: str) -> Any:
        """Read a JSON document, or give None where there is none."""
        data = self.read(name)
        try:
            return None if data is None else parse_json(data)
        except ValueError as error:
            hint = "restore it, or remove it to begin anew"
            raise InputError("this is no JSON", where=self.path / name, hint=hint) from error

    def mtime(self, name: str) -> int:
        """Give a number that is another one after a file was written again."""
        try:
            return (self.path / name).stat().st_mtime_ns
        except FileNotFoundError:
            return 0

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Let no second node run from this folder."""
        lock = os.open(self.path / "lock", os.O_CREAT | os.O_RDWR, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield
        except BlockingIOError as error:
            raise UsageError("a node runs from this folder already", where=self.path) from error
        finally:
            os.close(lock)

    def _check(self, path: Path) -> None:
        """Refuse what others can read or write, and what belongs to somebody else."""
        found = path.lstat()
        if stat.S_ISLNK(found.st_mode):
            raise InputError("this is a link, and a node's files are none", where=path)
        if found.st_mode & 0o077 or found.st_uid != os.geteuid():
            raise InputError(
                "others can read or change this: it has what you search for",
                where=path,
                hint=f"chmod -R go-rwx {self.path}",
            )
