"""The protocol's choices: to whom a query goes, who submits it, and whom a peer serves.

No clock, no network and no disk: the simulation and the node run this very code. It is the design
of SPEC 5.2, which is consistent with what is known of the P2P paper. A peer keeps two numbers of
each friend: how often it asked her to take a query, and how often she did. Their ratio is the
trust in her. It decides whom to ask, and whether her own queries are taken: tit for tat.

Friends who compare what they see must not know a peer's own query from one that it relays. So
both are routed by one rule (see `Route`), and what differs is decided before anybody is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from itertools import accumulate
from typing import Generic, TypeVar

from ...errors import ParameterError

Friend = TypeVar("Friend", bound=Hashable)
Draw = Callable[[], float]  # a number from 0 on, below 1


@dataclass(frozen=True)
class ProtocolSettings:
    """What all peers of a network agree on.

    `submit`: the chance that a relay submits a query rather than hands it on. `hops`: how often a
    query is handed on at most.
    """

    submit_probability: float = 0.5
    max_hops: int = 3

    def __post_init__(self) -> None:
        if not 0 < self.submit_probability <= 1:
            raise ParameterError(
                f"--submit cannot be {self.submit_probability}", hint="above 0, up to 1"
            )
        if not 0 <= self.max_hops <= 20:
            raise ParameterError(f"--hops cannot be {self.max_hops}", hint="from 0 to 20")


class Peer(Generic[Friend]):
    """One person's peer: her friends, and what they did for her.

    >>> peer = Peer(["ann", "bob"], ProtocolSettings(), iter([0.9, 0.1, 0.7]).__next__)
    >>> route = peer.route()
    >>> route.next_hop()  # 0.9: not she herself; 0.1: the first of two equal friends
    'ann'
    >>> peer.record_reply("ann", accepted=False)
    >>> peer.trust("ann"), peer.trust("bob")
    (0.5, 1.0)
    >>> route.next_hop()
    'bob'
    """

    __slots__ = ("_asked", "_draw", "_settings", "_took", "selfish")

    def __init__(
        self,
        friends: Iterable[Friend],
        settings: ProtocolSettings,
        draw: Draw,
        *,
        selfish: bool = False,
    ) -> None:
        self._asked: dict[Friend, float] = dict.fromkeys(friends, 0)
        self._took: dict[Friend, float] = dict.fromkeys(self._asked, 0)
        self._settings, self._draw = settings, draw
        self.selfish = selfish

    @property
    def friends(self) -> tuple[Friend, ...]:
        """Her friends, in the order in which they became so."""
        return tuple(self._asked)

    def add_friend(self, friend: Friend, asked: float = 0, took: float = 0) -> None:
        """Add a friend, with what is known of her from before."""
        if not 0 <= took <= asked:
            raise ParameterError(f"a friend cannot have taken {took} of {asked} queries")
        self._asked[friend], self._took[friend] = asked, took

    def remove_friend(self, friend: Friend) -> None:
        """Remove a friend, and what is known of her."""
        self._asked.pop(friend, None)
        self._took.pop(friend, None)

    def counts(self, friend: Friend) -> tuple[float, float]:
        """Tell how often a friend was asked to take a query, and how often she did."""
        return self._asked[friend], self._took[friend]

    def trust(self, friend: Friend) -> float:
        """Give the share of queries that a friend took, as if she had taken one before."""
        return (self._took[friend] + 1) / (self._asked[friend] + 1)

    def accepts(self, friend: Friend) -> bool:
        """Decide whether to take a query from a friend, as she has served this peer."""
        return not self.selfish and friend in self._asked and self._draw() < self.trust(friend)

    def record_reply(self, friend: Friend, accepted: bool) -> None:
        """Count what a friend said when she was asked; silence is a refusal."""
        if friend in self._asked:
            self._asked[friend] += 1
            self._took[friend] += accepted

    def fade(self, share: float) -> None:
        """Let what was heard so far count for a share of what it did: trust returns with time."""
        for counts in (self._asked, self._took):
            for friend in counts:
                counts[friend] *= share

    def route(self, sender: Friend | None = None, hops: int = 0) -> Route[Friend]:
        """Begin to route a query: her own, or one that a friend handed on as its so manieth hop."""
        if hops >= self._settings.max_hops:
            return Route({}, None, 1.0, self._draw, last=True)
        asked, took = self._asked, self._took
        trusts = {friend: (took[friend] + 1) / (asked[friend] + 1) for friend in asked}
        submit = self._settings.submit_probability
        # Of her own queries she submits the share that each friend of full trust will: else she
        # would be the one who submits most of them, and be known by that.
        own = submit if sender is not None else submit / (sum(trusts.values()) + submit)
        return Route(trusts, sender, own, self._draw)


class Route(Generic[Friend]):
    """The way of one query through one peer: whom it asks next, until somebody takes it.

    Whether the peer submits the query itself is drawn once, before anybody is asked: after that
    an own query and a relayed one take the same steps. The friend who sent it is never asked. But
    after a refusal his place is drawn as any other's, for to an own query he is a friend like
    any other, who might take it. Where a relayed query's draw falls on him, the peer does what
    ends the way in the eyes of all others, as if he had taken it: it submits the query. Else the
    other friends would be asked more often after a refusal where the query is not the peer's own.
    """

    __slots__ = ("_draw", "_own", "_sender", "_started", "_trusts", "chosen")

    def __init__(
        self,
        trusts: dict[Friend, float],
        sender: Friend | None,
        own: float,
        draw: Draw,
        last: bool = False,
    ) -> None:
        self._trusts, self._sender, self._own, self._draw = trusts, sender, own, draw
        self._started = False
        self.chosen = last  # whether the peer submits it by the rule, and not for want of friends

    def next_hop(self) -> Friend | None:
        """Return the friend to ask next, each at most once, or None to submit it oneself."""
        first, self._started = not self._started, True
        friend = self._first() if first else self._next(self._trusts)
        if friend is not None and friend == self._sender:
            self.chosen = self._draw() < self._trusts.pop(friend)
            return self.next_hop()
        if friend is None:
            self._trusts = {}  # whoever decided to submit it does not change her mind
        else:
            del self._trusts[friend]
        return friend

    def _first(self) -> Friend | None:
        others = {one: trust for one, trust in self._trusts.items() if one != self._sender}
        self.chosen = self.chosen or (bool(others) and self._draw() < self._own)
        return self._next(others)

    def _next(self, left: dict[Friend, float]) -> Friend | None:
        """Draw one of those who are left, by trust."""
        if self.chosen or not left:
            return None
        point = self._draw() * sum(left.values())
        for one, trust in left.items():
            point -= trust
            if point < 0:
                return one
        return next(reversed(left))


_MORE = 0.2  # how much of the doubt is given up for the counts to be spread over the range


def own_query_probability(settings: ProtocolSettings) -> float:
    """Return the chance that a query which a friend sees is the sender's own.

    >>> own_query_probability(ProtocolSettings(submit_probability=0.5))
    0.6
    """
    return settings.submit_probability + _MORE * (1 - settings.submit_probability)


def initial_hop_distribution(settings: ProtocolSettings) -> list[float]:
    """Return how likely a query goes on from a count of 0, 1, ...: they add up to 1.

    Where the count rises: let A(h) be the messages with count h, s(h) those of them that are own
    queries, and p the chance to submit: A(h) = s(h) + (1-p) A(h-1). With s(h) = c A(h) the messages
    grow by (1-p) / (1-c) a hop, which is 1.25 for the c of `own_share`.

    >>> [round(one, 3) for one in initial_hop_distribution(ProtocolSettings(max_hops=3))]
    [0.372, 0.279, 0.349]
    >>> round(initial_hop_distribution(ProtocolSettings(max_hops=10))[0], 3)
    0.049
    """
    share, growth = own_query_probability(settings), 1 / (1 - _MORE)
    raw = [1.0, *(share * growth**hop for hop in range(1, settings.max_hops))][: settings.max_hops]
    return [one / sum(raw) for one in raw]


def draw_initial_hops(settings: ProtocolSettings, draw: Callable[[], float]) -> int:
    """Draw the count from which a query goes on: below the limit, if there is one."""
    point = draw()
    sums = list(accumulate(initial_hop_distribution(settings)))
    return min(sum(point >= one for one in sums), max(0, settings.max_hops - 1))
