"""Re-check a release that was written earlier."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..engine import Progress, Silent
from ..errors import InputError, QueryveilError
from ..methods import method_named
from ..release import load_card, verify_public

__all__ = ["verify"]


def verify(folder: str | Path, *, progress: Progress | None = None) -> dict[str, Any]:
    """Run every check of a release on its public files, and look who can read the private ones.

    Takes the folder that was written, or a copy of its `public/` alone.
    """
    path = Path(folder)
    if not path.is_dir():
        what = "this is a file, not a folder" if path.exists() else "there is no such folder"
        raise InputError(what, where=path, hint="name what `anonymize --out` wrote")
    public = path / "public" if (path / "public").is_dir() else path
    with (progress or Silent()).stage("verify"):
        findings = [asdict(finding) for finding in verify_public(public)]
    card = load_card(public)
    findings.append(_promise(card))
    private = path / "private"
    if private.is_dir():
        findings.append(_private(private))
    if (private / "card.json").exists():
        findings.append(_same_card(private / "card.json", card))
    return {
        "holds": all(finding["holds"] for finding in findings),
        "method": card["method"],
        "model": card["guarantee"]["model"],
        "release_grade": card["release_grade"],
        "findings": findings,
    }


def _promise(card: dict[str, Any]) -> dict[str, Any]:
    """Tell whether the card promises what its method promises with these parameters."""
    try:
        method = method_named(card["method"]).make(card["parameters"])
        holds = json.loads(json.dumps(method.guarantee().as_dict())) == card["guarantee"]
    except (QueryveilError, KeyError, TypeError):
        holds = False
    says = f"the promise is that of {card['method']} with these parameters"
    return {"check": "promise", "holds": holds, "says": says if holds else f"not so: {says}"}


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
        written = json.loads(path.read_text("utf-8"))
        changed = sorted(key for key in card if written.get(key, ...) != card[key])
    except (OSError, ValueError, AttributeError):
        changed = ["all: the owner's card is damaged"]
    says = f"the public card differs from the owner's: {', '.join(changed)}"
    return {
        "check": "card",
        "holds": not changed,
        "says": says if changed else "the public card is as written",
    }
