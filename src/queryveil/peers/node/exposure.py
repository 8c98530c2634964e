"""Counts of the owner's queries, and of the queries that the engine saw under their account.

The exposure (PEL) depends on which texts are equal, not on their content. So texts are kept as
keyed digests under a secret of this node. An attacker who has the whole folder can still test
guesses of texts. The texts themselves are kept only if the owner requests it.
"""

from __future__ import annotations

import hmac
from collections import Counter, deque

import polars as pl

from ...measures.profile_exposure import exposure_levels
from .records import AccountCounts, AccountState

_MAX_TEXTS = 1000  # texts to keep, if any
_MAX_DIGESTS = 100_000  # distinct digests; all others are counted together


class ExposureCounter:
    """Counts of the owner's queries, and of those submitted under the owner's account."""

    def __init__(self, secret: bytes, *, store_queries: bool = False) -> None:
        self._secret, self._keep = secret, store_queries
        self._own: Counter[str] = Counter()
        self._seen: Counter[str] = Counter()
        self.texts: deque[str] = deque(maxlen=_MAX_TEXTS)

    def asked(self, text: str) -> None:
        """Count a query of the owner."""
        self._count(self._own, text, "rest of own")

    def submitted(self, text: str) -> None:
        """Count a query that the engine saw under the owner's account, no matter whose it is."""
        self._count(self._seen, text, "rest of seen")
        if self._keep:
            self.texts.append(text)

    def exposure(self) -> float | None:
        """Return the owner's exposure (PEL) in percent, or None before the first query."""
        levels = exposure_levels(_to_frame(self._own), _to_frame(self._seen))
        return float(levels["coupling"][0]) if levels.height else None

    def counts(self) -> AccountCounts:
        """Return the counts for the owner's page."""
        return AccountCounts(
            own=self._own.total(),
            own_distinct=len(self._own),
            seen=self._seen.total(),
            seen_distinct=len(self._seen),
            seen_own=sum(count for key, count in self._seen.items() if key in self._own),
        )

    def state(self) -> AccountState:
        """Return the state that is saved for a restart."""
        return AccountState(self._own, self._seen, tuple(self.texts) if self._keep else ())

    def restore(self, state: AccountState) -> None:
        """Restore the state of an earlier run; texts only if they are still to be kept."""
        self._own, self._seen = Counter(state.own), Counter(state.seen)
        if self._keep:
            self.texts.extend(state.texts)

    def _count(self, counts: Counter[str], text: str, rest: str) -> None:
        normalized = " ".join(text.casefold().split())
        key = hmac.digest(self._secret, normalized.encode(), "sha256").hex()[:32]
        counts[key if key in counts or len(counts) < _MAX_DIGESTS else rest] += 1


def _to_frame(counts: Counter[str]) -> pl.DataFrame:
    rows = {"user": ["me"] * len(counts), "text": list(counts), "count": list(counts.values())}
    return pl.DataFrame(rows, schema={"user": pl.String, "text": pl.String, "count": pl.Int64})
