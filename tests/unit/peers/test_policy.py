"""The protocol's choices, by property: whom a peer asks, what it submits, what it counts."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from queryveil.core.randomness import RandomSource
from queryveil.errors import ParameterError
from queryveil.peers.protocol.policy import Peer, ProtocolSettings
from queryveil.peers.simulation.network import uniform_stream

SETTINGS = st.builds(ProtocolSettings, st.floats(0.01, 1.0), st.integers(0, 6))


@given(st.integers(0, 8), SETTINGS, st.integers(0, 8), st.integers(0, 99))
def test_each_friend_is_asked_once_and_never_the_sender(
    friends: int, settings: ProtocolSettings, hops: int, seed: int
) -> None:
    peer = Peer(range(friends), settings, uniform_stream(RandomSource(seed)))
    route = peer.route(0 if friends else None, hops)
    asked = []
    while (friend := route.next_hop()) is not None:
        asked.append(friend)
    assert len(set(asked)) == len(asked)
    assert 0 not in asked
    assert set(asked) <= set(range(friends))
    assert route.next_hop() is None  # whoever decided to submit it does not change her mind
    if hops >= settings.max_hops:
        assert not asked


@given(st.lists(st.tuples(st.integers(0, 3), st.booleans()), max_size=40))
def test_trust_is_what_was_heard(heard: list[tuple[int, bool]]) -> None:
    peer = Peer(range(3), ProtocolSettings(), uniform_stream(RandomSource(1)))
    for friend, accepted in heard:
        peer.record_reply(friend, accepted)
    for friend in range(3):
        told = [accepted for one, accepted in heard if one == friend]
        assert peer.counts(friend) == (len(told), sum(told))
        assert peer.trust(friend) == (sum(told) + 1) / (len(told) + 1)
    assert peer.friends == (0, 1, 2)


def test_tit_for_tat() -> None:
    """A friend who took nothing of ten is served by one in eleven; a selfish peer serves nobody."""
    peer = Peer(["ann"], ProtocolSettings(), iter([0.08, 0.1]).__next__)
    for _ in range(10):
        peer.record_reply("ann", accepted=False)
    assert [peer.accepts("ann"), peer.accepts("ann")] == [True, False]
    assert not peer.accepts("a stranger")
    assert not Peer(["ann"], ProtocolSettings(), iter([0.0]).__next__, selfish=True).accepts("ann")


def test_friends_come_and_go() -> None:
    peer: Peer[str] = Peer([], ProtocolSettings(), uniform_stream(RandomSource(1)))
    peer.add_friend("ann", 4, 2)
    assert peer.trust("ann") == 0.6
    peer.remove_friend("ann")
    peer.remove_friend("ann")
    assert peer.friends == ()
    assert peer.route().next_hop() is None
    with pytest.raises(ParameterError):
        peer.add_friend("bob", 1, 2)


@pytest.mark.parametrize("given", [(0.0, 3), (1.1, 3), (0.5, -1), (0.5, 21)])
def test_settings_that_do_not_go(given: Sequence[float]) -> None:
    with pytest.raises(ParameterError):
        ProtocolSettings(*given)
