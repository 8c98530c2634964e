"""An archive of the public files alone."""

from __future__ import annotations

import os
import tarfile
from pathlib import Path

from ..errors import OutputError, VerificationError
from .verify import verify_public

__all__ = ["pack"]


def pack(folder: Path, archive: Path | None = None, force: bool = False) -> Path:
    """Archive `public/` of a release that still keeps its promise, as .tar.gz.

    Names, times and owners of the files are set to constants: an archive tells nothing of
    the machine that made it, and the same release packs to the same bytes.
    """
    public = folder / "public"
    broken = [finding.says for finding in verify_public(public) if not finding.holds]
    if broken:
        raise VerificationError(
            "this release does not keep its promise: " + "; ".join(broken), where=folder
        )
    target = archive or Path(f"{folder.absolute()}.tar.gz")
    if target.exists() and not force:
        raise OutputError("this exists already", where=target, hint="--force replaces it")
    part = target.with_name(f".{target.name}.part")
    try:
        _write(public, part, folder.absolute().name)
        part.replace(target)
    except OSError as error:
        raise OutputError(f"cannot be written ({error.strerror})", where=target) from error
    finally:
        part.unlink(missing_ok=True)
    return target


def _write(public: Path, part: Path, name: str) -> None:
    import gzip  # noqa: PLC0415

    with part.open("wb") as raw, gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as packed:
        with tarfile.open(fileobj=packed, mode="w") as tar:
            for path in sorted(public.iterdir()):
                tar.add(path, f"{name}/{path.name}", filter=_plain, recursive=False)
        packed.flush()
        os.fsync(raw.fileno())


def _plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = entry.mtime = 0
    entry.uname = entry.gname = ""
    entry.mode = 0o644
    return entry
