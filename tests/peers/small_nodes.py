"""Nodes on loopback for tests: friends who behave, and one who is driven by hand."""

from __future__ import annotations

import asyncio
import atexit
import json
import ssl
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from queryveil.peers.node.identity import (
    Friend,
    Identity,
    add_friend,
    load_identity,
    make_invitation,
    read_invitation,
)
from queryveil.peers.node.node import Node
from queryveil.peers.node.storage import NodeDirectory
from queryveil.peers.protocol.messages import Message, Result, decode, encode
from queryveil.peers.protocol.policy import ProtocolSettings
from queryveil.peers.protocol.state import Timeouts

PAGE = (Result("A page", "https://example.org/", "text"),)
# A busy machine must not make friends look silent; tests of silence are quick.
PATIENT = Timeouts(reply=60, engine=60, hop=1, own=300, owner=300)
QUICK = Timeouts(reply=0.4, engine=0.6, hop=0.1, own=5, owner=5)
ALWAYS_ASK = ProtocolSettings(
    submit_probability=0.001, max_hops=1
)  # friends submit, the owner hardly ever


class StubEngine:
    """Answers at once, and remembers."""

    def __init__(self, results: tuple[Result, ...] = PAGE) -> None:
        self.seen: list[str] = []
        self.results = results

    async def search(self, text: str) -> tuple[Result, ...]:
        self.seen.append(text)
        return self.results

    async def close(self) -> None: ...


_FOLDER = tempfile.TemporaryDirectory()
atexit.register(_FOLDER.cleanup)


def fresh_home() -> NodeDirectory:
    return NodeDirectory(Path(tempfile.mkdtemp(dir=_FOLDER.name)) / "home")


def line_of(identity: Identity, name: str, address: str = "") -> Friend:
    return read_invitation(make_invitation(identity, name, address))


async def until(true: Callable[[], Any], seconds: float = 300.0) -> None:
    """Wait until something is so."""
    async with asyncio.timeout(seconds):
        while not true():
            await asyncio.sleep(0.01)


@asynccontextmanager
async def running(*homes: NodeDirectory, **more: Any) -> AsyncIterator[list[Node]]:
    """Run nodes from folders, each on a free port, as friends of each other."""
    nodes = [Node(home, StubEngine(), **({"waits": PATIENT} | more)) for home in homes]
    names = [f"n{number}" for number in range(len(nodes))]
    ports = [await node.start(("127.0.0.1", 0)) for node in nodes]
    for one in nodes:
        for name, port, other in zip(names, ports, nodes, strict=True):
            if one is not other:
                friend = line_of(other.identity, name, f"127.0.0.1:{port}")
                add_friend(one.home, one.identity.fingerprint, friend)
        one._look_for_friends()
    try:
        await until(lambda: all(len(n.exchange.online_friends) == len(nodes) - 1 for n in nodes))
        for node in nodes:
            node.port = node.links._server.sockets[0].getsockname()[1]
        yield nodes
    finally:
        for node in nodes:
            await node.stop()


class ByHand:
    """A friend, or a stranger, whose every byte is chosen by a test."""

    def __init__(self, identity: Identity | None = None) -> None:
        self.identity = identity or load_identity(fresh_home())

    def befriend(self, node: Node, name: str = "mallory") -> None:
        add_friend(node.home, node.identity.fingerprint, line_of(self.identity, name))
        node._look_for_friends()

    async def call(self, node: Node, context: ssl.SSLContext | None = None) -> ByHand:
        trusted = [node.identity.certificate]
        context = context or self.identity.context(server=False, friends=trusted)
        self.reader, self.writer = await asyncio.open_connection(
            "127.0.0.1", node.port, ssl=context, server_hostname="127.0.0.1"
        )
        try:
            self.raw(b"")
            async with asyncio.timeout(300):
                assert await self.frame() == b""
        except BaseException:
            self.hang_up()
            raise
        return self

    def raw(self, body: bytes) -> None:
        self.writer.write(len(body).to_bytes(4) + body)

    def say(self, message: Message) -> None:
        self.raw(encode(message))

    def json(self, told: object) -> None:
        self.raw(json.dumps(told).encode())

    async def frame(self) -> bytes:
        size = int.from_bytes(await self.reader.readexactly(4))
        return await self.reader.readexactly(size)

    async def hear(self, seconds: float = 60.0) -> Message | None:
        """Give the next message, or None if none comes."""
        try:
            async with asyncio.timeout(seconds):
                while not (body := await self.frame()):
                    pass
        except (TimeoutError, EOFError, OSError):
            return None
        return decode(body)

    async def is_cut_off(self) -> bool:
        try:
            async with asyncio.timeout(60):
                while await self.reader.read(65536):
                    pass
        except TimeoutError:
            return False
        except OSError:
            pass
        return True

    def hang_up(self) -> None:
        self.writer.transport.abort()
