"""The folder of a node: only its owner can read it, and files are written atomically."""

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

_MAX_BYTES = 64 * 1024 * 1024  # of a file; the node writes none that is larger


class NodeDirectory:
    """A folder with the key, the friends and the counts of one user's node."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def make(self) -> None:
        """Create the folder, or check that no other user can read or change it."""
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        for path in (self.path, *self.path.iterdir()):
            self._check(path)

    def write(self, name: str, data: bytes) -> None:
        """Write a file atomically that only its owner can read."""
        with atomic_file(self.path / name) as part:
            # O_EXCL: the file is new and has this mode, nobody else can have opened it before.
            part.unlink(missing_ok=True)
            flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY
            with os.fdopen(os.open(part, flags, 0o600), "wb") as file:
                file.write(data)

    def read(self, name: str) -> bytes | None:
        """Return the bytes of a file, or None if there is none."""
        path = self.path / name
        try:
            self._check(path)
            if path.stat().st_size > _MAX_BYTES:
                raise InputError(
                    f"this file is too large for a node: at most {_MAX_BYTES:,} bytes", where=path
                )
            return path.read_bytes()
        except FileNotFoundError:
            return None

    def write_json(self, name: str, document: object) -> None:
        """Write a JSON document."""
        self.write(name, json.dumps(document, indent=1).encode())

    def read_json(self, name: str) -> Any:
        """Return the content of a JSON document, or None if there is none."""
        data = self.read(name)
        try:
            return None if data is None else parse_json(data)
        except ValueError as error:
            hint = "restore it, or remove it to begin anew"
            raise InputError("this is not valid JSON", where=self.path / name, hint=hint) from error

    def mtime(self, name: str) -> int:
        """Return the modification time of a file in nanoseconds, or 0 if there is none."""
        try:
            return (self.path / name).stat().st_mtime_ns
        except FileNotFoundError:
            return 0

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the folder; raise a UsageError if another node runs from it."""
        lock = os.open(self.path / "lock", os.O_CREAT | os.O_RDWR, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield
        except BlockingIOError as error:
            raise UsageError("another node runs from this folder", where=self.path) from error
        finally:
            os.close(lock)

    def _check(self, path: Path) -> None:
        """Raise an InputError if others can read or write a file, or own it."""
        info = path.lstat()
        if stat.S_ISLNK(info.st_mode):
            raise InputError("a node's files cannot be symbolic links", where=path)
        if info.st_mode & 0o077 or info.st_uid != os.geteuid():
            raise InputError(
                "others can read or change this file, which has private data",
                where=path,
                hint=f"chmod -R go-rwx {self.path}",
            )
