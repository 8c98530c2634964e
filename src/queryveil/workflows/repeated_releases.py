"""Several k-anonymous releases of the same people, as far as their ledger knows."""

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
AGAIN = (
    "an earlier k-anonymous release of the same people has other groups: whoever joins the two can "
    "tell people apart whom each one alone hides, and no k is promised for both together"
)
_NOWHERE = (
    "this release is in no ledger: whether others of the same people exist is not known, and later "
    "ones will not know of it"
)
_LOST = "the ledger of these people cannot be read: whether other releases exist is not known"


def has_other_groups(entries: Sequence[LedgerEntry], number: int, groups_of: str | None) -> bool:
    """Return whether a release meets an earlier one that it shares no groups with.

    `number` is its entry: what is written at the same time has a number too, and the later one
    of two is told. `groups_of` is the digest of the release whose groups it keeps, if any.
    """
    earlier = {other for other in _made(entries) if other < number}
    return bool(earlier - _line_of(entries, groups_of))


def warnings_of_folder(folder: Path) -> list[str]:
    """Return what the owner of a written release should know of others of the same people."""
    private, public = folder / "private", folder / "public"
    if not private.is_dir():
        return []
    card = read_public_card(public) | {
        "ledger": read_json_card(private / "card.json").get("ledger")
    }
    return _warnings_of_several(card, file_digest(public / "release.json"))


def unrecorded(card: dict[str, Any]) -> list[str]:
    """Return a warning if a k-anonymous release that may be published has no ledger."""
    ledger, model = card.get("ledger"), card["guarantee"]["model"]
    nowhere = isinstance(ledger, dict) and "not recorded" in ledger
    return [_NOWHERE] if nowhere and model == "k-anonymity" and card["release_grade"] else []


def _warnings_of_several(card: dict[str, Any], digest: str) -> list[str]:
    ledger = card.get("ledger")
    place = ledger.get("file") if isinstance(ledger, dict) else None
    if not isinstance(place, str) or card["guarantee"]["model"] != "k-anonymity":
        return unrecorded(card)
    try:
        entries = _entries(Path(place))
    except (QueryveilError, OSError):
        return [_LOST]
    line = _line_of(entries, digest)
    own = max(line, default=0)
    later = {n for n in _made(entries) if own in _line_of(entries, entries[n - 1].release_digest)}
    others = len(_made(entries) - line - later)
    if not others:
        return []
    many = "1 other" if others == 1 else f"{others:,} others"
    return [
        f"the ledger has {many} of these people, k-anonymous, with other groups: whoever joins "
        "them with this one can tell people apart whom each one alone hides; a release that keeps "
        "the groups of an earlier one (anonymize --groups-of DIR) adds no such risk"
    ]


def _entries(path: Path) -> list[LedgerEntry]:
    with Ledger.open(path, create=False) as ledger:
        return ledger.entries()


def _made(entries: Sequence[LedgerEntry]) -> set[int]:
    return {e.number for e in entries if e.kind == "k-anonymity" and e.copy_of is None}


def _line_of(entries: Sequence[LedgerEntry], digest: str | None) -> set[int]:
    """Return the numbers of a release, of the one whose groups it kept, and so on."""
    by_digest = {entry.release_digest: entry for entry in entries if entry.release_digest}
    line: set[int] = set()
    while digest in by_digest:
        found = by_digest[digest]
        first = entries[(found.copy_of or found.number) - 1]
        if first.number in line:
            break
        line.add(first.number)
        digest = first.extra.get(GROUPS_OF)
    return line
