"""A network of exchanges in memory: messages are late, lost, doubled, and peers crash."""

from __future__ import annotations

import heapq
import random
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from queryveil.peers.protocol.exchange import Exchange
from queryveil.peers.protocol.messages import Query, Request, Result
from queryveil.peers.protocol.policy import ProtocolSettings
from queryveil.peers.protocol.state import (
    Busy,
    Deliver,
    EngineFailed,
    Limits,
    NoRelay,
    Send,
    Submit,
    Timeouts,
)

PAGE = (Result("A page", "https://example.org/", "text"),)
_ENDS = {Deliver: "deliver", NoRelay: "nobody", EngineFailed: "broken", Busy: "busy"}
WAITS = Timeouts(reply=2, engine=10, hop=2, own=60, owner=5)


@dataclass
class Faults:
    """How bad the network is."""

    loss: float = 0.0
    double: float = 0.0
    slow: float = 0.1  # seconds that a message takes at most
    broken_engine: float = 0.0


@dataclass
class World:
    """Peers who are friends, and one clock."""

    friends: dict[str, set[str]]
    seed: int = 0
    faults: Faults = field(default_factory=Faults)
    settings: ProtocolSettings = field(default_factory=lambda: ProtocolSettings(max_hops=5))
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)
        self.now, self.order = 0.0, 0
        self.events: list[tuple[float, int, Callable[[], None]]] = []
        self.peers: dict[str, Exchange] = {}
        self.dead: list[Exchange] = []
        self.texts: dict[tuple[Exchange, int], str] = {}
        self.submitted: Counter[str] = Counter()
        self.ends: dict[str, list[str]] = defaultdict(list)
        self.by: dict[str, str | None] = {}
        self.sent: list[tuple[str, str, Any]] = []
        self.on_submit: Callable[[str, str], None] = lambda name, text: None
        self.on_end: Callable[[str, str], None] = lambda text, kind: None
        for name in self.friends:
            self.begin(name)

    def exchange(self) -> Exchange:
        own = random.Random(self.chance.random())
        return Exchange(
            self.settings, lambda: self.now, own.random, lambda: f"{own.getrandbits(128):032x}",
            WAITS, self.limits,
        )  # fmt: skip

    # --- peers come and go

    def begin(self, name: str) -> None:
        self.peers[name] = self.exchange()
        for friend in sorted(self.friends[name] & self.peers.keys()):
            self.peers[name].friend_connected(friend)
            self.peers[friend].friend_connected(name)

    def crash(self, name: str) -> None:
        if name in self.peers:
            self.dead.append(self.peers.pop(name))
            for friend in sorted(self.friends[name] & self.peers.keys()):
                self.do(friend, self.peers[friend].friend_disconnected(name))

    # --- events

    def at(self, delay: float, event: Callable[[], None]) -> None:
        self.order += 1
        heapq.heappush(self.events, (self.now + delay, self.order, event))

    def ask(self, name: str, text: str) -> None:
        if name in self.peers:
            number, actions = self.peers[name].start_query(text)
            self.texts[self.peers[name], number] = text
            self.do(name, actions)

    def do(self, name: str, actions: list[Any]) -> None:
        peer = self.peers[name]
        for action in actions:
            match action:
                case Send(friend, message):
                    self.send(name, friend, message)
                case Submit(number, text):
                    self.submitted[text] += 1
                    self.on_submit(name, text)
                    self.submit(name, peer, number)
                case Deliver(number) | NoRelay(number) | EngineFailed(number) | Busy(number):
                    kind = _ENDS[type(action)]
                    self.by[self.texts[peer, number]] = getattr(action, "friend", None)
                    self.ends[self.texts[peer, number]].append(kind)
                    self.on_end(self.texts[peer, number], kind)

    def send(self, sender: str, friend: str, message: Any) -> None:
        self.sent.append((sender, friend, message))
        copies = 1 + (self.chance.random() < self.faults.double)
        if self.chance.random() < self.faults.loss:
            copies = 0
        source, target = self.peers[sender], self.peers.get(friend)

        def arrive() -> None:
            # A connection ends with either side: what was on the way is gone.
            if self.peers.get(friend) is target and self.peers.get(sender) is source and target:
                self.do(friend, target.message_received(sender, message))

        for _ in range(copies):
            self.at(self.chance.random() * self.faults.slow, arrive)

    def submit(self, name: str, peer: Exchange, number: int) -> None:
        results = None if self.chance.random() < self.faults.broken_engine else PAGE

        def arrive() -> None:
            if self.peers.get(name) is peer:
                self.do(name, peer.engine_replied(number, results))

        self.at(self.chance.random() * 0.5, arrive)

    def run(self) -> None:
        """Let time pass until nothing is left to happen."""
        for _ in range(200_000):
            alarms = [
                (at, name)
                for name, p in self.peers.items()
                if (at := p.next_deadline()) is not None
            ]
            first = min(alarms, default=None)
            if self.events and (first is None or self.events[0][0] <= first[0]):
                self.now, _, event = heapq.heappop(self.events)
                event()
            elif first is not None:
                self.now = max(self.now, first[0])
                self.do(first[1], self.peers[first[1]].handle_timeouts())
            else:
                return
        raise AssertionError("it does not end")

    # --- what was seen

    def everybody(self) -> list[Exchange]:
        return [*self.peers.values(), *self.dead]

    def failures(self) -> int:
        """How often a friend who had a text did not answer."""
        return sum(peer.stats(name).lost for peer in self.everybody() for name in self.friends)

    def handed(self, text: str) -> list[tuple[str, str, Query]]:
        return [one for one in self.sent if isinstance(one[2], Query) and one[2].text == text]

    def requests(self) -> list[str]:
        return [message.id for _, _, message in self.sent if isinstance(message, Request)]


def ring(size: int, chords: int = 0, seed: int = 0) -> dict[str, set[str]]:
    """Give so many friends in a ring, and some more friendships across."""
    names = [f"p{number}" for number in range(size)]
    friends: dict[str, set[str]] = {name: set() for name in names}
    draws = random.Random(seed)
    pairs = [(names[i], names[(i + 1) % size]) for i in range(size)]
    pairs += [tuple(draws.sample(names, 2)) for _ in range(chords)]
    for one, other in pairs:
        if one != other:
            friends[one].add(other)
            friends[other].add(one)
    return friends
