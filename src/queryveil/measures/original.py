"""The log before it was protected, with all that measures find out about it, each thing once."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

import polars as pl

from ..concepts.loaders.registry import open_taxonomy
from ..concepts.mapping.mapper import Mapper
from ..concepts.mapping.result import ConceptMapping
from ..concepts.taxonomy.graph import Taxonomy
from ..engine.operations import unique_queries
from ..log.query_log import QueryLog

__all__ = ["MeasureContext"]

T = TypeVar("T")


class MeasureContext:
    """A log, and what was worked out from it: it is measured against many releases.

    >>> before = Original(QueryLog.from_rows([("a", "tennis", None, None, None)]))
    >>> before.once("rows", lambda: before.log.count()), before.once("rows", lambda: 0)
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
