"""What friends say to each other, and how it is written: strictly, or not at all.

First a peer only asks whether a friend will take a query (`Request`). The text follows once she
has accepted (`Query`): whoever refuses, or is silent, has learnt no text, and a query is in one
place at a time. Each ask has a fresh random id that is known to the two alone.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ...errors import FormatError
from ..node.addresses import web_address

MAX_TEXT = 512  # letters of a query
MAX_RESULTS = 20
_LENGTHS = {"title": 300, "snippet": 1000}
_ID = re.compile(r"[0-9a-f]{32}")
MAX_BYTES = 96 * 1024  # of a message as it is written: what one peer may say, another can repeat


@dataclass(frozen=True, slots=True)
class Result:
    """One result of a search: text only, and where it leads."""

    title: str
    url: str
    snippet: str = ""


@dataclass(frozen=True, slots=True)
class Request:
    """Will you take a query?"""

    id: str


@dataclass(frozen=True, slots=True)
class Accepted:
    """Yes: send it."""

    id: str


@dataclass(frozen=True, slots=True)
class Refused:
    """No."""

    id: str


@dataclass(frozen=True, slots=True, repr=False)
class Query:
    """The query itself, and how often it was handed on."""

    id: str
    hops: int
    text: str


@dataclass(frozen=True, slots=True, repr=False)
class Answer:
    """What the search engine answered."""

    id: str
    results: tuple[Result, ...]


@dataclass(frozen=True, slots=True)
class NoAnswer:
    """It was accepted, and there is no answer."""

    id: str


Message = Request | Accepted | Refused | Query | Answer | NoAnswer
_PLAIN: dict[str, type[Request | Accepted | Refused | NoAnswer]] = {
    "request": Request, "accepted": Accepted, "refused": Refused, "failed": NoAnswer,
}  # fmt: skip


def sanitize_text(text: str, most: int) -> str:
    """Give a text without control characters, in one line, not longer than so many letters.

    >>> sanitize_text(" a\\n<b>\\x00 ", 10)
    'a <b>'
    """
    text = text[: 4 * most]
    if not text.isprintable():  # most texts are, and that is told much faster
        kept = (" " if one.isspace() else one for one in text)
        text = "".join(one for one in kept if unicodedata.category(one) not in ("Cc", "Cf", "Cs"))
    return " ".join(text.split())[:most].rstrip()


def make_result(title: object, url: object, snippet: object = "") -> Result | None:
    """Return a result of what an engine gave, or None unless it leads to the open web.

    >>> make_result("A page", "javascript:alert(1)") is None
    True
    """
    address = web_address(url)
    if address is None:
        return None
    texts = [one if isinstance(one, str) else "" for one in (title, snippet)]
    named = sanitize_text(texts[0], _LENGTHS["title"]) or address[: _LENGTHS["title"]]
    return Result(named, address, sanitize_text(texts[1], _LENGTHS["snippet"]))


def limit_results(results: Iterable[Result]) -> tuple[Result, ...]:
    """Give so many results as an answer may have, each as it must be, and all within its size."""
    made = (make_result(one.title, one.url, one.snippet) for one in results)
    kept = tuple(one for one in made if one is not None)[:MAX_RESULTS]
    while kept and len(encode(Answer("0" * 32, kept))) > MAX_BYTES:
        kept = kept[:-1]
    return kept


def encode(message: Message) -> bytes:
    """Write a message as JSON."""
    told: dict[str, Any] = {"kind": type(message).__name__.lower(), "id": message.id}
    if isinstance(message, Query):
        told |= {"hops": message.hops, "text": message.text}
    elif isinstance(message, Answer):
        told["results"] = [[one.title, one.url, one.snippet] for one in message.results]
    return json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode()


def decode(data: bytes) -> Message:
    """Read a message; what is not exactly one is an error, and nothing of it is used.

    >>> decode(encode(Request("0" * 32)))
    Request(id='00000000000000000000000000000000')
    """
    if len(data.rstrip(b" ")) > MAX_BYTES:
        raise FormatError(f"a message of {len(data):,} bytes: {MAX_BYTES:,} are the most")
    try:
        told = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise FormatError("a message is no JSON") from error
    kind, name = (told.get("kind"), told.get("id")) if isinstance(told, dict) else (None, None)
    if not isinstance(name, str) or not _ID.fullmatch(name):
        raise FormatError("a message has no proper id")
    if kind == "query":
        return _query(told)
    if kind == "answer":
        return _answer(told)
    if not isinstance(kind, str) or kind not in _PLAIN or told.keys() != {"kind", "id"}:
        raise FormatError("a message is of no known kind")
    return _PLAIN[kind](name)


def _query(told: dict[str, Any]) -> Query:
    hops, text = told.get("hops"), told.get("text")
    if told.keys() != {"kind", "id", "hops", "text"} or not isinstance(text, str):
        raise FormatError("a query is not as it must be")
    if type(hops) is not int or not 1 <= hops <= 20:
        raise FormatError("a query's count of hops cannot be")
    if not text or sanitize_text(text, MAX_TEXT) != text:
        raise FormatError("a query's text is too long, or has letters that cannot be seen")
    return Query(told["id"], hops, text)


def _answer(told: dict[str, Any]) -> Answer:
    given = told.get("results")
    if told.keys() != {"kind", "id", "results"} or not isinstance(given, list):
        raise FormatError("an answer is not as it must be")
    if len(given) > MAX_RESULTS:
        raise FormatError(f"{MAX_RESULTS} results are the most")
    answer = Answer(told["id"], tuple(map(_result, given)))
    if len(encode(answer)) > MAX_BYTES:  # an address may be longer as we write it
        raise FormatError(f"an answer is above {MAX_BYTES:,} bytes")
    return answer


def _result(told: object) -> Result:
    if not isinstance(told, list) or len(told) != 3 or not all(isinstance(x, str) for x in told):
        raise FormatError("a result is not a title, an address and a text")
    made = make_result(*told)
    # An address may be spelled in other ways than ours, by a friend of another version.
    if made is None or (made.title, made.snippet) != (told[0], told[2]):
        raise FormatError("a result is too long, leads nowhere, or has letters out of sight")
    return made
