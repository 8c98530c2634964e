"""What the exchange wants done: it does nothing itself."""

from __future__ import annotations

from typing import NamedTuple

from .protocol.messages import Message, Result

__all__ = ["Action", "Busy", "Deliver", "EngineFailed", "NoRelayFound", "Send", "Submit"]


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
