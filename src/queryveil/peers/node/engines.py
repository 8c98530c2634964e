"""Search engines that a node can query.

An engine is an address with a placeholder for the query, and the path of the results in the
answer. `searxng:http://ann:secret@localhost:8888` is the JSON interface of SearXNG, which must be
enabled there (`formats: [html, json]`). `template:https://example.org/api?q={query}` is any
address that answers in JSON. Answers are reduced to text; nothing in them is run, fetched or
followed.
"""

from __future__ import annotations

import asyncio
import json
import re
from base64 import b64decode
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, Protocol
from urllib.parse import quote, urlsplit

import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from ...errors import InputError, UsageError
from ...render.html import render_template
from ..protocol.messages import MAX_RESULTS, Result, make_result

PLACES = 20  # concurrent queries of the owner, and as many of all friends together

_MAX_BYTES = 2 * 1024 * 1024  # of an answer
_FIELDS = {"title": "title", "url": "url", "snippet": "content"}


class SearchEngine(Protocol):
    """The interface of a search engine."""

    async def search(self, text: str) -> tuple[Result, ...]:
        """Return the results of a query, or raise an InputError."""
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
        parts = urlsplit(self.template.replace("{query}", "x"))
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UsageError(
                f"{_without_login(self.template)} is not the address of a search engine",
                hint="http://...",
            )
        if self.template.count("{query}") != 1:
            raise UsageError(
                "the template of an engine must contain {query} exactly once", hint="?q={query}"
            )
        # No cookies, no redirects and no proxy from the environment: only the named address is
        # contacted, and no other information identifies the user to the engine.
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
        """Send a query to the engine, with limits to time and size."""
        address = self.template.replace("{query}", quote(text, safe=""))
        try:
            async with asyncio.timeout(self.timeout), self._client.stream("GET", address) as answer:
                if answer.status_code != 200:
                    raise InputError(f"the search engine answered with {answer.status_code}")
                document = json.loads(await _read_body(answer))
        except (httpx.HTTPError, httpx.InvalidURL, TimeoutError) as error:
            raise InputError(
                f"the search engine did not answer ({type(error).__name__})"
            ) from error
        except (ValueError, RecursionError) as error:
            raise InputError("the search engine's answer is not valid JSON") from error
        return self.extract(document)

    def extract(self, document: object) -> tuple[Result, ...]:
        """Return the valid results in the JSON document of an answer.

        >>> engine = WebSearchEngine("http://localhost/?q={query}", results="data.items")
        >>> page = {"title": "A page", "url": "https://example.org/", "content": "<b>text</b>"}
        >>> engine.extract({"data": {"items": [page, {"url": "javascript:x"}]}})
        (Result(title='A page', url='https://example.org/', snippet='<b>text</b>'),)
        """
        entries = _follow_path(document, self.results)
        rows = entries[:200] if isinstance(entries, list) else []
        paths = [self.fields.get(name, "") for name in ("title", "url", "snippet")]
        results = (make_result(*(_follow_path(row, path) for path in paths)) for row in rows)
        return tuple(result for result in results if result is not None)[:MAX_RESULTS]

    async def close(self) -> None:
        """Close its connections."""
        await self._client.aclose()


def parse_engine(
    text: str, results: str | None = None, fields: str | None = None
) -> WebSearchEngine:
    """Parse the specification of an engine: searxng:URL or template:URL.

    Args:
        results: The path of the list of results in the answer, as data.items.
        fields: The paths of the fields of a result, as title=name,url=link,snippet=text.
    """
    kind, _, address = text.partition(":")
    if kind == "searxng" and address:
        return WebSearchEngine(address.rstrip("/") + "/search?q={query}&format=json")
    if kind != "template" or not address:
        raise UsageError(
            f'`engine` must be searxng:URL or template:URL, got "{_without_login(text)}"',
            hint="searxng:URL, or template:URL?q={query}",
        )
    mapping = _parse_fields(fields) if fields else _FIELDS
    return WebSearchEngine(address, results or "results", mapping)


def _without_login(address: str) -> str:
    """Remove the user name and the password from an address that is displayed.

    >>> _without_login("ftp://ann:secret@host/x")
    'ftp://host/x'
    """
    return re.sub(r"//[^/@]*@", "//", address)


def _parse_fields(text: str) -> dict[str, str]:
    pairs = [part.partition("=") for part in text.split(",")]
    paths = {name.strip(): path.strip() for name, _, path in pairs}
    if not paths.keys() <= _FIELDS.keys() or "url" not in paths or not all(paths.values()):
        raise UsageError(
            "`result_fields` must be NAME=PATH pairs of title, url and snippet, with url, got "
            f'"{text}"',
            hint="title=name,url=link,snippet=text",
        )
    return paths


async def _read_body(answer: httpx.Response) -> bytes:
    """Return the bytes of an answer as received, without any decompression.

    A hundred kilobytes can decompress to gigabytes before a limit applies. So no compression is
    requested, and an answer that is compressed anyway is refused before it is read.
    """
    coding = answer.headers.get("content-encoding", "identity").strip().lower()
    if coding not in ("", "identity"):
        raise InputError("the search engine's answer is compressed, which was not requested")
    body = bytearray()
    async for part in answer.aiter_bytes():
        body += part
        if len(body) > _MAX_BYTES:
            raise InputError(f"the search engine's answer is above {_MAX_BYTES:,} bytes")
    return bytes(body)


def _follow_path(document: object, path: str) -> Any:
    """Return the value at a path of names and indices, as data.items.0; None if there is none."""
    value = document
    for step in path.split(".") if path else ():
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return value


_MAX_SEEN = 10_000


class DemoSearchEngine:
    """A demo engine that has pages for every query, and shows which account sent which query."""

    def __init__(self) -> None:
        self.seen: deque[tuple[str, str]] = deque(maxlen=_MAX_SEEN)

    def app(self) -> Starlette:
        """Return the web application."""
        return Starlette(
            routes=[
                Route("/search", self._search),
                Route("/seen", self._list_seen),
                Route("/", self._page),
            ]
        )

    async def _search(self, request: Request) -> Response:
        text = request.query_params.get("q", "")
        if not text:
            return PlainTextResponse("the query q is empty", 400)
        self.seen.append((_read_account(request), text))
        return JSONResponse({"query": text, "results": _build_results(text)})

    async def _list_seen(self, request: Request) -> Response:  # noqa: ARG002
        rows = [{"account": account, "query": text} for account, text in self.seen]
        return JSONResponse({"seen": rows})

    async def _page(self, request: Request) -> Response:  # noqa: ARG002
        page = render_template("engine.html.j2", package="queryveil.peers", seen=self.seen)
        return HTMLResponse(page, headers={"Content-Security-Policy": "default-src 'none'"})


def _read_account(request: Request) -> str:
    """Return the account: the user name of HTTP basic authentication, else the IP address."""
    kind, _, coded = request.headers.get("authorization", "").partition(" ")
    if kind.lower() == "basic":
        try:
            return b64decode(coded).decode().partition(":")[0]
        except ValueError:
            pass
    return request.client.host if request.client else ""


def _build_results(text: str) -> list[dict[str, str]]:
    pages = ("an introduction", "questions and answers", "news")
    return [
        {
            "title": f"{text}: {page}",
            "url": f"https://example.org/{quote(text, safe='')}/{number}",
            "content": f"What there is to know about {text}, page {number}.",
        }
        for number, page in enumerate(pages, start=1)
    ]
