"""The disconnected query graph (Poblete, Spiliopoulou, Baeza-Yates 2007, 2010): a baseline.

Two queries are adjacent if users clicked the same result for both. Queries that target a site are
removed first. Then the queries with the highest degree are removed until no edge is left.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

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
from .base import Method, MethodOutput
from .publication import coarsen_time, pseudonymize

_MAX_EDGES = 20_000_000
_WHY_NOT = (
    "no minimum number of users: a query that one user alone sent can stay, with their clicks and "
    "days"
)


@dataclass(frozen=True)
class DisconnectedGraph(Method):
    """Keep queries whose clicked results nobody reached by another query that is kept.

    >>> str(DisconnectedGraph(min_sites=3))
    'disconnected-graph:min-sites=3'
    """

    name: ClassVar[str] = "disconnected-graph"
    title: ClassVar[str] = "queries whose clicked results overlap with no other's"
    paper: ClassVar[str] = "Poblete, Spiliopoulou, Baeza-Yates 2007, 2010"
    guarantee_summary: ClassVar[str] = "a rule about queries and results; nothing about a user"
    good_for: ClassVar[str] = "a baseline in comparisons; it guarantees nothing about a user"

    min_documents: int = parameter(
        2,
        "minimum number of different results that were clicked for a released query",
        min=1,
        max=10**6,
    )
    min_sites: int = parameter(
        2, "minimum number of different sites of these results", min=1, max=10**6, unit="sites"
    )
    time_precision: str = parameter("day", "time precision", choices=("none", "month", "day"))

    def run(self, log: QueryLog, rng: RandomSource, progress: Progress) -> MethodOutput:
        """Remove queries that target a site, disconnect the graph, keep the rows that are left."""
        with progress.stage("clicks"):
            clicks = _unique_clicks(log)
            sizes = log.local_frame.group_by("query").agg(rows=pl.len()).collect()
            broad = self._select_broad(clicks)
            untargeted = broad.join(_select_targeted(clicks), on="query", how="anti")
        with progress.stage("disconnect"):
            kept = _disconnect(clicks.join(untargeted, on="query", how="semi"), sizes)
        if not kept.height:
            raise EmptyReleaseError(
                "no query is left, so nothing would be released",
                hint="use smaller `min_sites` or `min_documents`",
            )
        with progress.stage("protect"):
            rows = filter_keys(log.local_frame, kept, ["query"]).with_columns(
                time=coarsen_time(self.time_precision)
            )
            shuffled = shuffle_rows(rows, rng).collect()
            public, mapping = pseudonymize(shuffled, "user", rng)
        return MethodOutput(
            log=public.lazy().select("user", "query", "time", "rank", "url"),
            mapping=mapping,
            dropped=_count_dropped(sizes, (broad, untargeted, kept)),
        )

    def _select_broad(self, clicks: pl.DataFrame) -> pl.DataFrame:
        """Return the queries with enough different results from enough different sites.

        The paper uses all results of a search engine. A log has the clicked ones only.
        """
        counts = clicks.group_by("query").agg(pl.len(), sites=pl.col("site").n_unique())
        enough = (pl.col("len") >= self.min_documents) & (pl.col("sites") >= self.min_sites)
        return counts.filter(enough).select("query")

    def reasons_not_to_publish(self) -> tuple[str, ...]:
        """Return that a query of one user alone can stay."""
        return (_WHY_NOT,)

    def guarantee(self) -> Guarantee:
        """Return the rule, which guarantees nothing about a user."""
        return Guarantee(
            model="none",
            statement=(
                f"For every query at least {self.min_documents} different results from "
                f"{self.min_sites} different sites were clicked, the query names the site of "
                "none of "
                "them, and no result was clicked for two released queries. This is a rule about "
                "queries. It guarantees nothing about a user."
            ),
            assumptions=(
                "a user name of the log stands for one person, and one person has one user name",
            ),
            not_covered=(
                "how many users sent a query: one is enough",
                "the queries of a user stay together under one pseudonym",
                "clicks, ranks and days are released unchanged, also those of one user alone",
            ),
            checks=(
                Check("disjoint-clicks", {}),
                Check("time-step", {"step": self.time_precision}),
            ),
        )


def _unique_clicks(log: QueryLog) -> pl.DataFrame:
    """Return the clicked results of each query, each once: query, url, site."""
    pairs = log.local_frame.select("query", "url").drop_nulls().unique().collect(engine="streaming")
    url = pl.col("url").cast(pl.String).str.to_lowercase()
    bare = url.str.replace(r"^[a-z]+://", "").str.replace(r"^www\.", "")
    return pairs.with_columns(site=bare.str.replace(r"[/?#:].*$", ""))


def _select_targeted(clicks: pl.DataFrame) -> pl.DataFrame:
    """Return the queries that contain the site of a clicked result, or its name as a word."""
    query = pl.col("query").cast(pl.String).str.to_lowercase()
    name = pl.col("site").str.extract(r"([^.]+)\.[^.]+$")
    has_site = query.str.replace_all(" ", "").str.contains(pl.col("site"), literal=True)
    has_name = query.str.split(" ").list.contains(name)
    return clicks.filter(has_site | has_name.fill_null(False)).select("query").unique()


def _disconnect(clicks: pl.DataFrame, sizes: pl.DataFrame) -> pl.DataFrame:
    """Remove the query with the most neighbors, of these the rarest, until no edge is left."""
    nodes = clicks.select("query").unique().join(sizes, on="query")
    nodes = nodes.with_columns(pl.col("query").cast(pl.String).alias("text")).sort("text")
    numbers = nodes.select("query", node=pl.int_range(pl.len(), dtype=pl.Int64))
    table = clicks.join(numbers, on="query").select("node", "url")
    degrees = table.group_by("url").len()["len"].cast(pl.Int64)
    if int((degrees * (degrees - 1)).sum()) > _MAX_EDGES:
        raise InputError(
            f"the graph of queries has more than {_MAX_EDGES:,} pairs that share a clicked result",
            hint="use a larger `min_sites` or `min_documents`, which leaves fewer queries",
        )
    edges = table.join(table, on="url").filter(pl.col("node") != pl.col("node_right"))
    ends = edges.select("node", "node_right").unique().sort("node", "node_right").to_numpy()
    neighbors = RaggedArray.group_by(ends[:, 0], ends[:, 1], nodes.height)
    isolated = _remove_greedily(neighbors, nodes["rows"].to_numpy().astype(np.int64))
    return nodes.filter(pl.Series(isolated)).select("query")


def _remove_greedily(neighbors: RaggedArray, rows: IntArray) -> BoolArray:
    """Return a mask of the nodes that stay.

    The heap keeps outdated entries, which are skipped: to update them would cost more.
    """
    degree = neighbors.sizes.copy()
    stays = np.ones(len(rows), np.bool_)
    heap = [(-int(d), int(rows[n]), n) for n, d in enumerate(degree.tolist()) if d]
    heapq.heapify(heap)
    while heap:
        negative_degree, _, node = heapq.heappop(heap)
        if not stays[node] or -negative_degree != degree[node] or not degree[node]:
            continue
        stays[node] = False
        for other in neighbors[node].tolist():
            degree[other] -= 1
            if stays[other] and degree[other]:
                heapq.heappush(heap, (-int(degree[other]), int(rows[other]), other))
    return stays


def _count_dropped(sizes: pl.DataFrame, steps: Sequence[pl.DataFrame]) -> dict[str, int]:
    """Count the dropped rows by the step that removed their query.

    Args:
        sizes: The rows of each query: query, rows.
        steps: The queries that are left after each step.
    """
    left = [int(sizes.join(step, on="query", how="semi")["rows"].sum()) for step in steps]
    before_and_after = zip([int(sizes["rows"].sum()), *left], left, strict=False)
    reasons = (
        "query with results from too few sites",
        "query that names the site of a result",
        "query that shares a clicked result",
    )
    dropped = (before - after for before, after in before_and_after)
    return {reason: rows for reason, rows in zip(reasons, dropped, strict=True) if rows}
