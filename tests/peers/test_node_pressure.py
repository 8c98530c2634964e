"""Slow, huge and many: what keeps a node's places taken, and does not keep anybody out."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest
import uvicorn
import zstandard
from small_nodes import ByHand, Node, StubEngine, fresh_home, running, until

from queryveil.peers.node.http import PromptProtocol
from queryveil.peers.node.server import web_config
from queryveil.peers.node.state import search_key
from queryveil.peers.node.web import make_app
from queryveil.peers.protocol.messages import Accepted, Answer, Query, Refused, Request
from queryveil.peers.protocol.policy import ProtocolSettings

Door = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@asynccontextmanager
async def served() -> AsyncIterator[tuple[Node, int]]:
    """Serve a node's page on a free port, as `serve_node` does."""
    node = Node(fresh_home(), StubEngine())
    door = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
    port = door.sockets[0].getsockname()[1]
    door.close()
    config = web_config(make_app(node, port))
    config.host, config.port = "127.0.0.1", port
    server = uvicorn.Server(config)
    task = asyncio.ensure_future(server._serve())
    await until(lambda: server.started)
    try:
        yield node, port
    finally:
        server.should_exit = True
        await task
        await node.stop()


async def opened(port: int, data: bytes = b"") -> Door:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(data)
    return reader, writer


def request(port: int, path: str = "/", more: bytes = b"", method: str = "GET") -> bytes:
    head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nSec-Fetch-Site: none\r\n"
    return head.encode() + more


async def status_of(port: int, path: str = "/", more: bytes = b"") -> int:
    reader, writer = await opened(port, request(port, path, more) + b"Connection: close\r\n\r\n")
    answer = await reader.read()
    writer.close()
    return int(answer.split()[1]) if answer else 0


async def ended(door: Door) -> bool:
    """Wait until the other side has closed it."""
    try:
        async with asyncio.timeout(300):
            while await door[0].read(65536):
                pass
    except OSError:
        pass
    door[1].transport.abort()
    return True


SLOW = [b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: x\r\n",
        b"POST /submit HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\na"]  # fmt: skip


@pytest.mark.parametrize("sent", SLOW, ids=["nothing", "a word", "half a head", "half a form"])
def test_a_request_that_does_not_come_to_its_end_is_ended(sent: bytes, monkeypatch) -> None:
    monkeypatch.setattr(PromptProtocol, "patience", 0.05)

    async def attack() -> None:
        async with served() as (_, port):
            assert await ended(await opened(port, sent))

    asyncio.run(attack())


def test_the_second_request_of_a_connection_has_no_more_time_than_the_first(monkeypatch) -> None:
    async def attack() -> None:
        async with served() as (_, port):
            door = await opened(port)
            assert await status_of(port) == 200  # the first is waited for by now
            monkeypatch.setattr(PromptProtocol, "patience", 0.05)
            door[1].write(request(port, "/opensearch.xml") + b"\r\n")
            await door[0].readuntil(b"</OpenSearchDescription>")
            door[1].write(b"GET / HT")
            assert await ended(door)

    asyncio.run(attack())


def test_many_slow_connections_do_not_keep_the_owner_out(monkeypatch) -> None:
    """More of them than there are places, all in the time that one of them has."""
    monkeypatch.setattr(PromptProtocol, "grace", 0.0)
    monkeypatch.setattr(PromptProtocol, "patience", 600.0)
    monkeypatch.setattr(PromptProtocol, "places", 50)

    async def attack() -> None:
        async with served() as (node, port):
            doors = [await opened(port, b"GET / HTTP/1.1\r\nX: ") for _ in range(420)]
            path = f"/search?key={search_key(node.home)}&q=cats"
            assert [await status_of(port, path) for _ in range(5)] == [200] * 5
            for _, writer in doors:
                writer.transport.abort()

    asyncio.run(attack())


def test_in_a_crowd_a_program_is_told_to_wait_and_a_person_is_served(monkeypatch) -> None:
    monkeypatch.setattr(PromptProtocol, "crowd", 0)

    async def attack() -> None:
        async with served() as (node, port):
            path = f"/search?key={search_key(node.home)}&q=cats"
            door = await opened(port, request(port, path) + b"\r\n")
            told = (await door[0].read()).decode()
            door[1].close()
            assert told.startswith("HTTP/1.1 503 ")
            assert "\r\nRetry-After: 2\r\n" in told
            assert told.endswith("Busy: try again in 2 s. Nothing was sent.\n")
            assert node.account.counts().own == 0
            assert await status_of(port, path, b"Sec-Fetch-Mode: navigate\r\n") == 200
            assert node.account.counts().own == 1

    asyncio.run(attack())


@pytest.mark.parametrize(
    ("path", "more"),
    [
        ("/" + "x" * 100_000, b""),
        ("/", b"X: " + b"x" * 100_000 + b"\r\n"),
        ("/", b"".join(b"X%d: 1\r\n" % n for n in range(9_000))),
    ],
    ids=["a path", "a header", "many headers"],
)
def test_huge_heads_are_refused(path: str, more: bytes) -> None:
    async def attack() -> None:
        async with served() as (_, port):
            with suppress(ConnectionError):  # it does not wait for the rest
                assert await status_of(port, path, more) in (0, 400)
            assert await status_of(port) == 200

    asyncio.run(attack())


@pytest.mark.parametrize("chunked", [False, True])
def test_a_huge_form_is_not_read(chunked: bool) -> None:
    async def attack() -> None:
        async with served() as (node, port):
            size = b"Transfer-Encoding: chunked" if chunked else b"Content-Length: 99999999999"
            door = await opened(port, request(port, "/submit", size + b"\r\n\r\n", "POST"))
            piece = (b"10000\r\n" if chunked else b"") + b"x" * 65536 + b"\r\n" * chunked
            with suppress(ConnectionError):
                for _ in range(200):
                    door[1].write(piece)
                    await door[1].drain()
            assert await ended(door)
            assert await status_of(port) == 200
            assert node._engine.seen == []

    asyncio.run(attack())


def test_slow_strangers_do_not_keep_a_friend_out() -> None:
    """Three times as many handshakes as there are places, and none of them goes on."""

    async def attack() -> None:
        async with running(fresh_home()) as (node,):
            friend = ByHand()
            friend.befriend(node)
            doors = [await opened(node.port, b"\x16\x03") for _ in range(200)]
            await until(lambda: len(node.links._shaking) >= 60)
            await friend.call(node)
            assert len(node.links._shaking) <= 64
            assert node.exchange.online_friends == (friend.identity.fingerprint,)
            for _, writer in doors:
                writer.transport.abort()
            friend.hang_up()

    asyncio.run(attack())


BOMB = json.dumps({"kind": "request", "id": "0" * 32, "pad": " " * (1 << 24)}).encode()


@pytest.mark.parametrize(
    "frame",
    [
        gzip.compress(BOMB), zstandard.ZstdCompressor().compress(BOMB), b"[" * 100_000,
        b'{"a":' * 20_000, b'{"kind":"request","id":"' + b"0" * 100_000 + b'"}',
        b'{"kind":"query","id":"' + b"0" * 32 + b'","hops":' + b"9" * 90_000 + b',"text":"a"}',
        b'{"kind":"request","id":"' + b"0" * 32 + b'","id":' + b"[" * 5_000 + b"]" * 5_000 + b"}",
        b"\xff\xfe" + '{"kind":1}'.encode("utf-16-le"), b"NaN", b'{"kind":NaN,"id":Infinity}',
    ],
    ids=["gzip", "zstd", "deep lists", "deep objects", "long id", "long number", "id twice",
         "utf-16", "no number", "no kind"],
)  # fmt: skip
def test_a_friends_frame_is_plain_and_flat_or_the_link_ends(frame: bytes) -> None:
    async def attack() -> None:
        async with running(fresh_home()) as (node,):
            friend = ByHand()
            friend.befriend(node)
            await friend.call(node)
            friend.raw(frame)
            assert await friend.is_cut_off()
            await until(lambda: node.links.turned_away == 1)

    asyncio.run(attack())


def test_an_id_that_is_used_twice_or_across_a_new_call_is_served_once() -> None:
    async def attack() -> None:
        async with running(
            fresh_home(), settings=ProtocolSettings(submit_probability=1.0, max_hops=3)
        ) as (node,):
            friend = ByHand()
            friend.befriend(node)
            await friend.call(node)
            name = "a" * 32
            friend.say(Request(name))
            assert await friend.hear() == Accepted(name)
            friend.say(Query(name, 1, "cats"))
            assert isinstance(await friend.hear(), Answer)
            friend.hang_up()
            await until(lambda: not node.exchange.online_friends)
            await friend.call(node)
            for again in (Request(name), Query(name, 1, "cats"), Answer(name, ()), Refused(name)):
                friend.say(again)
            friend.say(Request("b" * 32))
            assert await friend.hear() == Accepted("b" * 32)
            assert node._engine.seen == ["cats"]
            friend.hang_up()

    asyncio.run(attack())
