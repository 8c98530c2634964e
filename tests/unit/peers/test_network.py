"""Messages between simulated peers, by property: what comes in goes out, once unless told."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from queryveil.core.randomness import RandomSource
from queryveil.peers.protocol.policy import ProtocolSettings
from queryveil.peers.simulation.network import Network, Traffic, uniform_stream

SHARES = st.sampled_from([0.0, 0.1, 0.5])


@st.composite
def graphs(draw: st.DrawFn) -> list[list[int]]:
    users = draw(st.integers(1, 8))
    pairs = st.tuples(st.integers(0, users - 1), st.integers(0, users - 1))
    links = {(a, b) for a, b in draw(st.lists(pairs, max_size=20)) if a != b}
    links |= {(b, a) for a, b in links}
    return [sorted(b for a, b in links if a == user) for user in range(users)]


def played(graph: list[list[int]], rounds: int, seed: int = 1, **more: object) -> Traffic:
    how = ProtocolSettings(more.pop("submit", 0.5), more.pop("hops", 3))
    network = Network(graph, how, uniform_stream(RandomSource(seed)), **more)
    return network.run(list(range(len(graph))) * rounds)


@settings(max_examples=60, deadline=None)
@given(graphs(), st.integers(0, 4), SHARES, SHARES, st.integers(0, 50))
def test_whatever_goes_wrong(
    graph: list[list[int]], hops: int, churn: float, loss: float, seed: int
) -> None:
    traffic = played(graph, 3, seed, hops=hops, churn=churn, message_loss=loss, dishonest=[0])
    queries = 3 * len(graph)
    assert traffic.asked == traffic.accepted + traffic.refused + traffic.silent
    assert set(traffic.search) == set(range(queries))  # each is submitted
    # Once, unless a failure is told; an answer that nobody waits for any more makes no second.
    assert 0 <= len(traffic.search) - queries <= traffic.failures
    assert bool(traffic.failures) == (len(traffic.search) > queries)
    assert max(traffic.hops) <= hops
    assert sum(traffic.relays) >= traffic.accepted
    for search, account, hop in zip(traffic.search, traffic.account, traffic.hops, strict=True):
        assert hop > 0 or account == search % len(graph)
    assert all(sender in graph[0] for _, sender, _ in traffic.recorded)


@settings(max_examples=40, deadline=None)
@given(graphs(), SHARES, st.integers(0, 50))
def test_exactly_once_where_nothing_gets_lost(
    graph: list[list[int]], churn: float, seed: int
) -> None:
    traffic = played(graph, 4, seed, churn=churn, selfish=[0])
    assert traffic.search == list(range(4 * len(graph)))
    assert traffic.failures == 0
    assert sum(traffic.relays) == traffic.accepted
    assert traffic.relays[0] == 0
    assert churn or not traffic.silent


def test_a_lost_acceptance_makes_a_duplicate() -> None:
    """0 asks 1, who accepts; that gets lost. Both submit the query, and 0 heard nothing."""
    numbers = [0.9, 0.0, 0.9, 0.0, 0.001]  # not herself, friend 1, request kept, accepts, lost
    network = Network([[1], [0]], ProtocolSettings(), iter(numbers).__next__, message_loss=0.01)
    network.search(0)
    assert (network.traffic.account, network.traffic.hops) == ([1, 0], [1, 0])
    assert (network.traffic.silent, network.traffic.failures) == (1, 1)
    assert network.peers[0].counts(1) == (1, 0)


def test_a_lost_answer_makes_a_duplicate() -> None:
    numbers = [0.9, 0.0, 0.9, 0.0, 0.9, 0.001]  # as before, acceptance kept, answer lost
    network = Network([[1], [0]], ProtocolSettings(), iter(numbers).__next__, message_loss=0.01)
    network.search(0)
    assert (network.traffic.account, network.traffic.failures) == ([1, 0], 1)
    assert network.peers[0].counts(1) == (1, 1)


def test_who_is_away_does_not_answer() -> None:
    traffic = played([[1], [0]], 5, churn=1.0)
    assert traffic.asked == traffic.silent > 0
    assert set(traffic.hops) == {0}


def ring(users: int, reach: int) -> list[list[int]]:
    steps = [step for step in range(-reach, reach + 1) if step]
    return [sorted((user + step) % users for step in steps) for user in range(users)]


@pytest.mark.parametrize("reach", [1, 2, 5])
def test_the_originator_does_not_stand_out(reach: int) -> None:
    """T1 at the suggested setting: she is not above her most frequent relay beyond noise."""
    users = 24
    traffic = played(ring(users, reach), 150)
    counts = [Counter[int]() for _ in range(users)]
    for search, account in zip(traffic.search, traffic.account, strict=True):
        counts[search % users][account] += 1
    own = np.array([counts[user][user] for user in range(users)])
    near = np.array([max(counts[user][one] for one in ring(users, reach)[user])
                     for user in range(users)])  # fmt: skip
    assert own.sum() <= near.sum() + 3 * np.sqrt(own.sum() + near.sum())
    assert np.mean(own - near > 2 * np.sqrt(own + near)) <= 0.1


def test_selfish_users_submit_most_of_their_queries_themselves() -> None:
    traffic = played(ring(40, 2), 60, selfish=range(0, 40, 5))
    own = Counter[bool]()
    for search, account in zip(traffic.search, traffic.account, strict=True):
        own[search % 5 == 0] += account == search % 40
    searches = {True: 8 * 60, False: 32 * 60}
    assert own[True] / searches[True] > 1.5 * own[False] / searches[False]
