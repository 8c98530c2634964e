"""Two friends compare all that they see of a peer: its own queries look as those it relays.

The peer has four friends. `x` and `y` collude and do what they like; `z` and `s` do not. A query
is the peer's own, or `s` handed it on. What `x` and `y` see is which messages come to them, what
stands in them, and when. All draws that matter are enumerated, so the two distributions are exact.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import Any

import pytest

from queryveil.peers.protocol.exchange import Exchange
from queryveil.peers.protocol.messages import (
    Accepted,
    Answer,
    NoAnswer,
    Query,
    Refused,
    Request,
    Result,
)
from queryveil.peers.protocol.policy import ProtocolSettings, initial_hop_distribution
from queryveil.peers.protocol.state import PeerStats, Send, Submit, Timeouts

PAGE = (Result("A page", "https://example.org/"),)
SETTINGS = ProtocolSettings(submit_probability=0.5, max_hops=10)
HERS = "f" * 32
WAYS = ("refuse", "silent", "leave", "answer", "fail", "hold", "take and leave")
Seen = tuple[Any, ...]


class Attack:
    """One query through one peer, with friends who each behave in one way."""

    def __init__(self, ways: dict[str, str], draw: Callable[[], float]) -> None:
        self.now, self.ways, self.seen = 0.0, ways, []
        ids = iter(f"{number:032x}" for number in range(99))
        self.peer = Exchange(SETTINGS, lambda: self.now, draw, ids.__next__, Timeouts())
        for friend in ("x", "y", "z", "s"):
            self.peer.friend_connected(friend)

    def own(self) -> Seen:
        return self.run(self.peer.start_query("cats")[1])

    def relayed(self, count: int) -> Seen:
        self.peer.message_received("s", Request(HERS))
        return self.run(self.peer.message_received("s", Query(HERS, count, "cats")))

    def run(self, actions: list[Any]) -> Seen:
        """Let everybody do what he does until nothing is left, and give what x and y saw."""
        while actions or (at := self.peer.next_deadline()) is not None:
            if not actions:
                self.now = max(self.now, at)
                actions = self.peer.handle_timeouts()
                continue
            action = actions.pop(0)
            if isinstance(action, Submit):
                actions += self.peer.engine_replied(action.number, PAGE)
            elif isinstance(action, Send):
                actions += self.react(*action)
        first = self.seen[0][0] if self.seen else 0
        return tuple((at - first, *more) for at, *more in self.seen)

    def react(self, friend: str, message: Any) -> list[Any]:
        if friend in "xy":
            what = (message.hops, message.text) if isinstance(message, Query) else ()
            self.seen.append((self.now, friend, type(message).__name__, *what))
        way, got = self.ways[friend], isinstance(message, Query)
        if not got and not isinstance(message, Request):
            return []
        if way == "leave" or (got and way == "take and leave"):
            return self.peer.friend_disconnected(friend)
        if way == "silent" or (got and way == "hold"):
            return []
        says = (Answer(message.id, PAGE) if way == "answer" else NoAnswer(message.id)) if got else (
            (Refused if way == "refuse" else Accepted)(message.id)
        )  # fmt: skip
        return self.peer.message_received(friend, says)


def enumerated(before: tuple[float, ...], sizes: tuple[int, ...]) -> Iterator[Callable[[], float]]:
    """Give draws that begin as told, and then choose each of so many equal parts once."""
    for parts in product(*map(range, sizes)):
        values = [*before, *((part + 0.5) / size for part, size in zip(parts, sizes, strict=True))]
        yield iter([*values, 0.5, 0.5]).__next__


def shares(views: Counter[Seen]) -> dict[Seen, Fraction]:
    """Give how likely each view is, if x or y see anything at all."""
    views.pop((), None)
    return {view: Fraction(many, views.total()) for view, many in views.items()}


def start_point(count: int) -> float:
    """Give a draw with which an own query begins at a count."""
    weights = initial_hop_distribution(SETTINGS)
    return sum(weights[:count]) + weights[count] / 2


@pytest.mark.parametrize("count", [0, 5, 9])
@pytest.mark.parametrize("other", ["answer", "refuse", "fail", "silent", "leave"])
def test_what_two_friends_see_is_the_same_whosever_query_it_is(count: int, other: str) -> None:
    """Whatever the two do, and whatever a third does; `s` serves, as one who is served."""
    for one, two in combinations_with_replacement(WAYS, 2):
        ways = {"x": one, "y": two, "z": other, "s": "answer"}
        # An own query is asked of 4, 3, 2, 1; a relayed one of 3 and then also of its sender.
        own = [Attack(ways, draw).own()
               for draw in enumerated((start_point(count), 0.99), (4, 3, 2, 1))]  # fmt: skip
        draws = enumerated((0.0, start_point(count), 0.99), (3, 3, 2, 1))
        relayed = [Attack(ways, draw).relayed(4) for draw in draws]
        assert shares(Counter(own)) == shares(Counter(relayed)), (one, two)


@pytest.mark.parametrize("came", range(1, SETTINGS.max_hops))
def test_the_count_is_drawn_alike_whatever_it_was_before(came: int) -> None:
    """Each count that an own query can have a relayed one has as often, the lowest too."""
    ways = dict.fromkeys("xyzs", "answer")
    for count in range(SETTINGS.max_hops):
        own = Attack(ways, iter([start_point(count), 0.99, 0.0]).__next__).own()
        drawn = iter([0.0, start_point(count), 0.99, 0.0]).__next__
        relayed = Attack(ways, drawn).relayed(came)
        assert own == relayed
        assert own[-1][-2:] == (count + 1, "cats")


@pytest.mark.parametrize("way", ["fail", "hold", "take and leave"])
def test_a_text_that_one_friend_has_is_shown_to_no_other(way: str) -> None:
    """The attack: one takes a query and fails, the other waits whether she is asked next."""
    ways = {"x": way, "y": "answer", "z": "answer", "s": "answer"}
    both = Counter()
    for seed in range(400):
        draws = random.Random(seed)
        for whose in ("own", "relayed"):
            attack = Attack(ways, draws.random)
            view = attack.own() if whose == "own" else attack.relayed(3)
            texts = {friend for _, friend, kind, *_ in view if kind == "Query"}
            both[whose, len(texts)] += 1
    assert both["own", 2] == both["relayed", 2] == 0
    assert both["own", 1] > 100
    assert both["relayed", 1] > 100


def test_it_is_the_same_where_trust_differs() -> None:
    """By sampling: the friends have refused before, in different measure."""
    counts = {"x": (2, 0), "y": (0, 0), "z": (1, 0), "s": (0, 0)}
    ways = {"x": "refuse", "y": "answer", "z": "refuse", "s": "answer"}

    def view(whose: str, draws: random.Random) -> Seen:
        queue = [start_point(4), 0.99] if whose == "own" else [0.0, start_point(4), 0.99]
        attack = Attack(ways, lambda: queue.pop(0) if queue else draws.random())
        for friend, counted in counts.items():
            attack.peer.friend_disconnected(friend)
            attack.peer.restore(friend, counted, PeerStats())
            attack.peer.friend_connected(friend)
        return attack.own() if whose == "own" else attack.relayed(4)

    draws = random.Random(1)
    own, relayed = (
        shares(Counter(view(whose, draws) for _ in range(6_000))) for whose in ("own", "relayed")
    )
    assert len(own) == 3  # y; x and y; x alone
    assert own.keys() == relayed.keys()
    assert all(abs(own[one] - relayed[one]) < 0.03 for one in own)
