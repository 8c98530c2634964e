"""Check that a web address of a result leads to the public web, parsed as a browser does.

A browser reads `http://127.1/`, `http://0x7f000001/` and the same number in full-width digits as
the same address. So addresses are parsed by Ada, which implements the same standard (WHATWG URL),
and are used in its normalized form. Addresses of this machine, of the local network, and names
that only the local network resolves are rejected.

A public name can still resolve to this machine (DNS rebinding). A check of the address cannot
detect that. Therefore the node's page asks before it searches for a request without its key.
"""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from urllib.parse import quote

from ada_url import URL

MAX_ADDRESS = 2000
_PREFIX = re.compile(r"https?://[^/?#]", re.IGNORECASE)
_FORBIDDEN = re.compile(r"[\s\"'<>\\]")  # a browser drops some of these, and replaces others
_NORMALIZED = re.compile(r"https?://[!-~]+")
_SAFE = "%/:=&?~#+!$,;@()*[]-._"
_LABEL = re.compile(r"[a-z0-9_-]{1,63}")
_LOCAL_SUFFIXES = (
         # names that only a local network resolves
         "localhost", "local", "localdomain", "internal", "intranet", "lan", "home", "corp",
         "private", "arpa", "test", "invalid", "alt", "domain", "dhcp", "router", "gateway",
         "localdomain6", "localhost6", "svc", "onion", "ts.net",
         # names that routers use for themselves, though some of these are public domains
         "fritz.box", "fritz.nas", "easy.box", "speedport.ip", "router.asus.com", "routerlogin.net",
         "routerlogin.com", "tplinkwifi.net", "tplinklogin.net", "tplinkmodem.net", "mywifiext.net",
         "miwifi.com", "dlinkrouter.com", "o2.box", "congstar.box", "myfritz.box")  # fmt: skip
# All public IPv6 addresses, less those that embed an IPv4 address (6to4, Teredo) and those for
# documentation. NAT64, mapped and compatible addresses lie outside of 2000::/3.
_PUBLIC_IPV6 = IPv6Network("2000::/3")
_SPECIAL_IPV6 = tuple(map(IPv6Network, ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")))
_ISATAP = (0x00005EFE, 0x02005EFE)  # interface identifiers that embed an IPv4 address


def web_address(url: object) -> str | None:
    """Return an address as a browser normalizes it, or None unless it leads to the public web.

    >>> web_address("http://a.example/caf\u00e9"), web_address("http://127.1:7070/search?q=x")
    ('http://a.example/caf%C3%A9', None)
    """
    if not isinstance(url, str) or len(url) > MAX_ADDRESS or _FORBIDDEN.search(url):
        return None
    if not _PREFIX.match(url):
        return None
    try:
        parsed = URL(quote(url, safe=_SAFE))
    except ValueError:  # a lone surrogate, or no valid address
        return None
    href = parsed.href
    is_valid = len(href) <= MAX_ADDRESS and _NORMALIZED.fullmatch(href)
    has_login = parsed.username or parsed.password
    return href if is_valid and not has_login and is_public_host(parsed.hostname) else None


def is_public_host(host: str) -> bool:
    """Return whether a host, as normalized by Ada, is a name or an IP address of the public web.

    >>> [is_public_host(host) for host in ("example.org", "8.8.8.8", "router", "100.64.0.1")]
    [True, True, False, False]
    """
    try:
        return _is_public_number(ip_address(host.strip("[]")))
    except ValueError:
        return _is_public_name(host.removesuffix("."))


def _is_public_name(name: str) -> bool:
    labels = name.split(".")
    is_local = any(name == suffix or name.endswith(f".{suffix}") for suffix in _LOCAL_SUFFIXES)
    return len(labels) > 1 and all(map(_LABEL.fullmatch, labels)) and not is_local


def _is_public_number(number: IPv4Address | IPv6Address) -> bool:
    if isinstance(number, IPv4Address):
        return number.is_global and not (number.is_multicast or number.is_reserved)
    is_isatap = (int(number) >> 32) & 0xFFFFFFFF in _ISATAP
    is_special = any(number in network for network in _SPECIAL_IPV6)
    return number in _PUBLIC_IPV6 and not is_isatap and not is_special
