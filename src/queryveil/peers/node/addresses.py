"""Which web addresses a result may lead to: as a browser reads them, and to the open web alone.

A link is followed by a browser, and a browser reads `http://127.1/`, `http://0x7f000001/` and the
same number in full-width digits alike. So addresses are read by Ada, which implements the same
standard (WHATWG URL), and are handed on as it writes them. What leads to this machine, to the
network around it, or to a name that only that network knows is left out.

A name of the open web can still be made to lead here (DNS rebinding). No reading of addresses
sees that; the node's page asks before it searches for whoever comes without its key.
"""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from urllib.parse import quote

from ada_url import URL

MAX_ADDRESS = 2000
_BEGINS = re.compile(r"https?://[^/?#]", re.IGNORECASE)
_NEVER = re.compile(r"[\s\"'<>\\]")  # a browser drops some of these, and turns others around
_WRITTEN = re.compile(r"https?://[!-~]+")
_SAFE = "%/:=&?~#+!$,;@()*[]-._"
_LABEL = re.compile(r"[a-z0-9_-]{1,63}")
_NEAR = ("localhost", "local", "localdomain", "internal", "intranet", "lan", "home", "corp",
         "private", "arpa", "test", "invalid", "alt", "domain", "dhcp", "router", "gateway",
         "localdomain6", "localhost6", "svc", "onion", "ts.net",
         # what routers call themselves, though some of these endings are of the open web
         "fritz.box", "fritz.nas", "easy.box", "speedport.ip", "router.asus.com", "routerlogin.net",
         "routerlogin.com", "tplinkwifi.net", "tplinklogin.net", "tplinkmodem.net", "mywifiext.net",
         "miwifi.com", "dlinkrouter.com", "o2.box", "congstar.box", "myfritz.box")  # fmt: skip
# The only IPv6 addresses of the open web, less those that carry an IPv4 address inside (6to4,
# Teredo) and those of documents. NAT64, mapped and compatible addresses lie outside of 2000::/3.
_OPEN = IPv6Network("2000::/3")
_SPECIAL = tuple(map(IPv6Network, ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")))
_ISATAP = (0x00005EFE, 0x02005EFE)  # an interface that carries an IPv4 address


def web_address(url: object) -> str | None:
    """Return an address as a browser writes it, or None unless it leads to the open web.

    >>> web_address("http://a.example/caf\u00e9"), web_address("http://127.1:7070/search?q=x")
    ('http://a.example/caf%C3%A9', None)
    """
    if not isinstance(url, str) or len(url) > MAX_ADDRESS or _NEVER.search(url):
        return None
    if not _BEGINS.match(url):
        return None
    try:
        read = URL(quote(url, safe=_SAFE))
    except ValueError:  # half of a letter, or no address
        return None
    written = read.href
    fits = len(written) <= MAX_ADDRESS and _WRITTEN.fullmatch(written)
    named = read.username or read.password
    return written if fits and not named and is_public_host(read.hostname) else None


def is_public_host(host: str) -> bool:
    """Return whether a host, as Ada writes it, is a name or a number of the open web.

    >>> [is_public_host(host) for host in ("example.org", "8.8.8.8", "router", "100.64.0.1")]
    [True, True, False, False]
    """
    try:
        return _is_public_number(ip_address(host.strip("[]")))
    except ValueError:
        return _is_public_name(host.removesuffix("."))


def _is_public_name(name: str) -> bool:
    labels = name.split(".")
    near = any(name == one or name.endswith(f".{one}") for one in _NEAR)
    return len(labels) > 1 and all(map(_LABEL.fullmatch, labels)) and not near


def _is_public_number(number: IPv4Address | IPv6Address) -> bool:
    if isinstance(number, IPv4Address):
        return number.is_global and not (number.is_multicast or number.is_reserved)
    carries = (int(number) >> 32) & 0xFFFFFFFF in _ISATAP
    return number in _OPEN and not carries and not any(number in one for one in _SPECIAL)
