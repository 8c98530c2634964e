"""Find other k-anonymous releases of the same users in their ledger."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..core.folders import read_json_card
from ..errors import QueryveilError
from ..ledger.entries import LedgerEntry
from ..ledger.groups import list_k_anonymous, trace_groups
from ..ledger.ledger import Ledger
from ..release.untrusted import file_digest
from ..release.verification import read_public_card

_NOT_RECORDED = (
    "this release is in no ledger: whether other releases of the same users exist is unknown, and "
    "later releases will not be compared with it"
)
_UNREADABLE = "the ledger of these users cannot be read: whether other releases exist is unknown"


def warnings_of_folder(folder: Path) -> list[str]:
    """Return warnings about other releases of the same users as a written release."""
    private, public = folder / "private", folder / "public"
    if not private.is_dir():
        return []
    card = read_public_card(public) | {
        "ledger": read_json_card(private / "card.json").get("ledger")
    }
    return _warn_of_other_groups(card, file_digest(public / "release.json"))


def unrecorded(card: dict[str, Any]) -> list[str]:
    """Return a warning if a k-anonymous release that may be published has no ledger."""
    ledger, model = card.get("ledger"), card["guarantee"]["model"]
    not_recorded = isinstance(ledger, dict) and "not recorded" in ledger
    return (
        [_NOT_RECORDED] if not_recorded and model == "k-anonymity" and card["release_grade"] else []
    )


def _warn_of_other_groups(card: dict[str, Any], digest: str) -> list[str]:
    ledger = card.get("ledger")
    path = ledger.get("file") if isinstance(ledger, dict) else None
    if not isinstance(path, str) or card["guarantee"]["model"] != "k-anonymity":
        return unrecorded(card)
    try:
        entries = _read_entries(Path(path))
    except (QueryveilError, OSError):
        return [_UNREADABLE]
    own_chain = trace_groups(entries, digest)
    newest = max(own_chain, default=0)
    releases = list_k_anonymous(entries)
    later = {
        number
        for number in releases
        if newest in trace_groups(entries, entries[number - 1].release_digest)
    }
    others = len(releases - own_chain - later)
    if not others:
        return []
    count = "1 other release" if others == 1 else f"{others:,} other releases"
    return [
        f"the ledger has {count} of the same users, k-anonymous, with other groups: who joins "
        "them with this one can distinguish users whom each release alone hides; a release that "
        "keeps the groups of an earlier one (anonymize --groups-of DIR) does not add this risk"
    ]


def _read_entries(path: Path) -> list[LedgerEntry]:
    with Ledger.open(path, create=False) as ledger:
        return ledger.entries()
