"""The disconnected query graph (Poblete, Spiliopoulou, Baeza-Yates 2007, 2010): a baseline.

Two queries are joined if users clicked the same result for both. Queries that point at a site, and
then those that hold the graph together, are removed until nothing is joined.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl

from ..concepts.taxonomy.arrays import BoolArray, IntArray, RaggedArray
from ..core.parameters import parameter
from ..core.progress import Progress
from ..core.randomness import RandomSource
from ..engine.operations import filter_keys, shuffle_rows
from ..errors import EmptyReleaseError, InputError
from ..log.query_log import QueryLog
from ..release.guarantee import Check, Guarantee
from ..release.release import Release
from .base import Method
from .publication import coarsen_time, pseudonymize


_MOST_EDGES = 20_000_000
_WHY_NOT = (
    "no number of users is asked for: a query that one person alone sent can stay, with her clicks "
    "and days"
)


@dataclass(frozen=True)
class DisconnectedGraph(Method):
    """Keep queries whose clicked results nobody reached by another query that is kept.

    >>> str(DisconnectedGraph(sites=3))
    'disconnected-graph:sites=3'
    """

    name: ClassVar[str] = "disconnected-graph"
    title: ClassVar[str] = "queries whose clicked results overlap with no other's"
    paper: ClassVar[str] = "Poblete, Spiliopoulou, Baeza-Yates 2007, 2010"
    guarantee_summary: ClassVar[str] = "a rule about queries and results; nothing about a person"

    documents: int = parameter(
        2, "different results that must have been clicked for a query", min=1, max=10**6
    )
    sites: int = parameter(
        2, "different sites that these results come from", min=1, max=10**6, unit="sites"
    )
    time: str = parameter("day", "how fine times are given", choices=("none", "month", "day"))

    def run(self, log: QueryLog, chance: RandomSource, progress: Progress) -> Release:
        """Remove what points at a site, then disconnect, then keep the users' other rows."""
        with progress.stage("clicks"):
            clicks, sent = (
                _clicks(log),
                log.local_frame.group_by("query").agg(rows=pl.len()).collect(),
            )
            broad = self._broad(clicks)
            frank = broad.join(_well_targeted(clicks), on="query", how="anti")
        with progress.stage("disconnect"):
            kept = _disconnected(clicks.join(frank, on="query", how="semi"), sent)
        if not kept.height:
            raise EmptyReleaseError(
                "no query is left, so nothing would be released", hint="smaller --sites"
            )
        with progress.stage("protect"):
            rows = filter_keys(log.local_frame, kept, ["query"]).with_columns(
                time=coarsen_time(self.time)
            )
            shuffled = shuffle_rows(rows, chance).collect()
            public, mapping = pseudonymize(shuffled, "user", chance)
        return Release(
            method=self.name,
            parameters=self.params(),
            guarantee=self.guarantee(),
            source=log,
            log=public.lazy().select("user", "query", "time", "rank", "url"),
            mapping=mapping,
            dropped=_dropped(sent, broad, frank, kept),
            not_release_grade=self.unfit(),
            progress=progress,
        )

    def _broad(self, clicks: pl.DataFrame) -> pl.DataFrame:
        """Give the queries with enough different results from enough different sites.

        A live engine would tell what it returns; a log tells what was clicked, which is less.
        """
        seen = clicks.group_by("query").agg(pl.len(), sites=pl.col("site").n_unique())
        enough = (pl.col("len") >= self.documents) & (pl.col("sites") >= self.sites)
        return seen.filter(enough).select("query")

    def unfit(self) -> tuple[str, ...]:
        """Return that a query of one person alone can stay."""
        return (_WHY_NOT,)

    def guarantee(self) -> Guarantee:
        """Promise the rule, and nothing about a person."""
        return Guarantee(
            model="none",
            statement=(
                f"For every query at least {self.documents} different results from "
                f"{self.sites} different sites were clicked, it does not name the site of one, and "
                "no result was clicked for two queries that are kept. This is a rule about "
                "queries. It promises nothing about a person."
            ),
            assumptions=(
                "a user name of the log stands for one person, and one person has one user name",
            ),
            not_covered=(
                "how many people sent a query: one is enough",
                "a person's queries stay together under one pseudonym",
                "clicks, ranks and days are given as they were, those of one person alone included",
            ),
            checks=(Check("disjoint-clicks", {}), Check("time-step", {"step": self.time})),
        )

    def alternatives(self, log: QueryLog) -> list[dict[str, Any]]:  # noqa: ARG002
        """Say nothing of other values: each needs a run of its own."""
        return []


def _clicks(log: QueryLog) -> pl.DataFrame:
    """Give each query's clicked results once: query, url, site."""
    pairs = log.local_frame.select("query", "url").drop_nulls().unique().collect(engine="streaming")
    url = pl.col("url").cast(pl.String).str.to_lowercase()
    bare = url.str.replace(r"^[a-z]+://", "").str.replace(r"^www\.", "")
    return pairs.with_columns(site=bare.str.replace(r"[/?#:].*$", ""))


def _well_targeted(clicks: pl.DataFrame) -> pl.DataFrame:
    """Give the queries that hold the site of a clicked result, or its name as a word."""
    query = pl.col("query").cast(pl.String).str.to_lowercase()
    name = pl.col("site").str.extract(r"([^.]+)\.[^.]+$")
    whole = query.str.replace_all(" ", "").str.contains(pl.col("site"), literal=True)
    word = query.str.split(" ").list.contains(name)
    return clicks.filter(whole | word.fill_null(False)).select("query").unique()


def _disconnected(clicks: pl.DataFrame, sent: pl.DataFrame) -> pl.DataFrame:
    """Remove the query with most neighbours, the rarest of these, until none has any."""
    nodes = clicks.select("query").unique().join(sent, on="query")
    nodes = nodes.with_columns(pl.col("query").cast(pl.String).alias("text")).sort("text")
    numbers = nodes.select("query", node=pl.int_range(pl.len(), dtype=pl.Int64))
    table = clicks.join(numbers, on="query").select("node", "url")
    sizes = table.group_by("url").len()["len"].cast(pl.Int64)
    if int((sizes * (sizes - 1)).sum()) > _MOST_EDGES:
        raise InputError(
            "too many queries share clicked results to be disconnected here",
            hint="a larger --sites or --documents leaves fewer of them",
        )
    edges = table.join(table, on="url").filter(pl.col("node") != pl.col("node_right"))
    ends = edges.select("node", "node_right").unique().sort("node", "node_right").to_numpy()
    neighbours = RaggedArray.group_by(ends[:, 0], ends[:, 1], nodes.height)
    alone = _greedy(neighbours, nodes["rows"].to_numpy().astype(np.int64))
    return nodes.filter(pl.Series(alone)).select("query")


def _greedy(neighbours: RaggedArray, rows: IntArray) -> BoolArray:
    """Tell which nodes stay; a heap with old entries is looked at until it has none left."""
    degree = neighbours.sizes.copy()
    stays = np.ones(len(rows), np.bool_)
    heap = [(-int(d), int(rows[n]), n) for n, d in enumerate(degree.tolist()) if d]
    heapq.heapify(heap)
    while heap:
        found, _, node = heapq.heappop(heap)
        if not stays[node] or -found != degree[node] or not degree[node]:
            continue
        stays[node] = False
        for other in neighbours[node].tolist():
            degree[other] -= 1
            if stays[other] and degree[other]:
                heapq.heappush(heap, (-int(degree[other]), int(rows[other]), other))
    return stays


def _dropped(
    sent: pl.DataFrame, broad: pl.DataFrame, frank: pl.DataFrame, kept: pl.DataFrame
) -> dict[str, int]:
    """Count the rows that are gone, by the step that removed their query."""
    left = [int(sent.join(q, on="query", how="semi")["rows"].sum()) for q in (broad, frank, kept)]
    steps = zip([int(sent["rows"].sum()), *left], left, strict=False)
    reasons = (
        "query with results from too few sites",
        "query that names the site of a result",
        "query that shares a clicked result",
    )
    gone = (before - after for before, after in steps)
    return {reason: rows for reason, rows in zip(reasons, gone, strict=True) if rows}
