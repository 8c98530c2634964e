"""The status of a node as typed results, and the state that it saves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ...core.records import Record, json_field
from ..protocol.state import PeerCounts


@dataclass(frozen=True, repr=False)
class AccountCounts(Record):
    """The counts of the owner's queries, and of those that the engine saw under their account."""

    shown = ("own", "seen")
    own: int
    own_distinct: int
    seen: int
    seen_distinct: int
    seen_own: int  # with a text that the owner searched for


@dataclass(frozen=True, repr=False, kw_only=True)
class FriendStatus(Record):
    """A friend of a running node."""

    shown = ("present", "trust")
    name: str
    fingerprint: str
    present: bool
    trust: float
    counts: PeerCounts = json_field(flat=True)


@dataclass(frozen=True, repr=False)
class NodeStatus(Record):
    """The status of a running node, for its owner's page."""

    shown = ("exposure", "account")
    fingerprint: str
    exposure: float | None
    account: AccountCounts
    texts: tuple[str, ...]
    friends: tuple[FriendStatus, ...]
    turned_away: int
    shed: int


@dataclass(frozen=True, repr=False, kw_only=True)
class SavedFriend(Record):
    """A friend as saved in the folder of a node."""

    shown = ("trust",)
    name: str
    address: str
    fingerprint: str
    trust: float
    counts: PeerCounts = json_field(flat=True)


@dataclass(frozen=True, repr=False, kw_only=True)
class SavedStatus(Record):
    """The status of a node as saved in its folder, whether it runs or not."""

    shown = ("exposure", "account")
    schema_number = 1

    fingerprint: str
    exposure: float | None
    account: AccountCounts = json_field(flat=True)
    friends: tuple[SavedFriend, ...]


@dataclass(frozen=True, repr=False)
class FriendState(Record):
    """The saved counts of a friend: requests and acceptances with decay, and all counts."""

    shown = ("tally",)
    counts: tuple[float, float]
    tally: PeerCounts


@dataclass(frozen=True, repr=False)
class AccountState(Record):
    """The saved counts of queries by digest, and the texts if the owner keeps them."""

    own: Mapping[str, int]
    seen: Mapping[str, int]
    texts: tuple[str, ...] = json_field(optional=True, default=())


@dataclass(frozen=True, repr=False)
class NodeState(Record):
    """The file `state.json` of a node."""

    shown = ("version", "at")
    version: int
    at: float
    friends: Mapping[str, FriendState]
    account: AccountState
