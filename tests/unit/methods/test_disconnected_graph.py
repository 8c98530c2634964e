"""disconnected-graph: what is removed, step by step."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from recounts import recount_checks, recount_rows_of_the_log

import queryveil as qv
from queryveil.concepts.taxonomy.arrays import RaggedArray
from queryveil.errors import InputError
from queryveil.methods.disconnected_graph import DisconnectedGraph, _remove_greedily
from queryveil.testing import KitCheck, MethodRun, method_checks

TIME = "2006-03-01 10:00:00"


def log_of(*clicks: tuple[str, str, str | None]) -> qv.QueryLog:
    return qv.QueryLog.from_rows([(u, q, TIME, 1 if url else None, url) for u, q, url in clicks])


def released(log: qv.QueryLog, **more: Any) -> tuple[set[str], qv.Release]:
    release = qv.anonymize(log, qv.DisconnectedGraph(**more), seed=1)
    return set(release.log.collect()["query"].cast(pl.String)), release


FINE = [("a", "cats", "http://x.example/1"), ("a", "cats", "http://y.example/2")]


def test_queries_with_few_results_go() -> None:
    log = log_of(*FINE, ("b", "dogs", "http://z.example"), ("b", "birds", None))
    queries, release = released(log)
    assert queries == {"cats"}
    assert release.dropped == {"query with results from too few sites": 2}
    assert "dogs" in released(log, min_documents=1, min_sites=1)[0]


def test_two_results_of_one_site_are_one_site() -> None:
    log = log_of(*FINE, ("b", "dogs", "http://z.example/1"), ("b", "dogs", "www.z.example/2"))
    assert released(log)[0] == {"cats"}
    assert released(log, min_sites=1)[0] == {"cats", "dogs"}


@pytest.mark.parametrize(
    "query", ["acme", "buy acme", "acme.example", "www.acme.example", "ac me.example"]
)
def test_queries_that_name_the_site_go(query: str) -> None:
    clicks = [("b", query, "http://www.acme.example/a"), ("b", query, "http://other.example")]
    queries, release = released(log_of(*FINE, *clicks))
    assert queries == {"cats"}
    assert release.dropped == {"query that names the site of a result": 2}


def test_a_word_that_holds_the_name_does_not_name_the_site() -> None:
    clicks = [("b", "acmes", "http://acme.example"), ("b", "acmes", "http://other.example")]
    assert released(log_of(*FINE, *clicks))[0] == {"cats", "acmes"}


def test_the_query_with_most_neighbours_goes_first() -> None:
    shared = [("b", "dogs", "http://x.example/1"), ("b", "dogs", "http://p.example")]
    more = [("c", "birds", "http://p.example"), ("c", "birds", "http://q.example")]
    queries, release = released(log_of(*FINE, *shared, *more))
    assert queries == {"cats", "birds"}  # dogs has two neighbours
    assert release.dropped == {"query that shares a clicked result": 2}


def test_of_two_alike_the_rarer_goes() -> None:
    shared = [("b", "dogs", "http://x.example/1"), ("b", "dogs", "http://p.example")]
    assert released(log_of(*FINE, ("z", "cats", None), *shared))[0] == {"cats"}
    assert released(log_of(*FINE, ("z", "dogs", None), *shared))[0] == {"dogs"}


def test_nothing_left_is_an_error() -> None:
    with pytest.raises(InputError, match="no query is left"):
        released(log_of(("a", "cats", None)))


def test_it_is_no_protection_and_says_so() -> None:
    _, release = released(log_of(*FINE))
    assert release.guarantee.model == "none"
    assert any("one user alone" in why for why in release.not_release_grade_because)


@given(st.integers(2, 9), st.data())
def test_greedy_equals_the_plain_definition(nodes: int, data: st.DataObject) -> None:
    pairs = data.draw(st.sets(st.sampled_from(list(combinations(range(nodes), 2)))))
    rows = data.draw(st.lists(st.integers(1, 5), min_size=nodes, max_size=nodes))
    near: dict[int, set[int]] = {n: set() for n in range(nodes)}
    for a, b in pairs:
        near[a].add(b)
        near[b].add(a)
    lists = RaggedArray.from_lists([sorted(near[n]) for n in range(nodes)])
    left = set(range(nodes))
    while any(near[n] & left for n in left):
        gone = max(left, key=lambda n: (len(near[n] & left), -rows[n], -n))
        left.discard(gone)
    assert set(np.flatnonzero(_remove_greedily(lists, np.array(rows))).tolist()) == left


def recount_disconnected_graph(run: MethodRun) -> None:
    recount_checks(run)
    recount_rows_of_the_log(run)


SPECS = [
    "disconnected-graph",
]
CHECKS = method_checks(DisconnectedGraph(), recount=recount_disconnected_graph)


@pytest.mark.usefixtures("one_mapper")
@pytest.mark.parametrize("check", CHECKS, ids=str)
def test_kit(check: KitCheck) -> None:
    check()
