"""The context of measures: the original log, and the users and concepts of released rows."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import Any, TypeVar

import polars as pl

from ..concepts.loaders.registry import BUILT_IN, public_names
from ..concepts.mapping.guessing import GuessedLanguage
from ..concepts.mapping.mapper import Mapper
from ..concepts.mapping.options import AUTO, MappingOptions
from ..concepts.mapping.result import ConceptMapping
from ..concepts.taxonomy.graph import Taxonomy
from ..engine.operations import unique_queries
from ..errors import UsageError
from ..log.query_log import QueryLog
from ..release.release import Release

T = TypeVar("T")


class MeasureContext:
    """A log with a cache of values computed from it, since many releases are measured against it.

    >>> context = MeasureContext(QueryLog.from_rows([("a", "tennis", None, None, None)]))
    >>> context.cached("rows", lambda: context.log.count()), context.cached("rows", lambda: 0)
    (1, 1)
    """

    def __init__(self, log: QueryLog) -> None:
        self.log = log
        self._cache: dict[Hashable, Any] = {}
        self._latest: dict[Hashable, tuple[object, Any]] = {}

    def cached(self, name: Hashable, make: Callable[[], T]) -> T:
        """Return the cached value of `name`; compute it with `make` at the first call."""
        if name not in self._cache:
            self._cache[name] = make()
        value: T = self._cache[name]
        return value

    def latest(self, name: Hashable, owner: object, make: Callable[[], T]) -> T:
        """Return the value that `make` computes for an owner; only that of the latest is kept.

        It is for values that are too large to keep one of every release.
        """
        known = self._latest.get(name)
        if known is None or known[0] is not owner:
            self._latest.pop(name, None)  # frees the memory before the next value is computed
            self._latest[name] = (owner, make())
        value: T = self._latest[name][1]
        return value

    def _fit(self, options: MappingOptions) -> MappingOptions:
        """Return options with a language, guessed from the original log if it is not named."""
        if options.language != AUTO:
            return options
        queries = unique_queries(self.log.local_frame)
        count = options.count_languages
        return options.fit(self.cached("language", lambda: GuessedLanguage.of(count(queries))))

    def taxonomy(self, options: MappingOptions) -> Taxonomy:
        """Return the taxonomy by which queries are mapped."""
        options = self._fit(options)
        return self.cached(("taxonomy", replace(options, terms="")), options.open_taxonomy)

    def mapper(self, options: MappingOptions) -> Mapper:
        """Return the mapper of these options."""
        options = self._fit(options)
        return self.cached(("mapper", options), lambda: options.mapper(self.taxonomy(options)))

    def map_queries(self, rows: pl.LazyFrame, options: MappingOptions) -> ConceptMapping:
        """Map the distinct queries of the rows of a log or of a release to concepts."""
        return self.mapper(options).map(unique_queries(rows))

    def concepts(self, options: MappingOptions) -> pl.DataFrame:
        """Return the concepts of each user's phrases with their counts: user, concept, count."""
        key = ("concepts", options)
        return self.cached(
            key, lambda: self.map_queries(self.log.local_frame, options).concepts(self.log)
        )


def restore_users(rows: pl.DataFrame, release: Release) -> pl.DataFrame:
    """Replace pseudonyms by the users' names; a user may have several pseudonyms."""
    if release.mapping is None:
        raise UsageError(
            f"this release ({release.method}) has no private mapping from pseudonyms to users, and "
            "the measure compares each user's released log with their original log",
            hint="measure a release of users' logs, with its private mapping",
        )
    names = release.mapping.lazy().select(pl.col("user", "pseudonym").cast(pl.String)).collect()
    known = rows.with_columns(pl.col("user").cast(pl.String)).rename({"user": "pseudonym"})
    return known.join(names, on="pseudonym").drop("pseudonym")


def released_concepts(
    context: MeasureContext, release: Release, options: MappingOptions
) -> tuple[pl.DataFrame, str]:
    """Return user, concept and count of the released rows, and a note on how they were read."""
    pairs, note = released_log_concepts(context, release, options)
    return restore_users(pairs, release), note


def released_log_concepts(
    context: MeasureContext, release: Release, options: MappingOptions
) -> tuple[pl.DataFrame, str]:
    """Return pseudonym (`user`), concept and count of the released rows, and a note as above.

    If the method states the concepts of its rows, these are used. Otherwise the texts are mapped
    as those of any log.
    """
    own = _own_concepts(context, release, options)
    if own is not None:
        return own, "released rows read as the concepts that the method chose"
    if release.log is None:
        raise UsageError(
            f"this release ({release.method}) has no users' logs that "
            f"{options.taxonomy} could read",
            hint="measure a release of users' logs",
        )
    rows = QueryLog(release.log)
    pairs = context.map_queries(rows.local_frame, options).concepts(rows)
    return pairs, "released rows read from their texts"


def _own_concepts(
    context: MeasureContext, release: Release, options: MappingOptions
) -> pl.DataFrame | None:
    """Return the concepts that the method states, or None if it used another taxonomy.

    Concept numbers are valid within one taxonomy only. The built-in ones share their names.
    """
    own, own_taxonomy = release.concepts, str(release.parameters.get("taxonomy", "wordnet"))
    if own is None:
        return None
    asked = context.taxonomy(options)
    if public_names(own_taxonomy) != public_names(options.taxonomy):
        if not {own_taxonomy, options.taxonomy} <= BUILT_IN.keys():
            return None
        unmapped = own["concept"].null_count()
        source = context.taxonomy(replace(options, taxonomy=own_taxonomy))
        own = _translate(own, source, asked)
        if own["concept"].null_count() > unmapped:
            return None
    if own.filter(pl.col("concept") >= len(asked)).height:
        raise UsageError(
            f"{release.method} released concepts that {options.taxonomy} does not have"
        )
    return own.select("user", "concept", count=pl.lit(1, pl.Int64))


def _translate(concepts: pl.DataFrame, source: Taxonomy, target: Taxonomy) -> pl.DataFrame:
    """Replace concept numbers of one taxonomy by those of the same names in another one."""
    names = target.names.series()
    numbers = pl.DataFrame({"name": names, "number": range(len(names))})
    own = pl.DataFrame({"concept": range(len(source)), "name": source.names.series()})
    table = own.join(numbers, on="name", how="left").select(
        pl.col("concept").cast(concepts.schema["concept"]),
        pl.col("number").cast(concepts.schema["concept"]),
    )
    joined = concepts.join(table, on="concept", how="left", maintain_order="left")
    return joined.with_columns(concept=pl.col("number")).drop("number")
