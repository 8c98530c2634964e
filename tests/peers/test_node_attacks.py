"""Attacks on a node's links, each by one who holds what an attacker may hold."""

from __future__ import annotations

import asyncio
import ssl
import time
from datetime import UTC, datetime

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from small_nodes import (
    ALWAYS_ASK,
    QUICK,
    ByHand,
    Node,
    StubEngine,
    fresh_home,
    line_of,
    running,
    until,
)

from queryveil.peers.node.identity import add_friend, load_identity
from queryveil.peers.node.links import MAX_FRAME
from queryveil.peers.protocol.messages import (
    Accepted,
    Answer,
    NoAnswer,
    Query,
    Refused,
    Request,
    Result,
)
from queryveil.peers.protocol.policy import ProtocolSettings

ONE, TWO = "1" * 32, "2" * 32
SUBMITS = ProtocolSettings(submit_probability=1.0, max_hops=3)
TURNED_AWAY = (ssl.SSLError, ConnectionError, EOFError, AssertionError)


async def refused(caller: ByHand, node: Node, context: ssl.SSLContext | None = None) -> None:
    before = node.links.turned_away
    with pytest.raises(TURNED_AWAY):
        await caller.call(node, context)
    await until(lambda: node.links.turned_away == before + 1)
    assert node.exchange.online_friends == ()


# --- strangers -----------------------------------------------------------------------------------


def test_a_stranger_is_not_let_in() -> None:
    async def attack() -> None:
        async with running(fresh_home()) as (node,):
            await refused(ByHand(), node)

    asyncio.run(attack())


def test_nobody_is_let_in_without_a_certificate_or_with_older_tls() -> None:
    async def attack() -> None:
        async with running(fresh_home()) as (node,):
            friend = ByHand()
            friend.befriend(node)
            bare = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            bare.check_hostname, bare.verify_mode = False, ssl.CERT_NONE
            await refused(friend, node, bare)
            old = friend.identity.context(server=False, friends=[node.identity.certificate])
            old.minimum_version = ssl.TLSVersion.TLSv1_2
            old.maximum_version = ssl.TLSVersion.TLSv1_2
            await refused(friend, node, old)
            assert await friend.call(node)
            friend.hang_up()

    asyncio.run(attack())


def test_a_friend_cannot_vouch_for_another_key() -> None:
    """Her certificate is trusted, and must not be able to sign one more."""

    async def attack() -> None:
        async with running(fresh_home()) as (node,):
            friend = ByHand()
            friend.befriend(node)
            home = friend.identity.home
            hers = load_pem_private_key((home.path / "key.pem").read_bytes(), None)
            issuer = x509.load_der_x509_certificate(friend.identity.certificate)
            key = Ed25519PrivateKey.generate()
            signed = (
                x509.CertificateBuilder().subject_name(issuer.subject)
                .issuer_name(issuer.subject).public_key(key.public_key()).serial_number(7)
                .not_valid_before(datetime(2020, 1, 1, tzinfo=UTC))
                .not_valid_after(datetime(2090, 1, 1, tzinfo=UTC)).sign(hers, None)
            )  # fmt: skip
            other = fresh_home()
            load_identity(other)
            other.write("certificate.pem", signed.public_bytes(Encoding.PEM))
            kind = (Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
            other.write("key.pem", key.private_bytes(*kind))
            await refused(ByHand(load_identity(other)), node)

    asyncio.run(attack())


def test_a_node_does_not_talk_to_a_stranger_at_a_friends_address() -> None:
    async def attack() -> None:
        heard = []

        async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            heard.append(await reader.read(100))
            writer.close()

        stranger, friend = ByHand(), ByHand()
        async with running(fresh_home(), reachable=False) as (node,):
            context = stranger.identity.context(server=True, friends=[node.identity.certificate])
            server = await asyncio.start_server(listen, "127.0.0.1", 0, ssl=context)
            address = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
            add_friend(
                node.home, node.identity.fingerprint, line_of(friend.identity, "ann", address)
            )  # the node calls
            node._look_for_friends()
            await asyncio.sleep(0.5)
            assert node.exchange.online_friends == ()
            assert not any(heard)
            server.close()

    asyncio.run(attack())


def test_both_must_have_added_each_other() -> None:
    async def attack() -> None:
        ann = Node(fresh_home(), StubEngine(), reachable=False)
        async with running(fresh_home()) as (bob,):
            add_friend(
                ann.home, ann.identity.fingerprint,
                line_of(bob.identity, "bob", f"127.0.0.1:{bob.port}"),
            )  # fmt: skip
            await ann.start(None)
            await until(lambda: bob.links.turned_away > 0)
            assert ann.exchange.online_friends == bob.exchange.online_friends == ()
            add_friend(bob.home, bob.identity.fingerprint, line_of(ann.identity, "ann"))
            await until(lambda: ann.exchange.online_friends and bob.exchange.online_friends)
            await ann.stop()

    asyncio.run(attack())


def test_a_friend_who_is_forgotten_is_cut_off() -> None:
    async def attack() -> None:
        async with running(fresh_home()) as (node,):
            friend = ByHand()
            friend.befriend(node)
            await friend.call(node)
            node.home.write_json("friends.json", [])
            node._look_for_friends()
            assert await friend.is_cut_off()
            await refused(friend, node)

    asyncio.run(attack())


# --- friends -------------------------------------------------------------------------------------


def test_replayed_and_forged_messages_do_nothing() -> None:
    async def attack() -> None:
        async with running(fresh_home(), settings=SUBMITS) as (node,):
            friend = ByHand()
            friend.befriend(node)
            await friend.call(node)
            for _ in range(3):
                friend.say(Request(ONE))
            assert await friend.hear() == Accepted(ONE)
            for _ in range(3):
                friend.say(Query(ONE, 1, "cats"))
            assert isinstance(await friend.hear(), Answer)
            for forged in (Answer(TWO, ()), Accepted(TWO), NoAnswer(ONE), Query(TWO, 1, "dogs")):
                friend.say(forged)
            friend.say(Request(ONE))
            assert await friend.hear(0.2) is None
            assert node._engine.seen == ["cats"]
            assert node.exchange.open_count == 0
            friend.hang_up()

    asyncio.run(attack())


@pytest.mark.parametrize(
    "sent",
    [
        (2**32 - 1).to_bytes(4),
        (MAX_FRAME + 1).to_bytes(4),
        b"\x00\x01\x00\x00" + b"[" * 65536,
        b"\x00\x00\x00\x02{}",
        b"\x00\x00\x00\x01\xff",
    ],
    ids=["4 GB", "a byte too long", "deep", "empty", "no text"],
)
def test_absurd_frames_end_the_link(sent: bytes) -> None:
    async def attack() -> None:
        async with running(fresh_home()) as (node,):
            friend = ByHand()
            friend.befriend(node)
            await friend.call(node)
            friend.writer.write(sent)
            assert await friend.is_cut_off()
            await until(lambda: node.links.turned_away == 1 and node.exchange.online_friends == ())

    asyncio.run(attack())


def test_a_long_text_ends_the_link_and_is_not_submitted() -> None:
    async def attack() -> None:
        async with running(fresh_home(), settings=SUBMITS) as (node,):
            friend = ByHand()
            friend.befriend(node)
            await friend.call(node)
            friend.say(Request(ONE))
            assert await friend.hear() == Accepted(ONE)
            friend.json({"kind": "query", "id": ONE, "hops": 1, "text": "x" * 100_000})
            assert await friend.is_cut_off()
            assert node._engine.seen == []

    asyncio.run(attack())


def test_who_floods_slows_down_nobody_but_herself() -> None:
    async def attack() -> None:
        async with running(
            fresh_home(), fresh_home(), rate=50.0, settings=ALWAYS_ASK, waits=QUICK
        ) as nodes:
            node, _ = nodes
            friend = ByHand()
            friend.befriend(node)
            await friend.call(node)
            began = time.monotonic()
            for number in range(5000):
                friend.say(Request(f"{number:032x}"))
            while time.monotonic() - began < 0.8:
                outcome = await node.search("cats")
                assert outcome.kind in ("answered", "nobody")  # mallory is asked too, and is silent
                await asyncio.sleep(0.05)
            tally = node.exchange.stats(friend.identity.fingerprint)
            spent = time.monotonic() - began
            assert tally.requests <= 100 + 50 * spent + 5
            assert node.exchange._book.open_per_sender[friend.identity.fingerprint] <= 64
            friend.hang_up()

    asyncio.run(attack())


def test_calling_again_is_no_way_around_the_rate() -> None:
    async def attack() -> None:
        async with running(fresh_home(), rate=20.0) as (node,):
            friend = ByHand()
            friend.befriend(node)
            began = time.monotonic()
            for call in range(6):
                await friend.call(node)
                for number in range(100):
                    friend.say(Request(f"{1000 * call + number:032x}"))
                await asyncio.sleep(0.1)
                friend.hang_up()
            tally = node.exchange.stats(friend.identity.fingerprint)
            assert tally.requests <= 40 + 20 * (time.monotonic() - began) + 5

    asyncio.run(attack())


def test_a_friend_who_stops_reading_is_dropped() -> None:
    async def attack() -> None:
        async with running(fresh_home()) as (node,):
            friend = ByHand()
            friend.befriend(node)
            await friend.call(node)
            friend.reader._transport.pause_reading()
            who = friend.identity.fingerprint
            long = Answer(ONE, (Result("t", "https://x.example/", "s" * 1000),) * 20)
            for _ in range(1000):
                node.links.send(who, long)
                await asyncio.sleep(0)
                if who not in node.exchange.online_friends:
                    break
            await until(lambda: who not in node.exchange.online_friends)
            friend.hang_up()

    asyncio.run(attack())


@pytest.mark.parametrize("way", ["refuses", "is silent", "accepts and keeps it"])
def test_who_never_relays_is_served_less(way: str) -> None:
    """Tit for tat: whatever she says, only answers earn trust."""

    async def attack() -> None:
        async with running(fresh_home(), settings=ALWAYS_ASK, waits=QUICK) as (node,):
            friend = ByHand()
            friend.befriend(node)
            await friend.call(node)
            who = friend.identity.fingerprint
            searches = [asyncio.ensure_future(node.search(f"q{n}")) for n in range(20)]
            asked = 0
            while asked < 20 and (message := await friend.hear(3)):
                asked += isinstance(message, Request)
                if isinstance(message, Request) and way != "is silent":
                    friend.say((Refused if way == "refuses" else Accepted)(message.id))
            outcomes = await asyncio.gather(*searches)
            assert {one.kind for one in outcomes} <= {"nobody", "answered"}
            assert node.exchange.trust(who) < 0.1
            served = 0
            while await friend.hear(0.05):
                pass
            for number in range(60):
                friend.say(Request(f"{number:032x}"))
                while isinstance(said := await friend.hear(), Query):
                    pass
                served += isinstance(said, Accepted)
            assert served < 20
            friend.hang_up()

    asyncio.run(attack())


def test_an_answer_with_more_than_text_ends_the_link() -> None:
    async def attack() -> None:
        async with running(fresh_home(), settings=ALWAYS_ASK) as (node,):
            friend = ByHand()
            friend.befriend(node)
            await friend.call(node)
            search = asyncio.ensure_future(node.search("cats"))
            request = await friend.hear()
            friend.say(Accepted(request.id))
            assert (await friend.hear()).text == "cats"
            bad = [["t", "javascript:alert(1)", "s"]]
            friend.json({"kind": "answer", "id": request.id, "results": bad})
            assert (await search).kind == "nobody"
            assert await friend.is_cut_off()

    asyncio.run(attack())


def test_a_bad_greeting_ends_the_call_and_not_the_calling() -> None:
    """A friend who breaks the rules at once is called again later, as one who is not there."""

    async def attack() -> None:
        calls = []

        async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            calls.append(1)
            writer.write(b"\xff\xff\xff\xff")
            await reader.read(100)
            writer.close()

        friend = ByHand()
        async with running(fresh_home(), reachable=False) as (node,):
            context = friend.identity.context(server=True, friends=[node.identity.certificate])
            server = await asyncio.start_server(listen, "127.0.0.1", 0, ssl=context)
            address = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
            add_friend(
                node.home, node.identity.fingerprint, line_of(friend.identity, "ann", address)
            )
            node._look_for_friends()
            await until(lambda: len(calls) >= 2)
            assert not any(task.done() for task in node.links._calls.values())
            server.close()

    asyncio.run(attack())


def test_what_waits_for_the_engine_is_dropped_when_its_time_is_over() -> None:
    """Else it would be submitted after a failure was told, and others had submitted it."""

    class Slow(StubEngine):
        async def search(self, text: str) -> tuple[Result, ...]:
            self.seen.append(text)
            await asyncio.sleep(2)
            return self.results

    async def attack() -> None:
        engine = Slow()
        async with running(fresh_home(), settings=SUBMITS, waits=QUICK) as (node,):
            node._engine = engine
            friend = ByHand()
            friend.befriend(node)
            await friend.call(node)
            for number in range(60):
                friend.say(Request(f"{number:032x}"))
                friend.say(Query(f"{number:032x}", 1, f"q{number}"))

            async def search() -> None:
                outcome = await node.search("mine")
                if outcome.kind == "nobody":  # by the draw the friend was asked, who is silent
                    await node.submit_directly(outcome.number)

            await until(lambda: len(engine.seen) >= 20)  # all places for friends are taken
            own = asyncio.ensure_future(search())
            await until(lambda: "mine" in engine.seen)
            await asyncio.sleep(4)  # the friend's are over by then, and she was told so
            assert len([text for text in engine.seen if text != "mine"]) <= 20
            assert node.account.counts().seen == len(engine.seen)
            own.cancel()

    asyncio.run(attack())
