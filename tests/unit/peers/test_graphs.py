"""Who is whose friend: drawn, read from a file, and by similar queries."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from queryveil.core.randomness import RandomSource
from queryveil.errors import InputError, ParameterError
from queryveil.log.query_log import QueryLog
from queryveil.peers.simulation.graphs import build_social_graph, graph_parameters
from queryveil.peers.simulation.population import Population, population_from_log, repeated_queries

PEOPLE = repeated_queries(pl.Series([f"u{i:02}" for i in range(40)]), 1)


def people_of(sent: dict[str, str]) -> Population:
    rows = [(user, q, None, None, None) for user, text in sent.items() for q in text.split(",")]
    return population_from_log(QueryLog.from_rows(rows))


@pytest.mark.parametrize(
    ("line", "links"),
    [("barabasi-albert", 76), ("barabasi-albert:m=3", 111), ("watts-strogatz:k=4:p=0.5", 80)],
)
def test_drawn(line: str, links: int) -> None:
    graph = build_social_graph(line, PEOPLE, RandomSource(1))
    assert graph.links == links
    assert graph.friends == build_social_graph(line, PEOPLE, RandomSource(1)).friends
    assert graph.friends != build_social_graph(line, PEOPLE, RandomSource(2)).friends
    for user, friends in enumerate(graph.friends):
        assert user not in friends
        assert all(user in graph.friends[friend] for friend in friends)
    assert graph.degrees.tolist() == [len(friends) for friends in graph.friends]


@pytest.mark.parametrize(
    "line", ["barabasi-albert:m=0", "barabasi-albert:m=40", "barabasi-albert:k=2", "interests:k=0",
             "barabasi-albert:m=two", "watts-strogatz:k=1", "watts-strogatz:p=2"],
)  # fmt: skip
def test_impossible_graphs(line: str) -> None:
    with pytest.raises(ParameterError):
        build_social_graph(line, PEOPLE, RandomSource(1))


def test_a_file_of_links(tmp_path: Path) -> None:
    people = repeated_queries(pl.Series(["ann", "bob", "cy d"]), 1)
    path = tmp_path / "links.txt"
    path.write_text(
        "# who knows whom\nann bob\nbob,ann\ncy d\tann\nann ann\nann eve\nann\n\n", "utf-8"
    )
    graph = build_social_graph(str(path), people, RandomSource(1))
    assert graph.friends == [[1, 2], [0], [0]]
    wanted = {"a user who is not in the log": 1, "twice the same name": 1, "not two names": 1}
    assert graph.rejected == wanted
    assert graph_parameters(str(path)) == {}


def test_files_that_are_no_graph(tmp_path: Path) -> None:
    path = tmp_path / "links.txt"
    path.write_text("ann bob\n")
    with pytest.raises(InputError, match="two users"):
        build_social_graph(str(path), PEOPLE, RandomSource(1))
    with pytest.raises(InputError, match="not a social graph") as raised:
        build_social_graph("barabasi", PEOPLE, RandomSource(1))
    assert "barabasi-albert" in str(raised.value.hint)


def test_like_minded() -> None:
    """Friends share rare words; a word of everybody links nobody, a loner stays alone."""
    people = people_of({
        "a": "tennis racket,news", "b": "tennis court,news", "c": "violin bow,news",
        "d": "violin case,news", "e": "cheese",
    })  # fmt: skip
    graph = build_social_graph("interests:k=1", people, RandomSource(1))
    assert [[people.names[user] for user in friends] for friends in graph.friends] == [
        ["b"], ["a"], ["d"], ["c"], [],
    ]  # fmt: skip


def test_nobody_is_like_anybody() -> None:
    graph = build_social_graph("interests", people_of({"a": "x", "b": "y"}), RandomSource(1))
    assert graph.friends == [[], []]
