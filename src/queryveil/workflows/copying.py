"""Copy an earlier release byte by byte, which costs no budget.

The log is never read here. Whether bytes are copied or noise is drawn again must not depend on
whether the log is unchanged: a reader of both releases would learn exactly that.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ..core.arguments import guided
from ..core.folders import atomic_folder, check_output_folder
from ..errors import InputError, UsageError, VerificationError
from ..ledger.entries import LedgerEntry
from ..ledger.ledger import Ledger
from ..ledger.location import locate_ledger
from ..methods.base import declared_parameters
from ..release.cards import PrivateCard, read_card
from ..release.untrusted import file_digest
from ..release.verification import read_public_card, verify_public
from ..release.writing import is_release


@guided
def copy_release(
    source: str | Path,
    folder: str | Path,
    *,
    logs: Sequence[str | Path] = (),
    ledger: str | None = None,
    overwrite: bool = False,
    include_mapping: bool = True,
) -> PrivateCard:
    """Copy the release in `source` to `folder`, and return its private card.

    The ledger is that of `ledger`, else that of the folder of `logs`, else the one that the
    private card of the release names. It must have an entry of the release. The log itself is
    not opened, and need not exist any more.

    Args:
        source: Folder of the release.
        folder: The folder to write.
        logs: Files of the log, whose folder has the ledger.
        ledger: Name of the population, or folder of its ledger.
        overwrite: Whether a release in `folder` is replaced.
        include_mapping: Whether the private folder has the pseudonyms of the users.

    Returns:
        The private card of the copy.

    Raises:
        UsageError: The ledger does not know the release.
        VerificationError: The release was changed after it was written.

    >>> import pathlib, tempfile
    >>> import queryveil as qv
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = qv.write_synthetic_log(folder / "log.tsv", users=50)
    >>> _ = qv.anonymize_to_folder(folder / "log.tsv", "frequent-queries:min-users=5", folder / "a")
    >>> copy_release(folder / "a", folder / "b").method
    'frequent-queries'
    """
    old, new = Path(source), Path(folder)
    card = _read_private_card(old)
    _check_target(old, new)
    with Ledger.open(_locate_ledger(card, logs, ledger), create=False) as opened:
        entry = _find_entry(opened, old)
        _copy(old, new, entry, overwrite=overwrite, include_mapping=include_mapping)
        opened.record_copy(entry.number, new.absolute())
    return replace(_read_private_card(new), copied=str(old))


def _read_private_card(source: Path) -> PrivateCard:
    path = source / "private" / "card.json"
    if not path.is_file():
        raise InputError(
            "there is no private/card.json",
            where=source,
            hint="name what `anonymize_to_folder()` wrote",
        )
    return read_card(path, PrivateCard)


def _check_target(old: Path, new: Path) -> None:
    if old.resolve() in (new.resolve(), *new.resolve().parents):
        raise UsageError(
            "a release cannot be copied onto itself or into its own folder",
            where=new,
            hint="choose another folder",
        )


def _locate_ledger(card: PrivateCard, logs: Sequence[str | Path], ledger: str | None) -> Path:
    if ledger is not None or logs:
        return locate_ledger(ledger, [Path(log) for log in logs])
    if card.ledger is None or card.ledger.file is None:
        raise UsageError(
            "the card of this release names no ledger",
            hint="name the population: `ledger=NAME`",
        )
    return Path(card.ledger.file)


def _find_entry(ledger: Ledger, source: Path) -> LedgerEntry:
    """Return the ledger entry of a release, found by the digest of its public card."""
    card = source / "public" / "release.json"
    digest = file_digest(card) if card.is_file() else ""
    for entry in ledger.entries():
        if entry.state != "reserved" and entry.release_digest == digest:
            return entry
    raise UsageError(
        f"{ledger.path} does not know this release, or it was changed",
        where=source,
        hint="name the population as when it was made: `ledger`",
    )


def _copy(
    source: Path, target: Path, entry: LedgerEntry, *, overwrite: bool, include_mapping: bool
) -> None:
    with atomic_folder(target, lambda: check_output_folder(target, overwrite, is_release)) as part:
        for name, mode in (("public", 0o755), ("private", 0o700)):
            shutil.copytree(source / name, part / name)
            (part / name).chmod(mode)
        if not include_mapping:
            for name in ("mapping.tsv", "absent.tsv"):
                (part / "private" / name).unlink(missing_ok=True)
        _check_copy(part / "public", entry, source)


def _check_copy(public: Path, entry: LedgerEntry, source: Path) -> None:
    """Check the copy instead of the source, because the source may change while it is read."""
    declared = declared_parameters(read_public_card(public).method)
    checks = verify_public(public, declared=declared)
    failures = [check.message for check in checks if check.holds is False]
    if file_digest(public / "release.json") != entry.release_digest:
        failures.append("its card is not the one that the ledger knows")
    if failures:
        raise VerificationError(
            "this release was changed after it was written, so it was not copied: "
            + "; ".join(failures),
            where=source,
        )
