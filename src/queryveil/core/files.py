"""Give a file or folder its name, without ever replacing what another process put there.

Linux (`renameat2`) and macOS (`renamex_np`) can rename only if the name is free, and exchange two
names in one step. Windows renames only if the name is free. Where the system or the file system
cannot, a lock beside the target keeps other runs of queryveil away while it is looked and renamed.
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
# What says that the call is not there or not for this file system. EPERM: some containers answer
# so to calls that they do not know; where it is meant, the next try gets it too.
_UNSUPPORTED = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM, errno.EOPNOTSUPP}
_NEW, _SWAP = (4, 2) if sys.platform == "darwin" else (1, 2)


def rename_new(source: Path, target: Path) -> None:
    """Rename, or raise a `FileExistsError` where there is something of that name."""
    if os.name == "nt":
        source.rename(target)
        return
    if _renamed(source, target, _NEW):
        return
    with locked(target):
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))
        if source.is_dir():
            source.rename(target)  # fails if a folder with something in it came in between
            return
        try:
            os.link(source, target)  # never replaces, but not every file system has links
        except FileExistsError:
            raise
        except OSError:
            source.rename(target)
        else:
            source.unlink()


def exchange(source: Path, target: Path) -> bool:
    """Exchange two names in one step; False, and nothing done, where the system cannot."""
    return os.name != "nt" and _renamed(source, target, _SWAP)


def _renamed(source: Path, target: Path, flags: int) -> bool:
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
            plain: _Rename = library.renamex_np
            return plain
        at = library.renameat2
    except (AttributeError, OSError, TypeError):
        return None
    return lambda source, target, flags: at(_AT_FDCWD, source, _AT_FDCWD, target, flags)


@contextmanager
def locked(target: Path) -> Iterator[None]:
    """Keep other runs that end at this target waiting; a killed run's lock is free at once."""
    lock = target.with_name(f".{target.name}.lock")
    handle = _taken(lock)
    try:
        yield
    finally:
        with suppress(OSError):  # before it is let go, so that a waiting run sees that it is gone
            lock.unlink()
        os.close(handle)


def _taken(lock: Path) -> int:
    while True:
        handle = os.open(lock, os.O_CREAT | os.O_RDWR, 0o600)
        try:
            _wait_for(handle)
            if os.path.samestat(os.fstat(handle), lock.stat()):
                return handle
        except FileNotFoundError:
            pass  # the run before removed it: take a new one
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
        with suppress(OSError):  # a file system without locks: the look before renaming is left
            fcntl.flock(handle, fcntl.LOCK_EX)


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


def load_hint(key: str) -> float | None:
    """Give the number that was kept under this key, if there is one."""
    try:
        return float(read_within(_place(key), 100, plain=True))
    except (OSError, ValueError, RuntimeError):  # RuntimeError: nobody's home
        return None


def save_hint(key: str, value: float) -> None:
    """Keep a number under this key, if that is possible."""
    with contextlib.suppress(OSError, OutputError, RuntimeError):
        place = _place(key)
        place.parent.mkdir(parents=True, exist_ok=True)
        with atomic_file(place) as part:
            part.write_text(repr(value), encoding="utf-8")


def _place(key: str) -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "queryveil" / hashlib.sha256(key.encode()).hexdigest()[:32]
