"""The second search for identifiers: in the output of a method, before it is released.

Methods get a log that was searched already. They may still release parts of queries, names of
concepts or entries of a public list that look like an identifier. Whether a text is changed depends
on that text alone: so equal logs stay equal, thresholds hold, and for differential privacy it is
post-processing.
"""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from ..log.identifiers import kinds_of, mask
from ..log.screening import EMPTY_QUERY, flagged
from .guarantee import Check, Guarantee
from .release import Release
from .removal import remove_texts

CHECK = "no-identifiers"
_KEPT = (
    "identifiers were let through: queries and URLs may hold names of people, e-mail addresses, "
    "phone numbers, numbers of cards and accounts, street addresses or secret web addresses"
)
_MISSED = (
    "identifiers that no rule finds: rare or misspelt names of people, account names, unusual "
    "forms; a clean search is no promise"
)
_REASON = "released text looks like an identifier"


def promised(guarantee: Guarantee, setting: str | None) -> Guarantee:
    """Return a method's guarantee with the check and the limits of the search for identifiers."""
    if setting not in ("drop", "mask"):
        return guarantee
    return replace(
        guarantee,
        not_covered=(*guarantee.not_covered, _MISSED),
        checks=(*guarantee.checks, Check(CHECK, {})),
    )


def without_identifiers(release: Release, setting: str) -> Release:
    """Return a release without texts that look like identifiers, unless the setting is `keep`."""
    marked = replace(release, identifiers=setting, guarantee=promised(release.guarantee, setting))
    if setting == "keep":
        return replace(
            marked, not_release_grade_because=(*release.not_release_grade_because, _KEPT)
        )
    return remove_texts(marked, flagged, _REASON, _mask)


def _mask(texts: pl.Series) -> pl.Series:
    masked = mask(texts).alias("text")
    is_clean = kinds_of(masked).is_null()  # else masking left an identifier
    return pl.select(pl.when(is_clean).then(masked).otherwise(pl.lit(EMPTY_QUERY))).to_series()
