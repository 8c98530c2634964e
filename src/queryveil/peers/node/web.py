"""The web application of a node: which requests it answers, and by which page."""

from __future__ import annotations

from collections.abc import Mapping
from hmac import compare_digest
from secrets import token_urlsafe
from urllib.parse import parse_qs

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from ...errors import UsageError
from .node import Node, SearchOutcome
from .pages import HEADERS, Pages, message_page, opensearch
from .state import search_key


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
            return _html(self._pages.confirm(text), 403)
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
            return _html(self._pages.confirm(request.query_params.get("q", "")), 403)
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
