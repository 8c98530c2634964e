"""All links of a node: it listens for friends and calls them, again and again with patience.

Of two friends the one with the lower fingerprint calls, or the only one who can. Whoever is no
friend does not get through the handshake.
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
    """Lets `size` through at once, and `rate` a second after that.

    >>> bucket = TokenBucket(rate=2, size=1)
    >>> bucket.take(now=0.0), bucket.take(now=0.0), bucket.take(now=10.0)
    (0.0, 0.5, 0.0)
    """

    def __init__(self, rate: float, size: float) -> None:
        self._rate, self._size = rate, size
        self._level, self._at = size, 0.0

    def take(self, now: float) -> float:
        """Take one, and give how many seconds to wait before it is used."""
        self._level = min(self._size, self._level + (now - self._at) * self._rate)
        self._at = now
        self._level -= 1
        return max(0.0, -self._level / self._rate)


MAX_FRAME = 128 * 1024
_BLOCK = 1024
_UNSENT = 4 * MAX_FRAME  # a friend who reads no more than this behind is gone
_BEAT, _SILENCE, _GREET = 20.0, 65.0, 10.0  # seconds


class PeerLink:
    """Sends and receives messages over one connection."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, bucket: TokenBucket
    ) -> None:
        self._reader, self._writer, self._bucket = reader, writer, bucket
        self._beat = asyncio.ensure_future(self._beats())

    def send(self, message: Message) -> None:
        """Send a message, unless the friend has stopped reading: then the link ends."""
        body = encode(message)
        self._write(body + b" " * (-(len(body) + 4) % _BLOCK))

    async def greet(self) -> bool:
        """Show that both sides have let the other in: TLS tells a caller only later."""
        self._write(b"")
        with suppress(EOFError, OSError, TimeoutError, FormatError):
            async with asyncio.timeout(_GREET):
                return await self._frame() == b""
        return False

    async def messages(self) -> AsyncIterator[Message]:
        """Give the friend's messages as they come, until the link ends."""
        loop = asyncio.get_running_loop()
        with suppress(EOFError, OSError, TimeoutError):
            while True:
                async with asyncio.timeout(_SILENCE):
                    body = await self._frame()
                # Who floods waits: what is not read fills her own buffers, not ours.
                if (wait := self._bucket.take(loop.time())) > 0:
                    await asyncio.sleep(wait)
                if body:
                    yield decode(body)

    async def _frame(self) -> bytes:
        size = int.from_bytes(await self._reader.readexactly(4))
        if size > MAX_FRAME:
            raise FormatError(f"a frame of {size:,} bytes: {MAX_FRAME:,} are the most")
        return await self._reader.readexactly(size)

    def _write(self, body: bytes) -> None:
        transport = self._writer.transport
        if transport.is_closing():
            return
        if transport.get_write_buffer_size() > _UNSENT:
            transport.abort()
            return
        self._writer.write(len(body).to_bytes(4) + body)

    async def _beats(self) -> None:
        while not self._writer.transport.is_closing():
            await asyncio.sleep(_BEAT)
            self._write(b"")

    def abort(self) -> None:
        """End the link at once."""
        self._beat.cancel()
        self._writer.transport.abort()


_FIRST, _LONGEST = 0.2, 30.0  # seconds between calls
_SHAKE = 10.0
_NO_NAME = "127.0.0.1"  # an address is not sent along in the clear, as a name would be
_STRANGERS = 64  # handshakes at a time: for one more the oldest ends


class LinkManager:
    """Keeps a link to each friend who is there."""

    def __init__(
        self,
        identity: Identity,
        *,
        came: Callable[[str], None],
        went: Callable[[str], None],
        heard: Callable[[str, Message], None],
        reachable: bool = True,
        rate: float = 200.0,
    ) -> None:
        self._identity, self._reachable, self._rate = identity, reachable, rate
        self._came, self._went, self._heard = came, went, heard
        self._friends: dict[str, Friend] = {}
        self._links: dict[str, PeerLink] = {}
        self._buckets: dict[str, TokenBucket] = {}
        self._calls: dict[str, asyncio.Task[None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._inside = identity.context(server=True, friends=())
        self._outside = identity.context(server=False, friends=())
        self._server: asyncio.Server | None = None
        self._own = identity.fingerprint
        self._shaking: dict[asyncio.Task[None], None] = {}  # the oldest first
        self.turned_away = 0  # strangers, and links that broke the rules

    async def listen(self, host: str, port: int) -> int:
        """Begin to listen, and give the port."""
        try:
            self._server = await asyncio.start_server(self._called, host, port, backlog=256)
        except OSError as error:
            where, hint = f"{host}:{port}", "another --listen"
            raise UsageError("friends cannot be awaited here", where=where, hint=hint) from error
        return int(self._server.sockets[0].getsockname()[1])

    def set_friends(self, friends: list[Friend]) -> None:
        """Take up a list of friends: new ones are let in and called, others are let go."""
        now = {one.fingerprint: one for one in friends}
        for gone in self._friends.keys() - now.keys():
            self._let_go(gone)
        new = {who: one for who, one in now.items() if self._friends.get(who) != one}
        self._friends = now
        for who, friend in new.items():
            trust_certificate(self._inside, friend.certificate)
            trust_certificate(self._outside, friend.certificate)
            self._begin_to_call(who, friend)

    def send(self, friend: str, message: Message) -> None:
        """Send a message to a friend, if she is there."""
        if friend in self._links:
            self._links[friend].send(message)

    async def close(self) -> None:
        """End all links."""
        if self._server:
            self._server.close()
        tasks = [*self._calls.values(), *self._tasks]
        for link in list(self._links.values()):
            link.abort()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # --- calling -----------------------------------------------------------------------------

    def _begin_to_call(self, who: str, friend: Friend) -> None:
        if who in self._calls:
            self._calls.pop(who).cancel()
        if friend.address and (not self._reachable or self._own < who):
            self._calls[who] = asyncio.ensure_future(self._call(who, friend))

    async def _call(self, who: str, friend: Friend) -> None:
        """Call a friend for ever, each time a little later while she is not there."""
        wait = _FIRST
        while True:
            with suppress(OSError, TimeoutError):
                async with asyncio.timeout(_SHAKE):
                    reader, writer = await asyncio.open_connection(
                        *friend.place, ssl=self._outside, server_hostname=_NO_NAME
                    )
                if await self._serve(reader, writer, expected=who):
                    wait = _FIRST
            await asyncio.sleep(wait * (0.5 + SystemRandom().random()))
            wait = min(_LONGEST, 2 * wait)

    # --- being called ------------------------------------------------------------------------

    async def _called(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is None:
            writer.transport.abort()
            return
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        # A friend's handshake takes no time: strangers who are slow must not keep her out.
        if len(self._shaking) >= _STRANGERS:
            oldest = next(iter(self._shaking))
            del self._shaking[oldest]
            oldest.cancel()
        self._shaking[task] = None
        try:
            async with asyncio.timeout(_SHAKE):
                await writer.start_tls(self._inside)
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
        """Hear a friend until the link ends; whether it was a friend's at all."""
        shown = writer.get_extra_info("ssl_object")
        who = _shown_by(shown)
        if who not in self._friends or expected not in ("", who):
            self.turned_away += 1
            writer.transport.abort()
            return False
        link = PeerLink(reader, writer, self._bucket(who))
        if not await link.greet():  # she has not added us yet
            link.abort()
            return False
        self._drop(who)
        self._links[who] = link
        self._came(who)
        try:
            async for message in link.messages():
                if self._links.get(who) is not link:
                    break
                self._heard(who, message)
        except FormatError:
            self.turned_away += 1
        finally:
            if self._links.get(who) is link:
                self._drop(who)
            link.abort()
        return True

    def _bucket(self, who: str) -> TokenBucket:
        """Give a friend's bucket: it is no fuller after she has called again."""
        return self._buckets.setdefault(who, TokenBucket(self._rate, 2 * self._rate))

    def _let_go(self, who: str) -> None:
        if who in self._calls:
            self._calls.pop(who).cancel()
        self._drop(who)

    def _drop(self, who: str) -> None:
        link = self._links.pop(who, None)
        if link is not None:
            link.abort()
            self._went(who)


def _shown_by(shown: object) -> str:
    """Give the fingerprint at the other end, or nothing if what it shows is no friend's form."""
    with suppress(FormatError):
        return peer_fingerprint(shown) if isinstance(shown, ssl.SSLObject) else ""
    return ""
