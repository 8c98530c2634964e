"""What the engine can guess: the protocol on paper against a plain walk, and guesses by hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from queryveil.core.randomness import RandomSource
from queryveil.peers.protocol.policy import ProtocolSettings
from queryveil.peers.simulation import adversary as guessing
from queryveil.peers.simulation.adversary import Adversary, ReachModel, guess_senders
from queryveil.peers.simulation.network import Network, uniform_stream

PATH = [[1], [0, 2], [1, 3], [2]]
STAR = [[1, 2, 3, 4], [0], [0], [0], [0]]


def walked(friends: Sequence[Sequence[int]], how: ProtocolSettings, origin: int) -> np.ndarray:
    """Follow every way of a query by the words of the protocol."""
    submitted = np.zeros(len(friends))

    def at(user: int, sender: int | None, hops: int, probability: float) -> None:
        others = [friend for friend in friends[user] if friend != sender]
        own = (
            how.submit_probability
            if sender is not None
            else how.submit_probability / (len(others) + how.submit_probability)
        )
        own = 1.0 if hops == how.max_hops or not others else own
        submitted[user] += probability * own
        for friend in others if own < 1 else ():
            at(friend, user, hops + 1, probability * (1 - own) / len(others))

    at(origin, None, 0, 1.0)
    return submitted


@st.composite
def graphs(draw: st.DrawFn) -> list[list[int]]:
    users = draw(st.integers(1, 7))
    pairs = st.tuples(st.integers(0, users - 1), st.integers(0, users - 1))
    links = {(a, b) for a, b in draw(st.lists(pairs, max_size=15)) if a != b}
    links |= {(b, a) for a, b in links}
    return [sorted(b for a, b in links if a == user) for user in range(users)]


@settings(max_examples=60, deadline=None)
@given(graphs(), st.sampled_from([0.1, 0.5, 1.0]), st.integers(0, 4))
def test_reach_is_what_the_protocol_says(
    friends: list[list[int]], submit: float, hops: int
) -> None:
    how = ProtocolSettings(submit, hops)
    reach = np.concatenate([block for _, block in ReachModel.from_graph(friends, how).blocks()])
    wanted = np.array([walked(friends, how, origin) for origin in range(len(friends))])
    assert reach == pytest.approx(wanted, abs=1e-12)
    assert reach.sum(axis=1) == pytest.approx(np.ones(len(friends)))


@pytest.mark.parametrize("initial_hops", [(1.0,), (0.2, 0.3, 0.5)])
def test_reach_is_what_the_network_does(initial_hops: tuple[float, ...]) -> None:
    """Also where the count begins at random: a query then has fewer hops left."""
    how = ProtocolSettings(submit_probability=0.3)
    network = Network(PATH, how, uniform_stream(RandomSource(3)), initial_hops=initial_hops)
    traffic = network.run([0] * 20_000)
    seen = np.bincount(traffic.account, minlength=4) / 20_000
    reached = [walked(PATH, ProtocolSettings(0.3, 3 - n), 0) for n in range(len(initial_hops))]
    wanted = sum(p * reach for p, reach in zip(initial_hops, reached, strict=True))
    assert seen == pytest.approx(wanted, abs=0.02)
    _, reach = next(ReachModel.from_graph(PATH, how, initial_hops).blocks())
    assert reach[0] == pytest.approx(wanted)


@pytest.mark.parametrize("cells", [1, 2_000_000])
def test_guesses_by_hand(cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under a leaf's account: the leaf itself. Under the hub's: a leaf, its queries all go there.

    Seen under three leaves: a text of the hub, whoever else may have sent one of them.
    """
    monkeypatch.setattr("queryveil.peers.simulation.adversary._MAX_CELLS", cells)
    monkeypatch.setattr(guessing, "_MAX_ENTRIES", 1 if cells == 1 else 2_000_000)
    engine = Adversary.from_graph(STAR, ProtocolSettings(max_hops=1))
    texts, accounts = np.array([0, 1, 2, 2, 2]), np.array([1, 0, 2, 3, 4])
    guesses = guess_senders(engine, texts, accounts)
    assert guesses["single_sender"].tolist()[0] == guesses["mixture"].tolist()[0] == 1
    assert guesses["single_sender"].tolist()[1] in (1, 2, 3, 4)
    assert guesses["single_sender"].tolist()[2:] == [0, 0, 0]


def test_who_relays_nothing_is_found() -> None:
    engine = Adversary.from_graph(PATH, ProtocolSettings(max_hops=0))
    texts, accounts = np.array([5, 5, 9]), np.array([2, 2, 0])
    assert guess_senders(engine, texts, accounts)["mixture"].tolist() == [2, 2, 0]


def test_nothing_was_seen() -> None:
    nothing = np.empty(0, dtype=np.int64)
    assert (
        guess_senders(Adversary.from_graph(PATH, ProtocolSettings()), nothing, nothing)[
            "single_sender"
        ].tolist()
        == []
    )


def test_two_users_of_the_same_text_are_told_apart() -> None:
    """At both ends of a long line: `mixture` finds both, `single_sender` cannot."""
    line = [[n for n in (user - 1, user + 1) if 0 <= n < 12] for user in range(12)]
    network = Network(line, ProtocolSettings(), uniform_stream(RandomSource(1)))
    senders = [0, 11] * 300
    traffic = network.run(senders)
    accounts, origins = np.array(traffic.account), np.array(senders)
    guesses = guess_senders(
        Adversary.from_graph(line, ProtocolSettings()), np.zeros(600, dtype=np.int64), accounts
    )
    assert np.mean(guesses["mixture"] == origins) > 0.95
    assert np.mean(guesses["single_sender"] == origins) <= 0.5
