"""Re-check a release that was written earlier."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..core.bounded import read_json
from ..core.progress import NoProgress, Progress
from ..errors import InputError
from ..release.cards import CARD_KEYS
from ..release.signing import read_public_key, signature_of
from ..release.standing import words_of
from ..release.verification import read_public_card, verify_public
from ..workflows.verification import claims_of, follows
from .several import warnings_of_folder

__all__ = ["verify"]

_PARTS = ("public", "private")


def verify(
    folder: str | Path,
    *,
    signer: str | None = None,
    signed: bool = True,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Run every check of a release on its public files, and look who can read the private ones.

    Takes the folder that was written, or a copy of its `public/` alone. `holds` is None where
    nothing fails and another version of queryveil would be needed to compare all; `claims` are
    what only the maker of the release can know. `signer` is the public key of who must have
    signed it; with `signed` false no signature is looked at.
    """
    path, signer = Path(folder), None if signer is None else read_public_key(signer)
    if not path.is_dir():
        what = "this is a file, not a folder" if path.exists() else "there is no such folder"
        raise InputError(what, where=path, hint="name what `anonymize --out` wrote")
    public = path / "public" if (path / "public").is_dir() else path
    with (progress or NoProgress()).stage("verify"):
        findings = [asdict(finding) for finding in verify_public(public)]
    card = read_public_card(public)
    findings += [asdict(finding) for finding in follows(card)]
    if public != path:
        findings.append(_folder(path))
    if signed:
        findings.append(asdict(signature_of(public, signer)))
    if (private := path / "private").is_dir():
        findings.append(_private(private))
        findings.append(_same_card(private / "card.json", card))
    return {
        "holds": _together(findings),
        "method": card["method"],
        "model": card["guarantee"]["model"],
        "standing": card["standing"],
        "words": _words(card),
        "release_grade": card["release_grade"],
        "because": card["not_release_grade_because"],
        "findings": findings,
        "claims": claims_of(card),
        "warnings": warnings_of_folder(path),
    }


def _words(card: dict[str, Any]) -> str:
    """Return what the standing says, or that a forged one says nothing."""
    try:
        return words_of(card["guarantee"], card["standing"])
    except (LookupError, TypeError, ValueError):
        return "nothing: the card contradicts itself"


def _together(findings: list[dict[str, Any]]) -> bool | None:
    """Return False if anything fails, None if nothing does and something cannot be told."""
    found = {finding["holds"] for finding in findings}
    return False if False in found else None if None in found else True


def _folder(folder: Path) -> dict[str, Any]:
    """Tell whether anything stands beside what was checked: a reader could take it for that."""
    beside = sorted(path.name for path in folder.iterdir() if path.name not in _PARTS)
    beside += [name for name in _PARTS if (folder / name).exists() and not _is_plain(folder / name)]
    says = f"these do not belong to a release: {', '.join(beside)}"
    says = says if beside else "nothing stands beside the public and private files"
    return {"check": "folder", "holds": not beside, "says": says}


def _is_plain(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _private(folder: Path) -> dict[str, Any]:
    open_to_others = [
        path.name for path in (folder, *folder.iterdir()) if path.lstat().st_mode & 0o077
    ]
    names = ", ".join(sorted(open_to_others))
    says = f"others can read: {names}" if names else "private files are the owner's alone"
    return {"check": "private", "holds": not open_to_others, "says": says}


def _same_card(path: Path, card: dict[str, Any]) -> dict[str, Any]:
    """Tell whether the public card still says what the owner's says."""
    try:
        written = read_json(path)
        left_out = written.keys() & CARD_KEYS - card.keys()
        changed = sorted({key for key in card if written.get(key, ...) != card[key]} | left_out)
    except FileNotFoundError:
        changed = ["all: the owner's card is missing"]
    except (OSError, ValueError, AttributeError):
        changed = ["all: the owner's card is damaged"]
    says = f"the public card differs from the owner's: {', '.join(changed)}"
    return {
        "check": "card",
        "holds": not changed,
        "says": says if changed else "the public card is as written",
    }
