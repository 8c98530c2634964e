"""The steps of Zhang, Yang and Singh 2016 as they are printed, for comparison alone.

They do not give what the paper claims for them; `promises.py` lists why. Where the paper is silent:
an occurrence is one submission of a query, a term is unique if one user alone has it (counted by
occurrences no query that is left could have one), and negative counts are left out.
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
        """The b for which q_f/b + c_f/b + (q_f - 1)/b is the epsilon that is claimed."""
        return exact_scale((2 * self.queries + self.clicks - 1) / self.epsilon)

    def release(
        self, log: QueryLog, noise: NoiseSource, progress: Progress
    ) -> dict[str, pl.DataFrame]:
        """Do the six steps."""
        with progress.stage("public lists"):
            pool = read_public_queries(self.pool)
        with progress.stage("clean"):
            events = log.events().select("user", "query").collect()
            known = _left(events)
            kept = events.join(known, on="query", how="semi", maintain_order="left")
            kept = _first(kept, self.queries)
            clicks = _clicks(log, known)
        with progress.stage("queries"):
            found = self._selected(kept, pool, noise)
        with progress.stage("clicks and transitions"):
            clicks = _first(clicks, self.clicks).join(found, on="query", how="semi")
            tables = {
                "queries": found,
                "clicks": self._noisy(clicks, ["query", "url"], noise),
                "transitions": self._noisy(_steps(kept, found), ["query", "next"], noise),
            }
        return {name: sort_for_publication(table) for name, table in tables.items()}

    def noises(self) -> tuple[CountNoise, ...]:
        """Tell the noise of each table."""
        most = {"queries": self.queries, "clicks": self.clicks, "transitions": self.queries - 1}
        return paper_noise(float(self.scale), self.threshold, most)

    def _selected(self, kept: pl.DataFrame, pool: pl.Series, noise: NoiseSource) -> pl.DataFrame:
        """Add the pool and give the queries whose noisy count is above K, with that count."""
        counts = kept.group_by("query").agg(count=pl.len()).sort("query")
        added = pool.cast(kept.schema["query"]).to_frame()
        added = added.join(counts, on="query", how="anti", maintain_order="left")
        candidates = pl.concat([counts.select("query"), added])
        made = PublicCounts(self.scale, self.threshold + 1, self.queries)
        own = counts["count"].to_numpy().astype(np.int64)
        places, noisy = made.release(np.arange(len(own)), own, candidates.height, noise)
        return candidates[places].with_columns(count=pl.Series(noisy))

    def _noisy(self, rows: pl.DataFrame, keys: list[str], noise: NoiseSource) -> pl.DataFrame:
        """Count what is there, with noise and without a threshold."""
        counts = rows.group_by(keys).agg(count=pl.len()).sort(keys)
        noisy = counts["count"].to_numpy().astype(np.int64) + noise.laplace(
            counts.height, self.scale
        )
        return counts.with_columns(count=pl.Series(noisy)).filter(pl.col("count") > 0)


def _left(events: pl.DataFrame) -> pl.DataFrame:
    """Give the queries that are frequent and have no unique term."""
    user = pl.col("user").to_physical()
    queries = events.group_by("query").agg(times=pl.len(), low=user.min(), high=user.max())
    terms = (
        queries.lazy()
        .with_columns(term=pl.col("query").cast(pl.String).str.split(" "))
        .explode("term")
    )
    known = terms.group_by("term").agg(pl.col("low").min(), pl.col("high").max())
    unique = known.filter(pl.col("low") == pl.col("high"))
    named = terms.join(unique, on="term", how="semi").select("query").unique().collect()
    frequent = queries.filter(pl.col("times") >= _RARE).select("query")
    return frequent.join(named, on="query", how="anti")


def _clicks(log: QueryLog, known: pl.DataFrame) -> pl.DataFrame:
    """Give the clicks of the queries that are left, each user's in the order of time."""
    clicks = log.local_frame.select("user", "query", "url", "time").drop_nulls("url")
    clicks = clicks.join(known.lazy(), on="query", how="semi", maintain_order="left")
    return clicks.collect().sort("user", "time", maintain_order=True).drop("time")


def _first(rows: pl.DataFrame, most: int) -> pl.DataFrame:
    """Keep the first so many rows of each user."""
    return rows.filter(pl.int_range(pl.len()).over("user") < most)


def _steps(kept: pl.DataFrame, found: pl.DataFrame) -> pl.DataFrame:
    """Give each query of a user and the one that she sent next, if both are released."""
    pairs = kept.with_columns(next=pl.col("query").shift(-1).over("user")).drop_nulls("next")
    pairs = pairs.join(found, on="query", how="semi")
    return pairs.join(found, left_on="next", right_on="query", how="semi")
