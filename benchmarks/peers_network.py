"""Fifty nodes on this machine: what a hop costs, how much goes through, and what a crash loses.

All nodes run in one process, each with its own folder, key, listening socket and TLS links, on
loopback alone. The search engine is a function that takes 30 ms. First one query at a time (the
cost of a hop), then 250 a second, then the same while five of the fifty nodes at a time are
killed and started again from their folders. Takes about a minute.

Usage: peers_network.py [--nodes 50] [--rate 250] [--seconds 15] [--page]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import socket
import statistics
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from pages import put_table
from queryveil.peers.node.identity import (
    add_friend,
    load_identity,
    make_invitation,
    read_invitation,
)
from queryveil.peers.node.node import Node, SearchOutcome
from queryveil.peers.node.storage import NodeDirectory
from queryveil.peers.protocol.messages import Result
from queryveil.peers.protocol.state import Limits

ENGINE_S = 0.03
FRIENDS = 6
NODE = Path(__file__).parents[1] / "docs" / "how-to" / "peers-node.md"
KILLED, PAUSE_S = 0.1, 1.0
PAGE = tuple(Result(f"page {n}", f"https://example.org/{n}", "text " * 30) for n in range(10))


class SlowEngine:
    """Takes its time, and counts."""

    def __init__(self, seen: Counter[str]) -> None:
        self.seen = seen

    async def search(self, text: str) -> tuple[Result, ...]:
        self.seen[text] += 1
        await asyncio.sleep(ENGINE_S)
        return PAGE

    async def close(self) -> None: ...


class Network:
    """Nodes in a ring, with chords drawn at random."""

    def __init__(self, folder: Path, size: int, draws: random.Random) -> None:
        self.seen: Counter[str] = Counter()
        self.homes = [NodeDirectory(folder / str(number)) for number in range(size)]
        self.ports = free_ports(size)
        self.nodes: list[Node | None] = [None] * size
        pairs = {(i, (i + 1) % size) for i in range(size)}
        while len(pairs) < size * FRIENDS // 2:
            pairs.add(tuple(sorted(draws.sample(range(size), 2))))
        names = [load_identity(home) for home in self.homes]
        lines = [
            read_invitation(make_invitation(one, f"n{i}", f"127.0.0.1:{self.ports[i]}"))
            for i, one in enumerate(names)
        ]
        for one, other in pairs | {(j, i) for i, j in pairs}:
            add_friend(self.homes[one], names[one].fingerprint, lines[other])
        self.links = 2 * len({tuple(sorted(pair)) for pair in pairs})

    async def start(self, number: int) -> None:
        # The network is to be filled: a friend's share of a minute is not what is measured.
        node = Node(self.homes[number], SlowEngine(self.seen), limits=Limits(minute=10**6))
        await node.start(("127.0.0.1", self.ports[number]))
        self.nodes[number] = node

    async def kill(self, number: int) -> None:
        node, self.nodes[number] = self.nodes[number], None
        await node.kill()

    def alive(self) -> list[Node]:
        return [node for node in self.nodes if node is not None]

    async def whole(self) -> None:
        """Wait until all friends have found each other."""
        async with asyncio.timeout(30):
            while sum(len(node.exchange.online_friends) for node in self.alive()) < self.links:
                await asyncio.sleep(0.05)

    def handed(self) -> int:
        """Tell how often a query was handed on and answered."""
        nodes = self.alive()
        return sum(node.exchange.stats(f).answered for node in nodes for f in node.friends)


def free_ports(count: int) -> list[int]:
    doors = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [door.getsockname()[1] for door in doors]
    for door in doors:
        door.close()
    return ports


async def hop_cost(network: Network, draws: random.Random, queries: int) -> dict[str, Any]:
    """One query at a time: the time above the engine's own, per hop."""
    costs, hops = [], []
    for number in range(queries):
        before = network.handed()
        began = time.perf_counter()
        outcome = await draws.choice(network.alive()).search(f"one {number}")
        took = time.perf_counter() - began - ENGINE_S
        hops.append(network.handed() - before)
        if hops[-1] and outcome.kind == "answered":
            costs.append(1000 * took / hops[-1])
    return {"ms": statistics.median(costs), "hops": statistics.mean(hops)}


async def load(network: Network, draws: random.Random, rate: float, seconds: float, name: str):
    """Send queries at a rate, and tell how they ended."""
    ends: Counter[str] = Counter()
    times: list[float] = []

    async def one(node: Node, text: str) -> None:
        began = time.perf_counter()
        try:
            outcome: SearchOutcome = await node.search(text)
            if outcome.kind == "nobody":
                ends["asked the owner"] += 1
                outcome = await node.submit_directly(outcome.number)
        except asyncio.CancelledError:
            ends["asker killed"] += 1
            return
        ends[outcome.kind] += 1
        times.append(time.perf_counter() - began)

    began, tasks = time.perf_counter(), []
    for number in range(int(rate * seconds)):
        await asyncio.sleep(max(0, began + number / rate - time.perf_counter()))
        tasks.append(asyncio.create_task(one(draws.choice(network.alive()), f"{name} {number}")))
    await asyncio.gather(*tasks)
    spent = time.perf_counter() - began
    sent = [network.seen[f"{name} {number}"] for number in range(len(tasks))]
    return {
        "queries": len(tasks), "rate": len(tasks) / spent, "ends": dict(ends),
        "lost": len(tasks) - ends["answered"] - ends["asker killed"],
        "median_ms": 1000 * statistics.median(times),
        "p99_ms": 1000 * statistics.quantiles(times, n=100)[98],
        "submitted_once": sum(one == 1 for one in sent), "submitted_more": sum(x > 1 for x in sent),
    }  # fmt: skip


async def churn(network: Network, draws: random.Random, done: asyncio.Event) -> int:
    """Kill a tenth of the nodes, start them again, and so on; give how many were killed."""
    killed = 0
    while not done.is_set():
        gone = draws.sample(range(len(network.nodes)), int(KILLED * len(network.nodes)))
        for number in gone:
            await network.kill(number)
        await asyncio.sleep(PAUSE_S)
        for number in gone:
            await network.start(number)
        killed += len(gone)
        await asyncio.sleep(PAUSE_S)
    return killed


async def measure(size: int, rate: float, seconds: float) -> dict[str, Any]:
    draws = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        network = Network(Path(folder), size, draws)
        for number in range(size):
            await network.start(number)
        await network.whole()
        found: dict[str, Any] = {"hop": await hop_cost(network, draws, 300)}
        found["calm"] = await load(network, draws, rate, seconds, "calm")
        done = asyncio.Event()
        task = asyncio.create_task(churn(network, draws, done))
        found["churn"] = await load(network, draws, rate, seconds, "churn")
        done.set()
        found["killed"] = await task
        await network.whole()
        for node in network.alive():
            await node.stop()
    return found


def table(found: dict[str, Any], size: int) -> str:
    hop, calm, churned = found["hop"], found["calm"], found["churn"]
    killed = churned["ends"].get("asker killed", 0)
    rows = [
        "| work | aim | here |",
        "|---|---|---|",
        f"| {size} nodes, one query at a time: median added by a hop | 20 ms | "
        f"{hop['ms']:.1f} ms ({hop['hops']:.1f} hops a query) |",
        f"| queries through the network | 200 a second | {calm['rate']:.0f} a second, "
        f"{calm['lost']} of {calm['queries']:,} lost, median {calm['median_ms']:.0f} ms, "
        f"99% within {calm['p99_ms']:.0f} ms |",
        f"| the same while 10% of the nodes are killed and restarted ({found['killed']} kills) | "
        f"0 answers lost | {churned['lost']} of {churned['queries']:,} lost ({killed} more were "
        f"asked by nodes that were killed), {churned['submitted_more']} submitted more than once |",
    ]
    return "\n".join(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, default=50)
    parser.add_argument("--rate", type=float, default=250)
    parser.add_argument("--seconds", type=float, default=15)
    parser.add_argument("--page", action="store_true", help="put the table into its page")
    args = parser.parse_args()
    found = asyncio.run(asyncio.wait_for(measure(args.nodes, args.rate, args.seconds), 170))
    print(json.dumps(found, indent=1), file=sys.stderr)
    text = table(found, args.nodes)
    print(text)
    if args.page:
        put_table("peers-network", text, NODE)


if __name__ == "__main__":
    main()
