"""All links of a node: it listens for friends, connects to them, and reconnects with backoff.

Of two friends the one with the lower fingerprint connects, or the only one who can. The TLS
handshake fails for everybody who is not a friend.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from secrets import SystemRandom

from ...errors import FormatError, UsageError
from ..protocol.messages import Message, decode, encode
from .identity import Friend, Identity, peer_fingerprint, trust_certificate


class TokenBucket:
    """A rate limit: `size` messages at once, and `rate` per second after that.

    >>> bucket = TokenBucket(rate=2, size=1)
    >>> bucket.take(now=0.0), bucket.take(now=0.0), bucket.take(now=10.0)
    (0.0, 0.5, 0.0)
    """

    def __init__(self, rate: float, size: float) -> None:
        self._rate, self._size = rate, size
        self._level, self._updated = size, 0.0

    def take(self, now: float) -> float:
        """Take one token, and return the seconds to wait before its use."""
        self._level = min(self._size, self._level + (now - self._updated) * self._rate)
        self._updated = now
        self._level -= 1
        return max(0.0, -self._level / self._rate)


MAX_FRAME = 128 * 1024
_BLOCK = 1024  # frames are padded to a multiple of this, so that their size reveals little
_MAX_UNSENT = 4 * MAX_FRAME  # bytes in the send buffer above which a link is closed
_HEARTBEAT, _MAX_SILENCE, _GREETING_TIMEOUT = 20.0, 65.0, 10.0  # seconds


class PeerLink:
    """One connection to a friend, with framing, padding and heartbeats."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, bucket: TokenBucket
    ) -> None:
        self._reader, self._writer, self._bucket = reader, writer, bucket
        self._heartbeat = asyncio.ensure_future(self._send_heartbeats())

    def send(self, message: Message) -> None:
        """Send a message; close the link if the friend has stopped reading."""
        body = encode(message)
        self._write(body + b" " * (-(len(body) + 4) % _BLOCK))

    async def greet(self) -> bool:
        """Return whether both sides accepted each other.

        In TLS 1.3 a client learns only after the handshake that the server rejected it.
        """
        self._write(b"")
        with suppress(EOFError, OSError, TimeoutError, FormatError):
            async with asyncio.timeout(_GREETING_TIMEOUT):
                return await self._read_frame() == b""
        return False

    async def messages(self) -> AsyncIterator[Message]:
        """Yield the friend's messages as they arrive, until the link ends."""
        loop = asyncio.get_running_loop()
        with suppress(EOFError, OSError, TimeoutError):
            while True:
                async with asyncio.timeout(_MAX_SILENCE):
                    body = await self._read_frame()
                # Messages above the rate are not read: they fill the sender's buffers, not ours.
                if (wait := self._bucket.take(loop.time())) > 0:
                    await asyncio.sleep(wait)
                if body:
                    yield decode(body)

    async def _read_frame(self) -> bytes:
        size = int.from_bytes(await self._reader.readexactly(4))
        if size > MAX_FRAME:
            raise FormatError(f"a frame has at most {MAX_FRAME:,} bytes, got {size:,}")
        return await self._reader.readexactly(size)

    def _write(self, body: bytes) -> None:
        transport = self._writer.transport
        if transport.is_closing():
            return
        if transport.get_write_buffer_size() > _MAX_UNSENT:
            transport.abort()
            return
        self._writer.write(len(body).to_bytes(4) + body)

    async def _send_heartbeats(self) -> None:
        while not self._writer.transport.is_closing():
            await asyncio.sleep(_HEARTBEAT)
            self._write(b"")

    def abort(self) -> None:
        """Close the link at once."""
        self._heartbeat.cancel()
        self._writer.transport.abort()


_MIN_BACKOFF, _MAX_BACKOFF = 0.2, 30.0  # seconds between two attempts to connect
_HANDSHAKE_TIMEOUT = 10.0  # seconds
_NO_NAME = "127.0.0.1"  # TLS sends a host name in the clear (SNI), but not an IP address
_MAX_HANDSHAKES = 64  # at a time: a further one ends the oldest


class LinkManager:
    """The links to all friends who are online."""

    def __init__(
        self,
        identity: Identity,
        *,
        on_connect: Callable[[str], None],
        on_disconnect: Callable[[str], None],
        on_message: Callable[[str, Message], None],
        reachable: bool = True,
        rate: float = 200.0,
    ) -> None:
        self._identity, self._reachable, self._rate = identity, reachable, rate
        self._on_connect, self._on_disconnect = on_connect, on_disconnect
        self._on_message = on_message
        self._friends: dict[str, Friend] = {}
        self._links: dict[str, PeerLink] = {}
        self._buckets: dict[str, TokenBucket] = {}
        self._calls: dict[str, asyncio.Task[None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._server_tls = identity.context(server=True, friends=())
        self._client_tls = identity.context(server=False, friends=())
        self._server: asyncio.Server | None = None
        self._own = identity.fingerprint
        self._shaking: dict[asyncio.Task[None], None] = {}  # handshakes, the oldest first
        self.turned_away = 0  # connections of strangers, and links that violated the protocol

    async def listen(self, host: str, port: int) -> int:
        """Start to listen for friends, and return the port."""
        try:
            self._server = await asyncio.start_server(self._accept, host, port, backlog=256)
        except OSError as error:
            where, hint = f"{host}:{port}", "another `listen`"
            raise UsageError("cannot listen for friends", where=where, hint=hint) from error
        return int(self._server.sockets[0].getsockname()[1])

    def set_friends(self, friends: list[Friend]) -> None:
        """Replace the list of friends: connect to new ones, and disconnect those removed."""
        current = {friend.fingerprint: friend for friend in friends}
        for removed in self._friends.keys() - current.keys():
            self._remove(removed)
        changed = {who: f for who, f in current.items() if self._friends.get(who) != f}
        self._friends = current
        for who, friend in changed.items():
            trust_certificate(self._server_tls, friend.certificate)
            trust_certificate(self._client_tls, friend.certificate)
            self._start_connecting(who, friend)

    def send(self, friend: str, message: Message) -> None:
        """Send a message to a friend, if they are online."""
        if friend in self._links:
            self._links[friend].send(message)

    async def close(self) -> None:
        """Close all links."""
        if self._server:
            self._server.close()
        tasks = [*self._calls.values(), *self._tasks]
        for link in list(self._links.values()):
            link.abort()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # --- outgoing connections ----------------------------------------------------------------

    def _start_connecting(self, who: str, friend: Friend) -> None:
        if who in self._calls:
            self._calls.pop(who).cancel()
        if friend.address and (not self._reachable or self._own < who):
            self._calls[who] = asyncio.ensure_future(self._connect(who, friend))

    async def _connect(self, who: str, friend: Friend) -> None:
        """Connect to a friend again and again, with exponential backoff while they are offline."""
        wait = _MIN_BACKOFF
        while True:
            with suppress(OSError, TimeoutError):
                async with asyncio.timeout(_HANDSHAKE_TIMEOUT):
                    reader, writer = await asyncio.open_connection(
                        *friend.endpoint, ssl=self._client_tls, server_hostname=_NO_NAME
                    )
                if await self._serve(reader, writer, expected=who):
                    wait = _MIN_BACKOFF
            await asyncio.sleep(wait * (0.5 + SystemRandom().random()))
            wait = min(_MAX_BACKOFF, 2 * wait)

    # --- incoming connections ----------------------------------------------------------------

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is None:
            writer.transport.abort()
            return
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        # A friend's handshake is fast: slow strangers must not keep friends out.
        if len(self._shaking) >= _MAX_HANDSHAKES:
            oldest = next(iter(self._shaking))
            del self._shaking[oldest]
            oldest.cancel()
        self._shaking[task] = None
        try:
            async with asyncio.timeout(_HANDSHAKE_TIMEOUT):
                await writer.start_tls(self._server_tls)
        except (OSError, TimeoutError, asyncio.CancelledError):  # ssl.SSLError is an OSError
            self.turned_away += 1
            writer.transport.abort()
            return
        finally:
            self._shaking.pop(task, None)
        with suppress(asyncio.CancelledError):
            await self._serve(reader, writer)

    # --- both --------------------------------------------------------------------------------

    async def _serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, expected: str = ""
    ) -> bool:
        """Handle a friend's messages until the link ends; return whether it was a friend."""
        who = _read_fingerprint(writer.get_extra_info("ssl_object"))
        if who not in self._friends or expected not in ("", who):
            self.turned_away += 1
            writer.transport.abort()
            return False
        link = PeerLink(reader, writer, self._bucket(who))
        if not await link.greet():  # the friend has not added this node yet
            link.abort()
            return False
        self._disconnect(who)
        self._links[who] = link
        self._on_connect(who)
        try:
            async for message in link.messages():
                if self._links.get(who) is not link:
                    break
                self._on_message(who, message)
        except FormatError:
            self.turned_away += 1
        finally:
            if self._links.get(who) is link:
                self._disconnect(who)
            link.abort()
        return True

    def _bucket(self, who: str) -> TokenBucket:
        """Return a friend's bucket, which is kept when the friend reconnects."""
        return self._buckets.setdefault(who, TokenBucket(self._rate, 2 * self._rate))

    def _remove(self, who: str) -> None:
        if who in self._calls:
            self._calls.pop(who).cancel()
        self._disconnect(who)

    def _disconnect(self, who: str) -> None:
        link = self._links.pop(who, None)
        if link is not None:
            link.abort()
            self._on_disconnect(who)


def _read_fingerprint(tls: object) -> str:
    """Return the fingerprint of the other end, or "" if its certificate is not that of a node."""
    with suppress(FormatError):
        return peer_fingerprint(tls) if isinstance(tls, ssl.SSLObject) else ""
    return ""
