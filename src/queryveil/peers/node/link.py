"""A link to one friend: frames of bounded size, padded, read no faster than the rate allows.

A frame is four bytes of length and as many bytes of JSON; an empty frame only says that the
friend is there. Frames are padded, so that their size does not tell the length of a query. A
frame that is not as it must be ends the link.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

from ...errors import FormatError
from ..protocol.messages import Message, decode, encode
from .bucket import TokenBucket

__all__ = ["MAX_FRAME", "PeerLink"]

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
