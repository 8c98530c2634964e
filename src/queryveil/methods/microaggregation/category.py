"""Microaggregation by categories (Erola, Castellà-Roca, Navarro-Arribas, Torra 2011)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ...concepts.mapping.language import get_language
from ...concepts.mapping.tokens import tokenize
from ...concepts.similarity.profiles import UNMAPPED, compute_coverage
from ...concepts.similarity.topics import level_matrices
from ...concepts.taxonomy.graph import Taxonomy
from ...concepts.taxonomy.search_index import SearchIndex
from ...core.parameters import parameter
from ...core.progress import Progress
from ...core.randomness import RandomSource
from ...errors import InputError
from ...log.query_log import QueryLog
from ..base import MethodOutput
from .base import ByMeaning
from .emission import Prototypes, emit_logs
from .grouping import (
    Floats,
    GroupLabels,
    check_groups,
    check_users,
    greedy_groups,
    group_users,
    of_some,
)
from .prototypes import most_repeated_queries
from .queries import substitute_rare_queries
from .refinement import refine_groups

_REACHED = 0.5  # `auto` keeps the levels that this fraction of terms reaches, as in the paper
_DEEPEST = 12
_MAX_USERS = 20_000  # all users are compared with each other


@dataclass(frozen=True)
class CategoryMicroaggregation(ByMeaning):
    """Group users whose words fall into the same categories, level by level.

    >>> str(CategoryMicroaggregation(k=3, categories_per_term="5"))
    'category-microaggregation:k=3:categories-per-term=5'
    """

    name: ClassVar[str] = "category-microaggregation"
    title: ClassVar[str] = "groups of k users whose words have the same categories share one log"
    paper: ClassVar[str] = "Erola, Castellà-Roca, Navarro-Arribas, Torra 2011"
    guarantee_summary: ClassVar[str] = (
        "k-anonymity: every released log is shared by at least k users"
    )
    good_for: ClassVar[str] = (
        "logs of real queries per user, with a taxonomy of categories such as the Open Directory"
    )

    levels: int | Literal["auto"] = parameter(
        5,
        "levels of the taxonomy that are compared; auto: those that half of the terms reach",
        min=1,
        max=_DEEPEST,
    )
    categories_per_term: str = parameter(
        "1", "number of categories of each term", choices=("1", "5")
    )

    def run(
        self,
        log: QueryLog,
        rng: RandomSource,
        progress: Progress,
        groups: pl.DataFrame | None = None,
    ) -> MethodOutput:
        """Look up the categories of words, group users by them, and select repeated queries."""
        users = log.count_distinct("user")
        check_users(users, self.k)
        if users > _MAX_USERS:
            raise InputError(
                f"{users:,} users are too many to compare all with each other",
                hint="`sample_users=10000`, or semantic-microaggregation",
            )
        opened = self.mapping_options.open_taxonomy()
        with progress.stage("look up words"):
            categories = term_categories(log, opened, int(self.categories_per_term))
            self.check_coverage(compute_coverage(categories))
            categories = categories.filter(pl.col("concept") != UNMAPPED)
        with progress.stage("group users"):
            names = log.local_frame.select("user").unique().collect()["user"].cast(pl.String).sort()
            similarity = self._compute_similarity(opened, categories, names)
            group = group_users(
                names, groups, self.k, lambda new: self._group(of_some(similarity, new))
            )
            check_groups(group, self.k)
        user_type = log.local_frame.collect_schema()["user"]
        members = pl.DataFrame({"user": names, "group": group.astype(np.int64)}).with_columns(
            pl.col("user").cast(user_type)
        )
        texts, short = most_repeated_queries(log.local_frame, members, rng, self.member_fraction)
        rules = self.emission_rules()
        texts = substitute_rare_queries(texts, members, log, rules, rng, progress)
        return emit_logs(log, Prototypes(members, texts, short), rules, rng, progress)

    def _group(self, similarity: Floats) -> GroupLabels:
        """Group users by Erola's algorithms; refined, if not as published."""
        group = greedy_groups(similarity, self.k)
        if self.as_published:
            return group
        distances = float(similarity.max()) - similarity
        np.fill_diagonal(distances, 0)
        return refine_groups(distances, group)

    def _compute_similarity(
        self, taxonomy: Taxonomy, categories: pl.DataFrame, names: pl.Series
    ) -> NDArray[np.float32]:
        """Return the sum over levels of the common category counts of users."""
        levels = _DEEPEST if self.levels == "auto" else self.levels
        matrices = level_matrices(taxonomy, categories, levels)
        if self.levels == "auto":
            total = max(int(categories["count"].sum()), 1)
            kept = [m for m in matrices if int(m["count"].sum()) >= _REACHED * total]
            matrices = kept or matrices[:1]
        similarity = np.zeros((len(names), len(names)), np.float32)
        for matrix in matrices:
            similarity += common_counts(matrix, names)
        return similarity


def term_categories(log: QueryLog, taxonomy: Taxonomy, n: int) -> pl.DataFrame:
    """Return the first n categories of each word that a user sent: user, concept, count.

    Words without a category count as `UNMAPPED`.
    """
    sent = log.local_frame.group_by("user", "query").agg(count=pl.len()).collect(engine="streaming")
    queries = sent.select("query").unique()
    words = tokenize(queries["query"].cast(pl.String))
    terms = queries.with_columns(term=words).explode("term").drop_nulls("term")
    stop = sorted(get_language(taxonomy.language).stop_words)
    terms = terms.filter(~pl.col("term").is_in(stop))
    distinct = terms["term"].unique().sort()
    lists = SearchIndex.open(taxonomy).best_matches(distinct.to_list(), n)
    known = pl.DataFrame(
        {"term": distinct.gather(lists.row_ids), "concept": lists.items.astype(np.int32)}
    )
    rows = sent.join(terms, on="query").join(known, on="term", how="left")
    rows = rows.with_columns(pl.col("concept").fill_null(UNMAPPED))
    counted = rows.group_by("user", "concept").agg(pl.col("count").sum())
    return counted.with_columns(pl.col("user").cast(pl.String))


def common_counts(matrix: pl.DataFrame, names: pl.Series) -> NDArray[np.float32]:
    """Return the sum of the common counts of all pairs of users over categories (algorithm 2)."""
    numbers = pl.DataFrame({"user": names}).with_row_index("number")
    rows = matrix.join(numbers, on="user")
    columns, column = np.unique(rows["category"].to_numpy(), return_inverse=True)
    counts = np.zeros((len(names), len(columns)), np.float32)
    counts[rows["number"].to_numpy(), column] = rows["count"].to_numpy()
    common = np.zeros((len(names), len(names)), np.float32)
    for user in range(len(names)):
        own = np.flatnonzero(counts[user])
        common[user] = np.minimum(counts[user, own], counts[:, own]).sum(axis=1)
    return common
