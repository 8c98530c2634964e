"""A file that appears whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..errors import OutputError

__all__ = ["whole_file"]


@contextmanager
def whole_file(target: Path, *, force: bool = True) -> Iterator[Path]:
    """Give a hidden name to write to; on leaving without an error it becomes the target."""
    if target.exists() and not force:
        raise OutputError("this exists already", where=target, hint="--force replaces it")
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        yield part
        with part.open("rb+") as written:
            os.fsync(written.fileno())
        part.replace(target)
    except OSError as error:
        reason = error.strerror or str(error)
        raise OutputError(f"cannot be written ({reason})", where=target) from error
    finally:
        with suppress(OSError):  # where there is no such folder there is nothing to remove
            part.unlink(missing_ok=True)
