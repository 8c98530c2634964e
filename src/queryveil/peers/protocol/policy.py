"""The choices of the protocol: who receives a query, who submits it, and whom a peer serves.

No clock, no network and no disk: the simulation and the node run the same code. It is the design
of SPEC 5.2, which is consistent with what is known of the P2P paper. A peer keeps two counts for
each friend: how often it asked them to take a query, and how often they did. The ratio is the
trust in the friend. It decides whom to ask, and whether the friend's queries are taken: tit for
tat.

Friends who compare what they see must not be able to distinguish a peer's own query from one that
it relays. So both are routed by one rule (see `Route`), and what differs is decided before any
friend is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from itertools import accumulate
from typing import Generic, TypeVar

from ...errors import ParameterError

Friend = TypeVar("Friend", bound=Hashable)
Draw = Callable[[], float]  # returns a uniform random number in [0, 1)


@dataclass(frozen=True)
class ProtocolSettings:
    """The parameters that all peers of a network agree on.

    `submit_probability`: the probability that a relay submits a query instead of relaying it.
    `max_hops`: how often a query is relayed at most.
    """

    submit_probability: float = 0.5
    max_hops: int = 3

    def __post_init__(self) -> None:
        if not 0 < self.submit_probability <= 1:
            raise ParameterError(
                f"`submit_probability` cannot be {self.submit_probability}", hint="above 0, up to 1"
            )
        if not 0 <= self.max_hops <= 20:
            raise ParameterError(f"`max_hops` cannot be {self.max_hops}", hint="from 0 to 20")


class Peer(Generic[Friend]):
    """The peer of one user: its friends, and how often they served it.

    >>> peer = Peer(["ann", "bob"], ProtocolSettings(), iter([0.9, 0.1, 0.7]).__next__)
    >>> route = peer.route()
    >>> route.next_hop()  # 0.9: the peer does not submit; 0.1: the first of two equal friends
    'ann'
    >>> peer.record_reply("ann", accepted=False)
    >>> peer.trust("ann"), peer.trust("bob")
    (0.5, 1.0)
    >>> route.next_hop()
    'bob'
    """

    __slots__ = ("_accepted", "_asked", "_draw", "_settings", "selfish")

    def __init__(
        self,
        friends: Iterable[Friend],
        settings: ProtocolSettings,
        draw: Draw,
        *,
        selfish: bool = False,
    ) -> None:
        self._asked: dict[Friend, float] = dict.fromkeys(friends, 0)
        self._accepted: dict[Friend, float] = dict.fromkeys(self._asked, 0)
        self._settings, self._draw = settings, draw
        self.selfish = selfish

    @property
    def friends(self) -> tuple[Friend, ...]:
        """The friends, in the order in which they were added."""
        return tuple(self._asked)

    def add_friend(self, friend: Friend, asked: float = 0, took: float = 0) -> None:
        """Add a friend, with the counts from before."""
        if not 0 <= took <= asked:
            raise ParameterError(f"a friend cannot have taken {took} of {asked} queries")
        self._asked[friend], self._accepted[friend] = asked, took

    def remove_friend(self, friend: Friend) -> None:
        """Remove a friend and their counts."""
        self._asked.pop(friend, None)
        self._accepted.pop(friend, None)

    def counts(self, friend: Friend) -> tuple[float, float]:
        """Return how often a friend was asked to take a query, and how often they did."""
        return self._asked[friend], self._accepted[friend]

    def trust(self, friend: Friend) -> float:
        """Return the fraction of queries that a friend took, with one added to both counts."""
        return (self._accepted[friend] + 1) / (self._asked[friend] + 1)

    def accepts(self, friend: Friend) -> bool:
        """Decide at random whether to take a query from a friend, by the trust in them."""
        return not self.selfish and friend in self._asked and self._draw() < self.trust(friend)

    def record_reply(self, friend: Friend, accepted: bool) -> None:
        """Count the reply of a friend who was asked; no reply counts as a refusal."""
        if friend in self._asked:
            self._asked[friend] += 1
            self._accepted[friend] += accepted

    def fade(self, weight: float) -> None:
        """Multiply all counts by a weight below 1, so that trust returns with time."""
        for counts in (self._asked, self._accepted):
            for friend in counts:
                counts[friend] *= weight

    def route(self, sender: Friend | None = None, hops: int = 0) -> Route[Friend]:
        """Start to route a query: an own one, or one that a friend sent with this hop count."""
        if hops >= self._settings.max_hops:
            return Route({}, None, 1.0, self._draw, last=True)
        trusts = {friend: self.trust(friend) for friend in self._asked}
        submit = self._settings.submit_probability
        # A peer submits the same fraction of its own queries as each friend of full trust does.
        # Otherwise it would submit more of them than anybody else, which would identify it.
        own = submit if sender is not None else submit / (sum(trusts.values()) + submit)
        return Route(trusts, sender, own, self._draw)


class Route(Generic[Friend]):
    """The route of one query through one peer: whom it asks next, until a friend takes it.

    Whether the peer submits the query itself is drawn once, before any friend is asked: after that
    an own query and a relayed one take the same steps. The friend who sent it is never asked. But
    after a refusal the sender is drawn like any other friend, because for an own query they are a
    friend like any other, who might take it. Where the draw for a relayed query selects the
    sender, the peer does what ends the route in the view of all other friends, as if the sender
    had taken it: it submits the query. Otherwise the other friends would be asked more often after
    a refusal where the query is not the peer's own.
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
        self.chosen = last  # whether the peer submits it by the rule, not for lack of friends

    def next_hop(self) -> Friend | None:
        """Return the friend to ask next, each at most once, or None if this peer submits it."""
        is_first, self._started = not self._started, True
        friend = self._sample_first() if is_first else self._sample(self._trusts)
        if friend is not None and friend == self._sender:
            self.chosen = self._draw() < self._trusts.pop(friend)
            return self.next_hop()
        if friend is None:
            self._trusts = {}  # the decision to submit is final
        else:
            del self._trusts[friend]
        return friend

    def _sample_first(self) -> Friend | None:
        others = {friend: t for friend, t in self._trusts.items() if friend != self._sender}
        self.chosen = self.chosen or (bool(others) and self._draw() < self._own)
        return self._sample(others)

    def _sample(self, trusts: dict[Friend, float]) -> Friend | None:
        """Sample a friend with probability proportional to trust, unless the peer submits."""
        if self.chosen or not trusts:
            return None
        point = self._draw() * sum(trusts.values())
        for friend, trust in trusts.items():
            point -= trust
            if point < 0:
                return friend
        return next(reversed(trusts))  # rounding left a rest


# The fraction of the sender's remaining uncertainty that is given up, so that hop counts of own
# queries spread over the whole range.
_UNCERTAINTY_COST = 0.2


def own_query_probability(settings: ProtocolSettings) -> float:
    """Return the probability that a query which a friend sees is the sender's own.

    >>> own_query_probability(ProtocolSettings(submit_probability=0.5))
    0.6
    """
    return settings.submit_probability + _UNCERTAINTY_COST * (1 - settings.submit_probability)


def initial_hop_distribution(settings: ProtocolSettings) -> list[float]:
    """Return the probability that a query starts with a hop count of 0, 1, ...; the sum is 1.

    Where the count rises: let A(h) be the number of messages with count h, s(h) those of them that
    are own queries, and p the probability to submit: A(h) = s(h) + (1-p) A(h-1). With s(h) = c A(h)
    the messages grow by the factor (1-p) / (1-c) per hop, which is 1.25 for the c of
    `own_query_probability`.

    >>> [round(p, 3) for p in initial_hop_distribution(ProtocolSettings(max_hops=3))]
    [0.372, 0.279, 0.349]
    >>> round(initial_hop_distribution(ProtocolSettings(max_hops=10))[0], 3)
    0.049
    """
    own, growth = own_query_probability(settings), 1 / (1 - _UNCERTAINTY_COST)
    raw = [1.0, *(own * growth**hop for hop in range(1, settings.max_hops))][: settings.max_hops]
    return [weight / sum(raw) for weight in raw]


def draw_initial_hops(settings: ProtocolSettings, draw: Callable[[], float]) -> int:
    """Sample the hop count with which a query starts, below the limit (0 if the limit is 0)."""
    point = draw()
    bounds = list(accumulate(initial_hop_distribution(settings)))
    return min(sum(point >= bound for bound in bounds), max(0, settings.max_hops - 1))
