"""Messages between simulated peers: who is asked, who answers, and who submits.

All that is decided is decided by `core`. Here are only the ways in which things go wrong. A
request or an answer gets lost with the chance `loss`. Of all users the share `churn` is away and
silent; who they are is drawn anew each round, which is as many searches as there are users. Who
searches is there for as long as that takes.

Silence counts as a refusal. So an acceptance that gets lost lets two people go on with one query.
An answer that gets lost on its way back is a failure to whoever waits for it. A relay hands that
back and asks nobody else; the person who searched then submits the query herself. Both are
failures, and can make duplicates.
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
    """What was said and done.

    Of each submission: its `search`, the `account` and the number of `hops` before. Of each query
    that a dishonest user relayed: the `search`, the one who sent it, and the count that it bears.
    The counters are of requests, as those who asked heard of them.
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
    >>> network.search(0)  # 0.9: she asks her friend, who accepts (0.5) and has nobody to ask
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
        loss: float = 0.0,
        starts: Sequence[float] = (1.0,),
    ) -> None:
        """Link them; `starts` is how likely a query begins with a count of 0, 1, ..."""
        refuses = set(selfish)
        self.peers = [
            Peer(some, settings, draw, selfish=user in refuses) for user, some in enumerate(friends)
        ]
        self.traffic = Traffic(relays=[0] * len(self.peers))
        self._draw, self._loss, self._churn = draw, loss, churn
        self._dishonest = set(dishonest)
        self._away: set[int] = set()
        self._searches, self._start = 0, 0
        self._starts = list(accumulate(starts))[:-1]

    def search(self, user: int) -> None:
        """Let a user send a query."""
        if self._churn and self._searches % len(self.peers) == 0:
            draw, share = self._draw, self._churn
            self._away = {peer for peer in range(len(self.peers)) if draw() < share}
        if self._starts:
            self._start = bisect(self._starts, self._draw())
        if not self._carry(user, None, self._start):
            self._submit(user, self._start)
        self._searches += 1

    def run(self, users: Sequence[int], advance: Callable[[int], None] | None = None) -> Traffic:
        """Let users search, one after the other."""
        step = 10_000
        for start in range(0, len(users), step):
            some = users[start : start + step]
            for user in some:
                self.search(user)
            if advance is not None:
                advance(len(some))
        return self.traffic

    def _carry(self, here: int, sender: int | None, count: int) -> bool:
        """Bring a query that is here to the engine; return whether its answer came back here.

        Whoever took it has its text: nobody else is asked after that, whosever query it is.
        """
        peer = self.peers[here]
        route = peer.route(sender, count)
        while (friend := route.next_hop()) is not None:
            accepted = self._ask(here, friend, count + 1)
            peer.record_reply(friend, accepted)
            if accepted:
                return self._carry(friend, here, count + 1) and not self._fails()
        self._submit(here, count)
        return True

    def _submit(self, here: int, count: int) -> None:
        traffic = self.traffic
        traffic.search.append(self._searches)
        traffic.account.append(here)
        traffic.hops.append(count - self._start)

    def _ask(self, here: int, friend: int, count: int) -> bool:
        """Ask a friend to take a query; tell what is heard of her."""
        traffic = self.traffic
        traffic.asked += 1
        if friend in self._away or self._lost():
            traffic.silent += 1
            return False
        if not self.peers[friend].accepts(here):
            traffic.refused += 1
            return False
        traffic.relays[friend] += 1
        if friend in self._dishonest:
            traffic.recorded.append((self._searches, here, count))
        if self._lost():  # she accepted and goes on, but nobody hears of it
            traffic.silent += 1
            traffic.failures += 1
            self._carry(friend, here, count)
            return False
        traffic.accepted += 1
        return True

    def _fails(self) -> bool:
        """Draw whether an answer gets lost, and count it."""
        lost = self._lost()
        self.traffic.failures += lost
        return lost

    def _lost(self) -> bool:
        return self._loss > 0 and self._draw() < self._loss


_BLOCK = 1 << 14


def uniform_stream(chance: RandomSource) -> Callable[[], float]:
    """Return a function that draws a number from 0 on, below 1.

    >>> draw = uniform_stream(RandomSource(seed=1))
    >>> all(0 <= draw() < 1 for _ in range(100))
    True
    """
    return chain.from_iterable(_blocks(chance)).__next__


def _blocks(chance: RandomSource) -> Iterator[list[float]]:
    """Draw many at once: 53 bits are what a float between 0 and 1 can tell apart."""
    while True:
        yield ((chance.uint64s(_BLOCK) >> 11) * 2.0**-53).tolist()
