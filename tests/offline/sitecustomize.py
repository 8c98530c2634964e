"""Blocks every network address but this machine's own.

Python runs a file of this name at its start wherever its folder is on PYTHONPATH, so the
guard holds in the processes that tests start; `conftest.py` puts it into the tests' own.
"""

import ipaddress
import socket
from collections.abc import Callable
from typing import Any


class NetworkBlockedError(RuntimeError):
    """Somebody tried to leave this machine."""


def _check(host: Any) -> None:
    name = host.decode() if isinstance(host, bytes) else host
    if name in (None, "", "localhost"):
        return
    try:
        local = ipaddress.ip_address(str(name).partition("%")[0]).is_loopback
    except ValueError:
        local = False
    if not local:
        raise NetworkBlockedError(f"tests run offline, and something asked for {name!r}")


def _guarded(function: Callable[..., Any]) -> Callable[..., Any]:
    def checked(self: socket.socket, *given: Any) -> Any:
        if self.family in (socket.AF_INET, socket.AF_INET6):
            _check(given[-1][0])  # connect(address), sendto(data, [flags,] address)
        return function(self, *given)

    return checked


def _guarded_lookup(function: Callable[..., Any]) -> Callable[..., Any]:
    def checked(host: Any, *given: Any, **named: Any) -> Any:
        _check(host)
        return function(host, *given, **named)

    return checked


def install(put: Callable[[Any, str, Any], None] = setattr) -> None:
    """Put the guard in, by a function such as `setattr`."""
    for name in ("connect", "connect_ex", "sendto"):
        put(socket.socket, name, _guarded(getattr(socket.socket, name)))
    for name in ("getaddrinfo", "gethostbyname", "gethostbyname_ex"):
        put(socket, name, _guarded_lookup(getattr(socket, name)))


if __name__ == "sitecustomize":
    install()
