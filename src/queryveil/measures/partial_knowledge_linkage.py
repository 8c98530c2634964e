"""Record linkage by an attacker with partial knowledge: a few queries of each target."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import ClassVar, Literal

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
from .result import MeasureResult

_SEED = 20130  # public and fixed: the targets must be the same for all releases
_Z = 1.959964  # the normal quantile of a 95% interval
_WORDS = {1: "one", 2: "two", 3: "three", 4: "four", 5: "five", 10: "ten"}


@dataclass(frozen=True)
class PartialKnowledgeLinkage(QueryTextMeasure):
    """How often an attacker who knows a few queries of a user links them to their log."""

    name: ClassVar[str] = "partial-knowledge-linkage"
    title: ClassVar[str] = "users linked by a few known queries"
    description: ClassVar[str] = (
        "the percentage of target users re-identified by an attacker who knows a few different "
        "queries of each, and picks the released log that has the largest number of them"
    )
    paper: ClassVar[str] = "an attack of our own; compare Narayanan and Shmatikov 2008"
    unit: ClassVar[str] = "percent of tries"
    better: ClassVar[Literal["lower", "higher"]] = "lower"
    kind: ClassVar[Literal["risk", "utility"]] = "risk"

    known_queries: int = parameter(
        5,
        "number of different queries of a user that the attacker knows",
        min=1,
        max=1000,
        unit="queries",
    )
    knowledge: str = parameter(
        "random",
        "known queries: random ones, or the user's rarest",
        choices=("random", "rarest"),
    )
    max_targets: int = parameter(
        1000, "maximum number of target users", min=1, max=10**9, unit="users"
    )

    def compute(self, context: MeasureContext, release: Release) -> MeasureResult:
        """Return the percentage of successful tries, with its interval, and that of guessing."""
        sent = self.original_counts(context, release)
        logs = released_counts(sent, release)
        tried, known = self._sample_tries(sent)
        pairs = true_pairs(sent.users, logs.users, release).join(tried, on="user")
        hits, tries = _sum_hits(known, logs, pairs), tried.height
        guess_hits = pairs.height / max(len(logs.users), 1)
        low, high = wilson_interval(hits, tries)
        return self.result(
            round(100 * hits / max(tries, 1), 6),
            interval=(round(100 * low, 6), round(100 * high, 6)),
            baselines={"chance": round(100 * guess_hits / max(tries, 1), 6)},
            counts={
                "tries": tries,
                "users": len(sent.users),
                "vanished": tries - pairs["user"].n_unique(),
                "knew_fewer": known.group_by("ask")
                .len()
                .filter(pl.col("len") < self.known_queries)
                .height,
            },
            summary=self._summarize(hits, guess_hits, tries, release),
            basis=self.basis(release),
        )

    def _sample_tries(self, sent: UserQueryCounts) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Sample the targets (user, ask), and the known texts of each (ask, text, count)."""
        rng = RandomSource(_SEED)
        chosen = pl.Series("user", rng.permutation(len(sent.users))[: self.max_targets], pl.UInt32)
        tried = chosen.sort().to_frame().with_row_index("ask")
        senders = sent.rows.group_by("text").agg(senders=pl.len())
        own = sent.rows.join(tried, left_on="owner", right_on="user")
        own = own.join(senders, on="text").sort("ask", "text")
        own = own.with_columns(draw=pl.Series(rng.uint64s(own.height)))
        order = ["senders", "draw"] if self.knowledge == "rarest" else ["draw"]
        known = (
            own.sort("ask", *order).group_by("ask", maintain_order=True).head(self.known_queries)
        )
        return tried, known.select("ask", "text", count=pl.lit(1, pl.UInt32))

    def _summarize(self, hits: float, guess_hits: float, tries: int, release: Release) -> str:
        number = _WORDS.get(self.known_queries, f"{self.known_queries:,}")
        unit = self.unit_of(release, self.known_queries)
        rarest = "the rarest" if self.known_queries == 1 else f"the {number} rarest"
        return (
            f"an attacker who knows {number if self.knowledge == 'random' else rarest} {unit} of a "
            f"user re-identifies that user in {_format_number(hits)} of {tries:,} tries; guessing "
            f"succeeds in {_format_number(guess_hits)}"
        )


def wilson_interval(hits: float, tries: int) -> tuple[float, float]:
    """Return Wilson's 95% interval of a proportion.

    >>> [round(end, 4) for end in wilson_interval(12, 1000)]
    [0.0069, 0.0209]
    """
    if not tries:
        return 0.0, 1.0
    rate, spread = hits / tries, _Z * _Z / tries
    middle = (rate + spread / 2) / (1 + spread)
    half = _Z * sqrt(rate * (1 - rate) / tries + spread / tries / 4) / (1 + spread)
    return max(0.0, middle - half), min(1.0, middle + half)


def _sum_hits(known: pl.DataFrame, logs: UserQueryCounts, pairs: pl.DataFrame) -> float:
    """Sum the probabilities that the attacker picks a log of the target.

    The attacker picks at random among the logs with the largest number of known texts. If no log
    has any of them, these are all logs.
    """
    held = logs.rows.with_columns(count=pl.lit(1, pl.UInt32))
    claims = pairs.select("ask", owner="log")
    matches = best_matches(known, held, len(logs.users), claims)
    score, best, ties = (matches[name].to_numpy() for name in ("score", "best", "ties"))
    return float(np.sum((score == best) / np.maximum(ties, 1)))


def _format_number(number: float) -> str:
    """Format a mean number of successes.

    >>> [_format_number(number) for number in (12.4, 1.04, 0.96, 0.25, 0)]
    ['12', '1', '1', '0.25', '0']
    """
    if number >= 10:
        return f"{number:,.0f}"
    return f"{number:.1f}".removesuffix(".0") if number >= 0.95 else f"{number:.2g}"
