"""What a release's rows mean and whose they are, for the measures that compare users."""

from __future__ import annotations

import polars as pl

from ..concepts.loaders.registry import public_names
from ..errors import UsageError
from ..log.query_log import QueryLog
from ..release.release import Release
from .original import MeasureContext


def restore_users(rows: pl.DataFrame, release: Release) -> pl.DataFrame:
    """Put a user's own name in place of her pseudonyms, of which she may have several."""
    if release.mapping is None:
        raise UsageError(
            f"this release ({release.method}) does not tell whose log is whose, and the measure "
            "compares each user with herself",
            hint="measure a release of users' logs, with its private mapping",
        )
    names = release.mapping.lazy().select(pl.col("user", "pseudonym").cast(pl.String)).collect()
    known = rows.with_columns(pl.col("user").cast(pl.String)).rename({"user": "pseudonym"})
    return known.join(names, on="pseudonym").drop("pseudonym")


def released_concepts(
    before: MeasureContext, release: Release, taxonomy: str
) -> tuple[pl.DataFrame, str]:
    """Give user, concept and count of what was released, and in words how that was read.

    Where the method says what its rows mean that is taken, else their texts are mapped as
    those of any log.
    """
    own = _own_concepts(before, release, taxonomy)
    if own is not None:
        return restore_users(
            own, release
        ), "released rows read as the concepts that the method chose"
    if release.log is None:
        raise UsageError(
            f"this release ({release.method}) has no users' logs that {taxonomy} could read",
            hint="measure a release of users' logs",
        )
    rows = QueryLog(release.log)
    found = before.map_queries(rows.local_frame, taxonomy).concepts(rows)
    return restore_users(found, release), "released rows read from their texts"


def _own_concepts(before: MeasureContext, release: Release, taxonomy: str) -> pl.DataFrame | None:
    """Give what the method says, if it speaks of this taxonomy: numbers mean nothing in another."""
    own, theirs = release.concepts, str(release.parameters.get("taxonomy", "wordnet"))
    if own is None or public_names(theirs) != public_names(taxonomy):
        return None
    if own.filter(pl.col("concept") >= len(before.taxonomy(taxonomy))).height:
        raise UsageError(f"{release.method} gave concepts that {taxonomy} does not have")
    return own.select("user", "concept", count=pl.lit(1, pl.Int64))
