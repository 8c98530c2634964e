"""Who may use the local page: the owner's own typing and the page itself, no other web site.

A site that the owner visits can make her browser call 127.0.0.1. It cannot choose the headers
that tell so: `Host` (a name of its own that leads here), `Sec-Fetch-Site` (a link, a picture, a
script of another site) and `Origin` (a form). What lacks them is refused as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from hmac import compare_digest
from secrets import token_urlsafe

__all__ = ["Guard"]


class Guard:
    """Judges requests to one port, by their headers, and the tokens of forms."""

    def __init__(self, port: int) -> None:
        self._hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost")}
        self.token = token_urlsafe(32)

    def is_here(self, headers: Mapping[str, str]) -> bool:
        """Whether a request was meant for this address, and not for a name that leads here."""
        return headers.get("host", "") in self._hosts

    def is_hers(self, headers: Mapping[str, str]) -> bool:
        """Whether the owner typed the address, or came from this page."""
        return headers.get("sec-fetch-site") in ("none", "same-origin")

    def is_early(self, headers: Mapping[str, str]) -> bool:
        """Whether the browser only fetches ahead what she may want: no query goes out for that."""
        return "prefetch" in headers.get("sec-purpose", headers.get("purpose", ""))

    def may_change(self, headers: Mapping[str, str], token: str) -> bool:
        """Whether a form is this page's own."""
        origin = headers.get("origin") == f"http://{headers.get('host', '')}"
        return self.is_hers(headers) and origin and compare_digest(token.encode(),
                                                                   self.token.encode())  # fmt: skip
