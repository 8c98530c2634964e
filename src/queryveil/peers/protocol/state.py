"""The errands that a peer has open, found by number, by id and by time."""

from __future__ import annotations

import heapq
from collections import Counter
from dataclasses import dataclass, fields
from enum import Enum
from math import inf
from typing import NamedTuple

from .messages import Message, Result
from .policy import Route


class QueryState(Enum):
    """What an errand waits for."""

    OFFERED = "a friend's text, which was accepted"
    ASKING = "whether a friend takes it"
    HANDED = "a friend's answer"
    SUBMITTING = "the search engine's answer"
    NOBODY = "the owner's word: nobody took it"


class Timeouts(NamedTuple):
    """How long a peer waits, in seconds."""

    reply: float = 2.0  # for a friend to accept, and for the text after that
    engine: float = 10.0  # for the search engine
    hop: float = 2.0  # the more for each hop that may follow
    own: float = 45.0  # for a query that its owner submits
    owner: float = 300.0  # for the owner to decide
    half: float = 86_400.0  # until what a friend did counts half as much


class Limits(NamedTuple):
    """How much a peer keeps at a time."""

    open: int = 32  # queries of one friend
    own: int = 24  # own queries under way
    reserved: int = 8  # of these, places that only a person at a browser may take
    undecided: int = 64  # own queries that nobody took: the oldest is forgotten
    ids: int = 4096  # ids that a friend has used
    minute: int = 120  # queries of one friend that are taken in a minute


@dataclass(slots=True, repr=False)
class PendingQuery:
    """One query: the owner's (no sender), or one that a friend handed on."""

    number: int
    stage: QueryState
    sender: str | None = None
    sender_id: str = ""
    text: str = ""
    hops: int = 0
    since: float = 0.0  # when it began
    until: float = 0.0  # when it is over in any case
    wanted: float = inf  # until when its sender waits
    due: float = 0.0  # when the present stage is over
    route: Route[str] | None = None
    asked: int = 0  # how many friends were asked
    friend: str | None = None  # who was asked last
    friend_id: str = ""

    @property
    def own(self) -> bool:
        """Whether it is the owner's query."""
        return self.sender is None


@dataclass(slots=True)
class PeerStats:
    """What passed between a peer and one friend.

    Nothing is lost: requests = ignored + refused + taken, taken = served + failed + unclaimed and
    what is open, asked = turned_down + answered + lost and what is open.
    """

    requests: int = 0  # she asked
    ignored: int = 0  # with an id that she had used
    refused: int = 0
    taken: int = 0
    served: int = 0  # she got an answer
    failed: int = 0  # she got none
    unclaimed: int = 0  # her text never came
    asked: int = 0  # she was asked
    turned_down: int = 0  # she refused, or was silent
    answered: int = 0
    lost: int = 0  # she had the text, and no answer came
    carried: int = 0  # of those answered: the owner's queries
    stray: int = 0  # messages that fitted nothing

    def to_dict(self) -> dict[str, int]:
        """Give all counts by name."""
        return {one.name: getattr(self, one.name) for one in fields(self)}


class PendingTable:
    """Keeps errands from their beginning to their end, and nothing after that."""

    def __init__(self) -> None:
        self.errands: dict[int, PendingQuery] = {}
        self.incoming: dict[tuple[str, str], PendingQuery] = {}  # by who sent it, and her id
        self.outgoing: dict[
            tuple[str, str], PendingQuery
        ] = {}  # by who was asked, and the id for her
        self.open_per_sender: Counter[str | None] = Counter()  # by who sent it; None is the owner
        self.asking: Counter[str] = Counter()  # by who was asked and has not ended it
        self._alarms: list[tuple[float, int]] = []
        self._last = 0

    def open(
        self, stage: QueryState, sender: str | None = None, sender_id: str = ""
    ) -> PendingQuery:
        """Open an errand."""
        self._last += 1
        errand = PendingQuery(self._last, stage, sender, sender_id)
        self.errands[errand.number] = errand
        self.open_per_sender[sender] += 1
        if sender is not None:
            self.incoming[sender, sender_id] = errand
        return errand

    def close(self, errand: PendingQuery) -> None:
        """Close an errand."""
        del self.errands[errand.number]
        self.open_per_sender[errand.sender] -= 1
        if errand.sender is not None:
            del self.incoming[errand.sender, errand.sender_id]

    def ask(self, errand: PendingQuery, friend: str, name: str) -> None:
        """Note who is asked, and by which id."""
        errand.friend, errand.friend_id = friend, name
        self.outgoing[friend, name] = errand
        self.asking[friend] += 1

    def release(self, errand: PendingQuery) -> None:
        """Note that nothing is expected of her any more."""
        friend = str(errand.friend)
        if self.outgoing.pop((friend, errand.friend_id), None) is not None:
            self.asking[friend] -= 1
        errand.friend_id = ""

    def waiting_on(self, friend: str) -> list[PendingQuery]:
        """Give the errands that wait for a friend."""
        return [one for one in self.errands.values() if one.friend == friend and one.friend_id]

    def undecided(self) -> list[PendingQuery]:
        """Return the own errands that wait for the owner's word, the oldest first."""
        waiting = [one for one in self.errands.values() if one.stage is QueryState.NOBODY]
        return sorted(waiting, key=lambda one: one.due)

    def under_way(self) -> int:
        """Return how many own errands are open and wait for somebody else than the owner."""
        return self.open_per_sender[None] - len(self.undecided())

    def sent_by(self, friend: str) -> list[PendingQuery]:
        """Give a friend's errands."""
        return [one for one in self.errands.values() if one.sender == friend]

    def wait(self, errand: PendingQuery, stage: QueryState, due: float) -> None:
        """Begin a stage that is over at some time, or when the errand is."""
        errand.stage = stage
        errand.due = (
            due if stage in (QueryState.OFFERED, QueryState.NOBODY) else min(due, errand.until)
        )
        heapq.heappush(self._alarms, (errand.due, errand.number))

    def next_deadline(self) -> float | None:
        """Give the time at which the next stage is over, if any."""
        while self._alarms and not self._counts(*self._alarms[0]):
            heapq.heappop(self._alarms)
        return self._alarms[0][0] if self._alarms else None

    def pop_expired(self, now: float) -> PendingQuery | None:
        """Give an errand whose stage is over, each once, until there is none."""
        at = self.next_deadline()
        if at is None or at > now:
            return None
        return self.errands[heapq.heappop(self._alarms)[1]]

    def _counts(self, at: float, number: int) -> bool:
        """Whether an alarm is of an errand's present stage."""
        errand = self.errands.get(number)
        return errand is not None and errand.due == at


class Send(NamedTuple):
    """Send a message to a friend."""

    friend: str
    message: Message


class Submit(NamedTuple):
    """Submit a query to the search engine, under the owner's account."""

    errand: int
    text: str


class Deliver(NamedTuple):
    """Show the owner an answer: by a friend, or by her own account (None)."""

    errand: int
    results: tuple[Result, ...]
    friend: str | None


class NoRelayFound(NamedTuple):
    """Ask the owner whether to submit her query herself: nobody answered."""

    errand: int


class EngineFailed(NamedTuple):
    """Tell the owner that the search engine did not answer."""

    errand: int


class Busy(NamedTuple):
    """Ask the owner to search again in so many seconds: there is no room now."""

    errand: int
    seconds: int


Action = Send | Submit | Deliver | NoRelayFound | EngineFailed | Busy
