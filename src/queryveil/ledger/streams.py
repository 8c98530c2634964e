"""Releases that go on with an earlier one of the same people.

What they cost together is what they cost the user who pays most. Each user's slots are counted
in the releases' own mappings; the ledger holds what all of them together may cost anybody.

A release is extended once. If it were extended twice, each of the two would take what the
user has left, and neither would know of the other. A run that was killed may have been seen, so
a second attempt counts the first as made. That is why an attempt must name all that came before
it, and why only the last one can be confirmed: it alone has counted the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from ..errors import OutputError, UsageError
from .entries import LedgerEntry


@dataclass(frozen=True)
class ReleaseStream:
    """A release that may be extended, and what the ledger knows about that.

    entry
        the release itself, the first one if it was copied
    after
        the release that extends it, if one was confirmed
    lost
        attempts to extend it that were not confirmed, the oldest first
    paid
        epsilon that is counted for it, for all that it extends, and for lost attempts
    """

    entry: LedgerEntry
    successor: LedgerEntry | None
    unconfirmed: tuple[LedgerEntry, ...]
    paid: Fraction

    def check(self, kind: str, log_digest: str, recipe: str, lost: Sequence[int]) -> None:
        """Refuse what would not count all that may have been seen.

        `lost` are the attempts that the new one counts as made. What they used can only be told
        from the log they read, by the method they used.
        """
        self._check_open(kind)
        if any((a.log_digest, a.recipe) != (log_digest, recipe) for a in self.unconfirmed):
            raise UsageError(
                f"{self.entry.folder} was being extended when that run ended early, and what it "
                "used cannot be told from another log, other options or another version",
                hint="give the log that was given first, read the same way",
            )
        if [attempt.number for attempt in self.unconfirmed] != list(lost):
            raise OutputError(
                f"another run is extending {self.entry.folder} at this moment",
                hint="wait for it, and append to what it writes",
            )

    def _check_open(self, kind: str) -> None:
        if self.entry.state == "reserved" or self.entry.kind != kind:
            raise UsageError(
                f"entry {self.entry.number} is {self.entry.state} and {self.entry.guarantee}",
                hint=f"only a confirmed release of kind {kind} can be extended by one",
            )
        if self.successor is not None:
            raise UsageError(
                f"{self.entry.folder} was extended already by {self.successor.folder}: "
                "append to that one",
            )


def find_stream(entries: Sequence[LedgerEntry], release_digest: str) -> ReleaseStream | None:
    """Find a release by the digest of its public card; a copy leads to the first."""
    for entry in entries:
        if entry.release_digest == release_digest:
            return build_stream(entries, entry)
    return None


def build_stream(entries: Sequence[LedgerEntry], entry: LedgerEntry) -> ReleaseStream:
    """Tell what came before and after a release."""
    first = entry if entry.copy_of is None else entries[entry.copy_of - 1]
    later = [other for other in entries if other.extends == first.number]
    confirmed = [other for other in later if other.state == "confirmed"]
    lost = tuple(other for other in later if other.state == "reserved")
    return ReleaseStream(first, confirmed[0] if confirmed else None, lost, _paid(entries, first))


def check_latest(entries: Sequence[LedgerEntry], entry: LedgerEntry) -> None:
    """Refuse to confirm an attempt that a later one counts as lost."""
    later = [e for e in entries if e.extends == entry.extends and e.number > entry.number]
    if entry.extends is not None and later:
        raise UsageError(
            f"entry {later[-1].number} extends the same release and counts this one as lost",
            hint="do not publish what was just written: append to what the other run wrote",
        )


def _paid(entries: Sequence[LedgerEntry], last: LedgerEntry) -> Fraction:
    """Add up a release, all that it extends, and every attempt at one of them."""
    line = {last.number}
    while last.extends is not None:
        last = entries[last.extends - 1]
        line.add(last.number)
    counted = (e for e in entries if e.number in line or e.extends in line)
    return sum((e.epsilon for e in counted if e.epsilon is not None), Fraction(0))
