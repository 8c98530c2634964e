"""Two ways to rank URLs for a query from counts alone (Zhang, Yang, Singh 2016).

Both give topic, url and place, from 1 on. Of equally good URLs the first by name comes first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ...core.extras import import_extra
from .counts import LogStatistics

_STAY = 0.1  # chance to stay at a query: the paper's s
_STEPS = 3
_WEIGHT = 0.6  # of feedback: the paper's lambda
_DEPTH = 1000  # URLs of a ranking at most, as in TREC
_DIGITS = 10  # of a score: what differs only by the order of additions is equal


@dataclass(frozen=True, eq=False, repr=False)
class ClickTransitionGraph:
    """Where a walk goes from each query: to a query by `steps`, to a URL by `clicks`.

    Both are sparse matrices of SciPy. A row of the two together adds up to 1, or to 0 if the query
    leads nowhere.
    """

    queries: pl.Series
    urls: pl.Series
    steps: Any
    clicks: Any


def build_click_graph(seen: LogStatistics) -> ClickTransitionGraph:
    """Make the graph of all queries and URLs, each in the order of the texts."""
    sides = (seen.clicks["query"], seen.steps["query"], seen.steps["next"].alias("query"))
    queries, urls = pl.concat(sides).unique().sort(), seen.clicks["url"].unique().sort()
    rows = [_places(table["query"], queries) for table in (seen.steps, seen.clicks)]
    columns = [_places(seen.steps["next"], queries), _places(seen.clicks["url"], urls)]
    counts = [table["count"].to_numpy() for table in (seen.steps, seen.clicks)]
    whole = np.bincount(np.concatenate(rows), np.concatenate(counts), len(queries))
    steps, clicks = (
        _sparse(count / whole[row], row, column, (len(queries), wide))
        for count, row, column, wide in zip(
            counts, rows, columns, (len(queries), len(urls)), strict=True
        )
    )
    return ClickTransitionGraph(queries, urls, steps, clicks)


def walk_probabilities(graph: ClickTransitionGraph, queries: pl.Series) -> pl.DataFrame:
    """Give the chance that a walk of three steps from a query ends at a URL: query, url, score.

    P(next | query) = (1 - s) count / sum of counts, and s to stay. A walk that has come to a URL
    stays there, so it has come there by a click from wherever it was after 0, 1 or 2 steps.
    """
    asked = queries.unique().sort().to_frame("query")
    nodes = graph.queries.to_frame("query").with_row_index("node")
    start = asked.with_row_index("ask").join(nodes, on="query", maintain_order="left")
    shape = (asked.height, len(graph.queries))
    at = _sparse(np.ones(start.height), start["ask"], start["node"], shape)
    been = at
    for _ in range(_STEPS - 1):
        at = _STAY * at + (1 - _STAY) * (at @ graph.steps)
        been = been + at
    ends = ((1 - _STAY) * (been @ graph.clicks)).tocoo()
    found = pl.DataFrame({"ask": ends.row, "place": ends.col, "score": ends.data})
    query, url = asked["query"].gather(found["ask"]), graph.urls.gather(found["place"])
    return found.select(query=query, url=url, score="score")


def rank_by_walk(graph: ClickTransitionGraph, tests: pl.DataFrame) -> pl.DataFrame:
    """Rank URLs by the chance that a walk from the query ends there; `tests` has topic, query."""
    ranked = _ranked(walk_probabilities(graph, tests["query"]), "query")
    topics = tests.select("topic", "query").unique()
    return topics.join(ranked, on="query").select("topic", "url", "place").sort("topic", "place")


def rank_by_feedback(seen: LogStatistics, tests: pl.DataFrame, leaky: bool) -> pl.DataFrame:
    """Rank the URLs that were clicked for a query by their counts and by where they stood.

    `tests` has topic, query, url and rank. The score is 0.6 / (I + 1) + 0.4 / (O + 1), or
    1 / (O + 1) for a URL without feedback. O is its place by the number of clicks, and I the rank
    at which it was clicked: in what was learned, on average, or in the test itself if `leaky`.
    """
    topics = tests.select("topic", "query").unique()
    found = topics.join(seen.clicks, on="query")
    if leaky:
        own = tests.select("topic", "url", "rank")
        found = found.drop("rank").join(own, on=["topic", "url"], how="left")
    place = pl.col("count").rank("min", descending=True).over("topic")
    plain, fed = 1 / (place + 1), 1 / (pl.col("rank") + 1)
    both = _WEIGHT * fed + (1 - _WEIGHT) * plain
    scored = found.with_columns(score=pl.coalesce(both, plain))
    return _ranked(scored.select("topic", "url", "score"), "topic")


def _ranked(scores: pl.DataFrame, key: str) -> pl.DataFrame:
    """Put the URLs of each key in order, best first: key, url, place."""
    scores = scores.filter(pl.col("score") > 0)
    scores = scores.with_columns(pl.col("score").round_sig_figs(_DIGITS))
    ordered = scores.sort(key, "score", "url", descending=[False, True, False])
    placed = ordered.with_columns(place=pl.int_range(1, pl.len() + 1).over(key))
    return placed.filter(pl.col("place") <= _DEPTH).select(key, "url", "place")


def _places(texts: pl.Series, names: pl.Series) -> Any:
    """Give the place of each text among the names."""
    known = names.to_frame("name").with_row_index("place")
    found = texts.to_frame("name").join(known, on="name", maintain_order="left")
    return found["place"].to_numpy().astype(np.int64)


def _sparse(data: Any, row: Any, column: Any, shape: tuple[int, int]) -> Any:
    sparse = import_extra("scipy.sparse", "the random walk")
    return sparse.csr_array((data, (np.asarray(row), np.asarray(column))), shape=shape)


METRICS = ("ndcg@10", "p@5", "p@10", "map")
_NAMES = {"nDCG@10": "ndcg@10", "P@5": "p@5", "P@10": "p@10", "AP": "map"}


def evaluate_rankings(tests: pl.DataFrame, ranked: pl.DataFrame) -> pl.DataFrame:
    """Give the metrics of each topic: topic, ranked (whether there is any ranking), and metrics.

    `tests` has topic and url, those that are relevant; `ranked` topic, url and place. A topic
    without a ranking has 0 of everything.
    """
    wanted = _by_topic(tests.select("topic", "url", score=pl.lit(1)))
    given = _by_topic(ranked.select("topic", "url", score=-pl.col("place").cast(pl.Int64)))
    kinds = {"topic": pl.Int64, "metric": pl.String, "value": pl.Float64}
    rows = pl.DataFrame(_computed(wanted, given), schema=kinds, orient="row")
    table = pl.DataFrame({"topic": list(wanted)}, schema={"topic": pl.Int64}).sort("topic")
    for name in METRICS:
        one = rows.filter(pl.col("metric") == name).select("topic", pl.col("value").alias(name))
        table = table.join(one, on="topic", how="left", maintain_order="left")
    has = pl.col("topic").is_in(list(given)).alias("ranked")
    return table.with_columns(pl.col(METRICS).fill_null(0.0), has)


def _by_topic(rows: pl.DataFrame) -> dict[int, dict[str, int]]:
    lists = rows.group_by("topic").agg("url", "score")
    return {topic: dict(zip(urls, scores, strict=True)) for topic, urls, scores in lists.rows()}


def _computed(
    wanted: dict[int, dict[str, int]], given: dict[int, dict[str, int]]
) -> list[tuple[int, str, float]]:
    library = import_extra("ir_measures", "judging rankings")
    import_extra("pytrec_eval", "judging rankings")
    metrics = [library.parse_measure(name) for name in _NAMES]
    qrels = {str(topic): urls for topic, urls in wanted.items()}
    run = {str(topic): urls for topic, urls in given.items()}
    found = library.iter_calc(metrics, qrels, run) if run else ()
    return [(int(one.query_id), _NAMES[str(one.measure)], one.value) for one in found]


def paired_t_test(after: NDArray[np.float64], before: NDArray[np.float64]) -> dict[str, Any]:
    """Compare two values of each topic by the two-tailed paired t-test.

    >>> paired_t_test(np.array([0.0, 1.0]), np.array([0.0, 1.0]))["p_value"]
    1.0
    """
    apart = after - before
    if len(apart) < 2:
        return dict.fromkeys(("difference", "low", "high", "p_value", "significant"))
    mean = float(apart.mean())
    if np.ptp(apart) == 0:  # no spread: the test would divide by 0
        low = high = mean
        chance = 1.0 if mean == 0 else 0.0
    else:
        found = import_extra("scipy.stats", "the t-test").ttest_rel(after, before)
        chance, (low, high) = float(found.pvalue), found.confidence_interval(0.95)
    told = {"difference": mean, "low": float(low), "high": float(high)}
    shown: dict[str, Any] = {name: round(value, 6) for name, value in told.items()}
    return shown | {"p_value": float(f"{chance:.3g}"), "significant": chance < 0.01}
