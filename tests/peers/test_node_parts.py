"""The parts of a node: invitations, engines, the account, the rate."""

from __future__ import annotations

import asyncio
import json
import tracemalloc
import zlib
from base64 import b64encode
from datetime import UTC, datetime

import httpx
import pytest
import zstandard
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding
from hypothesis import given
from hypothesis import strategies as st
from small_nodes import fresh_home, line_of

from queryveil.errors import FormatError, InputError, UsageError
from queryveil.peers.node.engines import DemoSearchEngine, WebSearchEngine, parse_engine
from queryveil.peers.node.exposure import ExposureCounter
from queryveil.peers.node.identity import (
    Friend,
    add_friend,
    fingerprint,
    load_identity,
    make_invitation,
    read_friends,
    read_invitation,
    remove_friend,
)
from queryveil.peers.node.links import TokenBucket
from queryveil.peers.protocol.messages import Result

# --- invitations ---------------------------------------------------------------------------------


@pytest.mark.parametrize("address", ["", "127.0.0.1:7071", "[::1]:7071", "ann.example:1"])
def test_an_invitation_is_read_as_it_was_written(address: str) -> None:
    identity = load_identity(fresh_home())
    friend = read_invitation(make_invitation(identity, "ann", address) + "\n")
    assert friend == Friend("ann", address, identity.certificate)
    assert friend.fingerprint == identity.fingerprint
    if address:
        assert friend.endpoint[1] in (1, 7071)
        assert "[" not in friend.endpoint[0]


@pytest.mark.parametrize(
    "change",
    [
        lambda line: "", lambda line: line[:-30], lambda line: line.replace("queryveil:", ""),
        lambda line: line.replace(":7071", ":0"), lambda line: line.replace(":7071", ":70711"),
        lambda line: line.replace("ann@", "a nn@"), lambda line: line + "!",
        lambda line: line.split("#")[0] + "#" + "A" * 300,
        lambda line: line.replace("ann@", "<b>@"), lambda line: line + "A" * 2000,
    ],
    ids=range(10),
)  # fmt: skip
def test_a_damaged_invitation_is_refused(change) -> None:
    line = make_invitation(load_identity(fresh_home()), "ann", "127.0.0.1:7071")
    with pytest.raises(FormatError):
        read_invitation(change(line))


@given(st.text(max_size=300))
def test_no_text_is_an_invitation(text) -> None:
    with pytest.raises(FormatError):
        read_invitation("queryveil:" + text)


def test_names_and_addresses_that_cannot_be() -> None:
    identity = load_identity(fresh_home())
    for name in ("", "a b", "x" * 41, "a@b", "<b>"):
        with pytest.raises(UsageError):
            make_invitation(identity, name, "127.0.0.1:7071")
    for address in ("7071", "host", "a b:1", "host:99999"):
        with pytest.raises(FormatError):
            make_invitation(identity, "ann", address)


def test_friends_are_added_changed_and_forgotten() -> None:
    home, ann, bob = fresh_home(), load_identity(fresh_home()), load_identity(fresh_home())
    own = load_identity(home)
    add_friend(home, own.fingerprint, line_of(ann, "ann"))
    add_friend(home, own.fingerprint, line_of(bob, "bob"))
    add_friend(home, own.fingerprint, line_of(ann, "anna", "127.0.0.1:5"))
    assert [(f.name, f.address) for f in read_friends(home)] == [
        ("bob", ""),
        ("anna", "127.0.0.1:5"),
    ]
    with pytest.raises(UsageError, match="another friend is called bob"):
        add_friend(home, own.fingerprint, line_of(ann, "bob"))
    with pytest.raises(UsageError, match="your own invitation"):
        add_friend(home, own.fingerprint, line_of(own, "me"))
    assert remove_friend(home, "bob").fingerprint == bob.fingerprint
    with pytest.raises(UsageError, match="no friend is called bob"):
        remove_friend(home, "bob")


def test_an_identity_stays_and_tells_nothing() -> None:
    home = fresh_home()
    one, again = load_identity(home), load_identity(home)
    assert one.certificate == again.certificate
    assert one.fingerprint != load_identity(fresh_home()).fingerprint
    shown = x509.load_der_x509_certificate(one.certificate)
    assert shown.subject.rfc4514_string() == "CN=queryveil"
    assert shown.not_valid_before_utc.year == 2020


def test_only_ed25519_certificates_count() -> None:
    from cryptography.hazmat.primitives.hashes import SHA256

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([])
    made = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name)
        .public_key(key.public_key()).serial_number(1)
        .not_valid_before(datetime(2020, 1, 1, tzinfo=UTC))
        .not_valid_after(datetime(2090, 1, 1, tzinfo=UTC))
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .sign(key, SHA256())
    )  # fmt: skip
    with pytest.raises(FormatError, match="Ed25519"):
        fingerprint(made.public_bytes(Encoding.DER))


def test_a_certificate_that_could_sign_others_is_no_friends() -> None:
    key, name = Ed25519PrivateKey.generate(), x509.Name([])
    made = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name)
        .public_key(key.public_key()).serial_number(1)
        .not_valid_before(datetime(2020, 1, 1, tzinfo=UTC))
        .not_valid_after(datetime(2090, 1, 1, tzinfo=UTC))
    )  # fmt: skip
    signs = x509.BasicConstraints(ca=True, path_length=None)
    for one in (made, made.add_extension(signs, critical=True)):
        with pytest.raises(FormatError):
            fingerprint(one.sign(key, None).public_bytes(Encoding.DER))


@pytest.mark.parametrize("name", ["certificate.pem", "key.pem"])
def test_half_an_identity_is_not_made_anew(name: str) -> None:
    """Friends know the node by its key: a new one must be wanted."""
    home = fresh_home()
    load_identity(home)
    kept = {path.name: path.read_bytes() for path in home.path.iterdir() if path.name != name}
    (home.path / name).unlink()
    with pytest.raises(InputError, match="half of the node's identity"):
        load_identity(home)
    assert {path.name: path.read_bytes() for path in home.path.iterdir()} == kept


# --- engines -------------------------------------------------------------------------------------


def answered(
    engine: WebSearchEngine, handler, text: str = "blue cats & dogs"
) -> tuple[Result, ...]:
    async def ask() -> tuple[Result, ...]:
        await engine.close()
        engine._client = httpx.AsyncClient(transport=httpx.MockTransport(handler))
        try:
            return await engine.search(text)
        finally:
            await engine.close()

    return asyncio.run(ask())


def test_searxng_is_asked_for_json() -> None:
    asked = []

    def handler(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        page = {"title": "A <b>page</b>", "url": "https://example.org/", "content": "x", "more": 1}
        return httpx.Response(200, json={"results": [page, {"url": "ftp://x/"}, 7, None]})

    engine = parse_engine("searxng:http://ann:secret@localhost:8888/")
    assert answered(engine, handler) == (Result("A <b>page</b>", "https://example.org/", "x"),)
    (request,) = asked
    assert request.url.path == "/search"
    assert dict(request.url.params) == {"q": "blue cats & dogs", "format": "json"}
    assert request.headers["Authorization"] == "Basic " + b64encode(b"ann:secret").decode()


def test_no_cookie_is_kept_also_not_of_a_refusal() -> None:
    asked = []

    def handler(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return httpx.Response(429, headers={"Set-Cookie": "id=track42; Path=/"})

    async def ask() -> None:
        engine = parse_engine("searxng:http://engine.example")
        engine._client._transport = httpx.MockTransport(handler)
        for _ in range(2):
            with pytest.raises(InputError, match="429"):
                await engine.search("cats")
        await engine.close()

    asyncio.run(ask())
    assert [request.headers.get("Cookie") for request in asked] == [None, None]


@pytest.mark.parametrize("text", ["ftp:x//ann:geheim@h", "template:ftp://ann:geheim@h/{query}"])
def test_errors_do_not_show_a_password(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_engine(text)
    assert "geheim" not in str(caught.value)


def test_a_template_says_where_the_results_are() -> None:
    engine = parse_engine(
        "template:https://example.org/api?q={query}&n=5", "data.0.items", "title=n,url=to.href"
    )

    def handler(request: httpx.Request) -> httpx.Response:
        assert str(request.url) == "https://example.org/api?q=blue%20cats%20%26%20dogs&n=5"
        item = {"n": "A", "to": {"href": "http://a.example/"}}
        return httpx.Response(200, json={"data": [{"items": [item] * 30}]})

    assert answered(engine, handler) == (Result("A", "http://a.example/"),) * 20


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(500), httpx.Response(302, headers={"Location": "http://evil.example/"}),
        httpx.Response(200, text="<html>"), httpx.Response(200, content=b"[" * 100_000),
        httpx.Response(200, content=b" " * (2 * 1024 * 1024 + 1)), httpx.ConnectError("no"),
        httpx.ReadTimeout("late"),
    ],
    ids=range(7),
)  # fmt: skip
def test_an_engine_that_does_not_answer_is_an_error(answer) -> None:
    def handler(request: httpx.Request) -> httpx.Response:
        if isinstance(answer, Exception):
            raise answer
        return answer

    with pytest.raises(InputError):
        answered(parse_engine("searxng:http://localhost:8888"), handler)


def packed(coding: str, plain: bytes) -> bytes:
    """Pack a body in a content coding; Brotli's is written by hand: nothing here can pack it."""
    if coding == "zstd":
        return zstandard.ZstdCompressor().compress(plain)
    if coding == "br":
        return b"\x06"
    return zlib.compress(
        plain, wbits={"gzip": 31, "deflate": -15}[coding.split(",", maxsplit=1)[0]]
    )


class Raw(httpx.AsyncByteStream):
    """A body as it comes from the wire, which counts what is read of it."""

    def __init__(self, body: bytes) -> None:
        self.body, self.read = body, 0

    async def __aiter__(self):
        for at in range(0, len(self.body), 4096):
            self.read += len(self.body[at : at + 4096])
            yield self.body[at : at + 4096]


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd", "gzip, zstd", "x-gzip"])
def test_no_answer_is_unpacked(coding: str) -> None:
    """A packed answer of some kilobytes can hold gigabytes: it is refused before it is read."""
    asked = []
    first = coding.split(",", maxsplit=1)[0].removeprefix("x-")
    body = Raw(packed(first, json.dumps({"results": [], "pad": " " * (64 << 20)}).encode()))

    def handler(request: httpx.Request) -> httpx.Response:
        asked.append(request.headers["Accept-Encoding"])
        return httpx.Response(200, stream=body, headers={"Content-Encoding": coding.upper()})

    async def ask() -> int:
        engine = parse_engine("searxng:http://engine.example")
        engine._client._transport = httpx.MockTransport(handler)
        tracemalloc.start()
        try:
            with pytest.raises(InputError, match="compressed"):
                await engine.search("cats")
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
            await engine.close()

    assert asyncio.run(ask()) < 4 << 20
    assert asked == ["identity"]
    assert body.read == 0


def test_an_answer_is_read_no_further_than_its_limit() -> None:
    body = Raw(b" " * (8 << 20))

    def handler(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, stream=body, headers={"Content-Encoding": "identity"})

    with pytest.raises(InputError, match="above"):
        answered(parse_engine("searxng:http://engine.example"), handler)
    assert body.read <= (2 << 20) + 4096


@pytest.mark.parametrize("told", [None, 7, [], {}, {"results": None}, {"results": {"a": 1}}],
                         ids=range(6))  # fmt: skip
def test_an_answer_without_results_has_none(told) -> None:
    def handler(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, content=json.dumps(told))

    assert answered(parse_engine("searxng:http://localhost:8888"), handler) == ()


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("", None), ("google", None), ("searxng:", None), ("searxng:localhost:8888", None),
        ("template:http://x/?q=", None), ("template:http://x/?q={query}{query}", None),
        ("template:file:///etc/passwd?{query}", None),
        ("template:http://x/?q={query}", "title=a"), ("template:http://x/?q={query}", "link=a"),
    ],
)  # fmt: skip
def test_engines_that_cannot_be(text: str, fields: str | None) -> None:
    with pytest.raises(UsageError):
        parse_engine(text, None, fields)


def test_the_toy_engine_tells_who_sent_what() -> None:
    async def visit() -> None:
        engine = DemoSearchEngine()
        where = httpx.ASGITransport(app=engine.app())
        async with httpx.AsyncClient(transport=where, base_url="http://x") as client:
            answer = await client.get("/search?q=a<b>", auth=("ann", ""))
            assert answer.json()["results"][0]["title"] == "a<b>: an introduction"
            await client.get("/search?q=y", headers={"Authorization": "Basic a"})
            assert (await client.get("/search")).status_code == 400
            seen = (await client.get("/seen")).json()["seen"]
            assert seen[0] == {"account": "ann", "query": "a<b>"}
            assert len(seen) == 2
            assert "<td>a&lt;b&gt;" in (await client.get("/")).text

    asyncio.run(visit())


# --- the account ---------------------------------------------------------------------------------


def test_exposure_is_all_where_she_submits_all_herself() -> None:
    account = ExposureCounter(b"key")
    assert account.exposure() is None
    for text in ("cats", "dogs", "cats"):
        account.asked(text)
        account.submitted(text)
    assert account.exposure() == pytest.approx(100)
    assert account.counts().to_dict() == {
        "own": 3, "own_distinct": 2, "seen": 3, "seen_distinct": 2, "seen_own": 3,
    }  # fmt: skip


def test_exposure_is_that_of_the_specification() -> None:
    """One of four queries shared with what the engine saw: 40.6 (SPEC 5.3)."""
    account = ExposureCounter(b"key")
    for text in "wxyz":
        account.asked(text)
    assert account.exposure() == 0
    for text in ("Z ", "1", "2", "3"):  # letters' case and blanks make no other query
        account.submitted(text)
    assert account.exposure() == pytest.approx(40.6, abs=0.05)


def test_digests_need_the_secret() -> None:
    one, other = ExposureCounter(b"one"), ExposureCounter(b"other")
    for account in (one, other):
        account.asked("cats")
    assert one.state().own.keys() != other.state().own.keys()
    assert "texts" not in one.state().to_dict()


def test_texts_are_dropped_when_they_are_not_wanted_any_more() -> None:
    account = ExposureCounter(b"key", store_queries=True)
    account.submitted("cats")
    again = ExposureCounter(b"key")
    again.restore(account.state())
    assert list(again.texts) == []
    assert "texts" not in again.state().to_dict()


def test_counters_are_bounded(monkeypatch) -> None:
    monkeypatch.setattr("queryveil.peers.node.exposure._MAX_DIGESTS", 5)
    account = ExposureCounter(b"key")
    for number in range(20):
        account.submitted(str(number))
    assert account.counts().seen == 20
    assert account.counts().seen_distinct == 6


# --- the rate ------------------------------------------------------------------------------------


@given(st.lists(st.floats(0, 2), max_size=200), st.floats(0.5, 50), st.integers(1, 20))
def test_no_more_goes_through_than_the_rate(gaps, rate, size) -> None:
    bucket, now, used = TokenBucket(rate, size), 0.0, []
    for gap in gaps:
        now += gap
        now += bucket.take(now)  # the reader waits before it goes on
        used.append(now)
    for first, begun in enumerate(used):
        for last in range(first, len(used)):
            assert last - first + 1 <= size + rate * (used[last] - begun) + 1.001
