"""Checks of the folder of a release, and of its private files."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

from ..errors import UnknownVersionError, VerificationError
from ..release.cards import PrivateCard, PublicCard, read_card
from ..release.check_results import CheckResult

_PARTS = ("public", "private")


def check_parts(folder: Path) -> CheckResult:
    """Check that the folder has no other files, which readers could take for checked ones."""
    others = sorted(path.name for path in folder.iterdir() if path.name not in _PARTS)
    others += [name for name in _PARTS if (folder / name).exists() and not _is_plain(folder / name)]
    message = "the folder has no files other than public and private ones"
    if others:
        message = f"these do not belong to a release: {', '.join(others)}"
    return CheckResult("folder", not others, message)


def _is_plain(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def check_private(folder: Path) -> CheckResult:
    """Check that only the data owner can read the private files."""
    open_to_others = [
        path.name for path in (folder, *folder.iterdir()) if path.lstat().st_mode & 0o077
    ]
    names = ", ".join(sorted(open_to_others))
    message = "only the owner can read the private files"
    if names:
        message = f"others can read these private files: {names}"
    return CheckResult("private", not open_to_others, message)


def check_same_card(path: Path, card: PublicCard) -> CheckResult:
    """Check that the public card agrees with the private card."""
    try:
        stated = read_card(path, PrivateCard).public
        names = [declared.name for declared in fields(PublicCard)]
        changed = [name for name in names if getattr(stated, name) != getattr(card, name)]
    except UnknownVersionError as error:
        return CheckResult("card", None, error.what)
    except VerificationError:
        problem = "damaged" if path.exists() else "missing"
        changed = [f"all: the private card is {problem}"]
    message = "the public card is as written"
    if changed:
        message = f"the public card differs from the private card: {', '.join(changed)}"
    return CheckResult("card", not changed, message)
