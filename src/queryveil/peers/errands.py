"""A query on its way through one peer, and what was counted of those that are over."""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import Enum
from math import inf
from typing import NamedTuple

from .protocol.policy import Route

__all__ = ["Limits", "PeerStats", "PendingQuery", "QueryState", "Timeouts"]


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
