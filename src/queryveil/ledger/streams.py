"""Streams: releases that extend an earlier release about the same users.

The cost of a stream is the cost for the user who contributes most. Each user's slots are counted in
the private mappings of the releases; the ledger holds the maximum over all users.

A release is extended once. If it were extended twice, each of the two extensions would use the
slots that a user has left, without knowing of the other. The output of a run that was killed may
have been seen, so a second attempt counts the first as made. That is why an attempt must name all
attempts before it, and why only the last one can be confirmed: it alone has counted the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from ..errors import OutputError, UsageError
from .entries import LedgerEntry


@dataclass(frozen=True)
class ReleaseStream:
    """A release that may be extended, with its extensions in the ledger.

    Attributes:
        entry: The release itself; the original if it was copied.
        successor: The release that extends it, if one was confirmed.
        unconfirmed: Attempts to extend it that were not confirmed, the oldest first.
        paid: The epsilon of it, of all releases that it extends, and of unconfirmed attempts.
    """

    entry: LedgerEntry
    successor: LedgerEntry | None
    unconfirmed: tuple[LedgerEntry, ...]
    paid: Fraction

    def check(self, kind: str, log_digest: str, recipe: str, lost: Sequence[int]) -> None:
        """Raise UsageError or OutputError for an extension that does not count all attempts.

        `lost` are the attempts that the new one counts as made. The slots that they used can only
        be computed from the log that they read, with the method that they used.
        """
        self._check_open(kind)
        if any((a.log_digest, a.method_spec) != (log_digest, recipe) for a in self.unconfirmed):
            raise UsageError(
                f"{self.entry.folder} was being extended when that run ended early, and what it "
                "used cannot be computed from another log, other options or another version",
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
                f"entry {self.entry.number} is {self.entry.state} and {self.entry.protection}",
                hint=f"only a confirmed release of kind {kind} can be extended by one",
            )
        if self.successor is not None:
            raise UsageError(
                f"{self.entry.folder} was extended already by {self.successor.folder}: "
                "append to that one",
            )


def find_stream(entries: Sequence[LedgerEntry], release_digest: str) -> ReleaseStream | None:
    """Return the stream of the release whose public card has this digest; None if unknown."""
    for entry in entries:
        if entry.release_digest == release_digest:
            return build_stream(entries, entry)
    return None


def build_stream(entries: Sequence[LedgerEntry], entry: LedgerEntry) -> ReleaseStream:
    """Return the stream of an entry; a copy has that of its original."""
    original = entry if entry.copy_of is None else entries[entry.copy_of - 1]
    later = [other for other in entries if other.extends == original.number]
    confirmed = [other for other in later if other.state == "confirmed"]
    unconfirmed = tuple(other for other in later if other.state == "reserved")
    successor = confirmed[0] if confirmed else None
    return ReleaseStream(original, successor, unconfirmed, _sum_epsilon(entries, original))


def check_latest(entries: Sequence[LedgerEntry], entry: LedgerEntry) -> None:
    """Raise UsageError for an attempt that a later one counts as lost: it cannot be confirmed."""
    later = [e for e in entries if e.extends == entry.extends and e.number > entry.number]
    if entry.extends is not None and later:
        raise UsageError(
            f"entry {later[-1].number} extends the same release and counts this one as lost",
            hint="do not publish what was just written: append to what the other run wrote",
        )


def _sum_epsilon(entries: Sequence[LedgerEntry], last: LedgerEntry) -> Fraction:
    """Return the epsilon of a release, of all that it extends, and of every attempt at these."""
    stream = {last.number}
    while last.extends is not None:
        last = entries[last.extends - 1]
        stream.add(last.number)
    counted = (e for e in entries if e.number in stream or e.extends in stream)
    return sum((e.epsilon for e in counted if e.epsilon is not None), Fraction(0))
