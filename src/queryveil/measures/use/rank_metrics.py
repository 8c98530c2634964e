"""How good rankings are: the field's own metrics, by ir-measures, and whether a difference is real.

nDCG@10 = DCG / ideal DCG with DCG = sum of (2^rel - 1) / log2(place + 1); P@n = relevant ones of
the first n, divided by n; MAP is the mean of the average precision. Relevant is what was clicked.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ...core.extras import import_extra

__all__ = ["METRICS", "evaluate_rankings", "paired_t_test"]

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

    >>> paired(np.array([0.0, 1.0]), np.array([0.0, 1.0]))["p_value"]
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
