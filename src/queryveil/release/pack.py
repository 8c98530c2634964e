"""An archive of the public files alone."""

from __future__ import annotations

import gzip
import os
import tarfile
from contextlib import suppress
from pathlib import Path

from ..errors import OutputError
from .verify import load_card

__all__ = ["archive_public"]


def archive_public(folder: Path, archive: Path | None = None, force: bool = False) -> Path:
    """Archive `public/` of a release as .tar.gz.

    Times and owners of the files are set to constants: an archive tells nothing of the machine
    that made it but the name of the folder, and the same release packs to the same bytes.
    """
    public = folder / "public"
    whole = folder.resolve()
    target = archive or Path(f"{whole}.tar.gz")
    _check(target, whole, force)
    part = target.with_name(f".{target.name}.part")
    try:
        _write(public, part, whole.name)
        part.replace(target)
    except OSError as error:
        raise OutputError(f"cannot be written ({error.strerror})", where=target) from error
    finally:
        with suppress(OSError):  # where there is no such folder there is nothing to remove
            part.unlink(missing_ok=True)
    return target


def _check(target: Path, folder: Path, force: bool) -> None:
    if folder in target.resolve().parents:
        raise OutputError(
            "this is inside the release", where=target, hint="an archive stands beside it"
        )
    if not target.name.endswith((".tar.gz", ".tgz")):
        raise OutputError("an archive is a .tar.gz", where=target, hint="end its name so")
    if target.exists() and not force:
        raise OutputError("this exists already", where=target, hint="--force replaces it")


def _write(public: Path, part: Path, name: str) -> None:
    names = sorted(["release.json", *load_card(public)["files"]])
    with part.open("wb") as raw:
        with (
            gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as packed,
            tarfile.open(fileobj=packed, mode="w") as tar,
        ):
            for file in names:
                tar.add(public / file, f"{name}/{file}", filter=_plain, recursive=False)
        raw.flush()
        os.fsync(raw.fileno())


def _plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = entry.mtime = 0
    entry.uname = entry.gname = ""
    entry.mode = 0o644
    return entry
