"""How much of a log has a meaning, and a refusal where that is too little to group users by.

A log in another language than the taxonomy's has hardly any concepts: all users would seem alike,
and the release would be a few queries over and over.
"""

from __future__ import annotations

import polars as pl

from ...concepts.similarity.profiles import UNMAPPED
from ...errors import CoverageError


MIN_COVERAGE = 0.4  # English logs lie above, of shops too; German and Spanish ones below


def covered_share(counted: pl.DataFrame) -> float:
    """Return the share of phrases that have a concept, of a table of concept and count.

    >>> covered_share(pl.DataFrame({"concept": [-1, 7], "count": [3, 1]}))
    0.25
    """
    whole = int(counted["count"].sum())
    missed = int(counted.filter(pl.col("concept") == UNMAPPED)["count"].sum())
    return 1 - missed / whole if whole else 0.0


def check_coverage(share: float, least: float, taxonomy: str) -> float:
    """Raise an error where too little of a log has a meaning; return the share otherwise."""
    if share < least:
        raise CoverageError(
            f"only {share:.0%} of the phrases in this log have a concept of {taxonomy}, and "
            f"{least:.0%} are needed to tell users apart by what they mean",
            hint="take a taxonomy in the language of the log (--taxonomy), or "
            "string-microaggregation, which needs none; or set --min-coverage lower",
        )
    return share
