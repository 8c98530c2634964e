"""Find other k-anonymous releases of the same users in their ledger."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..core.folders import read_json_card
from ..errors import QueryveilError
from ..ledger.entries import LedgerEntry
from ..ledger.ledger import Ledger
from ..release.untrusted import file_digest
from ..release.verification import read_public_card

GROUPS_OF = "groups_of"  # in the ledger: the digest of the release whose groups were kept
# This note is on published cards and is compared with them: do not reword it.
AGAIN = (
    "an earlier k-anonymous release of the same people has other groups: whoever joins the two can "
    "tell people apart whom each one alone hides, and no k is promised for both together"
)
_NOT_RECORDED = (
    "this release is in no ledger: whether other releases of the same users exist is unknown, and "
    "later releases will not be compared with it"
)
_UNREADABLE = "the ledger of these users cannot be read: whether other releases exist is unknown"


def has_other_groups(entries: Sequence[LedgerEntry], number: int, groups_of: str | None) -> bool:
    """Return whether an earlier release of the same users has other groups than this one.

    Args:
        number: Ledger entry of this release. Of two releases that are written at the same
            time, the one with the higher number sees the other one.
        groups_of: Digest of the release whose groups this one keeps, if any.
    """
    earlier = {other for other in _list_k_anonymous(entries) if other < number}
    return bool(earlier - _trace_groups(entries, groups_of))


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
    own_chain = _trace_groups(entries, digest)
    newest = max(own_chain, default=0)
    releases = _list_k_anonymous(entries)
    later = {
        number
        for number in releases
        if newest in _trace_groups(entries, entries[number - 1].release_digest)
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


def _list_k_anonymous(entries: Sequence[LedgerEntry]) -> set[int]:
    """Return the numbers of the k-anonymous releases, without copies."""
    return {e.number for e in entries if e.kind == "k-anonymity" and e.copy_of is None}


def _trace_groups(entries: Sequence[LedgerEntry], digest: str | None) -> set[int]:
    """Return the number of a release, of the release whose groups it kept, and so on."""
    by_digest = {entry.release_digest: entry for entry in entries if entry.release_digest}
    chain: set[int] = set()
    while digest in by_digest:
        entry = by_digest[digest]
        first = entries[(entry.copy_of or entry.number) - 1]  # the original of a copy
        if first.number in chain:  # a damaged ledger could hold a cycle
            break
        chain.add(first.number)
        digest = first.extra.get(GROUPS_OF)
    return chain
