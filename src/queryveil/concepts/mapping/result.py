"""What was found: for each distinct query its phrases, and for each phrase its concept."""

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

# One row a phrase: its query (by number), where it begins and how many words it has, how many of
# them the label has, the concept (-1: none), how it was found, and whether at a second try.
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
    """Distinct queries and their phrases, as columns; see `PHRASES`.

    >>> import queryveil.concepts as c
    >>> wordnet = c.open_taxonomy("wordnet")
    >>> found = c.Mapper(wordnet).map(pl.Series(["cheap hotels in paris", "zzzz"]))
    >>> found.to_polars().select("phrase", "label", "how").rows()
    [('cheap hotels', 'hotel', 'plural'), ('paris', 'paris', 'label'), ('zzzz', None, None)]
    >>> found.coverage()
    0.5
    """

    taxonomy: Taxonomy
    queries: pl.Series
    phrases: pl.DataFrame

    @cached_property
    def has_concept(self) -> BoolArray:
        """Whether each query has a concept."""
        marked = np.zeros(len(self.queries), np.bool_)
        marked[self.phrases.filter(pl.col("concept") >= 0)["query"].to_numpy()] = True
        return marked

    def coverage(self) -> float:
        """Give the share of distinct queries that have at least one concept."""
        return float(self.has_concept.mean()) if len(self.queries) else 0.0

    def unmapped(self) -> pl.Series:
        """Give the queries without a concept."""
        return self.queries.filter(~pl.Series(self.has_concept))

    def to_polars(self) -> pl.DataFrame:
        """Give all phrases in words: query, phrase, concept, name, label, how, loose.

        For people and small sets: names and labels are made one by one.
        """
        found = self.phrases["concept"].unique().to_list()
        known = [concept for concept in found if concept >= 0]
        about = pl.DataFrame(
            {
                "concept": known,
                "name": [self.taxonomy.name(concept) for concept in known],
                "label": [self.taxonomy.label(concept) for concept in known],
            },
            schema={"concept": pl.Int32, "name": pl.String, "label": pl.String},
        )
        texts = self.phrase_texts().join(about, on="concept", how="left", maintain_order="left")
        how = pl.col("how").replace_strict(dict(enumerate(MATCH_KINDS)), default=None)
        concept = pl.when(pl.col("concept") >= 0).then("concept")
        return texts.select("query", "phrase", concept, "name", "label", how, "loose")

    def phrase_texts(self) -> pl.DataFrame:
        """Give the phrases with the texts of query and phrase in place of numbers."""
        rows = self.phrases["query"].to_numpy()
        queries = self.queries.cast(pl.String)
        words = tokenize(queries).gather(rows).alias("all words")
        query = queries.gather(rows).alias("query")
        return self.phrases.with_columns(query, words).with_columns(
            phrase=pl.col("all words").list.slice("begin", "words").list.join(" ")
        )

    def concepts(self, log: QueryLog, unit: str = "line") -> pl.DataFrame:
        """Give each user's concepts of a log with their counts: user, concept, count.

        A phrase without a concept has none. `unit` says whether lines or events count: the
        papers on microaggregation count lines. The queries must be those of this log.
        """
        if unit not in ("line", "event"):
            raise UsageError(f'"{unit}" cannot be counted', hint="line or event")
        rows = log.events() if unit == "event" else log.local_frame
        sent = rows.group_by("user", "query").agg(count=pl.len())
        found = self.phrases.lazy().select(
            query=pl.lit(self.queries).gather(pl.col("query")),
            concept=pl.when(pl.col("concept") >= 0).then("concept"),
        )
        pairs = sent.join(found, on="query", how="left").select("user", "concept", "count")
        return count_concepts(pairs)

    def profiles(self, log: QueryLog, unit: str = "line") -> Profiles:
        """Give the users' profiles: their concepts with counts (C_r in Batet 2013)."""
        return build_profiles(self.concepts(log, unit))
