"""The messages between friends, and their strict encoding as JSON.

First a peer only asks whether a friend takes a query (`Request`). The text follows once the friend
has accepted (`Query`). So a friend who refuses, or does not reply, has learned no text, and a query
is at one peer at a time. Each request has a fresh random id that only the two peers know.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from ...core.records import Json
from ...errors import FormatError

MAX_TEXT = 512  # characters of a query
MAX_RESULTS = 20
_LENGTHS = {"title": 300, "snippet": 1000}
_ID = re.compile(r"[0-9a-f]{32}")
MAX_BYTES = 96 * 1024  # of an encoded message; the same for all peers, so each can be relayed


@dataclass(frozen=True, slots=True)
class Result:
    """One result of a search: plain text and a web address."""

    title: str
    url: str
    snippet: str = ""


@dataclass(frozen=True, slots=True)
class Request:
    """Ask whether the friend takes a query."""

    id: str


@dataclass(frozen=True, slots=True)
class Accepted:
    """Accept a request: the text may be sent."""

    id: str


@dataclass(frozen=True, slots=True)
class Refused:
    """Refuse a request."""

    id: str


@dataclass(frozen=True, slots=True, repr=False)
class Query:
    """The text of a query, and its hop count."""

    id: str
    hops: int
    text: str


@dataclass(frozen=True, slots=True, repr=False)
class Answer:
    """The results of the search engine."""

    id: str
    results: tuple[Result, ...]


@dataclass(frozen=True, slots=True)
class NoAnswer:
    """Report that a query was accepted and got no answer."""

    id: str


Message = Request | Accepted | Refused | Query | Answer | NoAnswer
# The kinds are part of the wire format: they do not follow the names of the classes.
_WIRE_NAMES: dict[type[Message], str] = {
    Request: "request", Accepted: "accepted", Refused: "refused", Query: "query",
    Answer: "answer", NoAnswer: "failed",
}  # fmt: skip
_PLAIN: dict[str, type[Request | Accepted | Refused | NoAnswer]] = {
    "request": Request, "accepted": Accepted, "refused": Refused, "failed": NoAnswer,
}  # fmt: skip


def sanitize_text(text: str, max_length: int) -> str:
    r"""Return a text on one line, without control characters, of at most `max_length` characters.

    >>> sanitize_text(" a\n<b>\x00 ", 10)
    'a <b>'
    """
    text = text[: 4 * max_length]
    if not text.isprintable():  # a fast test: nearly all texts are printable
        chars = (" " if char.isspace() else char for char in text)
        text = "".join(c for c in chars if unicodedata.category(c) not in ("Cc", "Cf", "Cs"))
    return " ".join(text.split())[:max_length].rstrip()


def make_result(title: object, url: object, snippet: object = "") -> Result | None:
    """Return a sanitized result, or None unless its address leads to the public web.

    >>> make_result("A page", "javascript:alert(1)") is None
    True
    """
    # The package `node` imports this module, so a top-level import would be circular.
    from ..node.addresses import web_address  # noqa: PLC0415

    address = web_address(url)
    if address is None:
        return None
    texts = [value if isinstance(value, str) else "" for value in (title, snippet)]
    label = sanitize_text(texts[0], _LENGTHS["title"]) or address[: _LENGTHS["title"]]
    return Result(label, address, sanitize_text(texts[1], _LENGTHS["snippet"]))


def limit_results(results: Iterable[Result]) -> tuple[Result, ...]:
    """Return the first results, sanitized, within the number and the size of an answer."""
    valid = (make_result(result.title, result.url, result.snippet) for result in results)
    kept = tuple(result for result in valid if result is not None)[:MAX_RESULTS]
    while kept and len(encode(Answer("0" * 32, kept))) > MAX_BYTES:
        kept = kept[:-1]
    return kept


def encode(message: Message) -> bytes:
    """Encode a message as JSON."""
    document: dict[str, Json] = {"kind": _WIRE_NAMES[type(message)], "id": message.id}
    if isinstance(message, Query):
        document |= {"hops": message.hops, "text": message.text}
    elif isinstance(message, Answer):
        document["results"] = [[r.title, r.url, r.snippet] for r in message.results]
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


def decode(data: bytes) -> Message:
    """Decode a message; raise a FormatError if it deviates from the format in any way.

    >>> decode(encode(Request("0" * 32)))
    Request(id='00000000000000000000000000000000')
    """
    if len(data.rstrip(b" ")) > MAX_BYTES:
        raise FormatError(f"a message has at most {MAX_BYTES:,} bytes, got {len(data):,}")
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise FormatError("a message is not valid JSON") from error
    fields: dict[str, Json] = document if isinstance(document, dict) else {}
    kind, message_id = fields.get("kind"), fields.get("id")
    if not isinstance(message_id, str) or not _ID.fullmatch(message_id):
        raise FormatError("the id of a message must have 32 hexadecimal digits")
    if kind == "query":
        return _decode_query(message_id, fields)
    if kind == "answer":
        return _decode_answer(message_id, fields)
    if not isinstance(kind, str) or kind not in _PLAIN or fields.keys() != {"kind", "id"}:
        raise FormatError("the kind of a message is unknown, or its fields do not fit its kind")
    return _PLAIN[kind](message_id)


def _decode_query(message_id: str, fields: dict[str, Json]) -> Query:
    hops, text = fields.get("hops"), fields.get("text")
    if fields.keys() != {"kind", "id", "hops", "text"} or not isinstance(text, str):
        raise FormatError("a query must have the fields kind, id, hops and text")
    if type(hops) is not int or not 1 <= hops <= 20:
        raise FormatError("the hop count of a query must be an integer from 1 to 20")
    if not text or sanitize_text(text, MAX_TEXT) != text:
        raise FormatError("a query's text is empty, too long, or has invisible characters")
    return Query(message_id, hops, text)


def _decode_answer(message_id: str, fields: dict[str, Json]) -> Answer:
    results = fields.get("results")
    if fields.keys() != {"kind", "id", "results"} or not isinstance(results, list):
        raise FormatError("an answer must have the fields kind, id and results")
    if len(results) > MAX_RESULTS:
        raise FormatError(f"an answer has at most {MAX_RESULTS} results, got {len(results):,}")
    answer = Answer(message_id, tuple(map(_decode_result, results)))
    if len(encode(answer)) > MAX_BYTES:  # our normalized form of an address may be longer
        raise FormatError(f"an answer has at most {MAX_BYTES:,} bytes")
    return answer


def _decode_result(values: object) -> Result:
    if (
        not isinstance(values, list)
        or len(values) != 3
        or not all(isinstance(value, str) for value in values)
    ):
        raise FormatError("a result must be a list of a title, an address and a text")
    result = make_result(*values)
    # Addresses are not compared: a friend with another version may normalize them differently.
    if result is None or (result.title, result.snippet) != (values[0], values[2]):
        raise FormatError(
            "a result is too long, has invisible characters or no address of the public web"
        )
    return result
