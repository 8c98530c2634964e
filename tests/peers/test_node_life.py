"""Nodes that find each other, answer, stop, crash, and go on from their folders."""

from __future__ import annotations

import asyncio
import stat
from dataclasses import replace

import pytest
from small_nodes import (
    ALWAYS_ASK,
    QUICK,
    Node,
    NodeDirectory,
    StubEngine,
    Timeouts,
    fresh_home,
    line_of,
    running,
    until,
)

from queryveil.errors import InputError, UsageError
from queryveil.peers.node.records import NodeStatus
from queryveil.peers.node.status import status
from queryveil.peers.protocol.state import PeerStats


def test_friends_answer_each_other() -> None:
    async def live() -> None:
        async with running(fresh_home(), fresh_home(), fresh_home()) as nodes:
            for number in range(30):
                outcome = await nodes[number % 3].search(f"query {number}")
                assert outcome.kind == "answered"
                assert outcome.results[0].url == "https://example.org/"
            seen = [text for node in nodes for text in node._engine.seen]
            assert sorted(seen) == sorted(f"query {number}" for number in range(30))
            present = nodes[0].status()
            assert present.account.own == 10
            assert present.account.seen == len(nodes[0]._engine.seen)
            assert 0 <= present.exposure < 100
            assert [friend.present for friend in present.friends] == [True, True]

    asyncio.run(live())


def test_an_engine_that_fails_is_passed_over() -> None:
    class Broken(StubEngine):
        async def search(self, text: str) -> tuple:
            raise InputError("no")

    async def live() -> None:
        async with running(fresh_home(), fresh_home(), settings=ALWAYS_ASK) as (one, other):
            other._engine = Broken()
            assert (await one.search("cats")).kind == "nobody"
            assert one.exchange.stats(other.identity.fingerprint).lost == 1

    asyncio.run(live())


def test_the_owner_is_asked_when_a_friend_crashes_with_a_query() -> None:
    """Another friend must not read it too: two who compare would know whose query it is."""

    class Slow(StubEngine):
        async def search(self, text: str) -> tuple:
            self.seen.append(text)
            await asyncio.sleep(600)
            return ()

    async def live() -> None:
        homes = [fresh_home() for _ in range(3)]
        async with running(*homes, settings=ALWAYS_ASK) as (one, bad, good):
            bad._engine = Slow()
            while not bad._engine.seen:
                search = asyncio.ensure_future(one.search("cats"))
                await until(lambda: search.done() or bad._engine.seen)  # noqa: B023
            before = len(good._engine.seen)
            await bad.kill()
            outcome = await search
            assert (outcome.kind, outcome.by) == ("nobody", None)
            assert len(good._engine.seen) == before
            assert (await one.submit_directly(outcome.number)).kind == "answered"

    asyncio.run(live())


def test_trust_returns_also_while_a_node_is_off() -> None:
    home, day = fresh_home(), Timeouts().half

    async def live(now: float) -> tuple[float, float]:
        node = Node(home, StubEngine(), waits=QUICK._replace(half=day), wall=lambda: now)
        await node.start(None)
        counts = node.exchange.counts("ann")
        if not counts[0]:
            node.exchange.restore("ann", (8, 4), PeerStats(asked=8))
            node.friends["ann"] = line_of(node.identity, "ann")
        node.friends.setdefault("ann", line_of(node.identity, "ann"))
        await node.stop()
        return counts

    assert asyncio.run(live(1000.0)) == (0, 0)
    assert asyncio.run(live(1000.0 + day)) == pytest.approx((4, 2))
    assert asyncio.run(live(1000.0)) == pytest.approx((4, 2))  # a clock that was put back


def test_state_survives_a_restart() -> None:
    home, other = fresh_home(), fresh_home()

    async def live() -> NodeStatus:
        async with running(home, other) as (node, _):
            for number in range(10):
                await node.search(f"query {number}")
            return node.status()

    async def again() -> NodeStatus:
        node = Node(home, StubEngine(), waits=QUICK)
        await node.start(None)
        present = node.status()
        await node.stop()
        return present

    before, after = asyncio.run(live()), asyncio.run(again())
    (friend,) = after.friends
    assert not friend.present
    friends = (replace(friend, present=True),)
    assert before == replace(after, friends=friends, turned_away=before.turned_away)
    saved = status(home)
    assert saved.exposure == before.exposure
    assert saved.account.own == 10
    assert saved.friends[0].name == "n1"


def test_friends_find_each_other_again() -> None:
    async def live() -> None:
        async with running(fresh_home(), fresh_home()) as (one, other):
            await other.kill()
            await until(lambda: not one.exchange.online_friends)
            again = Node(other.home, StubEngine(), waits=QUICK)
            await again.start(("127.0.0.1", other.port))
            await until(lambda: one.exchange.online_friends and again.exchange.online_friends)
            await again.stop()

    asyncio.run(live())


@pytest.mark.parametrize("keep", [False, True])
def test_no_text_is_on_disk_unless_asked_for(keep: bool) -> None:
    homes = fresh_home(), fresh_home()

    async def live() -> None:
        async with running(*homes, store_queries=keep) as nodes:
            for number in range(8):
                await nodes[number % 2].search(f"a secret wish {number}")
            assert any(node.account.texts for node in nodes) == keep

    asyncio.run(live())
    files = [path for home in homes for path in home.path.iterdir()]
    written = b"".join(path.read_bytes() for path in files)
    assert (b"secret wish" in written) == keep
    assert b"own" in written


def test_only_the_owner_can_read_the_folder() -> None:
    homes = fresh_home(), fresh_home()

    async def live() -> None:
        async with running(*homes) as (node, _):
            await node.search("cats")

    asyncio.run(live())
    for home in homes:
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in home.path.iterdir()}
        assert stat.S_IMODE(home.path.stat().st_mode) == 0o700
        assert set(modes.values()) == {0o600}
        assert {"key.pem", "certificate.pem", "secret", "state.json"} <= modes.keys()


@pytest.mark.parametrize("name", ["key.pem", "state.json", "secret", "."])
def test_a_folder_that_others_can_read_is_refused(name: str) -> None:
    home = fresh_home()

    async def live() -> None:
        node = Node(home, StubEngine())
        await node.start(None)
        await node.stop()

    asyncio.run(live())
    (home.path / name).chmod(0o755)
    with pytest.raises(InputError, match="others can read"):
        Node(home, StubEngine())


def test_a_link_in_the_folder_is_refused(tmp_path) -> None:
    home = fresh_home()
    home.make()
    (tmp_path / "state.json").write_text("{}")
    (home.path / "state.json").symlink_to(tmp_path / "state.json")
    with pytest.raises(InputError, match="link"):
        home.make()


def saved(friend: str) -> str:
    """Return the text of a saved state with one friend."""
    account = '{"own": {}, "seen": {}}'
    return f'{{"version": 1, "at": 0, "account": {account}, "friends": {{"a": {friend}}}}}'


def test_a_saved_state_is_read() -> None:
    home = fresh_home()
    status(home)
    home.write("state.json", saved('{"counts": [2, 1], "tally": {"asked": 2}}').encode())
    assert status(home).account.own == 0


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("state.json", "{"), ("state.json", "[]"), ("state.json", '{"friends": {"a": 1}}'),
        ("state.json", saved('{"counts": [1], "tally": {}}')),
        ("friends.json", "7"), ("friends.json", '["x"]'), ("certificate.pem", "x"),
        ("state.json", "[" * 100_000), ("friends.json", '{"a":' * 100_000),
        ("state.json", saved('{"counts": [Infinity, 1], "tally": {}}')),
        ("state.json", saved('{"counts": [1, 2], "tally": {}}')),
        ("state.json", saved('{"counts": [NaN, NaN], "tally": {}}')),
        ("state.json", saved('{"counts": [2, 1], "tally": {"asked": "many"}}')),
        ("state.json", saved('{"counts": [2, 1], "tally": {"unknown": 1}}')),
        ("state.json", saved('{"counts": [2, 1], "tally": {}}').replace('"at": 0', '"at": "x"')),
        ("state.json", saved('{"counts": [2, 1], "tally": {}}').replace("{}, ", '{"a": "x"}, ')),
    ],
    ids=range(16),
)  # fmt: skip
def test_damaged_files_are_told(name: str, text: str) -> None:
    home = fresh_home()
    status(home)
    home.write(name, text.encode())
    with pytest.raises(InputError):
        status(home)


def test_two_nodes_cannot_run_from_one_folder() -> None:
    home = fresh_home()
    home.make()
    with home.locked(), pytest.raises(UsageError, match="runs from this folder"), home.locked():
        pass
    with home.locked():
        pass


def test_a_state_file_is_not_read_when_it_is_huge(monkeypatch) -> None:
    monkeypatch.setattr("queryveil.peers.node.storage._MAX_BYTES", 10)
    home: NodeDirectory = fresh_home()
    home.make()
    home.write("state.json", b" " * 11)
    with pytest.raises(InputError, match="too large"):
        home.read("state.json")
