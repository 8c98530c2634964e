"""Counts are drawn so that a friend cannot tell own queries from those handed on."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from queryveil.peers.protocol.policy import (
    ProtocolSettings,
    draw_initial_hops,
    initial_hop_distribution,
    own_query_probability,
)

SETTINGS = st.builds(ProtocolSettings, st.floats(0.05, 0.95), st.integers(1, 20))


@given(SETTINGS)
def test_the_share_of_own_queries_is_the_same_at_all_counts_but_the_lowest(settings) -> None:
    begun = initial_hop_distribution(settings)
    assert sum(begun) == pytest.approx(1)
    messages = [begun[0]]
    for own in begun[1:]:
        messages.append(own + (1 - settings.submit_probability) * messages[-1])
    shares = [own / seen for own, seen in zip(begun, messages, strict=True)]
    assert shares[0] == 1
    assert shares[1:] == pytest.approx([own_query_probability(settings)] * (settings.max_hops - 1))


@given(SETTINGS, st.floats(0, 1, exclude_max=True))
def test_a_start_is_below_the_limit(settings, drawn) -> None:
    assert 0 <= draw_initial_hops(settings, lambda: drawn) < settings.max_hops


def test_starts_follow_the_weights() -> None:
    settings = ProtocolSettings(max_hops=4)
    drawn = [draw_initial_hops(settings, lambda n=n: (n + 0.5) / 10_000) for n in range(10_000)]
    shares = [drawn.count(value) / 10_000 for value in range(4)]
    assert shares == pytest.approx(initial_hop_distribution(settings), abs=2e-4)


def test_no_hops_begin_at_0() -> None:
    assert draw_initial_hops(ProtocolSettings(max_hops=0), lambda: 0.9) == 0
    assert initial_hop_distribution(ProtocolSettings(max_hops=1)) == [1.0]


def test_the_lowest_count_is_rare_in_the_node() -> None:
    assert initial_hop_distribution(ProtocolSettings(max_hops=10))[0] < 0.05
