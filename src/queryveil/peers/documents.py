"""The documents that the commands of a node print with --json."""

from __future__ import annotations

from dataclasses import dataclass

from ..core.records import Record


@dataclass(frozen=True, repr=False)
class Invitation(Record):
    """The line that a friend needs to add a node, and the fingerprint of its certificate."""

    schema_number = 1

    invitation: str
    fingerprint: str


@dataclass(frozen=True, repr=False)
class AddedFriend(Record):
    """A friend, and the fingerprint that their certificate must have."""

    name: str
    fingerprint: str


@dataclass(frozen=True, repr=False)
class AddedFriends(Record):
    """The friends that were added."""

    schema_number = 1

    friends: tuple[AddedFriend, ...]


@dataclass(frozen=True, repr=False)
class RemovedFriend(Record):
    """The friend that was removed."""

    schema_number = 1

    name: str


@dataclass(frozen=True, repr=False)
class ServedPage(Record):
    """The address of the page of a node or of the demo engine."""

    schema_number = 1

    page: str
