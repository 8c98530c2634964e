"""Find other k-anonymous releases of the same users in their ledger."""

from __future__ import annotations

from pathlib import Path

from ..errors import QueryveilError, VerificationError
from ..ledger.entries import LedgerEntry
from ..ledger.groups import list_k_anonymous, trace_groups
from ..ledger.ledger import Ledger
from ..release.cards import PrivateCard
from ..release.reading import read_private_card
from ..release.untrusted import file_digest

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
    try:
        card = read_private_card(folder)
    except VerificationError:  # which `verify` reports as a check that fails
        card = None
    return [] if card is None else _warn_of_other_groups(card, file_digest(public / "release.json"))


def unrecorded(card: PrivateCard) -> list[str]:
    """Return a warning if a k-anonymous release that may be published has no ledger."""
    not_recorded = card.ledger is not None and card.ledger.not_recorded_because is not None
    is_k_anonymous = card.guarantee.model == "k-anonymity" and card.public.release_grade
    return [_NOT_RECORDED] if not_recorded and is_k_anonymous else []


def _warn_of_other_groups(card: PrivateCard, digest: str) -> list[str]:
    path = None if card.ledger is None else card.ledger.file
    if path is None or card.guarantee.model != "k-anonymity":
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
