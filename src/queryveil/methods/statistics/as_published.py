"""The steps of Zhang, Yang and Singh 2016 as they are printed, for comparison alone.

They do not have the guarantee that the paper claims; `guarantees.py` lists why. Where the paper
leaves a choice: an occurrence is one submission of a query; a term is unique if one user alone has
it (by occurrences, no query that is left could have a unique term); negative counts are omitted.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import polars as pl

from ...core.progress import Progress
from ...dp.noise import NoiseSource, exact_scale
from ...dp.public_counts import PublicCounts
from ...log.query_log import QueryLog
from ...release.noise import CountNoise
from ..publication import sort_for_publication
from .forecasts import paper_noise
from .public_lists import read_public_queries

_RARE = 5  # occurrences below which a query is removed


@dataclass(frozen=True)
class AsPublished:
    """The paper's parameters: q_f, c_f, K, the pool, and the epsilon that it claims."""

    pool: str
    epsilon: Fraction
    queries: int
    clicks: int
    threshold: int

    @property
    def scale(self) -> Fraction:
        """The scale b for which q_f/b + c_f/b + (q_f - 1)/b is the claimed epsilon."""
        return exact_scale((2 * self.queries + self.clicks - 1) / self.epsilon)

    def release(
        self, log: QueryLog, noise: NoiseSource, progress: Progress
    ) -> dict[str, pl.DataFrame]:
        """Release the three tables by the six steps of the paper."""
        with progress.stage("public lists"):
            pool = read_public_queries(self.pool)
        with progress.stage("clean"):
            events = log.events().select("user", "query").collect()
            known = _clean(events)
            kept = events.join(known, on="query", how="semi", maintain_order="left")
            kept = _take_first(kept, self.queries)
            clicks = _known_clicks(log, known)
        with progress.stage("queries"):
            queries = self._select_queries(kept, pool, noise)
        with progress.stage("clicks and transitions"):
            clicks = _take_first(clicks, self.clicks).join(queries, on="query", how="semi")
            pairs = _find_transitions(kept, queries)
            tables = {
                "queries": queries,
                "clicks": self._count_with_noise(clicks, ["query", "url"], noise),
                "transitions": self._count_with_noise(pairs, ["query", "next"], noise),
            }
        return {name: sort_for_publication(table) for name, table in tables.items()}

    def table_noise(self) -> tuple[CountNoise, ...]:
        """Return the noise of each table."""
        bounds = {"queries": self.queries, "clicks": self.clicks, "transitions": self.queries - 1}
        return paper_noise(float(self.scale), self.threshold, bounds)

    def _select_queries(
        self, kept: pl.DataFrame, pool: pl.Series, noise: NoiseSource
    ) -> pl.DataFrame:
        """Add the pool and return the queries whose noisy count is above K, with that count."""
        counts = kept.group_by("query").agg(count=pl.len()).sort("query")
        added = pool.cast(kept.schema["query"]).to_frame()
        added = added.join(counts, on="query", how="anti", maintain_order="left")
        candidates = pl.concat([counts.select("query"), added])
        mechanism = PublicCounts(self.scale, self.threshold + 1, self.queries)
        own = counts["count"].to_numpy().astype(np.int64)
        indices, noisy = mechanism.release(np.arange(len(own)), own, candidates.height, noise)
        return candidates[indices].with_columns(count=pl.Series(noisy))

    def _count_with_noise(
        self, rows: pl.DataFrame, keys: list[str], noise: NoiseSource
    ) -> pl.DataFrame:
        """Count the keys that occur, with noise and without a threshold."""
        counts = rows.group_by(keys).agg(count=pl.len()).sort(keys)
        noisy = counts["count"].to_numpy().astype(np.int64) + noise.laplace(
            counts.height, self.scale
        )
        return counts.with_columns(count=pl.Series(noisy)).filter(pl.col("count") > 0)


def _clean(events: pl.DataFrame) -> pl.DataFrame:
    """Return the queries that are frequent and have no unique term."""
    user = pl.col("user").to_physical()
    queries = events.group_by("query").agg(times=pl.len(), low=user.min(), high=user.max())
    terms = (
        queries.lazy()
        .with_columns(term=pl.col("query").cast(pl.String).str.split(" "))
        .explode("term")
    )
    users = terms.group_by("term").agg(pl.col("low").min(), pl.col("high").max())
    unique = users.filter(pl.col("low") == pl.col("high"))
    identifying = terms.join(unique, on="term", how="semi").select("query").unique().collect()
    frequent = queries.filter(pl.col("times") >= _RARE).select("query")
    return frequent.join(identifying, on="query", how="anti")


def _known_clicks(log: QueryLog, known: pl.DataFrame) -> pl.DataFrame:
    """Return the clicks of the known queries, those of each user in the order of time."""
    clicks = log.local_frame.select("user", "query", "url", "time").drop_nulls("url")
    clicks = clicks.join(known.lazy(), on="query", how="semi", maintain_order="left")
    return clicks.collect().sort("user", "time", maintain_order=True).drop("time")


def _take_first(rows: pl.DataFrame, bound: int) -> pl.DataFrame:
    """Return the first `bound` rows of each user."""
    return rows.filter(pl.int_range(pl.len()).over("user") < bound)


def _find_transitions(kept: pl.DataFrame, queries: pl.DataFrame) -> pl.DataFrame:
    """Return each query of a user with their next query, if both are released."""
    pairs = kept.with_columns(next=pl.col("query").shift(-1).over("user")).drop_nulls("next")
    pairs = pairs.join(queries, on="query", how="semi")
    return pairs.join(queries, left_on="next", right_on="query", how="semi")
