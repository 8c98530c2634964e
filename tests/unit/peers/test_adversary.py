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
    found = np.zeros(len(friends))

    def at(user: int, sender: int | None, hops: int, chance: float) -> None:
        others = [one for one in friends[user] if one != sender]
        own = (
            how.submit_probability
            if sender is not None
            else how.submit_probability / (len(others) + how.submit_probability)
        )
        own = 1.0 if hops == how.max_hops or not others else own
        found[user] += chance * own
        for one in others if own < 1 else ():
            at(one, user, hops + 1, chance * (1 - own) / len(others))

    at(origin, None, 0, 1.0)
    return found


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
    found = np.concatenate([block for _, block in ReachModel.of(friends, how).blocks()])
    wanted = np.array([walked(friends, how, origin) for origin in range(len(friends))])
    assert found == pytest.approx(wanted, abs=1e-12)
    assert found.sum(axis=1) == pytest.approx(np.ones(len(friends)))


@pytest.mark.parametrize("starts", [(1.0,), (0.2, 0.3, 0.5)])
def test_reach_is_what_the_network_does(starts: tuple[float, ...]) -> None:
    """Also where the count begins at random: a query then has fewer hops left."""
    how = ProtocolSettings(submit_probability=0.3)
    network = Network(PATH, how, uniform_stream(RandomSource(3)), starts=starts)
    traffic = network.run([0] * 20_000)
    seen = np.bincount(traffic.account, minlength=4) / 20_000
    ways = [walked(PATH, ProtocolSettings(0.3, 3 - begin), 0) for begin in range(len(starts))]
    wanted = sum(chance * way for chance, way in zip(starts, ways, strict=True))
    assert seen == pytest.approx(wanted, abs=0.02)
    _, found = next(ReachModel.of(PATH, how, starts).blocks())
    assert found[0] == pytest.approx(wanted)


@pytest.mark.parametrize("cells", [1, 2_000_000])
def test_guesses_by_hand(cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under a leaf's account: the leaf itself. Under the hub's: a leaf, its queries all go there.

    Seen under three leaves: a text of the hub, whoever else may have sent one of them.
    """
    monkeypatch.setattr("queryveil.peers.simulation.adversary._CELLS", cells)
    monkeypatch.setattr(guessing, "_ENTRIES", 1 if cells == 1 else 2_000_000)
    engine = Adversary.from_run(STAR, ProtocolSettings(max_hops=1))
    texts, accounts = np.array([0, 1, 2, 2, 2]), np.array([1, 0, 2, 3, 4])
    found = guess_senders(engine, texts, accounts)
    assert found["one"].tolist()[0] == found["several"].tolist()[0] == 1
    assert found["one"].tolist()[1] in (1, 2, 3, 4)
    assert found["one"].tolist()[2:] == [0, 0, 0]


def test_who_relays_nothing_is_found() -> None:
    engine = Adversary.from_run(PATH, ProtocolSettings(max_hops=0))
    texts, accounts = np.array([5, 5, 9]), np.array([2, 2, 0])
    assert guess_senders(engine, texts, accounts)["several"].tolist() == [2, 2, 0]


def test_nothing_was_seen() -> None:
    nothing = np.empty(0, dtype=np.int64)
    assert (
        guess_senders(Adversary.from_run(PATH, ProtocolSettings()), nothing, nothing)[
            "one"
        ].tolist()
        == []
    )


def test_two_users_of_the_same_text_are_told_apart() -> None:
    """At both ends of a long line: `several` finds both, `one` cannot."""
    line = [[one for one in (user - 1, user + 1) if 0 <= one < 12] for user in range(12)]
    network = Network(line, ProtocolSettings(), uniform_stream(RandomSource(1)))
    senders = [0, 11] * 300
    traffic = network.run(senders)
    accounts, origins = np.array(traffic.account), np.array(senders)
    found = guess_senders(
        Adversary.from_run(line, ProtocolSettings()), np.zeros(600, dtype=np.int64), accounts
    )
    assert np.mean(found["several"] == origins) > 0.95
    assert np.mean(found["one"] == origins) <= 0.5
