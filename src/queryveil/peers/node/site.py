"""The local web site of a node: a search, the owner's page, and a guard before both."""

from __future__ import annotations

from urllib.parse import parse_qs

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from ...errors import UsageError
from .guard import RequestGuard
from .node import Node, SearchOutcome
from .state import search_key
from .web import HEADERS, Pages, message_page, opensearch

__all__ = ["make_app"]

_MOST = 8192  # bytes of a form, and of an address


def make_app(node: Node, port: int) -> Starlette:
    """Make the web application of a node that listens on a port of this machine."""
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
        """Show the owner's page."""
        if stopped := self._stopped(request):
            return stopped
        return _html(self._pages.home(self._node.status()))

    async def search(self, request: Request) -> Response:
        """Search for what the owner typed."""
        if stopped := self._stopped(request):
            return stopped
        text = request.query_params.get("q", "")
        if not self._guard.has_key(request.query_params.get("key", "")):
            return _html(self._pages.ask(text), 403)
        try:
            person = self._guard.is_person(request.headers)
            outcome = await self._node.search(text, person)
        except UsageError as error:
            return _html(message_page(error.what), 400)
        return self._ended(text, outcome)

    async def submit(self, request: Request) -> Response:
        """Submit a query that nobody took, as the owner asked by this page's own form."""
        form = await _form(request)
        here = self._guard.is_local(request.headers)
        if not here or not self._guard.has_valid_token(request.headers, form.get("token", "")):
            return _html(message_page("This form is not of this page."), 403)
        number = form.get("number", "")
        outcome = await self._node.submit_directly(int(number) if number.isdecimal() else 0)
        return self._ended(form.get("text", ""), outcome)

    async def opensearch(self, request: Request) -> Response:
        """Describe the search to the browser."""
        if not self._guard.is_local(request.headers):
            return _html(message_page("This is not the address of this page."), 421)
        if self._guard.is_foreign(request.headers):  # it has the search key
            return _html(message_page("This is for your browser alone."), 403)
        kind = "application/opensearchdescription+xml"
        return Response(opensearch(self._pages.address), media_type=kind, headers=HEADERS)

    def _ended(self, text: str, outcome: SearchOutcome) -> Response:
        """Return the page of a search; one that was not begun says when there is room."""
        page = _html(self._pages.outcome(text, outcome), 503 if outcome.kind == "busy" else 200)
        if outcome.kind == "busy":
            page.headers["Retry-After"] = str(outcome.wait)
        return page

    def _stopped(self, request: Request) -> Response | None:
        """Give the answer to a request that must not go on."""
        headers = request.headers
        if not self._guard.is_local(headers):
            return _html(message_page("This is not the address of this page."), 421)
        if len(request.url.query) > _MOST:
            return _html(message_page("This is too long."), 414)
        if not self._guard.is_same_origin(headers):
            return _html(self._pages.ask(request.query_params.get("q", "")), 403)
        if self._guard.is_prefetch(headers):
            return _html(message_page("Not yet."), 503)
        return None


async def _form(request: Request) -> dict[str, str]:
    """Read a short form; a longer one is none, nor is one that does not come to its end."""
    body = bytearray()
    try:
        async for part in request.stream():
            body += part
            if len(body) > _MOST:
                return {}
        fields = parse_qs(body.decode(), max_num_fields=10)
    except (ValueError, ClientDisconnect):
        return {}
    return {name: values[0] for name, values in fields.items()}


def _html(page: str, status: int = 200) -> HTMLResponse:
    return HTMLResponse(page, status, headers=HEADERS)
