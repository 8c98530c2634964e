"""Run a node, or the toy engine, until somebody stops it."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple

import uvicorn
from starlette.applications import Starlette

from ...errors import UsageError
from ..protocol.policy import ProtocolSettings
from .engines import DemoSearchEngine, parse_engine
from .http import PromptProtocol
from .node import NODE_SETTINGS, Node
from .storage import NodeDirectory
from .web import make_app

_HERE = "127.0.0.1"  # a person's page is for this machine alone


class NodeConfig(NamedTuple):
    """What a person wants of her node."""

    home: Path
    engine: str
    port: int = 7070
    listen: str = "127.0.0.1:7071"
    results: str | None = None
    fields: str | None = None
    keep_texts: bool = False
    settings: ProtocolSettings = NODE_SETTINGS


def serve_node(plan: NodeConfig, ready: Callable[[str], None]) -> None:
    """Run a node. `ready` is told its page's address once everything is up."""
    place = _place(plan.listen)
    home = NodeDirectory(plan.home)
    home.make()
    with home.locked():
        asyncio.run(_node(plan, home, place, ready))


def serve_engine(port: int, ready: Callable[[str], None]) -> None:
    """Run the toy engine."""
    asyncio.run(_web(lambda _: DemoSearchEngine().app(), _bound(port), ready))


async def _node(
    plan: NodeConfig,
    home: NodeDirectory,
    place: tuple[str, int] | None,
    ready: Callable[[str], None],
) -> None:
    engine = parse_engine(plan.engine, plan.results, plan.fields)
    with _bound(plan.port) as door:
        node = Node(
            home, engine, settings=plan.settings, keep_texts=plan.keep_texts,
            reachable=place is not None,
        )  # fmt: skip
        try:
            await node.start(place)
            await _web(lambda port: make_app(node, port), door, ready)
        finally:
            await node.stop()


async def _web(
    app: Callable[[int], Starlette], door: socket.socket, ready: Callable[[str], None]
) -> None:
    port = door.getsockname()[1]
    server = _Server(web_config(app(port)))
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, setattr, server, "should_exit", True)
    ready(f"http://{_HERE}:{port}/")
    await server.serve(sockets=[door])


def web_config(app: Starlette) -> uvicorn.Config:
    """Return how a page is served: with limits to headers, connections and patience."""
    return uvicorn.Config(
        app, log_level="error", access_log=False, lifespan="off", server_header=False,
        timeout_graceful_shutdown=1, limit_concurrency=400, h11_max_incomplete_event_size=16384,
        http=PromptProtocol, ws="none",
    )  # fmt: skip


class _Server(uvicorn.Server):
    """A server that leaves signals to us: it would raise them again when it is done."""

    def capture_signals(self) -> AbstractContextManager[Any]:  # type: ignore[override]
        return nullcontext()


def _bound(port: int) -> socket.socket:
    try:
        return socket.create_server((_HERE, port))
    except OSError as error:
        hint = "another --port"
        raise UsageError(f"port {port} cannot be had ({error.strerror})", hint=hint) from error


def _place(text: str) -> tuple[str, int] | None:
    """Read where to listen for friends: HOST:PORT, or none."""
    if text == "none":
        return None
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65535:
        raise UsageError(f"--listen cannot be {text}", hint="HOST:PORT, as 0.0.0.0:7071, or none")
    return host.strip("[]"), int(port)
