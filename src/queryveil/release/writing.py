"""Write a release: public and private files, verified before the folder gets its name."""

from __future__ import annotations

import gzip
import os
import tarfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from ..core.files import atomic_file
from ..core.folders import atomic_folder, check_output_folder, is_queryveil_folder
from ..errors import OutputError, VerificationError
from .cards import PrivateCard, PublicCard, public_figures
from .formats import (
    CARD,
    SIGNATURE,
    check_output_format,
    escape_formula,
    write_public_log,
    write_public_tables,
)
from .metadata import metadata_files
from .page import render_card
from .private_page import render_private_card
from .samples import take_samples
from .untrusted import file_digest, read_data
from .verification import read_public_card, verify_public

if TYPE_CHECKING:
    from .release import Release
    from .signing import Signer


def is_release(folder: Path) -> bool:
    """Return whether a folder is a release and holds no other files."""
    return is_queryveil_folder(folder, "public/release.json", {"public", "private"})


def write_release(
    release: Release,
    target: Path,
    output_format: str,
    overwrite: bool,
    include_mapping: bool,
    signer: Signer | None = None,
) -> PrivateCard:
    """Write, verify and sign a release, then name the folder; return the private card.

    The ledger has an entry before the folder has its name; its record of the folder comes after.
    """
    check_output_format(output_format)
    with atomic_folder(
        target, lambda: check_output_folder(target, overwrite, is_release)
    ) as folder:
        public, private = folder / "public", folder / "private"
        if release.reservation is not None:
            notes = release.reservation.record_writing()
            release = replace(release, notes=(*release.notes, *notes))
        public.mkdir(mode=0o755)
        private.mkdir(mode=0o700)
        card = _write_public(release, public, output_format)
        with release.progress.stage("verify"):
            _check_written(public, release)
        if signer is not None:
            signer.sign(public)
        private_card = release.private_card(card)
        _write_private(release, private, private_card, include_mapping)
        digest = file_digest(public / CARD)
    if release.reservation is not None:
        release.reservation.confirm(digest, target)
    return private_card


def _write_public(release: Release, public: Path, output_format: str) -> PublicCard:
    with release.progress.stage("write"):
        try:
            paths = write_public_tables(release.tables, public)
            if release.log is not None:
                paths.append(write_public_log(release.log, public, output_format))
        except pl.exceptions.PolarsError as error:
            raise OSError(str(error).splitlines()[0]) from error  # such as a full disk
    with release.progress.stage("describe"):
        digests = {path.name: file_digest(path) for path in paths}
        card = release.public_card(public_figures(release.log, release.tables), digests)
    page = render_card(card, take_samples(*read_data(public, ours=True)), release.declared)
    for name, text in {"report.html": page, **metadata_files(card)}.items():
        _write_text(public / name, text)
        digests[name] = file_digest(public / name)
    card = replace(card, files=digests)
    _write_text(public / CARD, card.to_json() + os.linesep)
    return card


def _check_written(public: Path, release: Release) -> None:
    results = verify_public(public, ours=True, declared=release.declared)
    broken = [result for result in results if not result.holds]
    if broken:
        raise VerificationError(
            "what was written does not keep its promise, so nothing was published: "
            + "; ".join(result.message for result in broken),
            hint="this is a defect of queryveil: please report it",
        )


def _write_private(
    release: Release, private: Path, card: PrivateCard, include_mapping: bool
) -> None:
    rejected = release.source.accounting.rejected_rows()
    _write_table(private / "rejected.tsv", rejected)
    if release.mapping is not None and include_mapping:
        _write_table(private / "mapping.tsv", release.mapping)
    if release.absent is not None and include_mapping:
        _write_table(private / "absent.tsv", release.absent)
    _write_text(private / "card.json", card.to_json() + os.linesep)
    report = render_private_card(card, release.declared, release.mapping)
    _write_text(private / "report.html", report)
    for path in private.iterdir():
        path.chmod(0o600)


def _write_table(path: Path, table: pl.DataFrame | pl.LazyFrame) -> None:
    schema = table.lazy().collect_schema()
    texts = [name for name, dtype in schema.items() if dtype == pl.String]
    safe = table.lazy().with_columns(escape_formula(pl.col(name)).alias(name) for name in texts)
    safe.sink_csv(path, separator="\t")


def _write_text(path: Path, text: str) -> None:
    # A file name may hold bytes that are not UTF-8; in JSON the replacement is an escape.
    path.write_text(text, encoding="utf-8", errors="backslashreplace")


def archive_public(folder: Path, archive: Path | None = None, overwrite: bool = False) -> Path:
    """Archive `public/` of a release as .tar.gz.

    Times and owners of the files are set to constants: an archive reveals nothing of the machine
    that wrote it but the name of the folder, and the same release gives the same bytes.
    """
    public = folder / "public"
    whole = folder.resolve()
    target = archive or Path(f"{whole}.tar.gz")
    _check(target, whole)
    with atomic_file(target, overwrite=overwrite) as part:
        _write(public, part, whole.name)
    return target


def _check(target: Path, folder: Path) -> None:
    if folder in target.resolve().parents:
        raise OutputError(
            "this is inside the release", where=target, hint="write the archive to another folder"
        )
    if not target.name.endswith((".tar.gz", ".tgz")):
        raise OutputError("an archive is a .tar.gz", where=target, hint="end its name so")


def _write(public: Path, part: Path, name: str) -> None:
    there = [SIGNATURE] if (public / SIGNATURE).exists() else []
    names = sorted([CARD, *read_public_card(public).files, *there])
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
