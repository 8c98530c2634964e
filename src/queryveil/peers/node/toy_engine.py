"""A small search engine for tests and for trying things out, on this machine only.

It answers as SearXNG does, finds a page for everything, and keeps what it has seen: which
account sent which query. That is what the protocol is about, so it shows it at /seen.
"""

from __future__ import annotations

from base64 import b64decode
from collections import deque
from html import escape
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

__all__ = ["DemoSearchEngine"]

_KEPT = 10_000


class DemoSearchEngine:
    """An engine that knows a page about everything, and who asked for it."""

    def __init__(self) -> None:
        self.seen: deque[tuple[str, str]] = deque(maxlen=_KEPT)

    def app(self) -> Starlette:
        """Give the web application."""
        return Starlette(
            routes=[
                Route("/search", self._search),
                Route("/seen", self._told),
                Route("/", self._page),
            ]
        )

    async def _search(self, request: Request) -> Response:
        text = request.query_params.get("q", "")
        if not text:
            return PlainTextResponse("what do you search for?", 400)
        self.seen.append((_account(request), text))
        return JSONResponse({"query": text, "results": _results(text)})

    async def _told(self, request: Request) -> Response:  # noqa: ARG002
        rows = [{"account": account, "query": text} for account, text in self.seen]
        return JSONResponse({"seen": rows})

    async def _page(self, request: Request) -> Response:  # noqa: ARG002
        rows = "".join(
            f"<tr><td>{escape(account)}<td>{escape(text)}" for account, text in self.seen
        )
        head = "<!doctype html><meta charset=utf-8><title>A toy engine</title>"
        return HTMLResponse(
            f"{head}<h1>What the engine has seen</h1><table><tr><th>account<th>query{rows}</table>",
            headers={"Content-Security-Policy": "default-src 'none'"},
        )


def _account(request: Request) -> str:
    """Give the account: the name of HTTP's own log-in, else the address."""
    kind, _, coded = request.headers.get("authorization", "").partition(" ")
    if kind.lower() == "basic":
        try:
            return b64decode(coded).decode().partition(":")[0]
        except ValueError:
            pass
    return request.client.host if request.client else ""


def _results(text: str) -> list[dict[str, str]]:
    pages = ("an introduction", "questions and answers", "news")
    return [
        {
            "title": f"{text}: {page}",
            "url": f"https://example.org/{quote(text, safe='')}/{number}",
            "content": f"What there is to know about {text}, page {number}.",
        }
        for number, page in enumerate(pages, start=1)
    ]
