"""The groups of k-anonymous releases: which releases of a population keep the groups of another."""

from __future__ import annotations

from collections.abc import Sequence

from .entries import LedgerEntry

# This note is on published cards and is compared with them: do not reword it.
OTHER_GROUPS_NOTE = (
    "an earlier k-anonymous release of the same people has other groups: whoever joins the two can "
    "tell people apart whom each one alone hides, and no k is promised for both together"
)


def has_other_groups(entries: Sequence[LedgerEntry], number: int, groups_of: str | None) -> bool:
    """Return whether an earlier release of the same users has other groups than this one.

    Args:
        number: Ledger entry of this release. Of two releases that are written at the same
            time, the one with the higher number sees the other one.
        groups_of: Digest of the release whose groups this one keeps, if any.
    """
    earlier = {other for other in list_k_anonymous(entries) if other < number}
    return bool(earlier - trace_groups(entries, groups_of))


def list_k_anonymous(entries: Sequence[LedgerEntry]) -> set[int]:
    """Return the numbers of the k-anonymous releases, without copies."""
    return {e.number for e in entries if e.kind == "k-anonymity" and e.copy_of is None}


def trace_groups(entries: Sequence[LedgerEntry], digest: str | None) -> set[int]:
    """Return the number of a release, of the release whose groups it kept, and so on."""
    by_digest = {entry.release_digest: entry for entry in entries if entry.release_digest}
    chain: set[int] = set()
    while digest in by_digest:
        entry = by_digest[digest]
        first = entries[(entry.copy_of or entry.number) - 1]  # the original of a copy
        if first.number in chain:  # a damaged ledger could hold a cycle
            break
        chain.add(first.number)
        digest = first.details.groups_of
    return chain
