"""An archive of the public files alone."""

from __future__ import annotations

import gzip
import tarfile
from pathlib import Path

from ..engine.files import atomic_file
from ..errors import OutputError
from .names import CARD, SIGNATURE
from .verification import read_public_card

__all__ = ["archive_public"]


def archive_public(folder: Path, archive: Path | None = None, force: bool = False) -> Path:
    """Archive `public/` of a release as .tar.gz.

    Times and owners of the files are set to constants: an archive tells nothing of the machine
    that made it but the name of the folder, and the same release packs to the same bytes.
    """
    public = folder / "public"
    whole = folder.resolve()
    target = archive or Path(f"{whole}.tar.gz")
    _check(target, whole)
    with atomic_file(target, force=force) as part:
        _write(public, part, whole.name)
    return target


def _check(target: Path, folder: Path) -> None:
    if folder in target.resolve().parents:
        raise OutputError(
            "this is inside the release", where=target, hint="an archive stands beside it"
        )
    if not target.name.endswith((".tar.gz", ".tgz")):
        raise OutputError("an archive is a .tar.gz", where=target, hint="end its name so")


def _write(public: Path, part: Path, name: str) -> None:
    there = [SIGNATURE] if (public / SIGNATURE).exists() else []
    names = sorted([CARD, *read_public_card(public)["files"], *there])
    with (
        part.open("wb") as raw,
        gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w") as tar,
    ):
        for file in names:
            tar.add(public / file, f"{name}/{file}", filter=_plain, recursive=False)


def _plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = entry.mtime = 0
    entry.uname = entry.gname = ""
    entry.mode = 0o644
    return entry
