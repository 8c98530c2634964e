"""What a release's rows mean and whose they are, for the measures that compare users."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

import polars as pl

from ..concepts.loaders.registry import open_taxonomy, public_names
from ..concepts.mapping.mapper import Mapper
from ..concepts.mapping.result import ConceptMapping
from ..concepts.taxonomy.graph import Taxonomy
from ..engine.operations import unique_queries
from ..errors import UsageError
from ..log.query_log import QueryLog
from ..release.release import Release

T = TypeVar("T")


class MeasureContext:
    """A log, and what was worked out from it: it is measured against many releases.

    >>> before = MeasureContext(QueryLog.from_rows([("a", "tennis", None, None, None)]))
    >>> before.cached("rows", lambda: before.log.count()), before.cached("rows", lambda: 0)
    (1, 1)
    """

    def __init__(self, log: QueryLog) -> None:
        self.log = log
        self._known: dict[Hashable, Any] = {}

    def cached(self, name: Hashable, make: Callable[[], T]) -> T:
        """Make a thing at the first asking, and give the same one ever after."""
        if name not in self._known:
            self._known[name] = make()
        found: T = self._known[name]
        return found

    def taxonomy(self, name: str) -> Taxonomy:
        """Open a taxonomy."""
        return self.cached(("taxonomy", name), lambda: open_taxonomy(name))

    def map_queries(self, rows: pl.LazyFrame, taxonomy: str) -> ConceptMapping:
        """Find the concepts of the distinct queries of any rows, those of a release too."""
        mapper = self.cached(("mapper", taxonomy), lambda: Mapper(self.taxonomy(taxonomy)))
        return mapper.map(unique_queries(rows))

    def concepts(self, taxonomy: str) -> pl.DataFrame:
        """Give each user's concepts with their counts, of every phrase: user, concept, count."""
        found = ("concepts", taxonomy)
        return self.cached(
            found, lambda: self.map_queries(self.log.local_frame, taxonomy).concepts(self.log)
        )


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
