"""Rename files and folders without ever replacing what another process put there.

Linux (`renameat2`) and macOS (`renamex_np`) can rename only if the name is free, and exchange two
names in one step. Windows renames only if the name is free. Where the system or the file system
cannot, a lock beside the target excludes other runs of queryveil between the check and the rename.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import hashlib
import os
import secrets
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..errors import OutputError
from .bounded import read_within

_Rename = Callable[[bytes, bytes, int], int]
_AT_FDCWD = -100
# Error numbers of a call that the system or the file system does not support. EPERM is included
# because some containers return it for unknown calls; a real EPERM recurs in the fallback.
_UNSUPPORTED = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM, errno.EOPNOTSUPP}
_NEW, _SWAP = (4, 2) if sys.platform == "darwin" else (1, 2)


def rename_new(source: Path, target: Path) -> None:
    """Rename a file or folder; raise a `FileExistsError` if the target exists."""
    if os.name == "nt":
        source.rename(target)
        return
    if _rename_with_flags(source, target, _NEW):
        return
    with locked(target):
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))
        if source.is_dir():
            source.rename(target)  # fails if a non-empty folder appeared meanwhile
            return
        try:
            os.link(source, target)  # never replaces; some file systems lack links
        except FileExistsError:
            raise
        except OSError:
            source.rename(target)
        else:
            source.unlink()


def exchange(source: Path, target: Path) -> bool:
    """Exchange two names in one step; return False, without any change, if unsupported."""
    return os.name != "nt" and _rename_with_flags(source, target, _SWAP)


def _rename_with_flags(source: Path, target: Path, flags: int) -> bool:
    """Rename by the system's own call; return False if it is not supported."""
    call = _system_call()
    if call is None:
        return False
    sys.audit("os.rename", os.fspath(source), os.fspath(target), -1, -1)
    ctypes.set_errno(0)
    if call(os.fsencode(source), os.fsencode(target), flags) == 0:
        return True
    number = ctypes.get_errno()
    if number in _UNSUPPORTED:
        return False
    raise OSError(number, os.strerror(number), str(source), None, str(target))


def _system_call() -> _Rename | None:
    """Return the system's call that renames with flags, if there is one."""
    try:
        library = ctypes.CDLL(None, use_errno=True)
        if sys.platform == "darwin":
            rename: _Rename = library.renamex_np
            return rename
        rename_at = library.renameat2
    except (AttributeError, OSError, TypeError):
        return None
    return lambda source, target, flags: rename_at(_AT_FDCWD, source, _AT_FDCWD, target, flags)


@contextmanager
def locked(target: Path) -> Iterator[None]:
    """Hold a lock on a target; the system releases the lock of a run that is killed."""
    lock = target.with_name(f".{target.name}.lock")
    handle = _acquire(lock)
    try:
        yield
    finally:
        with suppress(OSError):  # before the release, so that a waiting run notices it
            lock.unlink()
        os.close(handle)


def _acquire(lock: Path) -> int:
    while True:
        handle = os.open(lock, os.O_CREAT | os.O_RDWR, 0o600)
        try:
            _wait_for(handle)
            if os.path.samestat(os.fstat(handle), lock.stat()):
                return handle
        except FileNotFoundError:
            pass  # the previous holder removed the file: create a new one
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)


if sys.platform == "win32":
    import msvcrt

    def _wait_for(handle: int) -> None:
        msvcrt.locking(handle, msvcrt.LK_LOCK, 1)
else:
    import fcntl

    def _wait_for(handle: int) -> None:
        with suppress(OSError):  # no locks here: only the check before renaming remains
            fcntl.flock(handle, fcntl.LOCK_EX)


@contextmanager
def atomic_file(target: Path, *, overwrite: bool = True, private: bool = False) -> Iterator[Path]:
    """Yield a hidden path to write to; on leaving without an error it becomes the target.

    Without `overwrite` no file is replaced, not even one that another run wrote meanwhile. A
    `private` file is readable by its owner only, from its first byte on.
    """
    if os.path.lexists(target) and not overwrite:
        raise _exists_error(target)
    part = target.with_name(f".{target.name}.{os.getpid()}-{secrets.token_hex(4)}.part")
    try:
        if private:
            os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        yield part
        with part.open("rb+") as written:
            os.fsync(written.fileno())
        _publish(part, target, overwrite)
    except OSError as error:
        reason = error.strerror or str(error)
        raise OutputError(f"cannot be written ({reason})", where=target) from error
    finally:
        with suppress(OSError):  # without the folder there is nothing to remove
            part.unlink(missing_ok=True)


def _publish(part: Path, target: Path, overwrite: bool) -> None:
    if overwrite:
        part.replace(target)
        return
    try:
        rename_new(part, target)
    except FileExistsError as error:
        raise _exists_error(target) from error


def _exists_error(target: Path) -> OutputError:
    return OutputError("this exists already", where=target, hint="`overwrite=True` replaces it")


def load_hint(key: str) -> float | None:
    """Return the number that was saved under this key, or None."""
    try:
        return float(read_within(_hint_path(key), 100, plain=True))
    except (OSError, ValueError, RuntimeError):  # RuntimeError: there is no home directory
        return None


def save_hint(key: str, value: float) -> None:
    """Save a number under this key in the user's cache; ignore failures."""
    with contextlib.suppress(OSError, OutputError, RuntimeError):
        path = _hint_path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_file(path) as part:
            part.write_text(repr(value), encoding="utf-8")


def _hint_path(key: str) -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "queryveil" / hashlib.sha256(key.encode()).hexdigest()[:32]
