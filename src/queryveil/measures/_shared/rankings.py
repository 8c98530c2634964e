"""Two rankings of URLs for a query from counts alone (Zhang, Yang, Singh 2016), and their metrics.

Both return topic, url and place, from 1 on. URLs with equal scores are sorted by name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from .counts import LogStatistics

_STAY = 0.1  # probability to stay at a query: the paper's s
_STEPS = 3
_WEIGHT = 0.6  # of feedback: the paper's lambda
_DEPTH = 1000  # URLs of a ranking at most, as in TREC
_DIGITS = 10  # of a score: differences by the order of additions are rounded away


@dataclass(frozen=True, eq=False, repr=False)
class ClickTransitionGraph:
    """The transition probabilities of a query: to a query by `steps`, to a URL by `clicks`.

    Both are sparse matrices of SciPy. A row of the two together adds up to 1, or to 0 if the query
    has neither steps nor clicks.
    """

    queries: pl.Series
    urls: pl.Series
    steps: Any
    clicks: Any


def build_click_graph(seen: LogStatistics) -> ClickTransitionGraph:
    """Build the graph of all queries and URLs, each sorted by text."""
    sides = (seen.clicks["query"], seen.steps["query"], seen.steps["next"].alias("query"))
    queries, urls = pl.concat(sides).unique().sort(), seen.clicks["url"].unique().sort()
    rows = [_find_indices(table["query"], queries) for table in (seen.steps, seen.clicks)]
    columns = [_find_indices(seen.steps["next"], queries), _find_indices(seen.clicks["url"], urls)]
    counts = [table["count"].to_numpy() for table in (seen.steps, seen.clicks)]
    whole = np.bincount(np.concatenate(rows), np.concatenate(counts), len(queries))
    steps, clicks = (
        _sparse_matrix(count / whole[row], row, column, (len(queries), wide))
        for count, row, column, wide in zip(
            counts, rows, columns, (len(queries), len(urls)), strict=True
        )
    )
    return ClickTransitionGraph(queries, urls, steps, clicks)


def walk_probabilities(graph: ClickTransitionGraph, queries: pl.Series) -> pl.DataFrame:
    """Return the probability that a walk of three steps from a query ends at a URL.

    P(next | query) = (1 - s) count / sum of counts, and s to stay. A walk that has reached a URL
    stays there, so it reached the URL by a click after 0, 1 or 2 steps. Columns: query, url, score.
    """
    starts = queries.unique().sort().to_frame("query")
    nodes = graph.queries.to_frame("query").with_row_index("node")
    start = starts.with_row_index("ask").join(nodes, on="query", maintain_order="left")
    shape = (starts.height, len(graph.queries))
    position = _sparse_matrix(np.ones(start.height), start["ask"], start["node"], shape)
    visited = position
    for _ in range(_STEPS - 1):
        position = _STAY * position + (1 - _STAY) * (position @ graph.steps)
        visited = visited + position
    ends = ((1 - _STAY) * (visited @ graph.clicks)).tocoo()
    cells = pl.DataFrame({"ask": ends.row, "place": ends.col, "score": ends.data})
    query, url = starts["query"].gather(cells["ask"]), graph.urls.gather(cells["place"])
    return cells.select(query=query, url=url, score="score")


def rank_by_walk(graph: ClickTransitionGraph, tests: pl.DataFrame) -> pl.DataFrame:
    """Rank URLs by the probability that a walk ends there; `tests` has topic and query."""
    ranked = _rank_urls(walk_probabilities(graph, tests["query"]), "query")
    topics = tests.select("topic", "query").unique()
    return topics.join(ranked, on="query").select("topic", "url", "place").sort("topic", "place")


def rank_by_feedback(seen: LogStatistics, tests: pl.DataFrame, leaky: bool) -> pl.DataFrame:
    """Rank the URLs that were clicked for a query by their click counts and their ranks.

    `tests` has topic, query, url and rank. The score is 0.6 / (I + 1) + 0.4 / (O + 1), or
    1 / (O + 1) for a URL without feedback. O is the rank of the URL by the number of clicks, and I
    the rank at which it was clicked: the mean of the training data, or that of the test itself if
    `leaky`.
    """
    topics = tests.select("topic", "query").unique()
    urls = topics.join(seen.clicks, on="query")
    if leaky:
        own = tests.select("topic", "url", "rank")
        urls = urls.drop("rank").join(own, on=["topic", "url"], how="left")
    click_rank = pl.col("count").rank("min", descending=True).over("topic")
    plain, feedback = 1 / (click_rank + 1), 1 / (pl.col("rank") + 1)
    both = _WEIGHT * feedback + (1 - _WEIGHT) * plain
    scored = urls.with_columns(score=pl.coalesce(both, plain))
    return _rank_urls(scored.select("topic", "url", "score"), "topic")


def _rank_urls(scores: pl.DataFrame, key: str) -> pl.DataFrame:
    """Rank the URLs of each key, best first: key, url, place."""
    scores = scores.filter(pl.col("score") > 0)
    scores = scores.with_columns(pl.col("score").round_sig_figs(_DIGITS))
    ordered = scores.sort(key, "score", "url", descending=[False, True, False])
    placed = ordered.with_columns(place=pl.int_range(1, pl.len() + 1).over(key))
    return placed.filter(pl.col("place") <= _DEPTH).select(key, "url", "place")


def _find_indices(texts: pl.Series, names: pl.Series) -> Any:
    """Return the index of each text in the names."""
    known = names.to_frame("name").with_row_index("place")
    matches = texts.to_frame("name").join(known, on="name", maintain_order="left")
    return matches["place"].to_numpy().astype(np.int64)


def _sparse_matrix(data: Any, row: Any, column: Any, shape: tuple[int, int]) -> Any:
    from scipy import sparse  # noqa: PLC0415  (slow to import)

    return sparse.csr_array((data, (np.asarray(row), np.asarray(column))), shape=shape)


METRICS = ("ndcg@10", "p@5", "p@10", "map")
_NAMES = {"nDCG@10": "ndcg@10", "P@5": "p@5", "P@10": "p@10", "AP": "map"}


def evaluate_rankings(tests: pl.DataFrame, ranked: pl.DataFrame) -> pl.DataFrame:
    """Return the metrics of each topic: topic, ranked (whether it has a ranking), and metrics.

    `tests` has topic and url, the relevant URLs; `ranked` has topic, url and place. All metrics of
    a topic without a ranking are 0.
    """
    relevant = _group_by_topic(tests.select("topic", "url", score=pl.lit(1)))
    rankings = _group_by_topic(ranked.select("topic", "url", score=-pl.col("place").cast(pl.Int64)))
    schema = {"topic": pl.Int64, "metric": pl.String, "value": pl.Float64}
    rows = pl.DataFrame(_compute_metrics(relevant, rankings), schema=schema, orient="row")
    table = pl.DataFrame({"topic": list(relevant)}, schema={"topic": pl.Int64}).sort("topic")
    for name in METRICS:
        values = rows.filter(pl.col("metric") == name).select("topic", pl.col("value").alias(name))
        table = table.join(values, on="topic", how="left", maintain_order="left")
    has_ranking = pl.col("topic").is_in(list(rankings)).alias("ranked")
    return table.with_columns(pl.col(METRICS).fill_null(0.0), has_ranking)


def _group_by_topic(rows: pl.DataFrame) -> dict[int, dict[str, int]]:
    lists = rows.group_by("topic").agg("url", "score")
    return {topic: dict(zip(urls, scores, strict=True)) for topic, urls, scores in lists.rows()}


def _compute_metrics(
    relevant: dict[int, dict[str, int]], rankings: dict[int, dict[str, int]]
) -> list[tuple[int, str, float]]:
    import ir_measures  # noqa: PLC0415  (slow to import)

    metrics = [ir_measures.parse_measure(name) for name in _NAMES]
    qrels = {str(topic): urls for topic, urls in relevant.items()}
    run = {str(topic): urls for topic, urls in rankings.items()}
    results = ir_measures.iter_calc(metrics, qrels, run) if run else ()
    return [(int(result.query_id), _NAMES[str(result.measure)], result.value) for result in results]


@dataclass(frozen=True)
class PairedTest:
    """The mean difference with its 95% interval, and the p-value; None if there is no test."""

    difference: float | None = None
    difference_low: float | None = None
    difference_high: float | None = None
    p_value: float | None = None
    significant: bool | None = None


def paired_t_test(after: NDArray[np.float64], before: NDArray[np.float64]) -> PairedTest:
    """Compare two values of each topic by the two-sided paired t-test, at the level .01.

    >>> paired_t_test(np.array([0.0, 1.0]), np.array([0.0, 1.0])).p_value
    1.0
    """
    differences = after - before
    if len(differences) < 2:
        return PairedTest()
    mean = float(differences.mean())
    if np.ptp(differences) == 0:  # no spread: the test would divide by 0
        low = high = mean
        p_value = 1.0 if mean == 0 else 0.0
    else:
        from scipy import stats  # noqa: PLC0415  (slow to import)

        test = stats.ttest_rel(after, before)
        p_value, (low, high) = float(test.pvalue), test.confidence_interval(0.95)
    difference, low, high = (round(float(value), 6) for value in (mean, low, high))
    return PairedTest(difference, low, high, float(f"{p_value:.3g}"), p_value < 0.01)
