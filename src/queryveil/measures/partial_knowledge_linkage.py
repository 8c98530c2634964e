"""What somebody who knows a few queries of a person can do: an attack with partial knowledge."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl

from ..core.parameters import parameter
from ..core.randomness import RandomSource
from ..release.release import Release
from ._shared.queries import (
    QueryTextMeasure,
    UserQueryCounts,
    best_matches,
    released_counts,
    true_pairs,
)
from .context import MeasureContext

_SEED = 20130  # public: who is tried must not change from release to release
_Z = 1.959964  # of 95%
_WORDS = {1: "one", 2: "two", 3: "three", 4: "four", 5: "five", 10: "ten"}


@dataclass(frozen=True)
class PartialKnowledgeLinkage(QueryTextMeasure):
    """How often somebody who knows a few queries of a person finds her log."""

    name: ClassVar[str] = "partial-knowledge-linkage"
    title: ClassVar[str] = "users found by a few known queries"
    description: ClassVar[str] = (
        "how many of 100 persons are found in the release by somebody who knows a few different "
        "queries of each, and picks the released log that has most of them"
    )
    paper: ClassVar[str] = "an attack of our own; compare Narayanan and Shmatikov 2008"
    unit: ClassVar[str] = "percent of tries"
    better: ClassVar[Literal["lower", "higher"]] = "lower"
    kind: ClassVar[Literal["risk", "use"]] = "risk"

    known: int = parameter(
        5, "different queries of a person that the attacker knows", min=1, max=1000, unit="queries"
    )
    choice: str = parameter(
        "random", "which queries are known: any, or her rarest", choices=("random", "rarest")
    )
    targets: int = parameter(1000, "persons who are tried at most", min=1, max=10**9, unit="users")

    def compute(self, before: MeasureContext, after: Release) -> dict[str, Any]:
        """Give the share of tries that succeed, with its interval, and that of guessing."""
        sent = self.original_counts(before, after)
        logs = released_counts(sent, after)
        tried, asked = self._tries(sent)
        pairs = true_pairs(sent.users, logs.users, after).join(tried, on="user")
        hits, tries = _hits(asked, logs, pairs), tried.height
        guessed = pairs.height / max(len(logs.users), 1)
        low, high = wilson_interval(hits, tries)
        return {
            "value": round(100 * hits / max(tries, 1), 6),
            "low": round(100 * low, 6),
            "high": round(100 * high, 6),
            "chance": round(100 * guessed / max(tries, 1), 6),
            "tries": tries,
            "users": len(sent.users),
            "vanished": tries - pairs["user"].n_unique(),
            "knew_fewer": asked.group_by("ask").len().filter(pl.col("len") < self.known).height,
            "words": self._told(hits, guessed, tries, after),
            "ruler": self.basis(after),
        }

    def _tries(self, sent: UserQueryCounts) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Draw whom to try (user, ask), and what is known of each (ask, text, count)."""
        chance = RandomSource(_SEED)
        chosen = pl.Series("user", chance.permutation(len(sent.users))[: self.targets], pl.UInt32)
        tried = chosen.sort().to_frame().with_row_index("ask")
        senders = sent.rows.group_by("text").agg(senders=pl.len())
        own = sent.rows.join(tried, left_on="owner", right_on="user")
        own = own.join(senders, on="text").sort("ask", "text")
        own = own.with_columns(draw=pl.Series(chance.uint64s(own.height)))
        rule = ["senders", "draw"] if self.choice == "rarest" else ["draw"]
        known = own.sort("ask", *rule).group_by("ask", maintain_order=True).head(self.known)
        return tried, known.select("ask", "text", count=pl.lit(1, pl.UInt32))

    def _told(self, hits: float, guessed: float, tries: int, after: Release) -> str:
        number = _WORDS.get(self.known, f"{self.known:,}")
        named = self.unit_of(after, self.known)
        rarest = "the rarest" if self.known == 1 else f"the {number} rarest"
        return (
            f"an attacker who knows {number if self.choice == 'random' else rarest} {named} of a "
            f"person finds that person in {_shown(hits)} of {tries:,} tries; guessing finds "
            f"{_shown(guessed)}"
        )


def wilson_interval(hits: float, tries: int) -> tuple[float, float]:
    """Give Wilson's interval of 95% for a share.

    >>> [round(end, 4) for end in wilson_interval(12, 1000)]
    [0.0069, 0.0209]
    """
    if not tries:
        return 0.0, 1.0
    share, spread = hits / tries, _Z * _Z / tries
    middle = (share + spread / 2) / (1 + spread)
    half = _Z * sqrt(share * (1 - share) / tries + spread / tries / 4) / (1 + spread)
    return max(0.0, middle - half), min(1.0, middle + half)


def _hits(asked: pl.DataFrame, logs: UserQueryCounts, pairs: pl.DataFrame) -> float:
    """Add up the chances to pick a log of the person among those that have most of what is known.

    Where no log has any of it, the attacker guesses: all logs are equally good.
    """
    held = logs.rows.with_columns(count=pl.lit(1, pl.UInt32))
    claims = pairs.select("ask", owner="log")
    found = best_matches(asked, held, len(logs.users), claims)
    score, best, ties = (found[name].to_numpy() for name in ("score", "best", "ties"))
    return float(np.sum((score == best) / np.maximum(ties, 1)))


def _shown(number: float) -> str:
    """Write a mean number of successes for people.

    >>> _shown(12.4), _shown(1.04), _shown(0.96), _shown(0.25), _shown(0)
    ('12', '1', '1', '0.25', '0')
    """
    if number >= 10:
        return f"{number:,.0f}"
    return f"{number:.1f}".removesuffix(".0") if number >= 0.95 else f"{number:.2g}"
