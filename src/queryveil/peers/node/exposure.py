"""What the owner searched for, and what the engine saw under her account: as counters.

The exposure (PEL) needs to know which of the two texts are the same, not what they say. So texts
are kept as digests under a secret of this node. Whoever has the whole folder can still try out
texts that he guesses; the texts themselves are kept only if the owner asks for it.
"""

from __future__ import annotations

import hmac
from collections import Counter, deque
from typing import Any

import polars as pl

from ...measures.profile_exposure import exposure_levels

_TEXTS = 1000  # texts to keep, if any
_MOST = 100_000  # distinct digests; the rest is counted together


class ExposureCounter:
    """Counts queries: the owner's own, and those submitted under her account."""

    def __init__(self, secret: bytes, *, keep_texts: bool = False) -> None:
        self._secret, self._keep = secret, keep_texts
        self._own: Counter[str] = Counter()
        self._seen: Counter[str] = Counter()
        self.texts: deque[str] = deque(maxlen=_TEXTS)

    def asked(self, text: str) -> None:
        """Count a query of the owner's."""
        self._count(self._own, text, "rest of own")

    def submitted(self, text: str) -> None:
        """Count a query that the engine saw under her account, whosever it was."""
        self._count(self._seen, text, "rest of seen")
        if self._keep:
            self.texts.append(text)

    def exposure(self) -> float | None:
        """Give her exposure so far (PEL), in percent, or None before her first query."""
        found = exposure_levels(_table(self._own), _table(self._seen))
        return float(found["coupling"][0]) if found.height else None

    def to_dict(self) -> dict[str, int]:
        """Give the figures of her page."""
        mine = sum(count for key, count in self._seen.items() if key in self._own)
        return {
            "own": self._own.total(),
            "own_distinct": len(self._own),
            "seen": self._seen.total(),
            "seen_distinct": len(self._seen),
            "seen_hers": mine,
        }

    def state(self) -> dict[str, Any]:
        """Give what survives a restart."""
        state: dict[str, Any] = {"own": dict(self._own), "seen": dict(self._seen)}
        return state | ({"texts": list(self.texts)} if self._keep else {})

    def restore(self, state: dict[str, Any]) -> None:
        """Take up what an earlier run kept; texts only if they are still wanted."""
        self._own, self._seen = Counter(state["own"]), Counter(state["seen"])
        if self._keep:
            self.texts.extend(state.get("texts", []))

    def _count(self, counts: Counter[str], text: str, rest: str) -> None:
        plain = " ".join(text.casefold().split())
        key = hmac.digest(self._secret, plain.encode(), "sha256").hex()[:32]
        counts[key if key in counts or len(counts) < _MOST else rest] += 1


def _table(counts: Counter[str]) -> pl.DataFrame:
    rows = {"user": ["me"] * len(counts), "text": list(counts), "count": list(counts.values())}
    return pl.DataFrame(rows, schema={"user": pl.String, "text": pl.String, "count": pl.Int64})
