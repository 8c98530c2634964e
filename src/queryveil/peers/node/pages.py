"""The node's pages: plain HTML without any script, from templates that escape every text."""

from __future__ import annotations

from ...render.html import content_digest, load_styles, read_static, render_template
from .identity import format_fingerprint
from .node import SearchOutcome
from .records import NodeStatus

PACKAGE = "queryveil.peers"
_STYLE = "node.css"

HEADERS = {
    "Content-Security-Policy": (
        f"default-src 'none'; style-src {content_digest(read_static(_STYLE, PACKAGE))}; "
        "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",  # result pages must not learn the query
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Pages:
    """The pages of one node; their forms contain its search key and a token."""

    def __init__(self, port: int, key: str, token: str) -> None:
        self._key, self._token = key, token
        self.address = f"http://127.0.0.1:{port}/search?key={key}&q="

    def outcome(self, text: str, outcome: SearchOutcome) -> str:
        """Return the page of a search that has ended."""
        return _render(
            "outcome", text, key=self._key, token=self._token, text=text, outcome=outcome
        )

    def confirm(self, text: str) -> str:
        """Return the page that asks the owner to confirm a search that a link started."""
        return _render("confirm", "Search?", key=self._key, text=text)

    def home(self, status: NodeStatus) -> str:
        """Return the owner's page: exposure, submitted queries and friends."""
        return _render(
            "home",
            "Your node",
            key=self._key,
            status=status,
            fingerprint=format_fingerprint(status.fingerprint),
            address=self.address,
        )


def opensearch(address: str) -> str:
    """Return the OpenSearch description of the search for a browser."""
    return render_template("node/opensearch.xml.j2", package=PACKAGE, address=address)


def message_page(message: str) -> str:
    """Return a page with one message."""
    return _render("message", "queryveil", message=message)


def _render(name: str, title: str, **values: object) -> str:
    style = load_styles((_STYLE,), PACKAGE)
    template = f"node/{name}.html.j2"
    return render_template(template, package=PACKAGE, title=title, style=style, **values)
