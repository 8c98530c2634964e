"""HTTP for the owner's page, with protection against slow and numerous connections.

A connection on which no complete request has arrived is closed after some seconds. When the limit
of connections is reached and a new one arrives, the oldest such connection is closed at once, if
it had time to send something. So a program that opens many connections and sends single bytes
(Slowloris) does not keep others out.

When more requests are open than a node can process, further requests of programs are refused
before they are parsed. A refusal must cost next to nothing, or it would slow down the requests
that were accepted.
"""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

_MAX_HEAD = 32 * 1024  # bytes of the first part of a request: its head, and a short form
_NAVIGATION = b"sec-fetch-mode: navigate"  # a browser opens a page
_BUSY_TEXT = b"Busy: try again in 2 s. Nothing was sent.\n"
_BUSY = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain; charset=utf-8\r\n"
    b"Retry-After: 2\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
    b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(_BUSY_TEXT)
) + _BUSY_TEXT
_INCOMPLETE = (h11.IDLE, h11.SEND_BODY)  # states in which a request has not ended


class PromptProtocol(H11Protocol):
    """The HTTP protocol of uvicorn, with a time limit for incomplete requests."""

    patience: ClassVar[float] = 10.0  # seconds until an incomplete request is closed
    grace: ClassVar[float] = 2.0  # seconds in which a busy node may not have read new data
    places: ClassVar[int] = 300  # connections; below uvicorn's limit, which refuses new ones

    crowd: ClassVar[int] = 40  # open requests above which requests of programs are refused

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._timer: asyncio.TimerHandle | None = None

    @property
    def owes(self) -> bool:
        """Whether no complete request has arrived."""
        return self.conn.their_state in _INCOMPLETE

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the time limit; close the oldest slow connection above the limit."""
        super().connection_made(transport)
        self._since = self.loop.time()
        self._start_timer()
        open_ones = [other for other in self.connections if isinstance(other, PromptProtocol)]
        if len(open_ones) > self.places:
            latest = self._since - self.grace
            others = [other for other in open_ones if other is not self]
            slow = [other for other in others if other.owes and other._since <= latest]
            if slow:
                min(slow, key=lambda other: other._since).give_up()

    def data_received(self, data: bytes) -> None:
        """Stop the time limit once a request is complete; refuse requests that are too long."""
        is_new = self.conn.their_state is h11.IDLE
        if is_new and len(data) > _MAX_HEAD:
            self.give_up()
            return
        if is_new and len(self.tasks) >= self.crowd and _NAVIGATION not in data.lower():
            self._stop_timer()
            self.transport.write(_BUSY)
            self.transport.close()
            return
        super().data_received(data)
        if not self.owes:
            self._stop_timer()

    def on_response_complete(self) -> None:
        """Wait for the next request; do not read the rest of one that was answered."""
        has_rest = self.conn.their_state is h11.SEND_BODY
        super().on_response_complete()
        if has_rest:
            self.transport.close()
        self._since = self.loop.time()
        self._start_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the time limit."""
        self._stop_timer()
        super().connection_lost(exc)

    def give_up(self) -> None:
        """Close a connection on which no complete request arrived."""
        self._stop_timer()
        if self.owes:
            self.connections.discard(self)
            self.transport.abort()

    def _start_timer(self) -> None:
        self._stop_timer()
        if self.owes:
            self._timer = self.loop.call_later(self.patience, self.give_up)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
