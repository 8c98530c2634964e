"""The same private release of the same log again: a copy of its bytes, which costs nothing."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from ..dp import Entry, Ledger
from ..errors import UsageError
from ..release import check_target, file_digest, is_release, verify_public, whole_folder
from .spending import NO_DIGEST, Account

__all__ = ["copy_earlier"]


def copy_earlier(
    account: Account, folder: Path, *, form: str, force: bool, forget_mapping: bool
) -> dict[str, Any] | None:
    """Copy an earlier release with the same parameters, if its bytes are still there."""
    if not account.spends or account.path is None or not account.path.exists():
        return None
    if account.digest == NO_DIGEST:  # another log would have the same
        return None
    with Ledger.open(account.path, create=False) as ledger:
        for entry in ledger.find(account.digest, account.recipe):
            if _stands(entry):
                _check_form(Path(str(entry.place)), form)
                _copy(Path(str(entry.place)), folder, force, forget_mapping)
                ledger.copied(entry.number, folder.absolute())
                card = json.loads((folder / "private" / "card.json").read_text("utf-8"))
                return dict(card) | {"copied": str(entry.place)}
    return None


def _stands(entry: Entry) -> bool:
    """Tell whether the bytes that were released are still where they were written."""
    public = Path(str(entry.place)) / "public"
    card = public / "release.json"
    if not card.is_file() or file_digest(card) != entry.release_digest:
        return False
    whole = (public.parent / "private" / "card.json").is_file()
    return whole and all(finding.holds for finding in verify_public(public))


def _check_form(source: Path, form: str) -> None:
    """Refuse another form: a copy has the very bytes that were paid for."""
    logs = [path.suffix[1:] for path in (source / "public").glob("log.*")]
    if logs and form not in logs:
        raise UsageError(
            f"the same release was made before as {logs[0]}, and is copied as it is",
            where=source,
            hint=f"take --write {logs[0]}",
        )


def _copy(source: Path, target: Path, force: bool, forget_mapping: bool) -> None:
    with whole_folder(target, lambda: check_target(target, force, is_release)) as part:
        for name, mode in (("public", 0o755), ("private", 0o700)):
            shutil.copytree(source / name, part / name)
            (part / name).chmod(mode)
        if forget_mapping:
            (part / "private" / "mapping.tsv").unlink(missing_ok=True)
