"""The pending queries of a peer, indexed by number, by id and by deadline."""

from __future__ import annotations

import heapq
from collections import Counter
from dataclasses import dataclass, fields
from enum import Enum
from math import inf
from typing import NamedTuple

from ...core.records import Record
from .messages import Message, Result
from .policy import Route


class QueryState(Enum):
    """What a pending query waits for."""

    OFFERED = "the text of a friend's query, which was accepted"
    ASKING = "a friend's decision whether to take it"
    HANDED = "a friend's answer"
    SUBMITTING = "the search engine's answer"
    NOBODY = "the owner's decision, as no friend answered"


class Timeouts(NamedTuple):
    """The times that a peer waits, in seconds."""

    reply: float = 2.0  # for a friend to accept, and for the text after that
    engine: float = 10.0  # for the search engine
    hop: float = 2.0  # in addition, for each hop that may follow
    own: float = 45.0  # for a query that its owner submits
    owner: float = 300.0  # for the owner to decide
    half: float = 86_400.0  # half-life of the counts behind the trust in a friend


class Limits(NamedTuple):
    """The limits to what a peer keeps in memory or accepts."""

    open: int = 32  # pending queries of one friend
    own: int = 24  # pending queries of the owner
    reserved: int = 8  # of these, slots for browsers that programs cannot use
    undecided: int = 64  # own queries that wait for the owner: the oldest is forgotten
    ids: int = 4096  # ids that a friend has used
    minute: int = 120  # queries of one friend that are accepted in a minute


@dataclass(slots=True, repr=False)
class PendingQuery:
    """One query: the owner's (no sender), or one that a friend relayed."""

    number: int
    stage: QueryState
    sender: str | None = None
    sender_id: str = ""
    text: str = ""
    hops: int = 0
    since: float = 0.0  # time of its start
    until: float = 0.0  # time after which no other friend is asked
    wanted: float = inf  # time until which its sender waits
    due: float = 0.0  # deadline of the present stage
    route: Route[str] | None = None
    asked: int = 0  # number of friends who were asked
    friend: str | None = None  # the friend who was asked last
    friend_id: str = ""

    @property
    def own(self) -> bool:
        """Whether it is the owner's query."""
        return self.sender is None


@dataclass(frozen=True, repr=False)
class PeerCounts(Record):
    """Counts of the requests between a peer and one friend.

    Every request is counted: requests = ignored + refused + taken; taken = served + failed +
    unclaimed + pending; asked = turned_down + answered + lost + pending.
    """

    shown = ("requests", "asked")
    requests: int = 0  # from the friend
    ignored: int = 0  # with an id that the friend had used before
    refused: int = 0
    taken: int = 0
    served: int = 0  # the friend received an answer
    failed: int = 0  # the friend received none
    unclaimed: int = 0  # the friend never sent the text
    asked: int = 0  # requests to the friend
    turned_down: int = 0  # the friend refused, or did not reply
    answered: int = 0
    lost: int = 0  # the friend had the text, and no answer came
    carried: int = 0  # of those answered: the owner's queries
    stray: int = 0  # messages that matched no pending query


@dataclass(slots=True)
class PeerStats:
    """The running counts between a peer and one friend: see `PeerCounts`."""

    requests: int = 0
    ignored: int = 0
    refused: int = 0
    taken: int = 0
    served: int = 0
    failed: int = 0
    unclaimed: int = 0
    asked: int = 0
    turned_down: int = 0
    answered: int = 0
    lost: int = 0
    carried: int = 0
    stray: int = 0

    @classmethod
    def resume(cls, counts: PeerCounts) -> PeerStats:
        """Continue from saved counts."""
        return cls(**counts.to_dict())

    def snapshot(self) -> PeerCounts:
        """Return the present counts."""
        return PeerCounts(**{count.name: getattr(self, count.name) for count in fields(self)})


class PendingTable:
    """The pending queries; a query that was closed leaves no trace."""

    def __init__(self) -> None:
        self.queries: dict[int, PendingQuery] = {}
        self.incoming: dict[tuple[str, str], PendingQuery] = {}  # by sender and the sender's id
        self.outgoing: dict[tuple[str, str], PendingQuery] = {}  # by the friend asked and our id
        self.open_per_sender: Counter[str | None] = Counter()  # the owner is None
        self.asking: Counter[str] = Counter()  # outstanding requests by the friend asked
        self._deadlines: list[tuple[float, int]] = []  # heap of time and number
        self._last_number = 0

    def open(
        self, stage: QueryState, sender: str | None = None, sender_id: str = ""
    ) -> PendingQuery:
        """Add a pending query."""
        self._last_number += 1
        pending = PendingQuery(self._last_number, stage, sender, sender_id)
        self.queries[pending.number] = pending
        self.open_per_sender[sender] += 1
        if sender is not None:
            self.incoming[sender, sender_id] = pending
        return pending

    def close(self, pending: PendingQuery) -> None:
        """Remove a pending query."""
        del self.queries[pending.number]
        self.open_per_sender[pending.sender] -= 1
        if pending.sender is not None:
            del self.incoming[pending.sender, pending.sender_id]

    def ask(self, pending: PendingQuery, friend: str, friend_id: str) -> None:
        """Record which friend is asked, and by which id."""
        pending.friend, pending.friend_id = friend, friend_id
        self.outgoing[friend, friend_id] = pending
        self.asking[friend] += 1

    def release(self, pending: PendingQuery) -> None:
        """Record that the query no longer waits for the friend who was asked."""
        friend = str(pending.friend)
        if self.outgoing.pop((friend, pending.friend_id), None) is not None:
            self.asking[friend] -= 1
        pending.friend_id = ""

    def waiting_on(self, friend: str) -> list[PendingQuery]:
        """Return the queries that wait for a friend."""
        return [
            query for query in self.queries.values() if query.friend == friend and query.friend_id
        ]

    def undecided(self) -> list[PendingQuery]:
        """Return the own queries that wait for the owner's decision, the oldest first."""
        waiting = [query for query in self.queries.values() if query.stage is QueryState.NOBODY]
        return sorted(waiting, key=lambda query: query.due)

    def under_way(self) -> int:
        """Count the own queries that do not wait for the owner's decision."""
        return self.open_per_sender[None] - len(self.undecided())

    def sent_by(self, friend: str) -> list[PendingQuery]:
        """Return the queries that a friend sent."""
        return [query for query in self.queries.values() if query.sender == friend]

    def wait(self, pending: PendingQuery, stage: QueryState, due: float) -> None:
        """Begin a stage with a deadline, which is not later than the end of the query."""
        pending.stage = stage
        # `until` is not set before the text is here, and does not limit the owner's decision.
        has_own_deadline = stage in (QueryState.OFFERED, QueryState.NOBODY)
        pending.due = due if has_own_deadline else min(due, pending.until)
        heapq.heappush(self._deadlines, (pending.due, pending.number))

    def next_deadline(self) -> float | None:
        """Return the earliest deadline of a present stage, if any."""
        # Deadlines of earlier stages stay in the heap until they come up: removal would be slow.
        while self._deadlines and not self._is_current(*self._deadlines[0]):
            heapq.heappop(self._deadlines)
        return self._deadlines[0][0] if self._deadlines else None

    def pop_expired(self, now: float) -> PendingQuery | None:
        """Return a query whose deadline has passed, each once, or None when there is none."""
        deadline = self.next_deadline()
        if deadline is None or deadline > now:
            return None
        return self.queries[heapq.heappop(self._deadlines)[1]]

    def _is_current(self, deadline: float, number: int) -> bool:
        """Return whether a deadline is that of a query's present stage."""
        pending = self.queries.get(number)
        return pending is not None and pending.due == deadline


class Send(NamedTuple):
    """Send a message to a friend."""

    friend: str
    message: Message


class Submit(NamedTuple):
    """Submit a query to the search engine, under the owner's account."""

    number: int
    text: str


class Deliver(NamedTuple):
    """Show the owner an answer: from a friend, or through their own account (None)."""

    number: int
    results: tuple[Result, ...]
    friend: str | None


class NoRelay(NamedTuple):
    """Ask the owner whether to submit a query under their own account: no friend answered."""

    number: int


class EngineFailed(NamedTuple):
    """Report to the owner that the search engine did not answer."""

    number: int


class Busy(NamedTuple):
    """Ask the owner to search again after some seconds: the limits are reached."""

    number: int
    seconds: int


Action = Send | Submit | Deliver | NoRelay | EngineFailed | Busy
