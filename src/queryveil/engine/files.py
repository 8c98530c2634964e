"""A file that appears whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..core.files import rename_new
from ..errors import OutputError

__all__ = ["atomic_file"]


@contextmanager
def atomic_file(target: Path, *, force: bool = True, private: bool = False) -> Iterator[Path]:
    """Give a hidden name to write to; on leaving without an error it becomes the target.

    Without `force` it never replaces a file, also not one that another run wrote meanwhile. A
    `private` file can be read by its owner alone, from its first byte on.
    """
    if os.path.lexists(target) and not force:
        raise _exists(target)
    part = target.with_name(f".{target.name}.{os.getpid()}-{secrets.token_hex(4)}.part")
    try:
        if private:
            os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        yield part
        with part.open("rb+") as written:
            os.fsync(written.fileno())
        _name(part, target, force)
    except OSError as error:
        reason = error.strerror or str(error)
        raise OutputError(f"cannot be written ({reason})", where=target) from error
    finally:
        with suppress(OSError):  # where there is no such folder there is nothing to remove
            part.unlink(missing_ok=True)


def _name(part: Path, target: Path, force: bool) -> None:
    if force:
        part.replace(target)
        return
    try:
        rename_new(part, target)
    except FileExistsError as error:
        raise _exists(target) from error


def _exists(target: Path) -> OutputError:
    return OutputError("this exists already", where=target, hint="--force replaces it")
