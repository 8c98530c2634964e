"""Invitations, and the list of friends that they make.

An invitation is one line: a name, an address and a certificate. It holds no secret, but it must
come from the friend herself: whoever can exchange it on the way becomes the friend. Both read
the fingerprint to each other to be sure.
"""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass

from ...errors import FormatError, InputError, UsageError
from .identity import Identity, fingerprint
from .storage import NodeDirectory

__all__ = [
    "Friend",
    "add_friend",
    "format_fingerprint",
    "make_invitation",
    "read_friends",
    "read_invitation",
    "remove_friend",
]

_FILE = "friends.json"
_MOST = 200
_LINE = re.compile(r"queryveil:([\w.-]{1,40})@(-|[^\s@#]{1,260}:\d{1,5})#([\w-]{100,1400})")
_NAME = re.compile(r"[\w.-]{1,40}")


@dataclass(frozen=True, repr=False)
class Friend:
    """A friend: what she is called, where her node is ("" if it cannot be called), who it is."""

    name: str
    address: str
    certificate: bytes

    @property
    def fingerprint(self) -> str:
        """The digest of her public key."""
        return fingerprint(self.certificate)

    @property
    def place(self) -> tuple[str, int]:
        """Her node's host and port."""
        host, _, port = self.address.rpartition(":")
        return host.strip("[]"), int(port)


def make_invitation(identity: Identity, name: str, address: str) -> str:
    """Write the line that a friend needs."""
    if not _NAME.fullmatch(name):
        raise UsageError(f'"{name}" is no name for an invitation', hint="letters, digits, . _ -")
    line = f"queryveil:{name}@{address or '-'}#{_coded(identity.certificate)}"
    read_invitation(line)  # what cannot be read must not be handed out
    return line


def read_invitation(line: str) -> Friend:
    """Read a friend's line."""
    found = _LINE.fullmatch(line.strip())
    if found is None:
        raise FormatError(
            "this is no invitation", hint="one line: queryveil:NAME@HOST:PORT#CERTIFICATE"
        )
    name, address, coded = found.groups()
    if address != "-" and not 0 < int(address.rpartition(":")[2]) < 65536:
        raise FormatError("the port of this invitation cannot be", hint="1 to 65535")
    try:
        certificate = urlsafe_b64decode(coded + "=" * (-len(coded) % 4))
    except ValueError as error:
        raise FormatError("the certificate of this invitation is damaged") from error
    friend = Friend(name, "" if address == "-" else address, certificate)
    fingerprint(certificate)  # an error if it is none
    return friend


def add_friend(home: NodeDirectory, own: str, friend: Friend) -> None:
    """Add a friend, or what is new of her; `own` is the fingerprint of this node."""
    if friend.fingerprint == own:
        raise UsageError("this is your own invitation", hint="give it to a friend")
    others = [one for one in read_friends(home) if one.fingerprint != friend.fingerprint]
    if any(one.name == friend.name for one in others):
        raise UsageError(f"another friend is called {friend.name}", hint="--as NAME")
    if len(others) >= _MOST:
        raise UsageError(f"{_MOST} friends are the most", hint="queryveil peers node forget NAME")
    _write(home, [*others, friend])


def remove_friend(home: NodeDirectory, name: str) -> Friend:
    """Take a friend off the list."""
    friends = read_friends(home)
    found = [one for one in friends if one.name == name]
    if not found:
        raise UsageError(f"no friend is called {name}", hint="queryveil peers node status")
    _write(home, [one for one in friends if one.name != name])
    return found[0]


def read_friends(home: NodeDirectory) -> list[Friend]:
    """Read the list of friends."""
    lines = home.read_json(_FILE) or []
    if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
        raise InputError("this is no list of invitations", where=home.path / _FILE)
    return [read_invitation(line) for line in lines]


def format_fingerprint(digest: str) -> str:
    """Write a fingerprint to be read aloud.

    >>> spoken("0123456789abcdef" * 4)
    '0123 4567 89ab cdef 0123 4567 89ab cdef'
    """
    return " ".join(digest[at : at + 4] for at in range(0, 32, 4))


def _write(home: NodeDirectory, friends: list[Friend]) -> None:
    lines = [f"queryveil:{f.name}@{f.address or '-'}#{_coded(f.certificate)}" for f in friends]
    home.write_json(_FILE, lines)


def _coded(certificate: bytes) -> str:
    return urlsafe_b64encode(certificate).decode().rstrip("=")
