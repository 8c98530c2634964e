"""Ranking from counts: walks, feedback and metrics, by hand and by their definitions."""

from __future__ import annotations

from math import log2

import numpy as np
import polars as pl
import pytest
from fold_logs import table
from hypothesis import given
from hypothesis import strategies as st

from queryveil.measures._shared.counts import LogStatistics
from queryveil.measures._shared.rankings import (
    METRICS,
    PairedTest,
    build_click_graph,
    evaluate_rankings,
    paired_t_test,
    rank_by_feedback,
    rank_by_walk,
    walk_probabilities,
)

Counts = dict[tuple[str, str], int]


def seen_of(
    clicks: Counts, steps: Counts, ranks: dict[tuple[str, str], float] | None = None
) -> LogStatistics:
    ranks = ranks or {}
    rows = [(q, u, float(n), ranks.get((q, u))) for (q, u), n in sorted(clicks.items())]
    kinds = {"query": pl.String, "url": pl.String, "count": pl.Float64, "rank": pl.Float64}
    moves = table(["query", "next"], [(q, to, n) for (q, to), n in sorted(steps.items())])
    return LogStatistics(
        pl.DataFrame(schema={"query": pl.String, "count": pl.Float64}),
        pl.DataFrame(rows, schema=kinds, orient="row"),
        moves.with_columns(pl.col("count").cast(pl.Float64)),
        "",
    )


def walked(clicks: Counts, steps: Counts, query: str) -> dict[str, float]:
    ends = walk_probabilities(build_click_graph(seen_of(clicks, steps)), pl.Series([query]))
    return {url: score for _, url, score in ends.rows() if score}


def test_a_walk_by_hand() -> None:
    """a: 3 of 4 to x, 1 of 4 to b; b: to y alone; each step stays with 0.1."""
    found = walked({("a", "x"): 3, ("b", "y"): 2}, {("a", "b"): 1}, "a")
    assert found == pytest.approx({"x": 0.675 * 1.11, "y": 0.2025 + 0.045 * 0.9})


def test_a_query_without_clicks_leads_to_those_of_the_next() -> None:
    assert walked({("b", "y"): 2}, {("a", "b"): 1}, "a") == pytest.approx({"y": 0.81 + 0.18 * 0.9})
    assert walked({("b", "y"): 2}, {("a", "b"): 1}, "unknown") == {}


def plain_walk(clicks: Counts, steps: Counts, query: str) -> dict[str, float]:
    """The definition: a chance for every node, three times."""
    at, ends = {query: 1.0}, dict[str, float]()
    for _ in range(3):
        after = {node: 0.1 * chance for node, chance in at.items()}
        for node, chance in at.items():
            whole = sum(n for (q, _), n in [*clicks.items(), *steps.items()] if q == node)
            for (q, url), n in clicks.items():
                if q == node:
                    ends[url] = ends.get(url, 0.0) + chance * 0.9 * n / whole
            for (q, to), n in steps.items():
                if q == node:
                    after[to] = after.get(to, 0.0) + chance * 0.9 * n / whole
        at = after
    return ends


edges = st.dictionaries(
    st.tuples(st.sampled_from("abcd"), st.sampled_from("abcd")).filter(lambda e: e[0] != e[1]),
    st.integers(1, 5),
    max_size=8,
)
found_urls = st.dictionaries(
    st.tuples(st.sampled_from("abcd"), st.sampled_from("xyz")), st.integers(1, 5), max_size=8
)


@given(found_urls, edges)
def test_walks_are_the_definition(clicks: Counts, steps: Counts) -> None:
    for query in "ab":
        assert walked(clicks, steps, query) == pytest.approx(plain_walk(clicks, steps, query))


def places(ranked: pl.DataFrame) -> list[str]:
    return ranked.sort("topic", "place")["url"].to_list()


def test_equal_chances_stand_by_name_and_topics_share_a_ranking() -> None:
    graph = build_click_graph(seen_of({("a", "z"): 1, ("a", "x"): 1, ("a", "y"): 2}, {}))
    tests = pl.DataFrame({"topic": [1, 2], "query": ["a", "a"]})
    assert places(rank_by_walk(graph, tests)) == ["y", "x", "z"] * 2


def test_feedback_by_hand() -> None:
    """x: clicked most, at 4 on average: .6/5 + .4/2 = .32; y: at 1: .6/2 + .4/3 = .433."""
    clicks, ranks = (
        {("a", "x"): 3, ("a", "y"): 2, ("a", "z"): 1},
        {("a", "x"): 4.0, ("a", "y"): 1.0},
    )
    tests = pl.DataFrame({"topic": [1], "query": ["a"], "url": ["z"], "rank": [1]})
    assert places(rank_by_feedback(seen_of(clicks, {}, ranks), tests, False)) == ["y", "x", "z"]
    without = rank_by_feedback(seen_of(clicks, {}), tests, False)
    assert places(without) == ["x", "y", "z"]


def test_the_papers_feedback_is_the_tested_click() -> None:
    """z: .6/2 + .4/4 = .4, above y (1/3) and below x (1/2); its place by clicks alone is last."""
    clicks = {("a", "x"): 3, ("a", "y"): 2, ("a", "z"): 1}
    tests = pl.DataFrame({"topic": [1], "query": ["a"], "url": ["z"], "rank": [1]})
    leaky = rank_by_feedback(seen_of(clicks, {}, {("a", "y"): 1.0}), tests, True)
    assert places(leaky) == ["x", "z", "y"]


def plain_metrics(relevant: set[str], ranking: list[str]) -> dict[str, float]:
    """The definitions of SPEC 8.6."""
    hits = [int(url in relevant) for url in ranking]
    gain = sum(hit / log2(place + 2) for place, hit in enumerate(hits[:10]))
    ideal = sum(1 / log2(place + 2) for place in range(min(10, len(relevant))))
    precise = sum(sum(hits[: place + 1]) / (place + 1) for place, hit in enumerate(hits) if hit)
    return {
        "ndcg@10": gain / ideal,
        "p@5": sum(hits[:5]) / 5,
        "p@10": sum(hits[:10]) / 10,
        "map": precise / len(relevant),
    }


names = [f"u{n:02}" for n in range(14)]


@given(
    st.sets(st.sampled_from(names), min_size=1, max_size=4),
    st.lists(st.sampled_from(names), unique=True),
)
def test_metrics_are_their_definitions(relevant: set[str], ranking: list[str]) -> None:
    tests = pl.DataFrame({"topic": [7] * len(relevant), "url": sorted(relevant)})
    kinds = {"topic": pl.Int64, "url": pl.String, "place": pl.Int64}
    rows = [(7, url, place + 1) for place, url in enumerate(ranking)]
    found = evaluate_rankings(tests, pl.DataFrame(rows, schema=kinds, orient="row")).row(
        0, named=True
    )
    assert found["ranked"] == bool(ranking)
    assert {name: found[name] for name in METRICS} == pytest.approx(
        plain_metrics(relevant, ranking)
    )


def test_topics_without_a_ranking_have_nothing() -> None:
    tests = pl.DataFrame({"topic": [3, 5], "url": ["x", "x"]})
    found = evaluate_rankings(tests, pl.DataFrame({"topic": [5], "url": ["x"], "place": [1]}))
    assert found.select("topic", "ranked", "ndcg@10").rows() == [(3, False, 0.0), (5, True, 1.0)]


def test_the_t_test_by_hand() -> None:
    """Differences 1, 1, 1, -1: mean .5, deviation 1, so t = 1 with 3 degrees: p = .391."""
    found = paired_t_test(np.array([1.0, 1.0, 1.0, 0.0]), np.array([0.0, 0.0, 0.0, 1.0]))
    assert found.difference == 0.5
    assert found.p_value == 0.391
    assert (found.difference_low, found.difference_high) == pytest.approx(
        (0.5 - 3.182446 / 2, 0.5 + 3.182446 / 2)
    )
    assert found.significant is False


def test_the_t_test_without_spread() -> None:
    same = paired_t_test(np.zeros(3), np.zeros(3))
    lost = paired_t_test(np.zeros(3), np.ones(3))
    assert (same.p_value, same.significant) == (1.0, False)
    assert (lost.p_value, lost.significant, lost.difference_low) == (0.0, True, -1.0)
    assert paired_t_test(np.zeros(1), np.ones(1)) == PairedTest()
