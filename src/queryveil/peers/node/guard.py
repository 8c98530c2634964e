"""Who may use the local page: the owner's own typing and the page itself, no other web site.

A site that the owner visits can make her browser call 127.0.0.1. It cannot choose the headers
that tell so: `Host` (a name of its own that leads here), `Sec-Fetch-Site` (a link, a picture, a
script of another site) and `Origin` (a form). What lacks them is refused as well.

A link on the page itself, in a mail or in another program comes with the headers of the owner's
own typing. So a search needs the node's search key too, which only the page's form and the
browser's own entry for this search have: whoever comes without it is asked first.
"""

from __future__ import annotations

from collections.abc import Mapping
from hmac import compare_digest
from secrets import token_urlsafe

__all__ = ["RequestGuard"]


class RequestGuard:
    """Judges requests to one port, by their headers, the search key and the tokens of forms."""

    def __init__(self, port: int, key: str) -> None:
        self._hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost")}
        self.key, self.token = key, token_urlsafe(32)

    def is_local(self, headers: Mapping[str, str]) -> bool:
        """Whether a request was meant for this address, and not for a name that leads here."""
        return headers.get("host", "") in self._hosts

    def is_same_origin(self, headers: Mapping[str, str]) -> bool:
        """Whether the owner typed the address, or came from this page."""
        return headers.get("sec-fetch-site") in ("none", "same-origin")

    def is_foreign(self, headers: Mapping[str, str]) -> bool:
        """Return whether the browser says that another site wants this."""
        return headers.get("sec-fetch-site", "none") not in ("none", "same-origin")

    def is_person(self, headers: Mapping[str, str]) -> bool:
        """Return whether a browser opens a page; a program of the owner's says no such thing."""
        return headers.get("sec-fetch-mode") == "navigate"

    def has_key(self, key: str) -> bool:
        """Return whether a search comes from the page's form or the browser's entry for it."""
        return compare_digest(key.encode("utf-8", "replace"), self.key.encode())

    def is_prefetch(self, headers: Mapping[str, str]) -> bool:
        """Whether the browser only fetches ahead what she may want: no query goes out for that."""
        return "prefetch" in headers.get("sec-purpose", headers.get("purpose", ""))

    def has_valid_token(self, headers: Mapping[str, str], token: str) -> bool:
        """Whether a form is this page's own."""
        origin = headers.get("origin") == f"http://{headers.get('host', '')}"
        return self.is_same_origin(headers) and origin and compare_digest(token.encode(),
                                                                   self.token.encode())  # fmt: skip
