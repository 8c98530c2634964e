"""HTTP for the owner's page, in which nobody can keep a place by being slow.

A connection on which no whole request has come is worth nothing. It ends after some seconds, and
at once when all places are taken and somebody new comes: the oldest such goes first, if it has had
time to say something. So a program that opens many connections and sends a letter now and then
keeps nobody out.

When more requests are open than a node can have under way, a program's next one is told so before
it is even read: saying no must cost next to nothing, else those that were accepted wait for it.
"""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

_HEAD = 32 * 1024  # bytes that can begin a request: its head, and a short form
_PERSON = b"sec-fetch-mode: navigate"  # a browser opens a page
_SAYS = b"Busy: try again in 2 s. Nothing was sent.\n"
_BUSY = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain; charset=utf-8\r\n"
    b"Retry-After: 2\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
    b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(_SAYS)
) + _SAYS
_OWED = (h11.IDLE, h11.SEND_BODY)  # states in which a request has not come to its end


class PromptProtocol(H11Protocol):
    """Uvicorn's own, with an end to patience."""

    patience: ClassVar[float] = 10.0
    grace: ClassVar[float] = 2.0  # seconds in which a busy node may not have read what came
    places: ClassVar[int] = 300  # fewer than uvicorn's limit, which refuses whoever is new

    crowd: ClassVar[int] = 40  # requests that are open, above which no program is heard

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._alarm: asyncio.TimerHandle | None = None

    @property
    def owes(self) -> bool:
        """Return whether no whole request has come."""
        return self.conn.their_state in _OWED

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait; make room if there is none."""
        super().connection_made(transport)
        self._since = self.loop.time()
        self._wait()
        others = [one for one in self.connections if isinstance(one, PromptProtocol)]
        if len(others) > self.places:
            old = self._since - self.grace
            slow = [one for one in others if one.owes and one._since <= old and one is not self]
            if slow:
                min(slow, key=lambda one: one._since).give_up()

    def data_received(self, data: bytes) -> None:
        """Stop to wait once a request is whole; no head is as long as what is not read here."""
        if self.conn.their_state is h11.IDLE and len(data) > _HEAD:
            self.give_up()
            return
        new = self.conn.their_state is h11.IDLE
        if new and len(self.tasks) >= self.crowd and _PERSON not in data.lower():
            self._stop()
            self.transport.write(_BUSY)
            self.transport.close()
            return
        super().data_received(data)
        if not self.owes:
            self._stop()

    def on_response_complete(self) -> None:
        """Wait for the next request; the rest of one that is answered is not wanted."""
        rest = self.conn.their_state is h11.SEND_BODY
        super().on_response_complete()
        if rest:
            self.transport.close()
        self._since = self.loop.time()
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop to wait."""
        self._stop()
        super().connection_lost(exc)

    def give_up(self) -> None:
        """End a connection that has brought no request."""
        self._stop()
        if self.owes:
            self.connections.discard(self)
            self.transport.abort()

    def _wait(self) -> None:
        self._stop()
        if self.owes:
            self._alarm = self.loop.call_later(self.patience, self.give_up)

    def _stop(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
