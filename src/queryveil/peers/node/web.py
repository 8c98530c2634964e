"""The node's pages: plain HTML without any script. All external text is escaped."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Mapping
from hashlib import sha256
from hmac import compare_digest
from html import escape
from secrets import token_urlsafe
from urllib.parse import parse_qs

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from ...errors import UsageError
from ..protocol.messages import Result
from .identity import format_fingerprint
from .node import Node, SearchOutcome
from .records import FriendStatus, NodeStatus
from .state import search_key

_STYLE = """
:root { color-scheme: light dark; --soft: #5b6b7b; --line: #8884; }
body { margin: 0 auto; max-width: 44rem; padding: 1.5rem 1.2rem 4rem;
  font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin: 1.6rem 0 .3rem; }
form { display: flex; gap: .5rem; } input[type=search] { flex: 1; min-width: 0; }
input, button { font: inherit; padding: .4rem .7rem; }
ol { padding: 0; list-style: none; } li { margin: 1.1rem 0; }
.soft { color: var(--soft); font-size: .9rem; } .big { font-size: 1.5rem; }
table { border-collapse: collapse; width: 100%; } .wide { overflow-x: auto; }
td, th { text-align: left; padding: .3rem .8rem .3rem 0; border-top: 1px solid var(--line); }
th, td:not(:first-child) { overflow-wrap: normal; }
td:not(:first-child) { font-variant-numeric: tabular-nums; }
"""
_OUTCOMES = {
    "broken": "The search engine did not answer. You can search again.",
    "busy": "Busy: try again in {wait} s. Your node has reached its limit of searches, or the "
    "limit of queries that your friends accept in a minute. Nothing was sent.",
    "gone": "This search has ended. You can search again.",
}
_DIGEST = b64encode(sha256(_STYLE.encode()).digest()).decode()

HEADERS = {
    "Content-Security-Policy": (
        f"default-src 'none'; style-src 'sha256-{_DIGEST}'; form-action 'self'; "
        "frame-ancestors 'none'; base-uri 'none'"
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
        if outcome.kind == "answered":
            return _render_page(text, self._render_form(text) + _render_answer(outcome))
        if outcome.kind == "nobody":
            choice = self._render_choice(outcome.number, text)
            return _render_page(text, self._render_form(text) + choice)
        message = _OUTCOMES[outcome.kind].format(wait=outcome.wait)
        return _render_page(text, f'{self._render_form(text)}<p id="end">{message}</p>')

    def ask(self, text: str) -> str:
        """Return the page that asks the owner to confirm a search that a link started."""
        message = (
            "A link, or another web site, sent you here: nothing was searched for yet. "
            "If you want to search for this, press the button."
        )
        form = self._render_form(text)
        return _render_page("Search?", f'<p id="question">{message}</p>{form}')

    def home(self, status: NodeStatus) -> str:
        """Return the owner's page: exposure, submitted queries and friends."""
        parts = [
            self._render_form(""),
            _render_exposure(status),
            _render_seen(status),
            _render_friends(status.friends),
        ]
        refused = (
            f"{status.turned_away} connections were refused: of strangers, or that violated "
            "the protocol."
        )
        if status.shed:
            refused += f"<br>{status.shed} of your searches were not begun: the node was busy."
        fingerprint = f"Your fingerprint: {format_fingerprint(status.fingerprint)}"
        entry = f'<code id="entry">{escape(self.address)}%s</code>'
        setting = f"For your browser's search settings; keep this address secret: {entry}"
        soft = f'<p class="soft">{refused}<br>{fingerprint}<br>{setting}</p>'
        return _render_page("Your node", "".join(parts) + soft)

    def _render_choice(self, number: int, text: str) -> str:
        message = (
            "No friend got an answer to this query, or no friend is online. You can search again: "
            "another friend may then read it. Or you submit it yourself: the search engine then "
            "sees it under your account."
        )
        hidden = {"number": str(number), "text": text, "token": self._token}
        fields = "".join(
            f'<input type="hidden" name="{name}" value="{escape(value)}">'
            for name, value in hidden.items()
        )
        return (
            f'<p id="nobody">{message}</p><form method="post" action="/submit">{fields}'
            "<button>Submit it myself</button></form>"
        )

    def _render_form(self, text: str) -> str:
        return (
            '<form action="/search" role="search">'
            f'<input type="hidden" name="key" value="{escape(self._key)}">'
            '<input type="search" name="q" aria-label="Search" maxlength="512" '
            f'value="{escape(text)}"><button>Search</button></form>'
        )


def opensearch(address: str) -> str:
    """Return the OpenSearch description of the search for a browser."""
    template = escape(address + "{searchTerms}")
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/">'
        "<ShortName>queryveil</ShortName><Description>Search by friends</Description>"
        "<InputEncoding>UTF-8</InputEncoding>"
        f'<Url type="text/html" method="get" template="{template}"/></OpenSearchDescription>\n'
    )


def message_page(message: str) -> str:
    """Return a page with one message."""
    return _render_page("queryveil", f"<p>{escape(message)}</p>")


def _render_exposure(status: NodeStatus) -> str:
    value, account = status.exposure, status.account
    if value is None:
        return "<h2>Your exposure</h2><p>You have not searched yet.</p>"
    description = (
        f"The profile exposure level (PEL): the part of the information in your {account.own} "
        "queries that the engine learns from the queries under your account. 100%: it saw your "
        "queries and no others. 0%: what it saw contains no information on them."
    )
    return (
        f'<h2>Your exposure</h2><p class="big" id="exposure">{value:.1f}%</p>'
        f'<p class="soft">{description}</p>'
    )


def _render_seen(status: NodeStatus) -> str:
    account = status.account
    summary = (
        f"{account.seen} queries, {account.seen_distinct} of them distinct. "
        f"{account.seen_own} have a text that you searched for; the others are your friends'."
    )
    texts = "".join(f"<li>{escape(text)}</li>" for text in status.texts)
    items = f'<ol class="texts">{texts}</ol>' if texts else ""
    return f'<h2>What the engine saw under your account</h2><p id="seen">{summary}</p>{items}'


def _render_friends(friends: Iterable[FriendStatus]) -> str:
    headers = ("friend", "online", "trust", "relayed for you", "refused you", "lost",
               "you relayed for them", "you refused")  # fmt: skip
    rows = [
        (friend.name, "yes" if friend.present else "no", f"{friend.trust:.0%}",
         friend.counts.carried, friend.counts.turned_down, friend.counts.lost,
         friend.counts.served, friend.counts.refused)
        for friend in friends
    ]  # fmt: skip
    if not rows:
        return "<h2>Your friends</h2><p>None yet: queryveil peers node invite</p>"
    head = "".join(f"<th>{header}</th>" for header in headers)
    body = "".join(f"<tr>{''.join(f'<td>{escape(str(x))}</td>' for x in row)}</tr>" for row in rows)
    table = f'<div class="wide"><table id="friends"><tr>{head}</tr>{body}</table></div>'
    return f"<h2>Your friends</h2>{table}"


def _render_answer(outcome: SearchOutcome) -> str:
    by = escape(outcome.by) if outcome.by else "your own account"
    items = "".join(map(_render_result, outcome.results)) or "<li>There are no results.</li>"
    return f'<p class="soft">Answered by {by}.</p><ol class="results">{items}</ol>'


def _render_result(result: Result) -> str:
    url = escape(result.url)
    return (
        f'<li><a rel="noreferrer noopener" href="{url}">{escape(result.title)}</a>'
        f'<br><span class="soft">{url}</span><br>{escape(result.snippet)}</li>'
    )


def _render_page(title: str, body: str) -> str:
    link = '<link rel="search" type="application/opensearchdescription+xml" title="queryveil" '
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'{link}href="/opensearch.xml"><meta name="viewport" content="width=device-width">'
        f"<style>{_STYLE}</style></head><body><h1>{escape(title)}</h1>{body}</body></html>"
    )


class RequestGuard:
    """Checks of requests to one port, by headers, search key and the token of the forms."""

    def __init__(self, port: int, key: str) -> None:
        self._hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost")}
        self.key, self.token = key, token_urlsafe(32)

    def is_local(self, headers: Mapping[str, str]) -> bool:
        """Return whether a request is for this address, not for a name that resolves to it."""
        return headers.get("host", "") in self._hosts

    def is_same_origin(self, headers: Mapping[str, str]) -> bool:
        """Return whether the owner typed the address, or came from this page."""
        return headers.get("sec-fetch-site") in ("none", "same-origin")

    def is_foreign(self, headers: Mapping[str, str]) -> bool:
        """Return whether the browser reports that another site made the request."""
        return headers.get("sec-fetch-site", "none") not in ("none", "same-origin")

    def is_person(self, headers: Mapping[str, str]) -> bool:
        """Return whether a browser opens a page; programs do not send this header."""
        return headers.get("sec-fetch-mode") == "navigate"

    def has_key(self, key: str) -> bool:
        """Return whether a search comes from the page's form or the browser's entry for it."""
        return compare_digest(key.encode("utf-8", "replace"), self.key.encode())

    def is_prefetch(self, headers: Mapping[str, str]) -> bool:
        """Return whether the browser only prefetches a page: no query is sent for that."""
        return "prefetch" in headers.get("sec-purpose", headers.get("purpose", ""))

    def has_valid_token(self, headers: Mapping[str, str], token: str) -> bool:
        """Return whether a form comes from this page (protection against CSRF)."""
        is_origin = headers.get("origin") == f"http://{headers.get('host', '')}"
        if not self.is_same_origin(headers) or not is_origin:
            return False
        return compare_digest(token.encode(), self.token.encode())


_MAX_BYTES = 8192  # of a form, and of the query part of an address


def make_app(node: Node, port: int) -> Starlette:
    """Build the web application of a node that listens on a port of this machine."""
    pages = _Site(node, RequestGuard(port, search_key(node.home)), port)
    return Starlette(
        routes=[
            Route("/", pages.home),
            Route("/search", pages.search),
            Route("/submit", pages.submit, methods=["POST"]),
            Route("/opensearch.xml", pages.opensearch),
        ]
    )


class _Site:
    def __init__(self, node: Node, guard: RequestGuard, port: int) -> None:
        self._node, self._guard, self._port = node, guard, port
        self._pages = Pages(port, guard.key, guard.token)

    async def home(self, request: Request) -> Response:
        """Return the owner's page."""
        if refusal := self._refuse(request):
            return refusal
        return _html(self._pages.home(self._node.status()))

    async def search(self, request: Request) -> Response:
        """Search for the owner's query."""
        if refusal := self._refuse(request):
            return refusal
        text = request.query_params.get("q", "")
        if not self._guard.has_key(request.query_params.get("key", "")):
            return _html(self._pages.ask(text), 403)
        try:
            person = self._guard.is_person(request.headers)
            outcome = await self._node.search(text, person)
        except UsageError as error:
            return _html(message_page(error.what), 400)
        return self._respond(text, outcome)

    async def submit(self, request: Request) -> Response:
        """Submit a query that no friend answered, as the owner asked by this page's form."""
        form = await _read_form(request)
        is_local = self._guard.is_local(request.headers)
        if not is_local or not self._guard.has_valid_token(request.headers, form.get("token", "")):
            return _html(message_page("This form is not of this page."), 403)
        number = form.get("number", "")
        outcome = await self._node.submit_directly(int(number) if number.isdecimal() else 0)
        return self._respond(form.get("text", ""), outcome)

    async def opensearch(self, request: Request) -> Response:
        """Return the OpenSearch description for the browser."""
        if not self._guard.is_local(request.headers):
            return _html(message_page("This is not the address of this page."), 421)
        if self._guard.is_foreign(request.headers):  # the description contains the search key
            return _html(message_page("This is only for your browser."), 403)
        media_type = "application/opensearchdescription+xml"
        return Response(opensearch(self._pages.address), media_type=media_type, headers=HEADERS)

    def _respond(self, text: str, outcome: SearchOutcome) -> Response:
        """Return the page of a search; if the node was busy, with the time for a retry."""
        page = _html(self._pages.outcome(text, outcome), 503 if outcome.kind == "busy" else 200)
        if outcome.kind == "busy":
            page.headers["Retry-After"] = str(outcome.wait)
        return page

    def _refuse(self, request: Request) -> Response | None:
        """Return the response to a request that must not be processed, else None."""
        headers = request.headers
        if not self._guard.is_local(headers):
            return _html(message_page("This is not the address of this page."), 421)
        if len(request.url.query) > _MAX_BYTES:
            return _html(message_page("This query is too long."), 414)
        if not self._guard.is_same_origin(headers):
            return _html(self._pages.ask(request.query_params.get("q", "")), 403)
        if self._guard.is_prefetch(headers):
            return _html(message_page("This page cannot be prefetched."), 503)
        return None


async def _read_form(request: Request) -> dict[str, str]:
    """Read a form; return no fields if it is too long or incomplete."""
    body = bytearray()
    try:
        async for part in request.stream():
            body += part
            if len(body) > _MAX_BYTES:
                return {}
        fields = parse_qs(body.decode(), max_num_fields=10)
    except (ValueError, ClientDisconnect):
        return {}
    return {name: values[0] for name, values in fields.items()}


def _html(page: str, status: int = 200) -> HTMLResponse:
    return HTMLResponse(page, status, headers=HEADERS)
