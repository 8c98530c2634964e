"""Run a node, or the demo engine, until it is stopped."""

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

_HOST = "127.0.0.1"  # the owner's page is for this machine only


class NodeConfig(NamedTuple):
    """The configuration of a node."""

    node_dir: Path
    engine: str
    port: int = 7070
    listen: str = "127.0.0.1:7071"
    results_path: str | None = None
    result_fields: str | None = None
    store_queries: bool = False
    settings: ProtocolSettings = NODE_SETTINGS


def serve_node(plan: NodeConfig, ready: Callable[[str], None]) -> None:
    """Run a node; call `ready` with the address of its page once it accepts requests."""
    endpoint = _parse_endpoint(plan.listen)
    home = NodeDirectory(plan.node_dir)
    home.make()
    with home.locked():
        asyncio.run(_run_node(plan, home, endpoint, ready))


def serve_engine(port: int, ready: Callable[[str], None]) -> None:
    """Run the demo engine; call `ready` with the address of its page."""
    asyncio.run(_serve_app(lambda _: DemoSearchEngine().app(), _bind(port), ready))


async def _run_node(
    plan: NodeConfig,
    home: NodeDirectory,
    endpoint: tuple[str, int] | None,
    ready: Callable[[str], None],
) -> None:
    engine = parse_engine(plan.engine, plan.results_path, plan.result_fields)
    with _bind(plan.port) as listener:
        node = Node(
            home, engine, settings=plan.settings, store_queries=plan.store_queries,
            reachable=endpoint is not None,
        )  # fmt: skip
        try:
            await node.start(endpoint)
            await _serve_app(lambda port: make_app(node, port), listener, ready)
        finally:
            await node.stop()


async def _serve_app(
    build_app: Callable[[int], Starlette], listener: socket.socket, ready: Callable[[str], None]
) -> None:
    port = listener.getsockname()[1]
    server = _Server(web_config(build_app(port)))
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, setattr, server, "should_exit", True)
    ready(f"http://{_HOST}:{port}/")
    await server.serve(sockets=[listener])


def web_config(app: Starlette) -> uvicorn.Config:
    """Return the server configuration of a page, with limits to headers, connections and time."""
    return uvicorn.Config(
        app, log_level="error", access_log=False, lifespan="off", server_header=False,
        timeout_graceful_shutdown=1, limit_concurrency=400, h11_max_incomplete_event_size=16384,
        http=PromptProtocol, ws="none",
    )  # fmt: skip


class _Server(uvicorn.Server):
    """A server without signal handlers of its own: it would raise the signals again at its end."""

    def capture_signals(self) -> AbstractContextManager[Any]:  # type: ignore[override]
        return nullcontext()


def _bind(port: int) -> socket.socket:
    try:
        return socket.create_server((_HOST, port))
    except OSError as error:
        hint = "another `port`"
        raise UsageError(f"port {port} is not available ({error.strerror})", hint=hint) from error


def _parse_endpoint(text: str) -> tuple[str, int] | None:
    """Parse where to listen for friends: HOST:PORT, or none."""
    if text == "none":
        return None
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65535:
        raise UsageError(
            f'`listen` must be HOST:PORT or none, got "{text}"',
            hint="HOST:PORT, as 0.0.0.0:7071, or none",
        )
    return host.strip("[]"), int(port)
