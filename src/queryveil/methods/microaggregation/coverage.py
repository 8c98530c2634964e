"""Check that enough phrases of a log have a concept to group users by meaning.

A log in another language than the taxonomy has hardly any concepts: all users would seem similar,
and the release would repeat a few queries.
"""

from __future__ import annotations

import polars as pl

from ...concepts.similarity.profiles import UNMAPPED
from ...errors import CoverageError

MIN_COVERAGE = 0.4  # English logs, also of shops, are above; German and Spanish ones below


def covered_share(counted: pl.DataFrame) -> float:
    """Return the fraction of phrases that have a concept, from a table of concept and count.

    >>> covered_share(pl.DataFrame({"concept": [-1, 7], "count": [3, 1]}))
    0.25
    """
    total = int(counted["count"].sum())
    unmapped = int(counted.filter(pl.col("concept") == UNMAPPED)["count"].sum())
    return 1 - unmapped / total if total else 0.0


def check_coverage(coverage: float, min_coverage: float, taxonomy: str) -> float:
    """Raise CoverageError if too few phrases have a concept; return the coverage otherwise."""
    if coverage < min_coverage:
        raise CoverageError(
            f"only {coverage:.0%} of the phrases in this log have a concept of {taxonomy}, but "
            f"{min_coverage:.0%} are needed to group users by meaning",
            hint="use a taxonomy in the language of the log (--taxonomy), or "
            "string-microaggregation, which needs none; or set --min-coverage lower",
        )
    return coverage
