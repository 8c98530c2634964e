"""The result of a concept mapping: the phrases of each distinct query and their concepts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from ...errors import UsageError
from ...log.query_log import QueryLog
from ..similarity.profiles import Profiles, build_profiles, count_concepts
from ..taxonomy.arrays import BoolArray
from ..taxonomy.graph import Taxonomy
from .label_index import MATCH_KINDS
from .tokens import tokenize

# One row per phrase: its query (by number), the index of its first word, its number of words, the
# number of words of the label, the concept (-1: none), the match kind, and whether a second try
# matched it.
PHRASE_SCHEMA: dict[str, type[pl.DataType]] = {
    "query": pl.Int64,
    "begin": pl.Int32,
    "words": pl.Int32,
    "matched": pl.Int32,
    "concept": pl.Int32,
    "how": pl.Int8,
    "loose": pl.Boolean,
}


@dataclass(frozen=True, eq=False, repr=False)
class ConceptMapping:
    """Distinct queries and their phrases, with the columns of `PHRASE_SCHEMA`.

    `spelled` are the queries as their words were separated, if that depends on the language.

    >>> import queryveil.concepts as c
    >>> wordnet = c.open_taxonomy("wordnet")
    >>> mapping = c.Mapper(wordnet).map(pl.Series(["cheap hotels in paris", "zzzz"]))
    >>> mapping.to_polars().select("phrase", "label", "how").rows()
    [('cheap hotels', 'hotel', 'plural'), ('paris', 'paris', 'label'), ('zzzz', None, None)]
    >>> mapping.coverage()
    0.5
    """

    taxonomy: Taxonomy
    queries: pl.Series
    phrases: pl.DataFrame
    spelled: pl.Series | None = None

    def texts(self) -> pl.Series:
        """Return the queries as their words were separated."""
        return self.queries.cast(pl.String) if self.spelled is None else self.spelled

    @cached_property
    def has_concept(self) -> BoolArray:
        """A mask of the queries that have a concept."""
        mask = np.zeros(len(self.queries), np.bool_)
        mask[self.phrases.filter(pl.col("concept") >= 0)["query"].to_numpy()] = True
        return mask

    def coverage(self) -> float:
        """Return the fraction of distinct queries that have at least one concept."""
        return float(self.has_concept.mean()) if len(self.queries) else 0.0

    def unmapped(self) -> pl.Series:
        """Return the queries without a concept."""
        return self.queries.filter(~pl.Series(self.has_concept))

    def to_polars(self) -> pl.DataFrame:
        """Return all phrases as text: query, phrase, concept, name, label, how, loose.

        For display and small sets: names and labels are looked up one by one.
        """
        distinct = self.phrases["concept"].unique().to_list()
        known = [concept for concept in distinct if concept >= 0]
        concept_texts = pl.DataFrame(
            {
                "concept": known,
                "name": [self.taxonomy.name(concept) for concept in known],
                "label": [self.taxonomy.label(concept) for concept in known],
            },
            schema={"concept": pl.Int32, "name": pl.String, "label": pl.String},
        )
        texts = self.phrase_texts().join(
            concept_texts, on="concept", how="left", maintain_order="left"
        )
        how = pl.col("how").replace_strict(dict(enumerate(MATCH_KINDS)), default=None)
        concept = pl.when(pl.col("concept") >= 0).then("concept")
        return texts.select("query", "phrase", concept, "name", "label", how, "loose")

    def phrase_texts(self) -> pl.DataFrame:
        """Return the phrases with the texts of query and phrase instead of numbers."""
        rows = self.phrases["query"].to_numpy()
        queries = self.queries.cast(pl.String)
        words = tokenize(self.texts()).gather(rows).alias("all words")
        query = queries.gather(rows).alias("query")
        return self.phrases.with_columns(query, words).with_columns(
            phrase=pl.col("all words").list.slice("begin", "words").list.join(" ")
        )

    def concepts(self, log: QueryLog, unit: str = "line") -> pl.DataFrame:
        """Count the concepts of each user of a log; return user, concept and count.

        A phrase without a concept is counted under `UNMAPPED`.

        Args:
            log: The log that the mapped queries are from.
            unit: Count rows (`line`), as the papers on microaggregation do, or `event`s.
        """
        if unit not in ("line", "event"):
            raise UsageError(f'the unit "{unit}" cannot be counted', hint="line or event")
        rows = log.events() if unit == "event" else log.local_frame
        query_counts = rows.group_by("user", "query").agg(count=pl.len())
        mapped = self.phrases.lazy().select(
            query=pl.lit(self.queries).gather(pl.col("query")),
            concept=pl.when(pl.col("concept") >= 0).then("concept"),
        )
        pairs = query_counts.join(mapped, on="query", how="left").select("user", "concept", "count")
        return count_concepts(pairs)

    def profiles(self, log: QueryLog, unit: str = "line") -> Profiles:
        """Return the profiles of the users: their concepts with counts (C_r in Batet 2013)."""
        return build_profiles(self.concepts(log, unit))
