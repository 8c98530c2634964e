"""Links that lead to this machine or its network, in every spelling that a browser understands."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from queryveil.errors import FormatError
from queryveil.peers.node.addresses import is_public_host, web_address
from queryveil.peers.protocol.messages import Answer, Result, decode, encode, limit_results

HERE = [
    # loopback by numbers
    "127.0.0.1", "127.1", "127.0.1", "127.255.255.254", "2130706433", "017700000001",
    "0177.0.0.1", "0177.0.0.01", "0x7f000001", "0x7f.1", "0x7F.0.0.0x1", "0X7F.0X1", "127.0x1",
    "0x7f.0.0.1", "127.0.0.1.", "127.1.", "0x7f000001.", "00000177.1",
    # ... written in other letters, or escaped
    "\uff11\uff12\uff17.\uff10.\uff10.\uff11", "127\u30020\u30020\u30021", "127\uff0e1",
    "\u2460\u2461\u2466.1", "\U0001d7cf\U0001d7d0\U0001d7d5.0.0.1", "%31%32%37.0.0.1",
    "127%2e0%2e0%2e1", "%6c%6f%63%61%6c%68%6f%73%74", "12\u00ad7.1",
    "%EF%BC%91%EF%BC%92%EF%BC%97.1",
    # unspecified, private, link-local, carrier's, benchmarks, multicast, reserved
    "0", "0.0.0.0", "0x0", "00", "0.1", "10.0.0.1", "10.1", "0xa.1", "012.1", "172.16.0.1",
    "172.31.255.255", "192.168.1.1", "192.168.257", "3232235777", "0xC0A80101", "169.254.169.254",
    "169.16689662", "2852039166", "100.64.0.1", "100.127.255.255", "198.18.0.1", "192.0.2.1",
    "192.0.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "4294967295",
    # version 6
    "[::1]", "[0:0:0:0:0:0:0:1]", "[0000::0001]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]",
    "[::FFFF:7F00:0001]", "[::127.0.0.1]", "[::ffff:0:127.0.0.1]", "[::ffff:10.0.0.1]",
    "[64:ff9b::127.0.0.1]", "[64:ff9b::7f00:1]", "[64:ff9b:1::a00:1]", "[2002:7f00:1::]",
    "[2002:c0a8:0101::1]", "[2001:0:7f00:1::]", "[fe80::1]", "[fec0::1]", "[fc00::1]",
    "[fd12:3456::1]", "[ff02::1]", "[100::1]", "[2001:db8::1]", "[3fff::1]",
    "[2a00:1450::5efe:7f00:1]", "[2a00:1450::200:5efe:a00:1]",
    # names
    "localhost", "LOCALHOST", "localhost.", "LocalHost.", "x.localhost", "a.b.localhost.",
    "loc\u00adalhost", "\uff4c\uff4fcalhost", "\u24db\u24de\u24d2alhost", "printer", "router.",
    "router.local", "nas.lan", "db.internal", "wiki.intranet", "box.home", "box.home.arpa",
    "fritz.box", "nas.fritz.box.", "speedport.ip", "my.router", "1.0.0.127.in-addr.arpa",
    "x.corp", "x.private", "localhost.localdomain", "x.test",
    "localhost6.localdomain6", "a.svc", "a.ts.net", "a.onion", "x.invalid",
]  # fmt: skip


@pytest.mark.parametrize("scheme", ["http", "https", "HTTP"])
@pytest.mark.parametrize("host", HERE)
def test_no_spelling_of_a_near_address_is_a_result(host: str, scheme: str) -> None:
    for tail in ("/search?q=x", ":7070/search?q=x", "", "?q=x", "#x", ":80/"):
        assert web_address(f"{scheme}://{host}{tail}") is None


@pytest.mark.parametrize("host", HERE)
def test_a_friend_cannot_send_a_near_address(host: str) -> None:
    near = Result("t", f"http://{host}:7070/search?q=x", "s")
    with pytest.raises(FormatError):
        decode(encode(Answer("0" * 32, (near,))))
    assert limit_results([near]) == ()


TRICKS = [
    "javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "ftp://example.org/",
    "blob:http://example.org/x", "about:blank", "view-source:http://example.org/", "ws://a.example/",
    "//127.0.0.1/", "/search?q=x", "?q=x", "", "http:", "http://", "http:///127.0.0.1/",
    "http:127.0.0.1", "http:/127.0.0.1/", "http:////127.0.0.1/", "http:/example.org/",
    "http:\\\\127.0.0.1/", "http://\\127.0.0.1/", "http://example.org\\@127.0.0.1/",
    "http://127.0.0.1\\.example.org/", "http://127.0.0.1\t/", "ht\ntp://127.0.0.1/",
    "http://127.\n0.0.1/", "http://exam\tple.org/", " http://example.org/", "http://example.org/ ",
    "\x00http://example.org/", "http://example.org@127.0.0.1/", "http://127.0.0.1@example.org/",
    "http://user:word@example.org/", "http://@127.0.0.1/", "http://:@example.org:0x50/",
    "http://example.org%00.127.0.0.1/", "http://example.org:99999/", "http://example.org:port/",
    "http://[::1/", "http://::1/", "http://[fe80::1%25eth0]/", "http://[127.0.0.1]/",
    "http://1.2.3.4.5/", "http://256.256.256.256/", "http://0x7f000001f/", "http://09.1.1.1/",
    "http://exa mple.org/", "http://a..example/", "http://.example.org/",
    "http://example.org/\"onclick=", "http://example.org/<b>", "http://example.org/'x",
    "http://\ud800.example/", "http://" + "a" * 64 + ".example/", 7, None, ["http://a.example/"],
]  # fmt: skip


@pytest.mark.parametrize("url", TRICKS, ids=range(len(TRICKS)))
def test_tricks_of_the_address_are_no_result(url: object) -> None:
    assert web_address(url) is None


OPEN = {
    "https://example.org": "https://example.org/",
    "HTTPS://EXAMPLE.org:443/A?b=C#d": "https://example.org/A?b=C#d",
    "http://example.org:8080/x": "http://example.org:8080/x",
    "http://8.8.8.8/": "http://8.8.8.8/",
    "http://134744072/": "http://8.8.8.8/",  # written as browsers show it
    "http://0127.0.0.1/": "http://87.0.0.1/",  # octal, and nothing of ours
    "https://[2606:4700:4700::1111]/": "https://[2606:4700:4700::1111]/",
    "https://b\u00fccher.example/": "https://xn--bcher-kva.example/",
    "https://example.org/a/../b": "https://example.org/b",
    "https://example.org/?u=http://127.0.0.1/": "https://example.org/?u=http://127.0.0.1/",
    "https://example.org/~ann/caf\u00e9?q=a%20b|c": "https://example.org/~ann/caf%C3%A9?q=a%20b%7Cc",
    "http://a.example./..": "http://a.example./",  # a name that is written out to its end
    "https://mylocalhost.example/": "https://mylocalhost.example/",
    "https://127.0.0.1.example.org/": "https://127.0.0.1.example.org/",
}  # fmt: skip


@pytest.mark.parametrize("url", OPEN)
def test_the_open_web_stays_and_is_written_as_browsers_do(url: str) -> None:
    assert web_address(url) == OPEN[url]
    assert web_address(OPEN[url]) == OPEN[url]


@given(st.text(max_size=60), st.sampled_from(["http://", "https://", "http://127.0.0.1", ""]))
def test_what_is_kept_is_kept_as_it_is(text: str, before: str) -> None:
    kept = web_address(before + text)
    if kept is not None:
        assert kept.isascii()
        assert kept.isprintable()
        assert web_address(kept) == kept


@given(st.integers(0, 2**32 - 1), st.sampled_from(["{}", "0x{:x}", "0{:o}"]))
def test_numbers_are_judged_as_what_they_are(number: int, form: str) -> None:
    plain = ".".join(str(number >> shift & 255) for shift in (24, 16, 8, 0))
    kept = web_address(f"http://{form.format(number)}/")
    assert (kept is None) != is_public_host(plain)
    assert kept in (None, f"http://{plain}/")


def test_an_address_of_another_spelling_is_read_and_written_anew() -> None:
    """A friend of another version may write what we would write in another way."""
    given = Answer("0" * 32, (Result("t", "http://example.org", "s"),))
    assert decode(encode(given)).results == (Result("t", "http://example.org/", "s"),)
