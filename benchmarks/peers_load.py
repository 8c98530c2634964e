"""One node under load: how many searches it accepts, how fast they are, what it says to the rest.

Three nodes and the toy engine, each a process of its own, on loopback alone, as in docs/how-
to/peers-node.md. One node's page is asked at 10, 50, 110 and 220 searches a second, by a program
that holds the page's key, for some seconds each. Then the same with friends who take as many
queries as come: what the node itself can do. The nodes are started anew for each rate. Takes about
two minutes, and sends not more than rate times seconds searches.

Usage: peers_load.py [--rates 10,50,110,220] [--seconds 8]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import uvicorn

from queryveil.peers.node.engines import DemoSearchEngine, parse_engine
from queryveil.peers.node.identity import (
    add_friend,
    load_identity,
    make_invitation,
    read_invitation,
)
from queryveil.peers.node.node import Node
from queryveil.peers.node.server import web_config
from queryveil.peers.node.storage import NodeDirectory
from queryveil.peers.node.web import make_app
from queryveil.peers.protocol.state import Limits

NAMES = ("ann", "bob", "cleo")
BROWSER = {"Sec-Fetch-Site": "none"}
ENDS = {"Answered by": "answered", 'id="nobody"': "asked the owner", "did not answer": "broken"}


async def run_node(home: Path, port: int, listen: int, engine: str, minute: int) -> None:
    """Run one node and its page until the process ends."""
    limits = Limits(minute=minute) if minute else Limits()
    node = Node(NodeDirectory(home), parse_engine(engine), limits=limits)
    await node.start(("127.0.0.1", listen))
    await serve(web_config(make_app(node, port)), port)


async def run_engine(port: int) -> None:
    await serve(uvicorn.Config(DemoSearchEngine().app(), log_level="error", lifespan="off"), port)


async def serve(config: uvicorn.Config, port: int) -> None:
    config.host, config.port = "127.0.0.1", port
    await uvicorn.Server(config).serve()


def free_ports(count: int) -> list[int]:
    doors = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [door.getsockname()[1] for door in doors]
    for door in doors:
        door.close()
    return ports


@contextmanager
def network(minute: int):
    """Start an engine and three nodes; give the port of ann's page."""
    with tempfile.TemporaryDirectory() as folder:
        engine, *ports = free_ports(7)
        pages, links = ports[:3], ports[3:]
        homes = [NodeDirectory(Path(folder) / name) for name in NAMES]
        known = [load_identity(home) for home in homes]
        lines = [read_invitation(make_invitation(one, name, f"127.0.0.1:{link}"))
                 for one, name, link in zip(known, NAMES, links, strict=True)]  # fmt: skip
        for one in range(3):
            for other in {0, 1, 2} - {one}:
                add_friend(homes[one], known[one].fingerprint, lines[other])
        started = [run("engine", str(engine))]
        for home, page, link in zip(homes, pages, links, strict=True):
            where = f"searxng:http://{home.path.name}@127.0.0.1:{engine}"
            started.append(run("node", str(home.path), str(page), str(link), where, str(minute)))
        try:
            wait_until_whole(pages)
            yield pages[0]
        finally:
            for one in started:
                one.kill()
                one.wait()


def run(*words: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, __file__, "--run", *words], env=os.environ)


def page_of(port: int) -> str:
    return httpx.get(f"http://127.0.0.1:{port}/", headers=BROWSER, timeout=5).text


def wait_until_whole(pages: list[int]) -> None:
    end, left = time.monotonic() + 60, list(pages)
    while left and time.monotonic() < end:
        try:
            there = page_of(left[0]).count("<td>yes</td>") == 2
        except httpx.HTTPError:
            there = False
        if there:
            left.pop(0)
        else:
            time.sleep(0.1)
    if left:
        raise SystemExit("the nodes did not find each other")


async def fetched(port: int, path: str) -> str:
    """Fetch a page with as little work as can be: the load must not be what is slow."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nSec-Fetch-Site: none\r\n"
    writer.write(f"{head}Connection: close\r\n\r\n".encode())
    try:
        answer = await reader.read(-1)
    finally:
        writer.transport.abort()
    if not answer:
        raise EOFError
    return answer.decode()


async def load(port: int, rate: float, seconds: float) -> dict[str, Any]:
    """Search at a rate, whatever the answers do, and tell how they ended."""
    found = re.search(r"key=([0-9a-f]+)", page_of(port))
    key = found[1] if found else ""
    ends: Counter[str] = Counter()
    times: list[float] = []

    async def one(number: int) -> None:
        began = time.perf_counter()
        try:
            answer = await fetched(port, f"/search?key={key}&q=query+{number}")
        except (OSError, EOFError) as error:
            ends[type(error).__name__] += 1
            return
        shed = answer.startswith("HTTP/1.1 503")
        kinds = [kind for text, kind in ENDS.items() if text in answer]
        ends["shed" if shed else kinds[0] if kinds else answer[:12]] += 1
        if shed and not ("try again in" in answer and "retry-after" in answer.lower()):
            ends["shed without a word"] += 1
        if not shed:
            times.append(time.perf_counter() - began)

    began, tasks = time.perf_counter(), []
    for number in range(int(rate * seconds)):
        await asyncio.sleep(max(0, began + number / rate - time.perf_counter()))
        tasks.append(asyncio.create_task(one(number)))
    sent_in = time.perf_counter() - began
    await asyncio.gather(*tasks)
    ordered = sorted(times)
    return {
        "rate": rate, "queries": len(tasks), "sent_in": sent_in, "load": os.getloadavg()[0],
        "ends": dict(ends), "accepted": len(times), "shed": ends["shed"],
        "p50": statistics.median(ordered) if ordered else None,
        "p95": ordered[int(0.95 * len(ordered))] if ordered else None,
    }  # fmt: skip


def measure(rates: list[float], seconds: float) -> list[dict[str, Any]]:
    rows = []
    for minute in (0, 10**6):
        for rate in rates:
            with network(minute) as port:
                row = asyncio.run(asyncio.wait_for(load(port, rate, seconds), 120))
            rows.append(row | {"limits": not minute})
            print(json.dumps(rows[-1]), file=sys.stderr)
    return rows


def table(rows: list[dict[str, Any]]) -> str:
    lines = [
        "| friends take | searches a second | accepted | of these: answered, owner asked, broken | "
        "told to wait | median | 95% within |",
        "|---|---:|---:|---|---:|---:|---:|",
    ]
    for row in rows:
        ends = row["ends"]
        kinds = ", ".join(str(ends.get(kind, 0)) for kind in ENDS.values())
        lines.append(
            f"| {'120 a minute' if row['limits'] else 'all that comes'} | {row['rate']:.0f} | "
            f"{row['accepted']:,} of {row['queries']:,} | {kinds} | {row['shed']:,} | "
            f"{row['p50']:.2f} s | {row['p95']:.2f} s |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rates", default="10,50,110,220")
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--run", nargs="+", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.run:
        kind, *more = args.run
        if kind == "engine":
            asyncio.run(run_engine(int(more[0])))
        else:
            home, page, link, engine, minute = more
            asyncio.run(run_node(Path(home), int(page), int(link), engine, int(minute)))
        return
    rows = measure([float(rate) for rate in args.rates.split(",")], min(args.seconds, 30))
    print(table(rows))


if __name__ == "__main__":
    main()
