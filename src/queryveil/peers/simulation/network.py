"""Messages between simulated peers: who is asked, who answers, and who submits.

All decisions are those of `protocol.policy`; this module adds the failures. A request or an answer
is lost with probability `message_loss`. A fraction `churn` of all users is offline and does not
reply; it is sampled anew each round, which is as many searches as there are users. The user who
searches is online until the search ends.

No reply counts as a refusal. So a lost acceptance lets two users continue with one query. A lost
answer is a failure for the peer that waits for it. A relay returns the failure and asks no other
friend; the user who searched then submits the query under their own account. Both are counted as
failures, and can cause duplicates.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain

from ...core.randomness import RandomSource
from ..protocol.policy import Draw, Peer, ProtocolSettings


@dataclass
class Traffic:
    """The recorded events of a simulation.

    For each submission: its `search`, the `account` and the number of `hops` before. For each query
    that a dishonest user relayed (`recorded`): the search, the friend who sent it, and its hop
    count. The counters are of requests, as seen by the peers that asked.
    """

    search: list[int] = field(default_factory=list)
    account: list[int] = field(default_factory=list)
    hops: list[int] = field(default_factory=list)
    recorded: list[tuple[int, int, int]] = field(default_factory=list)
    asked: int = 0
    accepted: int = 0
    refused: int = 0
    silent: int = 0
    failures: int = 0
    relays: list[int] = field(default_factory=list)


class Network:
    """Peers, numbered from 0 on, and the links between them.

    >>> network = Network([[1], [0]], ProtocolSettings(), iter([0.9, 0.0, 0.5]).__next__)
    >>> network.search(0)  # 0.9: relayed to the friend, who accepts (0.5) and has no other
    >>> network.traffic.account, network.traffic.hops
    ([1], [1])
    """

    def __init__(
        self,
        friends: Sequence[Sequence[int]],
        settings: ProtocolSettings,
        draw: Draw,
        *,
        selfish: Collection[int] = (),
        dishonest: Collection[int] = (),
        churn: float = 0.0,
        message_loss: float = 0.0,
        initial_hops: Sequence[float] = (1.0,),
    ) -> None:
        """Connect the peers.

        Args:
            initial_hops: The probability that a query starts with a hop count of 0, 1, ...
        """
        refuses = set(selfish)
        self.peers = [
            Peer(neighbors, settings, draw, selfish=user in refuses)
            for user, neighbors in enumerate(friends)
        ]
        self.traffic = Traffic(relays=[0] * len(self.peers))
        self._draw, self._loss, self._churn = draw, message_loss, churn
        self._dishonest = set(dishonest)
        self._offline: set[int] = set()
        self._searches, self._first_count = 0, 0
        self._initial_bounds = list(accumulate(initial_hops))[:-1]

    def search(self, user: int) -> None:
        """Simulate a query of a user."""
        if self._churn and self._searches % len(self.peers) == 0:
            draw, churn = self._draw, self._churn
            self._offline = {peer for peer in range(len(self.peers)) if draw() < churn}
        if self._initial_bounds:
            self._first_count = bisect(self._initial_bounds, self._draw())
        if not self._route(user, None, self._first_count):
            self._submit(user, self._first_count)
        self._searches += 1

    def run(self, users: Sequence[int], advance: Callable[[int], None] | None = None) -> Traffic:
        """Simulate one query of each listed user, in order."""
        step = 10_000
        for start in range(0, len(users), step):
            block = users[start : start + step]
            for user in block:
                self.search(user)
            if advance is not None:
                advance(len(block))
        return self.traffic

    def _route(self, here: int, sender: int | None, count: int) -> bool:
        """Relay or submit a query at a peer; return whether the answer came back to this peer.

        A friend who accepted has the text: no other friend is asked after that.
        """
        peer = self.peers[here]
        route = peer.route(sender, count)
        while (friend := route.next_hop()) is not None:
            accepted = self._ask(here, friend, count + 1)
            peer.record_reply(friend, accepted)
            if accepted:
                return self._route(friend, here, count + 1) and not self._answer_is_lost()
        self._submit(here, count)
        return True

    def _submit(self, here: int, count: int) -> None:
        traffic = self.traffic
        traffic.search.append(self._searches)
        traffic.account.append(here)
        traffic.hops.append(count - self._first_count)

    def _ask(self, here: int, friend: int, count: int) -> bool:
        """Ask a friend to take a query; return whether an acceptance arrived."""
        traffic = self.traffic
        traffic.asked += 1
        if friend in self._offline or self._lost():
            traffic.silent += 1
            return False
        if not self.peers[friend].accepts(here):
            traffic.refused += 1
            return False
        traffic.relays[friend] += 1
        if friend in self._dishonest:
            traffic.recorded.append((self._searches, here, count))
        if self._lost():  # the friend accepted and continues, but the acceptance does not arrive
            traffic.silent += 1
            traffic.failures += 1
            self._route(friend, here, count)
            return False
        traffic.accepted += 1
        return True

    def _answer_is_lost(self) -> bool:
        """Draw whether an answer is lost, and count it."""
        lost = self._lost()
        self.traffic.failures += lost
        return lost

    def _lost(self) -> bool:
        return self._loss > 0 and self._draw() < self._loss


_BLOCK = 1 << 14


def uniform_stream(rng: RandomSource) -> Callable[[], float]:
    """Return a function that draws uniform numbers in [0, 1).

    >>> draw = uniform_stream(RandomSource(seed=1))
    >>> all(0 <= draw() < 1 for _ in range(100))
    True
    """
    return chain.from_iterable(_blocks(rng)).__next__


def _blocks(rng: RandomSource) -> Iterator[list[float]]:
    """Yield blocks of uniform numbers, each with the 53 bits of precision of a float."""
    while True:
        yield ((rng.uint64s(_BLOCK) >> 11) * 2.0**-53).tolist()
