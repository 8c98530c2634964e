"""Properties of the exchange in networks that are late, lossy, doubling and crashing."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_network import Faults, World, ring

from queryveil.peers.protocol.messages import Query
from queryveil.peers.protocol.policy import ProtocolSettings
from queryveil.peers.protocol.state import Limits

SEEDS = st.integers(0, 2**32 - 1)
SHARES = st.floats(0, 0.4)
SIZES = st.integers(2, 7)


def searched(world: World, queries: int, crashes: int = 0) -> World:
    """Let peers search at random times, and some crash and come back."""
    names = sorted(world.friends)
    for number in range(queries):
        name = world.chance.choice(names)
        world.at(world.chance.random() * 20, lambda n=name, q=number: world.ask(n, f"q{q}"))
    for _ in range(crashes):
        name, when = world.chance.choice(names), world.chance.random() * 20
        world.at(when, lambda n=name: world.crash(n))
        world.at(when + 5, lambda n=name: world.begin(n) if n not in world.peers else None)
    world.run()
    return world


def conserved(world: World) -> None:
    """Whatever was counted has an end, and nothing is kept."""
    for peer in world.peers.values():
        assert peer.open_count == 0
        assert not peer._book.incoming
        assert not peer._book.outgoing
        assert not peer._book.queries
        for name in world.friends:
            one = peer.stats(name)
            assert one.requests == one.ignored + one.refused + one.taken
            assert one.taken == one.served + one.failed + one.unclaimed
            assert one.asked == one.turned_down + one.answered + one.lost
            assert one.carried <= one.answered


def kept(world: World) -> None:
    """What holds in every network."""
    requests = world.requests()
    assert len(set(requests)) == len(requests)  # ids are fresh for each ask
    for sender, friend, message in world.sent:
        assert sender != friend
        assert friend in world.friends[sender]
        assert getattr(message, "hops", 0) <= world.settings.max_hops
    conserved(world)


@given(SIZES, st.integers(0, 8), SEEDS, st.integers(0, 12), st.floats(0, 1))
@settings(max_examples=120)
def test_a_query_is_submitted_once_and_answered(size, chords, seed, queries, double) -> None:
    """Without loss; messages may overtake each other and come twice.

    They are fast against what peers wait: counts are drawn anew at each peer, so no bound on the
    way of a query keeps slow messages within anybody's patience.
    """
    world = World(ring(size, chords, seed), seed, Faults(double=double, slow=0.1))
    searched(world, queries)
    kept(world)
    assert world.failures() == 0
    assert len(world.ends) == queries
    for text, ends in world.ends.items():
        assert ends in (["deliver"], ["nobody"])
        assert world.submitted[text] == (ends == ["deliver"])
        path = world.handed(text)
        assert len({message.id for _, _, message in path}) == len(path)
        counts = [message.hops for _, _, message in path]
        assert all(count < world.settings.max_hops for count in counts[:-1])  # the limit is the end
        for (sender, friend, _), (then, to, _) in pairwise(path):
            assert then == friend
            assert to != sender  # nobody hands a query back


@given(SIZES, st.integers(0, 8), SEEDS, st.integers(0, 12), SHARES, SHARES, SHARES,
       st.integers(0, 4))  # fmt: skip
@settings(max_examples=150)
def test_failures_are_reported(size, chords, seed, queries, loss, double, broken, crashes) -> None:
    """A query is submitted more than once only if a friend who had it was counted as lost."""
    faults = Faults(loss, double, slow=3.0, broken_engine=broken)
    world = searched(World(ring(size, chords, seed), seed, faults), queries, crashes)
    kept(world)
    assert world.submitted.total() <= queries + world.failures()
    assert all(len(ends) == 1 for ends in world.ends.values())
    if not crashes:
        assert len(world.ends) == queries


@given(SIZES, st.integers(0, 8), SEEDS, SHARES, SHARES, SHARES, st.integers(0, 4))
@settings(max_examples=150)
def test_one_query_is_submitted_again_only_after_its_own_loss(
    size, chords, seed, loss, double, broken, crashes
) -> None:
    """Alone in the network, no other query's loss can hide a second submission."""
    faults = Faults(loss, double, slow=3.0, broken_engine=broken)
    world = searched(World(ring(size, chords, seed), seed, faults), 1, crashes)
    assert world.submitted.total() <= 1 + world.failures()


@given(SIZES, SEEDS, st.integers(1, 12))
def test_messages_are_conserved(size, seed, queries) -> None:
    world = searched(World(ring(size), seed), queries)
    for one, peer in world.peers.items():
        for other in world.friends[one]:
            here, there = peer.stats(other), world.peers[other].stats(one)
            assert here.asked == there.requests
            assert here.turned_down == there.refused
            assert here.answered == there.served
            assert here.lost == there.failed == here.stray == there.stray == 0


@given(SEEDS, st.floats(0.05, 1), st.integers(0, 20))
def test_a_loop_ends(seed, submit, hops) -> None:
    """In a triangle a query comes round again; those who hand it on end it."""
    world = World(ring(3), seed, settings=ProtocolSettings(submit, hops))
    searched(world, 10)
    kept(world)
    assert all(len(world.handed(text)) <= 60 * hops for text in world.ends)
    assert all(ends == ["deliver"] for ends in world.ends.values())


@given(SEEDS, st.integers(1, 5), st.integers(1, 5))
def test_what_is_kept_is_bounded(seed, most, ids) -> None:
    limits = Limits(open=most, own=most, undecided=most, ids=ids, reserved=0)
    world = World(ring(4), seed, limits=limits)
    seen: list[Any] = []
    for number in range(40):
        world.at(0.01 * number, lambda q=number: world.ask("p0", f"q{q}"))
        world.at(
            0.01 * number,
            lambda: seen.extend(p._book.open_per_sender.copy() for p in world.peers.values()),
        )
    world.run()
    counted = [item for counts in seen for item in counts.items()]
    assert all(count <= (2 * most if who is None else most) for who, count in counted)
    assert all(len(used) <= ids for p in world.peers.values() for used in p._used.values())
    assert all(len(world.ends[f"q{number}"]) == 1 for number in range(40))
    conserved(world)


def test_a_busy_friend_is_no_unfriendly_one() -> None:
    """Who asks more than a friend takes in a minute waits, and nobody loses trust."""
    world = World({"ann": {"bob"}, "bob": {"ann"}}, seed=4)
    for number in range(600):
        world.at(0.1 * number, lambda q=number: world.ask("ann", f"q{q}"))
    world.run()
    ann, bob = world.peers["ann"], world.peers["bob"]
    assert ann.stats("bob").turned_down == ann.stats("bob").lost == bob.stats("ann").refused == 0
    assert ann.trust("bob") == bob.trust("ann") == 1.0
    ends = Counter(end for ends in world.ends.values() for end in ends)
    assert ends.keys() == {"deliver", "busy"}
    assert ends["busy"] == ann.shed > 100
    assert 90 <= ann.stats("bob").answered <= 180  # what a minute has, and what it began with


@pytest.mark.parametrize("rate", [10, 50, 110, 220])
def test_what_is_accepted_is_answered_soon_and_the_rest_is_told_at_once(rate: int) -> None:
    """Load by the count: a friend takes a second for an answer, and a peer has 24 places."""
    world = World({"ann": {"bob"}, "bob": {"ann"}}, 4, limits=Limits(open=99, minute=10**6))
    world.faults.slow = 0.0
    begun: dict[str, float] = {}
    took: list[float] = []

    def ask(text: str) -> None:
        begun[text] = world.now
        world.ask("ann", text)

    slow = world.submit
    world.submit = lambda *more: world.at(1.0, lambda: slow(*more))  # type: ignore[method-assign]
    world.on_end = lambda text, kind: took.append(world.now - begun[text])
    for number in range(10 * rate):
        world.at(number / rate, lambda q=number: ask(f"q{q}"))
    world.run()
    ends = Counter(end for ends in world.ends.values() for end in ends)
    assert ends.total() == len(took) == 10 * rate
    assert ends.keys() <= {"deliver", "busy"}
    assert ends["deliver"] >= min(10 * rate, 10 * 15)
    assert (ends["busy"] > 0) == (rate > 24)
    assert max(took) <= 1.5  # the engine's own time: nobody waits in a line


def test_who_never_relays_is_served_less() -> None:
    """Tit for tat: a peer who refuses all is refused, and must submit her own queries."""
    world = World(ring(6, 12, seed=3), seed=5)
    world.peers["p0"]._peer.selfish = True
    for number in range(1200):
        name = f"p{number % 6}"
        world.at(number, lambda n=name, q=number: world.ask(n, f"q{q}"))
    world.run()

    def alone(name: int) -> float:
        texts = [f"q{number}" for number in range(600 + name, 1200, 6)]
        return sum(world.by[text] is None for text in texts) / len(texts)

    assert alone(0) > 0.6
    assert max(map(alone, range(1, 6))) < 0.3
    trusts = [world.peers[f].trust("p0") for f in world.friends["p0"]]
    assert max(trusts) < 0.2


@pytest.mark.parametrize("chords", [0, 12], ids=["two friends", "four friends"])
def test_the_engine_cannot_tell_whose_query_it_is_by_who_sends_it_most(chords) -> None:
    """Test T1 of the paper: one peer sends one query many times, and is not its top submitter."""
    world = World(ring(12, chords, seed=1), seed=2, settings=ProtocolSettings(0.5, 10))
    accounts: Counter[str] = Counter()
    world.on_submit = lambda name, _: accounts.update([name])
    for number in range(1500):
        world.at(number, lambda: world.ask("p0", "the one"))
    world.run()
    own = accounts.pop("p0")
    assert own < max(accounts.values())
    assert own < 0.25 * 1500


def test_a_friend_cannot_tell_whose_query_it_is_by_its_hops() -> None:
    """At all counts, the lowest too, some 60% are the sender's own."""
    world = World(ring(12, 12, seed=1), seed=3, settings=ProtocolSettings(0.5, 10))
    askers = {f"q{number}": f"p{number % 12}" for number in range(3000)}
    for number, (text, name) in enumerate(askers.items()):
        world.at(number, lambda n=name, q=text: world.ask(n, q))
    world.run()
    queries = [(sender, one) for sender, _, one in world.sent if isinstance(one, Query)]
    seen = Counter(one.hops for _, one in queries)
    own = Counter(one.hops for sender, one in queries if askers[one.text] == sender)
    assert all(0.4 < own[hops] / seen[hops] < 0.8 for hops in range(1, 11))
    assert 0.55 < own.total() / seen.total() < 0.67
