"""Search engines that a node can ask: an address with a place for the query, and where in the
answer the results are.

`searxng:http://ann:secret@localhost:8888` is SearXNG's JSON interface, which its owner must have
allowed (`formats: [html, json]`). `template:https://example.org/api?q={query}` is any address
that answers in JSON. What comes back is cut to text; nothing of it is run, fetched or followed.
"""

from __future__ import annotations

import asyncio
import json
import re
from base64 import b64decode
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, Protocol
from urllib.parse import quote, urlsplit

import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from ...errors import InputError, UsageError
from ..protocol.messages import MAX_RESULTS, Result, make_result

PLACES = 20  # queries at a time: so many of the owner's, and as many of all friends

_MOST = 2 * 1024 * 1024  # bytes of an answer
_FIELDS = {"title": "title", "url": "url", "snippet": "content"}


class SearchEngine(Protocol):
    """What a node asks for answers."""

    async def search(self, text: str) -> tuple[Result, ...]:
        """Give the results of a query, or raise an InputError."""
        ...

    async def close(self) -> None:
        """Close its connections."""
        ...


@dataclass
class WebSearchEngine:
    """A search engine on the web that answers in JSON."""

    template: str
    results: str = "results"
    fields: Mapping[str, str] = field(default_factory=lambda: dict(_FIELDS))
    timeout: float = 8.0

    def __post_init__(self) -> None:
        place = urlsplit(self.template.replace("{query}", "x"))
        if place.scheme not in ("http", "https") or not place.hostname:
            raise UsageError(
                f"{_without_login(self.template)} is no address of a search engine",
                hint="http://...",
            )
        if self.template.count("{query}") != 1:
            raise UsageError("an engine's template has no place for the query", hint="?q={query}")
        # Neither cookies nor redirects nor a proxy of the environment: what a person names is
        # what is asked, and nothing else tells the engine who asks.
        self._client = httpx.AsyncClient(
            timeout=self.timeout, follow_redirects=False, trust_env=False,
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            headers={
                "User-Agent": "Mozilla/5.0", "Accept": "application/json",
                "Accept-Encoding": "identity",
            },
            limits=httpx.Limits(max_connections=2 * PLACES),
        )  # fmt: skip

    async def search(self, text: str) -> tuple[Result, ...]:
        """Ask the engine, with limits to time and size."""
        address = self.template.replace("{query}", quote(text, safe=""))
        try:
            async with asyncio.timeout(self.timeout), self._client.stream("GET", address) as answer:
                if answer.status_code != 200:
                    raise InputError(f"the search engine answered with {answer.status_code}")
                told = json.loads(await _body(answer))
        except (httpx.HTTPError, httpx.InvalidURL, TimeoutError) as error:
            raise InputError(
                f"the search engine did not answer ({type(error).__name__})"
            ) from error
        except (ValueError, RecursionError) as error:
            raise InputError("the search engine's answer is no JSON") from error
        return self.extract(told)

    def extract(self, told: object) -> tuple[Result, ...]:
        """Find the results in an answer; what is none is left out.

        >>> engine = WebSearchEngine("http://localhost/?q={query}", results="data.items")
        >>> page = {"title": "A page", "url": "https://example.org/", "content": "<b>text</b>"}
        >>> engine.extract({"data": {"items": [page, {"url": "javascript:x"}]}})
        (Result(title='A page', url='https://example.org/', snippet='<b>text</b>'),)
        """
        listed = _at(told, self.results)
        rows = listed[:200] if isinstance(listed, list) else []
        places = [self.fields.get(name, "") for name in ("title", "url", "snippet")]
        made = (make_result(*(_at(row, place) for place in places)) for row in rows)
        return tuple(one for one in made if one is not None)[:MAX_RESULTS]

    async def close(self) -> None:
        """Close its connections."""
        await self._client.aclose()


def parse_engine(
    text: str, results: str | None = None, fields: str | None = None
) -> WebSearchEngine:
    """Make an engine of what a person typed: searxng:URL or template:URL."""
    kind, _, address = text.partition(":")
    if kind == "searxng" and address:
        return WebSearchEngine(address.rstrip("/") + "/search?q={query}&format=json")
    if kind != "template" or not address:
        raise UsageError(
            f'"{_without_login(text)}" is no engine', hint="searxng:URL, or template:URL?q={query}"
        )
    return WebSearchEngine(address, results or "results", _fields(fields) if fields else _FIELDS)


def _without_login(address: str) -> str:
    """Leave a name and a password out of what is shown.

    >>> _without_login("ftp://ann:secret@host/x")
    'ftp://host/x'
    """
    return re.sub(r"//[^/@]*@", "//", address)


def _fields(text: str) -> dict[str, str]:
    pairs = [part.partition("=") for part in text.split(",")]
    named = {name.strip(): place.strip() for name, _, place in pairs}
    if not named.keys() <= _FIELDS.keys() or "url" not in named or not all(named.values()):
        raise UsageError(f'"{text}" names no fields', hint="title=name,url=link,snippet=text")
    return named


async def _body(answer: httpx.Response) -> bytes:
    """Return the bytes of an answer as they came: nothing is ever unpacked.

    A hundred kilobytes can unpack to gigabytes before anybody has counted them. So no coding is
    asked for, and an answer that has one all the same is refused before it is read.
    """
    coding = answer.headers.get("content-encoding", "identity").strip().lower()
    if coding not in ("", "identity"):
        raise InputError("the search engine's answer is packed, and plain text was asked for")
    body = bytearray()
    async for part in answer.aiter_bytes():
        body += part
        if len(body) > _MOST:
            raise InputError(f"the search engine's answer is above {_MOST:,} bytes")
    return bytes(body)


def _at(told: object, path: str) -> Any:
    """Follow a path of names and numbers, as data.items.0; None where it leads nowhere."""
    for step in path.split(".") if path else ():
        if isinstance(told, dict):
            told = told.get(step)
        elif isinstance(told, list) and step.isdecimal() and int(step) < len(told):
            told = told[int(step)]
        else:
            return None
    return told


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
